/* nearest.c - suggestions for misspelt words, for the Lua half. */
#include "base/names.h"
#include "lua/core.h"

#include <lauxlib.h>

int cb_lua_nearest(lua_State *L)
{
  struct cb_nearest search = {.word = luaL_checkstring(L, 1)};
  luaL_checktype(L, 2, LUA_TTABLE);
  /* The names stay on the list while the search points at them. */
  for (lua_Integer i = 1; lua_rawgeti(L, 2, i) == LUA_TSTRING; i++) {
    cb_nearest_offer(&search, lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  lua_pushstring(L, search.nearest);
  return 1;
}
