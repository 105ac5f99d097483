/*
 * command.c - subcommands, scripts and scenarios.
 *
 * A script is run first and looked at after: if it returned a scenario (or a
 * list of them), the words that follow are options of cbench and parameters;
 * otherwise it was plain Lua and has had its arguments. What is then done with
 * a scenario is written in Lua, in lua/cbench/command.lua.
 */
#include "program/command.h"

#include "base/names.h"
#include "cbench.h"
#include "lua/embedded.h"
#include "lua/module.h"
#include "program/host.h"
#include "program/options.h"

#include <ctype.h>
#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A subcommand NAME is a file of this path. */
static const char command_path[] = "lua/cbench/command_";

int command_refuse(const char *why)
{
  host_message(why);
  return EXIT_USAGE;
}

int command_describe(bool help)
{
  if (help)
    option_print_help(stdout);
  else
    printf("cbench %s\n", cb_version());
  if (fflush(stdout) == 0)
    return EXIT_SUCCESS;
  host_message(strerror(errno));
  return EXIT_FAILURE;
}

/* ---- into Lua ---- */

void command_import(lua_State *L, const char *name)
{
  luaL_requiref(L, "cbench", luaopen_cbench, 0);
  lua_pop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "cbench.core");
  lua_getfield(L, -1, "import");
  lua_remove(L, -2);
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
}

static void set_string(lua_State *L, const char *key, const char *value)
{
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

/* Pushes a list of the words, the program's name as its first. */
static void push_typed(lua_State *L, char *const *argv)
{
  lua_newtable(L);
  for (int i = 0; argv[i]; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

/* Calls lua/cbench/command.lua's `run`; the tables of options and words and the
 * scenario (nil for a subcommand) are on top of the stack, in this order. */
static int run_in_lua(lua_State *L, const struct command *command,
                      const char *what)
{
  int options = lua_gettop(L) - 2;
  command_import(L, "command");
  lua_getfield(L, -1, "run");
  lua_newtable(L);
  set_string(L, "program", host_prefix);
  set_string(L, "what", what);
  set_string(L, "name", command->argv[command->script]);
  push_typed(L, command->argv);
  lua_setfield(L, -2, "typed");
  lua_pushvalue(L, options);
  lua_setfield(L, -2, "options");
  lua_pushvalue(L, options + 1);
  lua_setfield(L, -2, "words");
  lua_pushvalue(L, options + 2);
  lua_setfield(L, -2, "scenario");
  option_push_list(L);
  lua_setfield(L, -2, "option_list");
  if (host_report(L, host_call(L, 1, 1)) != LUA_OK)
    return EXIT_FAILURE;
  return (int)lua_tointeger(L, -1);
}

bool command_load_plugin(lua_State *L, const char *word)
{
  int top = lua_gettop(L);
  command_import(L, "command");
  lua_getfield(L, -1, "load_plugin");
  lua_pushstring(L, word);
  int status = host_call_brief(L, 1, 2);
  bool loaded = status == LUA_OK && lua_toboolean(L, -2);
  if (!loaded)
    host_message(lua_tostring(L, -1));
  lua_settop(L, top);
  return loaded;
}

/* Loads those among the options in the table on top of the stack. */
static bool load_plugins(lua_State *L)
{
  bool fine = true;
  if (lua_getfield(L, -1, "plugin") == LUA_TTABLE)
    for (lua_Integer i = 1; fine && lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
      fine = command_load_plugin(L, lua_tostring(L, -1));
      lua_pop(L, 1);
    }
  return fine;
}

/* Is the word a topic of `cbench help` although it looks like an option? */
static bool is_topic(const char *word)
{
  return strncmp(word, "--plugin", strlen("--plugin")) != 0;
}

/* Adds the options among the words after a subcommand or a scenario to the
 * table at index `options`, and pushes a list of the other words. */
static bool collect_words(lua_State *L, int options, char *const *words,
                          bool topics)
{
  struct typed_option typed;
  struct cb_error error;
  lua_Integer count = 0;

  lua_newtable(L);
  bool ended = false; /* by "--": what follows are no options */
  for (int found; *words; words += found ? typed.words : 1) {
    found = ended || (topics && is_topic(*words))
                ? 0
                : option_read(words, false, &typed, &error);
    if (found < 0) {
      host_message(error.text);
      return false;
    }
    if (found) {
      lua_pushvalue(L, options);
      option_store(L, &typed);
      lua_pop(L, 1);
    } else if (!ended && strcmp(*words, "--") == 0) {
      ended = true;
    } else {
      lua_pushstring(L, *words);
      lua_rawseti(L, -2, ++count);
    }
  }
  return true;
}

/* ---- scripts ---- */

static bool is_there(const char *name)
{
  struct stat status;
  return stat(name, &status) == 0;
}

static bool is_file(const char *name)
{
  struct stat status;
  return stat(name, &status) == 0 && !S_ISDIR(status.st_mode);
}

static const char scenario_path[] = "scenarios/";

/* Does the word begin with a folder of shipped scenarios, as "limits/rings"
 * does? */
static bool is_in_folder(const char *word)
{
  size_t folder = strcspn(word, "/") + 1;
  for (const struct cb_embedded *file = cb_embedded_scenarios; file->name;
       file++)
    if (strncmp(file->name + sizeof scenario_path - 1, word, folder) == 0)
      return true;
  return false;
}

/* Does the word look like a name (of a scenario), not like a path? */
static bool is_name(const char *word)
{
  return isalpha((unsigned char)*word) && !strchr(word, '.') &&
         (!strchr(word, '/') || is_in_folder(word));
}

/* A word that is looked up among subcommands and shipped scenarios. */
struct lookup {
  struct cb_nearest search;
  char nearest[80]; /* holds the name, cut out of its path */
};

/* The file that is called PREFIX + the word + ".lua". */
/* Names that begin with '_' are not for people. */
static const struct cb_embedded *look_up(struct lookup *lookup,
                                         const struct cb_embedded *file,
                                         const char *prefix)
{
  for (; file->name; file++) {
    char name[sizeof lookup->nearest];
    if (strncmp(file->name, prefix, strlen(prefix)) != 0)
      continue;
    const char *rest = file->name + strlen(prefix);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(rest, "."), rest);
    if (strcmp(name, lookup->search.word) == 0)
      return file;
    if (name[0] != '_')
      cb_nearest_offer(&lookup->search, name);
    if (lookup->search.nearest == name)
      lookup->search.nearest = strcpy(lookup->nearest, name);
  }
  return NULL;
}

/* The next subcommand after the name in the order of the alphabet, or NULL;
 * names end at a dot. */
static const char *next_subcommand(const char *after)
{
  const char *next = NULL;
  for (const struct cb_embedded *file = cb_embedded_lua; file->name; file++) {
    const char *name = file->name + sizeof command_path - 1;
    if (strncmp(file->name, command_path, sizeof command_path - 1) != 0 ||
        *name == '_')
      continue;
    if (strcmp(name, after) > 0 && (!next || strcmp(name, next) < 0))
      next = name;
  }
  return next;
}

void command_print_usage(FILE *out)
{
  const char *separator = "       cbench ";
  for (const char *name = ""; (name = next_subcommand(name)); separator = " | ")
    fprintf(out, "%s%.*s", separator, (int)strcspn(name, "."), name);
  fputs(" ...\n", out);
}

static int load_shipped(lua_State *L, const struct cb_embedded *file)
{
  const char *chunk = lua_pushfstring(L, "=%s", file->name);
  int status = luaL_loadbuffer(L, (const char *)file->text, file->size, chunk);
  lua_remove(L, -2);
  return status;
}

static int unknown_name(const struct lookup *lookup)
{
  struct cb_error error;
  const char *nearest = lookup->search.nearest;
  cb_fail(&error, 0, "cannot open %.100s: no such file or scenario%s%s%s",
          lookup->search.word, nearest ? " (did you mean '" : "",
          nearest ? nearest : "", nearest ? "'?)" : "");
  return command_refuse(error.text);
}

/* A scenario, or a list of them, is told by the name of its metatable. */
static bool is_scenario(lua_State *L, int index)
{
  bool found = false;
  if (luaL_getmetafield(L, index, "__name") != LUA_TNIL) {
    const char *name = lua_tostring(L, -1);
    found = name && strcmp(name, "cbench.scenario") == 0;
    lua_pop(L, 1);
  } else if (lua_istable(L, index)) {
    lua_rawgeti(L, index, 1);
    found = luaL_getmetafield(L, -1, "__name") == LUA_TSTRING &&
            strcmp(lua_tostring(L, -1), "cbench.scenario") == 0;
    lua_settop(L, index);
  }
  return found;
}

/* Reads the words after the script and loads the plug-ins that they name; the
 * list of words is pushed. */
static bool take_words(lua_State *L, int options, const struct command *command)
{
  char *const *words = command->argv + command->script;
  if (!collect_words(L, options, words + 1, strcmp(words[0], "help") == 0))
    return false;
  lua_pushvalue(L, options);
  bool fine = load_plugins(L);
  lua_settop(L, options + 1);
  return fine;
}

/* Calls the chunk on top of the stack; leaves its first result there. */
static int call_script(lua_State *L, bool brief)
{
  int chunk = lua_gettop(L);
  int arguments = host_push_arguments(L);
  int status = brief ? host_call_brief(L, arguments, LUA_MULTRET)
                     : host_call(L, arguments, LUA_MULTRET);
  if (host_report(L, status) != LUA_OK)
    return status;
  if (lua_gettop(L) < chunk)
    lua_pushnil(L);
  lua_settop(L, chunk);
  return status;
}

/* Runs the chunk on top of the stack. A scenario that it returns reads the
 * words, plain Lua has had them. */
static int run_script(lua_State *L, const struct command *command)
{
  int options = lua_gettop(L) - 1;
  if (call_script(L, command->own) != LUA_OK)
    return EXIT_FAILURE;
  if (is_scenario(L, options + 1)) {
    lua_insert(L, options); /* out of the way of the words */
    if (!take_words(L, options + 1, command))
      return EXIT_USAGE;
    lua_pushvalue(L, options);
    return run_in_lua(L, command, "run");
  }
  if (!command->own)
    return EXIT_SUCCESS;
  return command_refuse(lua_pushfstring(
      L, "%s returned no cbench.scenario, which options of cbench need",
      command->argv[command->script]));
}

/* What is shipped is a scenario: its words are read, and plug-ins loaded,
 * before its script looks around. */
static int run_shipped(lua_State *L, const struct command *command,
                       const struct cb_embedded *file)
{
  if (!take_words(L, lua_gettop(L), command))
    return EXIT_USAGE;
  if (host_report(L, load_shipped(L, file)) != LUA_OK ||
      call_script(L, true) != LUA_OK)
    return EXIT_FAILURE;
  return run_in_lua(L, command, "run");
}

static int run_subcommand(lua_State *L, const struct command *command)
{
  if (!take_words(L, lua_gettop(L), command))
    return EXIT_USAGE;
  lua_pushnil(L);
  return run_in_lua(L, command, command->argv[command->script]);
}

/* Is the script "-", which means stdin unless it stands behind "--"? */
static bool is_stdin(const struct command *command)
{
  char *const *script = command->argv + command->script;
  return strcmp(script[0], "-") == 0 && strcmp(script[-1], "--") != 0;
}

int command_run(lua_State *L, const struct command *command)
{
  const char *word = command->argv[command->script];
  struct lookup lookup = {.search.word = word};
  const struct cb_embedded *shipped;
  int status;

  if (look_up(&lookup, cb_embedded_lua, command_path))
    return run_subcommand(L, command);
  if (is_stdin(command))
    status = luaL_loadfile(L, NULL);
  else if (!is_file(word) &&
           (shipped = look_up(&lookup, cb_embedded_scenarios, scenario_path)))
    return run_shipped(L, command, shipped);
  else if (!is_there(word) && is_name(word))
    return unknown_name(&lookup);
  else
    status = luaL_loadfile(L, word);
  if (host_report(L, status) != LUA_OK)
    return command->own && status == LUA_ERRFILE ? EXIT_USAGE : EXIT_FAILURE;
  return run_script(L, command);
}
