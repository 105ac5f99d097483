/*
 * repl.c - the prompt for people, on a terminal.
 *
 * Here lines are read, put together to chunks and run; how values look, what
 * can be completed and what help says is written in lua/cbench/repl.lua.
 * Ctrl-C never ends a session: while a line is edited it drops the line, while
 * Lua runs it is an error, while something is measured it stops that.
 */
#include "program/repl.h"

#include "cbench.h"
#include "program/command.h"
#include "program/edit.h"
#include "program/history.h"
#include "program/host.h"

#include <lauxlib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Ctrl-Cs in a row that Lua may leave unanswered. */
enum { PATIENCE = 5 };

struct session {
  lua_State *L;
  const struct editor *editor;
  int functions; /* stack index of what lua/cbench/repl.lua returns */
  bool hinted;   /* how to leave has been said */
};

bool repl_is_fancy(void)
{
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* ---- what Lua does for us ---- */

static int import_repl(lua_State *L)
{
  command_import(L, "repl");
  lua_getfield(L, -1, "start");
  lua_call(L, 0, 0);
  return 1;
}

/* Copies `count` strings of the list on top of the stack. */
static bool copy_words(lua_State *L, struct edit_words *words, size_t count)
{
  words->words = calloc(count, sizeof *words->words);
  if (!words->words)
    return false;
  for (; words->count < count; words->count++) {
    lua_rawgeti(L, -1, (lua_Integer)words->count + 1);
    words->words[words->count] = strdup(lua_tostring(L, -1));
    lua_pop(L, 1);
    if (!words->words[words->count])
      return false;
  }
  return true;
}

static struct edit_words complete(void *context, const char *line)
{
  const struct session *session = context;
  lua_State *L = session->L;
  struct edit_words words = {0};
  int top = lua_gettop(L);

  lua_getfield(L, session->functions, "complete");
  lua_pushstring(L, line);
  if (lua_pcall(L, 1, 2, 0) == LUA_OK && lua_istable(L, -1)) {
    words.start = (size_t)lua_tointeger(L, -2);
    size_t count = lua_rawlen(L, -1);
    if (count > 0 && !copy_words(L, &words, count))
      edit_free_words(&words);
  }
  lua_settop(L, top);
  return words;
}

static int terminal_columns(void)
{
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

/* Calls show(quiet, columns, ...) with the values from index first on. */
static void show_values(const struct session *session, int first, bool quiet)
{
  lua_State *L = session->L;
  int count = lua_gettop(L) - first + 1;
  if (count == 0)
    return;
  luaL_checkstack(L, LUA_MINSTACK, "too many results to print");
  lua_getfield(L, session->functions, "show");
  lua_pushboolean(L, quiet);
  lua_pushinteger(L, terminal_columns());
  lua_rotate(L, first, 3);
  host_report(L, host_call_brief(L, count + 2, 0));
}

/* ---- chunks ---- */

/* Reads a line and pushes it. */
static enum edit_result read_line(struct session *session, bool first)
{
  lua_State *L = session->L;
  char *line;
  enum edit_result result =
      session->editor->read(host_push_prompt(L, first), &line);
  lua_pop(L, 1);
  if (result == EDIT_LINE)
    lua_pushstring(L, first && line[0] == '=' ? line + 1 : line);
  free(line);
  return result;
}

/* Pushes the text at `index` without the semicolon at its end, if it has one:
 * it says that the value shall not be shown. */
static bool push_unfinished(lua_State *L, int index)
{
  size_t length;
  const char *text = lua_tolstring(L, index, &length);
  while (length > 0 && strchr(" \t\n", text[length - 1]))
    length--;
  if (length == 0 || text[length - 1] != ';')
    return false;
  lua_pushlstring(L, text, length - 1);
  return true;
}

/* Loads the text on top of the stack and pushes the chunk or a message. */
static int load_text(lua_State *L, bool *quiet)
{
  *quiet = push_unfinished(L, -1);
  if (*quiet) {
    int status = host_load_expression(L);
    lua_remove(L, -2);
    if (status == LUA_OK)
      return status;
    lua_pop(L, 1);
  }
  return host_load_line(L, true);
}

static void remember(const struct session *session, const char *entry)
{
  if (entry[strspn(entry, " \t\n")] == 0)
    return;
  session->editor->remember(entry);
  history_add(entry);
}

/* Pushes the next chunk (LUA_OK) or a message. */
static enum edit_result read_chunk(struct session *session, int *status,
                                   bool *quiet)
{
  lua_State *L = session->L;
  enum edit_result result = read_line(session, true);
  if (result != EDIT_LINE)
    return result;
  while (host_incomplete(L, *status = load_text(L, quiet))) {
    lua_pop(L, 1);
    result = read_line(session, false);
    if (result != EDIT_LINE) {
      lua_pop(L, 1);
      return result == EDIT_END ? EDIT_END : EDIT_ABANDONED;
    }
    lua_pushliteral(L, "\n");
    lua_insert(L, -2);
    lua_concat(L, 3);
  }
  remember(session, lua_tostring(L, -2));
  lua_remove(L, -2);
  return EDIT_LINE;
}

/* The frames below the prompt say nothing to whoever sits before it. */
static void report_briefly(lua_State *L)
{
  static const char tail[] = "\n\t[C]: in ?";
  size_t length;
  const char *text = lua_tolstring(L, -1, &length);
  if (text && length >= sizeof tail &&
      strcmp(text + length - (sizeof tail - 1), tail) == 0) {
    lua_pushlstring(L, text, length - (sizeof tail - 1));
    lua_replace(L, -2);
  }
  host_report(L, LUA_ERRRUN);
}

/* Runs the chunk on top of the stack, or reports the message there. */
static void run_chunk(const struct session *session, int status, bool quiet)
{
  lua_State *L = session->L;
  int base = lua_gettop(L);
  if (status == LUA_OK)
    status = host_call(L, 0, LUA_MULTRET);
  fflush(stdout);
  if (status == LUA_OK)
    show_values(session, base, quiet);
  else
    report_briefly(L);
  lua_settop(L, base - 1);
}

/* ---- the session ---- */

static void hint(struct session *session)
{
  if (session->hinted)
    return;
  session->hinted = true;
  puts("(Ctrl-D to leave)");
}

static void converse(struct session *session)
{
  for (;;) {
    int status;
    bool quiet;
    switch (read_chunk(session, &status, &quiet)) {
    case EDIT_LINE:
      run_chunk(session, status, quiet);
      break;
    case EDIT_INTERRUPTED:
      hint(session);
      break;
    case EDIT_ABANDONED:
      break;
    case EDIT_END:
      putchar('\n');
      fflush(stdout);
      return;
    }
  }
}

static const struct editor *opening; /* history_load has no context */

static void remember_former(const char *entry)
{
  opening->remember(entry);
}

static void greet(void)
{
  printf("cbench %s, %s: help() explains, Ctrl-D leaves\n", cb_version(),
         LUA_RELEASE);
  fflush(stdout);
}

void repl_run(lua_State *L)
{
  if (!repl_is_fancy()) {
    host_interact(L);
    return;
  }
  lua_pushcfunction(L, import_repl);
  if (host_report(L, host_call(L, 0, 1)) != LUA_OK)
    return;
  struct session session = {.L = L, .functions = lua_gettop(L)};
  const char *prefix = host_prefix;
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;

  sigaction(SIGINT, &ignore, &before);
  host_prefix = NULL;
  host_patience = PATIENCE;
  host_watch_threads(L);
  greet();
  session.editor = opening = edit_open(complete, &session);
  history_load(remember_former);
  converse(&session);
  session.editor->close();
  history_close();
  host_watch_threads(NULL);
  host_prefix = prefix;
  sigaction(SIGINT, &before, NULL);
}
