/*
 * workload.h - from a descriptor (a Lua table) to a struct cb_workload.
 *
 * A descriptor is { kind = "nesting", params = { depth = 10, ... } } as
 * lua/cbench/workload.lua makes it.
 */
#ifndef CB_LUA_WORKLOAD_H
#define CB_LUA_WORKLOAD_H

#include "cbench.h"

#include <lua.h>

/* Pushes a userdata that owns a new workload made from the descriptor at index
 * and returns the workload. On a refusal pushes the sentence and returns NULL.
 * The userdata keeps alive what the descriptor names, and until it is closed
 * or collected no live object among that can be closed. */
struct cb_workload *cb_lua_new_workload(lua_State *L, int index);
/* Ends the workload whose userdata is at index (nil is allowed). */
void cb_lua_close_workload(lua_State *L, int index);

/* core.check_params(kind, params): true, or nil and the sentence: are names,
 * types and ranges right? */
int cb_lua_check_params(lua_State *L);
/* core.check_workload(descriptor): true, or nil and the sentence: can it be
 * measured? */
int cb_lua_check_workload(lua_State *L);

#endif
