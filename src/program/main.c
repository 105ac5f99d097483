/* main.c - the program: a Lua 5.4 host with cbench inside. */
#include "lua/module.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  lua_State *L = luaL_newstate();
  if (!L)
    return EXIT_FAILURE;
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_cbench);
  lua_setfield(L, -2, "cbench");
  lua_pop(L, 1);
  int status = argc > 1 && luaL_dofile(L, argv[1]);
  if (status)
    fprintf(stderr, "%s: %s\n", argv[0], lua_tostring(L, -1));
  lua_close(L);
  return status;
}
