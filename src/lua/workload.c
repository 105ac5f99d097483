#include "lua/workload.h"

#include "lua/options.h"
#include "lua/workload_lua.h"

#include <lauxlib.h>
#include <string.h>

#define WORKLOAD "cbench.work"

/* Its user value is the box of the spec it was made from. While it is alive it
 * is one of those that use the live objects there. */
struct work {
  struct cb_workload workload;
  bool alive, uses;
};

static int work_gc(lua_State *L)
{
  struct work *work = lua_touserdata(L, 1);
  if (work->alive && work->workload.destroy)
    work->workload.destroy(&work->workload);
  work->alive = false;
  lua_getiuservalue(L, 1, 1);
  if (work->uses)
    cb_lua_use_objects(L, -1, -1);
  work->uses = false;
  return 0;
}

static struct work *new_work(lua_State *L)
{
  struct work *work = lua_newuserdatauv(L, sizeof *work, 1);
  memset(work, 0, sizeof *work);
  if (luaL_newmetatable(L, WORKLOAD)) {
    lua_pushcfunction(L, work_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return work;
}

/* Pushes { kind, key = value... }, the form every kind can be given in, from
 * the fields kind and params of the descriptor at index. */
static void push_kind_table(lua_State *L, int index)
{
  lua_newtable(L);
  lua_getfield(L, index, "params");
  if (lua_istable(L, -1))
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
      lua_pushvalue(L, -2);
      lua_pushvalue(L, -2);
      lua_rawset(L, -6);
    }
  lua_pop(L, 1);
  lua_getfield(L, index, "kind");
  lua_rawseti(L, -2, 1);
}

/* Makes the workload from the spec whose box is below the work on the stack. No
 * Lua code runs between the look at its objects and their use. */
static bool create(lua_State *L, struct work *work, const struct cb_spec *spec)
{
  struct cb_error error;
  const char *closed = cb_lua_closed_object(L, -2);
  if (closed) {
    lua_pushfstring(L, "%s is closed", closed);
    return false;
  }
  const struct cb_workload_kind *kind =
      (const struct cb_workload_kind *)cb_spec_kind(spec);
  if (kind->create(spec, &work->workload, &error) < 0) {
    lua_pushstring(L, error.text);
    return false;
  }
  work->alive = true;
  cb_lua_use_objects(L, -2, 1);
  work->uses = true;
  return true;
}

struct cb_workload *cb_lua_new_workload(lua_State *L, int index)
{
  index = lua_absindex(L, index);
  int top = lua_gettop(L);
  if (cb_lua_is_lua_workload(L, index)) {
    struct work *work = new_work(L);
    work->alive = cb_lua_create_lua_workload(L, index, &work->workload);
    if (work->alive)
      return &work->workload;
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    return NULL;
  }

  push_kind_table(L, index);
  struct cb_spec *spec = cb_lua_new_spec(L, -1, cb_family_find("workload"));
  if (spec) {
    struct work *work = new_work(L);
    lua_pushvalue(L, -2); /* the spec lives as long as the workload */
    lua_setiuservalue(L, -2, 1);
    if (create(L, work, spec)) {
      lua_replace(L, top + 1);
      lua_settop(L, top + 1);
      return &work->workload;
    }
  }
  lua_replace(L, top + 1); /* the sentence */
  lua_settop(L, top + 1);
  return NULL;
}

void cb_lua_close_workload(lua_State *L, int index)
{
  lua_pushvalue(L, index);
  if (luaL_callmeta(L, -1, "__gc"))
    lua_pop(L, 1);
  lua_pop(L, 1);
}

/* Returns true, or nil and the sentence on top of the stack. */
static int verdict(lua_State *L, bool good)
{
  if (good) {
    lua_pushboolean(L, true);
    return 1;
  }
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

int cb_lua_check_params(lua_State *L)
{
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  lua_newtable(L);
  lua_pushvalue(L, 1);
  lua_setfield(L, 3, "kind");
  lua_pushvalue(L, 2);
  lua_setfield(L, 3, "params");
  push_kind_table(L, 3);
  return verdict(L, cb_lua_new_spec(L, -1, cb_family_find("workload")));
}

int cb_lua_check_workload(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  bool good = cb_lua_new_workload(L, 1);
  if (good)
    cb_lua_close_workload(L, -1);
  return verdict(L, good);
}
