/*
 * options.h - from Lua tables to specs, and from options to Lua tables.
 *
 * The one rule for kinds: the key is the family, its value a name, a table
 * { "spsc", size = 64 } or a live object.
 */
#ifndef CB_LUA_OPTIONS_H
#define CB_LUA_OPTIONS_H

#include "cbench.h"

#include <lua.h>

/* Pushes a userdata that owns a new spec made from the value at index (a name,
 * a table or a live object of the family) and returns the spec; the userdata
 * keeps live objects it names from being collected. On a mistake pushes the
 * sentence instead and returns NULL; nothing is raised but out of memory. */
struct cb_spec *cb_lua_new_spec(lua_State *L, int index,
                                const struct cb_family *family);

/* The same, but raises the sentence with the caller's position. */
struct cb_spec *cb_lua_check_spec(lua_State *L, int index,
                                  const struct cb_family *family);

/* What the box at index (as cb_lua_new_spec pushes it) keeps alive can still be
 * closed by any Lua code, finalisers too. The family of one that is closed, or
 * NULL: the specs are good while no Lua code runs after this was asked. */
const char *cb_lua_closed_object(lua_State *L, int index);
/* Counts those that use these objects. Their close refuses while somebody
 * does. */
void cb_lua_use_objects(lua_State *L, int index, int by);

/* Pushes a table that describes the kind: name, summary, comparison,
 * interpreter, options = { { name, type, preset, min, max, choices, family,
 * help }, ... }. */
void cb_lua_push_kind(lua_State *L, const struct cb_kind *kind);

/* core.families() and core.kinds(family). */
int cb_lua_families(lua_State *L);
int cb_lua_kinds(lua_State *L);

#endif
