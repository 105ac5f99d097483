/*
 * plain.c - the prompt of lua5.4, for pipes and files.
 *
 * Nothing is edited, coloured or laid out here: whatever reads our output was
 * written for lua5.4.
 */
#include "program/host.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *host_push_prompt(lua_State *L, bool first)
{
  if (lua_getglobal(L, first ? "_PROMPT" : "_PROMPT2") == LUA_TNIL)
    lua_pushstring(L, first ? "> " : ">> ");
  else
    luaL_tolstring(L, -1, NULL);
  lua_remove(L, -2);
  return lua_tostring(L, -1);
}

/* The loader says "near <eof>" when the text ended too early. */
bool host_incomplete(lua_State *L, int status)
{
  static const char mark[] = "<eof>";
  const size_t size = sizeof mark - 1;
  size_t length;

  if (status != LUA_ERRSYNTAX)
    return false;
  const char *text = lua_tolstring(L, -1, &length);
  return length >= size && memcmp(text + length - size, mark, size) == 0;
}

int host_load_expression(lua_State *L)
{
  const char *text = lua_pushfstring(L, "return %s;", lua_tostring(L, -1));
  int status = luaL_loadbuffer(L, text, strlen(text), "=stdin");
  lua_remove(L, -2);
  return status;
}

int host_load_line(lua_State *L, bool expression)
{
  size_t size;
  if (expression) {
    if (host_load_expression(L) == LUA_OK)
      return LUA_OK;
    lua_pop(L, 1);
  }
  const char *text = lua_tolstring(L, -1, &size);
  return luaL_loadbuffer(L, text, size, "=stdin");
}

/* Pushes what comes before the next end of line; false at the end of stdin.
 * The bytes are taken one by one from below the stream, as readline takes them
 * for lua5.4: what io.read has taken already is no line of ours, nor does it
 * find that we took more than the line. */
static bool take_line(lua_State *L)
{
  luaL_Buffer line;
  ssize_t got;
  bool any = false;
  char byte;

  luaL_buffinit(L, &line);
  while ((got = read(STDIN_FILENO, &byte, 1)) != 0) {
    if (got < 0 && errno != EINTR)
      break;
    any |= got > 0;
    if (got > 0 && byte == '\n')
      break;
    if (got > 0)
      luaL_addchar(&line, byte);
  }
  luaL_pushresult(&line);
  return any;
}

/* Pushes the next line, as a chunk; pushes nothing at the end of stdin. A
 * terminal shows what is typed by itself; from a file the line is written
 * after its prompt, so that a transcript reads like a session. */
static bool read_line(lua_State *L, bool first)
{
  fputs(host_push_prompt(L, first), stdout);
  fflush(stdout);
  lua_pop(L, 1);
  if (!take_line(L)) {
    lua_pop(L, 1);
    return false;
  }
  size_t length;
  const char *line = lua_tolstring(L, -1, &length);
  if (!isatty(STDIN_FILENO)) {
    fwrite(line, 1, length, stdout);
    putchar('\n');
    fflush(stdout);
  }
  if (first && line[0] == '=') {
    lua_pushfstring(L, "return %s", line + 1);
    lua_remove(L, -2);
  }
  return true;
}

/* Leaves the next chunk (or an error message) alone on the stack. Returns the
 * status of its load, or -1 at the end of stdin. */
static int read_chunk(lua_State *L)
{
  lua_settop(L, 0);
  if (!read_line(L, true))
    return -1;
  int status = host_load_line(L, true);
  for (; host_incomplete(L, status); status = host_load_line(L, false)) {
    if (!read_line(L, false))
      break;
    lua_remove(L, -2);
    lua_pushliteral(L, "\n");
    lua_insert(L, -2);
    lua_concat(L, 3);
  }
  lua_remove(L, 1);
  return status;
}

static void print_values(lua_State *L)
{
  int count = lua_gettop(L);
  if (count == 0)
    return;
  luaL_checkstack(L, LUA_MINSTACK, "too many results to print");
  lua_getglobal(L, "print");
  lua_insert(L, 1);
  if (lua_pcall(L, count, 0, 0) != LUA_OK)
    host_message(
        lua_pushfstring(L, "error calling 'print' (%s)", lua_tostring(L, -1)));
}

void host_interact(lua_State *L)
{
  const char *prefix = host_prefix;
  int status;

  host_prefix = NULL;
  while ((status = read_chunk(L)) != -1) {
    if (status == LUA_OK)
      status = host_call(L, 0, LUA_MULTRET);
    if (status == LUA_OK)
      print_values(L);
    else
      host_report(L, status);
  }
  lua_settop(L, 0);
  putchar('\n');
  fflush(stdout);
  host_prefix = prefix;
}
