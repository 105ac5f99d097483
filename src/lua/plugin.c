/* plugin.c - plug-ins: loading one, listing those that are loaded. */
#include "cbench.h"
#include "lua/core.h"

#include "config.h"

#include <lauxlib.h>
#include <string.h>

static void set_string(lua_State *L, const char *key, const char *value)
{
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

/* { path, prefix, name, { family, name }, ... } */
static void push_plugin(lua_State *L, const struct cb_plugin_info *info)
{
  lua_newtable(L);
  set_string(L, "path", info->path);
  set_string(L, "prefix", info->prefix);
  set_string(L, "name", info->name);
  for (size_t i = 0; i < info->count; i++) {
    lua_newtable(L);
    set_string(L, "family", info->entries[i].family->name);
    set_string(L, "name", info->entries[i].kind->name);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

int cb_lua_load_plugin(lua_State *L)
{
  struct cb_error error;
  const struct cb_plugin_info *info = cb_plugin_load(
      luaL_checkstring(L, 1), luaL_optstring(L, 2, NULL), &error);
  if (info) {
    push_plugin(L, info);
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, error.text);
  lua_pushstring(L, strerrorname_np(-error.code));
  return 3;
}

int cb_lua_plugins(lua_State *L)
{
  const struct cb_plugin_info *info;
  lua_newtable(L);
  for (size_t i = 0; (info = cb_plugin_at(i)); i++) {
    push_plugin(L, info);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

int cb_lua_plugin_folder(lua_State *L)
{
  lua_pushstring(L, CB_PLUGIN_FOLDER);
  return 1;
}
