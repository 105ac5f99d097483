/* terminal.h - what Lua has to know of terminals. */
#ifndef CB_LUA_TERMINAL_H
#define CB_LUA_TERMINAL_H

#include <lua.h>
#include <stdbool.h>

/* core.columns(fd): how wide the terminal is, or nil when it is none. */
int cb_lua_columns(lua_State *L);

#endif
