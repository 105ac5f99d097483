/* pool.h - pools of coroutines as Lua objects. */
#ifndef CB_LUA_POOL_H
#define CB_LUA_POOL_H

#include "cbench.h"

#include <lua.h>

/* The pool at index, open; raises otherwise. */
struct cb_pool *cb_lua_check_pool(lua_State *L, int index);

/* core.pool(policy, backend, { size =, colour =, guard = }): policy and backend
 * are a name, a table or nil. The object; nil, a sentence and the name of the
 * error. */
int cb_lua_pool(lua_State *L);

#endif
