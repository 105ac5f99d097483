/*
 * module.c - `require "cbench"`.
 *
 * The module is lua/cbench/init.lua, run with the C half (`core`) as its
 * argument. The other Lua files are found through a loader that the chunk
 * gets, not through package.path: program and module carry the same text.
 */
#include "lua/module.h"

#include "cbench.h"
#include "lua/core.h"
#include "lua/coroutine.h"
#include "lua/embedded.h"
#include "lua/measure.h"
#include "lua/options.h"
#include "lua/pool.h"
#include "lua/process.h"
#include "lua/ring.h"
#include "lua/services.h"
#include "lua/signals.h"
#include "lua/terminal.h"
#include "lua/workload.h"
#include "lua/workload_lua.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

static const struct cb_embedded *find_embedded(const struct cb_embedded *table,
                                               const char *name)
{
  while (table->name && strcmp(table->name, name) != 0)
    table++;
  return table->name ? table : NULL;
}

/* core.load(name): the chunk of lua/cbench/NAME.lua, not yet run. */
static int core_load(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  const char *path = lua_pushfstring(L, "lua/cbench/%s.lua", name);
  const struct cb_embedded *file = find_embedded(cb_embedded_lua, path);
  if (!file)
    return luaL_error(L, "no file '%s' in cbench", path);
  const char *chunk = lua_pushfstring(L, "=cbench/%s.lua", name);
  if (luaL_loadbufferx(L, (const char *)file->text, file->size, chunk, "t"))
    return lua_error(L);
  return 1;
}

/* core.files(): the names of all files lua/cbench/NAME.lua. */
static int core_files(lua_State *L)
{
  lua_newtable(L);
  for (int i = 0; cb_embedded_lua[i].name; i++) {
    const char *name = cb_embedded_lua[i].name + strlen("lua/cbench/");
    lua_pushlstring(L, name, strlen(name) - strlen(".lua"));
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* core.has_file(name): is there a lua/cbench/NAME.lua? */
static int core_has_file(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  const char *path = lua_pushfstring(L, "lua/cbench/%s.lua", name);
  lua_pushboolean(L, find_embedded(cb_embedded_lua, path) != NULL);
  return 1;
}

/* core.scenario_text(name): the text of a shipped scenario and its file name,
 * or nil. */
static int core_scenario_text(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  const char *path = lua_pushfstring(L, "scenarios/%s.lua", name);
  const struct cb_embedded *file = find_embedded(cb_embedded_scenarios, path);
  if (!file)
    return 0;
  lua_pushlstring(L, (const char *)file->text, file->size);
  lua_pushstring(L, path);
  return 2;
}

/* core.scenario_names(): the shipped scenarios, in the order of the build. */
static int core_scenario_names(lua_State *L)
{
  lua_newtable(L);
  for (int i = 0; cb_embedded_scenarios[i].name; i++) {
    const char *name = cb_embedded_scenarios[i].name + strlen("scenarios/");
    lua_pushlstring(L, name, strlen(name) - strlen(".lua"));
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static const luaL_Reg core_functions[] = {
    {"analyse", cb_lua_analyse},
    {"arm_signals", cb_lua_arm_signals},
    {"check_cpus", cb_lua_check_cpus},
    {"check_params", cb_lua_check_params},
    {"check_workload", cb_lua_check_workload},
    {"clock", cb_lua_clock},
    {"columns", cb_lua_columns},
    {"coroutine", cb_lua_coroutine},
    {"coroutine_running", cb_lua_coroutine_running},
    {"coroutine_self", cb_lua_coroutine_self},
    {"coroutine_yield", cb_lua_coroutine_yield},
    {"disarm_signals", cb_lua_disarm_signals},
    {"families", cb_lua_families},
    {"files", core_files},
    {"has_file", core_has_file},
    {"json_array", cb_lua_json_array},
    {"json_decode", cb_lua_json_decode},
    {"json_encode", cb_lua_json_encode},
    {"json_members", cb_lua_json_members},
    {"kinds", cb_lua_kinds},
    {"load", core_load},
    {"load_plugin", cb_lua_load_plugin},
    {"machine", cb_lua_machine},
    {"measure", cb_lua_measure},
    {"nearest", cb_lua_nearest},
    {"now", cb_lua_now},
    {"obey_parent", cb_lua_obey_parent},
    {"open_note", cb_lua_open_note},
    {"output", cb_lua_output},
    {"percentiles", cb_lua_percentiles},
    {"perf", cb_lua_perf},
    {"place", cb_lua_place},
    {"plugin_folder", cb_lua_plugin_folder},
    {"plugins", cb_lua_plugins},
    {"pool", cb_lua_pool},
    {"program", cb_lua_program},
    {"quiescence", cb_lua_quiescence},
    {"ring", cb_lua_ring},
    {"run_program", cb_lua_run_program},
    {"scenario_names", core_scenario_names},
    {"scenario_text", core_scenario_text},
    {"services", cb_lua_services},
    {"stop_signal", cb_lua_stop_signal_number},
    {NULL, NULL}};

int luaopen_cbench(lua_State *L)
{
  luaL_checkversion(L);
  cb_lua_open_coroutines(L);
  cb_kind_add(cb_family_find("workload"), &cb_workload_lua.kind, NULL);
  lua_pushcfunction(L, core_load);
  lua_pushliteral(L, "init");
  lua_call(L, 1, 1);
  luaL_newlib(L, core_functions);
  lua_pushfstring(L, "cbench %s", cb_version());
  lua_setfield(L, -2, "version");
  lua_pushvalue(L, -1); /* where the program finds core.import */
  lua_setfield(L, LUA_REGISTRYINDEX, "cbench.core");
  lua_call(L, 1, 1);
  return 1;
}
