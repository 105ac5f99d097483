/*
 * main.c - the program: a Lua 5.4 interpreter that also runs scenarios.
 *
 * The command line is read twice. First without Lua, so that a wrong word is
 * refused before anything runs and -E is known before libraries look at the
 * environment; then from left to right, doing what the options say. Nothing of
 * cbench is loaded until something asks for it.
 */
#include "lua/module.h"
#include "lua/process.h"
#include "program/command.h"
#include "program/host.h"
#include "program/options.h"
#include "program/repl.h"

#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the first reading found. Without a script its index is that of the
 * NULL. */
struct line {
  struct command command;
  bool no_environment, interactive, version, text, help, own_version;
};

static void note_option(struct line *line, const struct typed_option *typed)
{
  if (typed->option) {
    line->command.own |= !typed->option->plain;
    line->help |= strcmp(typed->option->name, "help") == 0;
    line->own_version |= strcmp(typed->option->name, "version") == 0;
    return;
  }
  line->no_environment |= typed->letter == 'E';
  line->interactive |= typed->letter == 'i';
  line->version |= typed->letter == 'v';
  line->text |= typed->letter == 'e';
}

static int read_line(struct line *line, struct cb_error *error)
{
  struct typed_option typed;
  int found, i = 1;
  while (line->command.argv[i] &&
         (found = option_read(line->command.argv + i, true, &typed, error)) !=
             0) {
    if (found < 0)
      return found;
    note_option(line, &typed);
    i += typed.words;
  }
  line->command.script = i;
  if (line->command.argv[i] && strcmp(line->command.argv[i], "--") == 0)
    line->command.script++;
  return 0;
}

static int refuse(const struct cb_error *error)
{
  if (error->code == -ENOENT)
    fprintf(stderr,
            "%s: %s\n"
            "usage: %s [options] SCENARIO [name=value]...   (see %s --help)\n",
            host_prefix, error->text, host_prefix, host_prefix);
  else
    host_message(error->text);
  return EXIT_USAGE;
}

/* Does what one option says; those of cbench are collected in the table on top
 * of the stack. Returns an exit code. */
static int follow_option(lua_State *L, const struct typed_option *typed)
{
  int status = LUA_OK;
  if (typed->option && strcmp(typed->option->name, "plugin") == 0)
    return command_load_plugin(L, typed->value) ? EXIT_SUCCESS : EXIT_USAGE;
  if (typed->option)
    option_store(L, typed);
  else if (typed->letter == 'e')
    status =
        host_run_text(L, typed->value, strlen(typed->value), "=(command line)");
  else if (typed->letter == 'l')
    status = host_require(L, typed->value);
  else if (typed->letter == 'W')
    lua_warning(L, "@on", 0);
  return status == LUA_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Follows the options before the script in their order. */
static int follow_options(lua_State *L, const struct line *line)
{
  struct typed_option typed;
  int code = EXIT_SUCCESS;
  char *const *words = line->command.argv;
  for (int i = 1; code == EXIT_SUCCESS && i < line->command.script;
       i += typed.words) {
    if (option_read(words + i, true, &typed, NULL) <= 0)
      break; /* "--" */
    code = follow_option(L, &typed);
  }
  return code;
}

static void preload_cbench(lua_State *L)
{
  lua_pushboolean(L, true);
  lua_setfield(L, LUA_REGISTRYINDEX, CB_LUA_PROGRAM);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_cbench);
  lua_setfield(L, -2, "cbench");
  lua_pop(L, 1);
}

static void open_libraries(lua_State *L, const struct line *line)
{
  if (line->no_environment) {
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  }
  luaL_openlibs(L);
  preload_cbench(L);
  host_set_arguments(
      L, line->command.argv,
      line->command.argv[line->command.script] ? line->command.script : 0);
  lua_gc(L, LUA_GCGEN, 0, 0);
}

static void print_version(void)
{
  puts(LUA_COPYRIGHT);
  fflush(stdout);
}

/* Without a script: a prompt on a terminal, else stdin is the script. */
static int run_without_script(lua_State *L, const struct line *line)
{
  if (line->command.own && !line->interactive && !line->text)
    return command_refuse("options of cbench need a scenario");
  if (line->interactive || line->text || line->version)
    return EXIT_SUCCESS;
  if (isatty(STDIN_FILENO)) {
    repl_run(L);
    return EXIT_SUCCESS;
  }
  return host_run_file(L, NULL) == LUA_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(lua_State *L, const struct line *line)
{
  const char *script = line->command.argv[line->command.script];

  luaL_checkversion(L);
  if (line->version || (line->interactive && !repl_is_fancy()))
    print_version();
  open_libraries(L, line);
  lua_newtable(L);
  if (!line->no_environment && host_run_init(L) != LUA_OK)
    return EXIT_FAILURE;
  int status = follow_options(L, line);
  if (status == EXIT_SUCCESS)
    status =
        script ? command_run(L, &line->command) : run_without_script(L, line);
  if (line->interactive && status == EXIT_SUCCESS)
    repl_run(L);
  return status;
}

static int run_protected(lua_State *L)
{
  /* It stays: with the table of options above it scripts begin at the slot at
   * which lua5.4 begins them, and what overflows the stack counts the same. */
  const struct line *line = lua_touserdata(L, 1);
  lua_pushinteger(L, run(L, line));
  return 1;
}

int main(int argc, char **argv)
{
  static char *no_words[] = {"cbench", NULL};
  struct line line = {.command.argv = argc > 0 ? argv : no_words};
  struct cb_error error;

  host_prefix = line.command.argv[0][0] ? line.command.argv[0] : no_words[0];
  if (read_line(&line, &error) < 0)
    return refuse(&error);
  if (line.help || line.own_version)
    return command_describe(line.help);
  lua_State *L = luaL_newstate();
  if (!L) {
    host_message("cannot create state: not enough memory");
    return EXIT_FAILURE;
  }
  lua_pushcfunction(L, run_protected);
  lua_pushlightuserdata(L, &line);
  int status = lua_pcall(L, 1, 1, 0);
  int code = status == LUA_OK ? (int)lua_tointeger(L, -1) : EXIT_FAILURE;
  host_report(L, status);
  lua_close(L);
  return code;
}
