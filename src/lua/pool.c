#include "lua/pool.h"

#include "lua/object.h"
#include "lua/options.h"

#include <errno.h>
#include <lauxlib.h>
#include <string.h>

#define POOL "cbench.pool"

static struct cb_lua_object *to_pool(lua_State *L, int index)
{
  return luaL_checkudata(L, index, POOL);
}

struct cb_pool *cb_lua_check_pool(lua_State *L, int index)
{
  struct cb_lua_object *self = to_pool(L, index);
  if (!self->object)
    luaL_error(L, "pool is closed");
  return self->object;
}

/* nil, the sentence and the name of the error. */
static int refuse(lua_State *L, const struct cb_error *error)
{
  const char *name = strerrorname_np(-error->code);
  lua_pushnil(L);
  lua_pushstring(L, error->text);
  lua_pushstring(L, name ? name : "EINVAL");
  return 3;
}

/* Idempotent; a pool whose coroutines live stays open. */
static int pool_close(lua_State *L)
{
  struct cb_error error;
  struct cb_lua_object *self = to_pool(L, 1);
  if (self->object && self->uses) {
    cb_fail(&error, -EBUSY, "a service or a measurement uses the pool");
    return refuse(L, &error);
  }
  if (self->object && cb_pool_destroy(self->object, &error) < 0)
    return refuse(L, &error);
  self->object = NULL;
  lua_pushboolean(L, true);
  return 1;
}

static void set_count(lua_State *L, const char *name, uint64_t count)
{
  lua_pushinteger(L, (lua_Integer)count);
  lua_setfield(L, -2, name);
}

static int pool_stats(lua_State *L)
{
  struct cb_pool_stats stats;
  struct cb_stack_options stack;
  struct cb_pool *pool = cb_lua_check_pool(L, 1);
  cb_pool_stats(pool, &stats);
  cb_pool_stack(pool, &stack);
  /* All is read before a table is made, when a finaliser may close the pool. */
  const char *backend = cb_pool_backend(pool)->name;
  lua_createtable(L, 0, 11);
  set_count(L, "hits", stats.hits_local + stats.hits_global);
  set_count(L, "hits_local", stats.hits_local);
  set_count(L, "hits_global", stats.hits_global);
  set_count(L, "new", stats.fresh);
  set_count(L, "deleted", stats.deleted);
  set_count(L, "live", stats.live);
  set_count(L, "idle", stats.idle);
  set_count(L, "peak", stats.peak);
  set_count(L, "stack_size", stack.size);
  lua_pushstring(L, cb_guard_name(stack.guard));
  lua_setfield(L, -2, "guard");
  lua_pushstring(L, backend);
  lua_setfield(L, -2, "backend");
  return 1;
}

/* pool:prefill(n): true, or nil, a sentence, code. */
static int pool_prefill(lua_State *L)
{
  struct cb_error error;
  struct cb_pool *pool = cb_lua_check_pool(L, 1);
  lua_Integer n = luaL_checkinteger(L, 2);
  luaL_argcheck(L, n >= 0 && n <= 10000000, 2,
                "0 to 10000000 coroutines are wanted");
  if (cb_pool_prefill(pool, (size_t)n, &error) < 0)
    return refuse(L, &error);
  lua_pushboolean(L, true);
  return 1;
}

/* pool:trim([keep]): how many idle coroutines were deleted. */
static int pool_trim(lua_State *L)
{
  struct cb_pool *pool = cb_lua_check_pool(L, 1);
  lua_Integer keep = luaL_optinteger(L, 2, 0);
  luaL_argcheck(L, keep >= 0, 2, "a number to keep, 0 or more, is wanted");
  lua_pushinteger(L, (lua_Integer)cb_pool_trim(pool, (size_t)keep));
  return 1;
}

static int pool_tostring(lua_State *L)
{
  struct cb_lua_object *self = to_pool(L, 1);
  if (!self->object)
    lua_pushfstring(L, POOL " (%s, closed): %p", self->kind->name, self);
  else
    lua_pushfstring(L, POOL " (%s, %s): %p", self->kind->name,
                    cb_pool_backend(self->object)->name, self);
  return 1;
}

static const luaL_Reg pool_methods[] = {{"close", pool_close},
                                        {"prefill", pool_prefill},
                                        {"stats", pool_stats},
                                        {"trim", pool_trim},
                                        {NULL, NULL}};

static const luaL_Reg pool_metamethods[] = {{"__close", pool_close},
                                            {"__gc", pool_close},
                                            {"__tostring", pool_tostring},
                                            {NULL, NULL}};

static void set_metatable(lua_State *L)
{
  if (luaL_newmetatable(L, POOL)) {
    luaL_setfuncs(L, pool_metamethods, 0);
    luaL_newlib(L, pool_methods);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
}

static const struct cb_spec *optional_spec(lua_State *L, int index,
                                           const char *family)
{
  if (lua_isnoneornil(L, index))
    return NULL;
  return cb_lua_check_spec(L, index, cb_family_find(family));
}

static enum cb_guard read_guard(lua_State *L, int index)
{
  static const char *const names[] = {"auto", "madvise", "mprotect", "none",
                                      NULL};
  lua_getfield(L, index, "guard");
  enum cb_guard guard = (enum cb_guard)luaL_checkoption(L, -1, "auto", names);
  lua_pop(L, 1);
  return guard;
}

int cb_lua_pool(lua_State *L)
{
  struct cb_error error;
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  lua_getfield(L, 3, "size");
  lua_Integer size = luaL_optinteger(L, -1, 0);
  lua_getfield(L, 3, "colour");
  struct cb_pool_options options = {.policy = optional_spec(L, 1, "pool"),
                                    .backend = optional_spec(L, 2, "backend"),
                                    .stack = {.size = (size_t)size,
                                              .guard = read_guard(L, 3),
                                              .colour = lua_toboolean(L, 5)}};
  struct cb_lua_object *self = lua_newuserdatauv(L, sizeof *self, 0);
  memset(self, 0, sizeof *self);
  self->object = cb_pool_create(&options, &error);
  if (!self->object)
    return refuse(L, &error);
  self->kind = cb_pool_policy(self->object);
  set_metatable(L);
  return 1;
}
