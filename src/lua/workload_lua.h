/*
 * workload_lua.h - the workload `lua`: what a call of a Lua function costs.
 *
 * It lives on this floor, not beside the other workloads, because its loop
 * runs an interpreter; its figures are marked so.
 */
#ifndef CB_LUA_WORKLOAD_LUA_H
#define CB_LUA_WORKLOAD_LUA_H

#include "cbench.h"

#include <lua.h>

/* The kind, for listings; its create refuses, since it needs a Lua state. */
extern const struct cb_workload_kind cb_workload_lua;

bool cb_lua_is_lua_workload(lua_State *L, int index);

/* Makes the workload from the descriptor at index, whose params hold exactly
 * one of call (a function), loop (a function of n) and code (a chunk, called
 * once an operation). The userdata on top of the stack keeps it. On a refusal
 * pushes the sentence and returns false. */
bool cb_lua_create_lua_workload(lua_State *L, int index,
                                struct cb_workload *workload);

#endif
