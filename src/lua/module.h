/* module.h - the Lua module `cbench`, for whoever opens it. */
#ifndef CB_LUA_MODULE_H
#define CB_LUA_MODULE_H

#include <lua.h>

__attribute__((visibility("default"))) int luaopen_cbench(lua_State *L);

#endif
