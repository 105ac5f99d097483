/* ring.h - rings as Lua objects. */
#ifndef CB_LUA_RING_H
#define CB_LUA_RING_H

#include "cbench.h"

#include <lua.h>

/* cbench.ring(kind): a name, or { "spsc", size = 64 }. The ring; or nil, a
 * sentence and the name of the error when memory is short. */
int cb_lua_ring(lua_State *L);

/* Pushes what rings of the kind can do, by name: producers and consumers where
 * there is a limit, zero_allowed, late_visible, lazy_free, forgets, and for
 * each method that not every kind has whether this one does. */
void cb_lua_push_ring_limits(lua_State *L, const struct cb_kind *kind);

#endif
