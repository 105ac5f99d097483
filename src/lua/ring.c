#include "lua/ring.h"

#include "lua/object.h"
#include "lua/options.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdatomic.h>
#include <string.h>

#define RING "cbench.ring"

/* No ring is larger, so no table that goes in or comes out need be. */
enum { ELEMENTS_MAX = 16777216 };

static struct cb_lua_object *to_ring(lua_State *L)
{
  return luaL_checkudata(L, 1, RING);
}

/* The ring is good until Lua code runs, which may close it: a metamethod, or a
 * finaliser whenever something is allocated. Whoever reads a list or makes room
 * asks again afterwards. */
static struct cb_ring *check_ring(lua_State *L)
{
  struct cb_lua_object *self = to_ring(L);
  if (!self->object)
    luaL_error(L, "ring is closed");
  struct cb_ring *ring = self->object;
  /* Whoever waited in it now would wait for ever. */
  if (atomic_load_explicit(&ring->broken, memory_order_relaxed))
    luaL_error(L, "ring is broken: a thread that waited inside it was stopped; "
                  "it can only be closed");
  return ring;
}

/* What a kind cannot do, and 0 where it cannot hold it, are misuse. */
static int raise(lua_State *L, const struct cb_error *error)
{
  return luaL_error(L, "%s", error->text);
}

/* ---- tables in and out ---- */

/* The list at index as an array, which Lua frees. */
static uint64_t *check_list(lua_State *L, int index, size_t *count)
{
  luaL_checktype(L, index, LUA_TTABLE);
  lua_Integer length = luaL_len(L, index);
  if (length < 0 || length > ELEMENTS_MAX)
    luaL_argerror(L, index, "too many elements");
  *count = (size_t)length;
  uint64_t *values = lua_newuserdatauv(L, (*count + 1) * sizeof *values, 0);
  for (lua_Integer i = 1; i <= length; i++) {
    int is_integer;
    lua_geti(L, index, i);
    values[i - 1] = (uint64_t)lua_tointegerx(L, -1, &is_integer);
    if (!is_integer || lua_type(L, -1) != LUA_TNUMBER) {
      lua_pushfstring(L, "element %I: integer expected, got %s", i,
                      lua_type(L, -1) == LUA_TNUMBER ? lua_tostring(L, -1)
                                                     : luaL_typename(L, -1));
      luaL_argerror(L, index, lua_tostring(L, -1));
    }
    lua_pop(L, 1);
  }
  return values;
}

static uint32_t check_number(lua_State *L, int index)
{
  lua_Integer n = luaL_checkinteger(L, index);
  if (n < 0 || n > ELEMENTS_MAX)
    luaL_argerror(
        L, index,
        lua_pushfstring(L, "%I is out of range [0, %d]", n, ELEMENTS_MAX));
  return (uint32_t)n;
}

/* A table with room for n, pushed before anything is taken out of a ring:
 * filling it cannot fail then. */
static void push_room(lua_State *L, uint32_t n)
{
  lua_createtable(L, (int)n, 0);
}

static void fill(lua_State *L, const uint64_t *values, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) {
    lua_pushinteger(L, (lua_Integer)values[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* ---- single elements ---- */

static int ring_enqueue(lua_State *L)
{
  struct cb_error error;
  struct cb_ring *ring = check_ring(L);
  uint64_t value = (uint64_t)luaL_checkinteger(L, 2);
  int done = cb_ring_enqueue(ring, value, &error);
  if (done < 0)
    return luaL_argerror(L, 2, error.text);
  lua_pushboolean(L, done);
  return 1;
}

static int ring_dequeue(lua_State *L)
{
  uint64_t value;
  if (cb_ring_dequeue(check_ring(L), &value))
    lua_pushinteger(L, (lua_Integer)value);
  else
    lua_pushnil(L);
  return 1;
}

/* ---- many ---- */

typedef int64_t enqueue_many(struct cb_ring *, const uint64_t *, size_t,
                             uint32_t *, struct cb_error *);

/* How many went in, and how much room is left. */
static int put(lua_State *L, enqueue_many *enqueue)
{
  struct cb_error error;
  size_t n;
  uint32_t room = 0;
  check_ring(L);
  const uint64_t *values = check_list(L, 2, &n);
  int64_t done = enqueue(check_ring(L), values, n, &room, &error);
  if (done < 0)
    return raise(L, &error);
  lua_pushinteger(L, (lua_Integer)done);
  lua_pushinteger(L, room);
  return 2;
}

static int ring_enqueue_bulk(lua_State *L)
{
  return put(L, cb_ring_enqueue_bulk);
}

static int ring_enqueue_burst(lua_State *L)
{
  return put(L, cb_ring_enqueue_burst);
}

typedef int64_t dequeue_many(struct cb_ring *, uint64_t *, size_t, uint32_t *,
                             struct cb_error *);

/* A list (of none, or nil, when there were too few) and how many are left. */
static int get(lua_State *L, dequeue_many *dequeue, bool bulk)
{
  struct cb_error error;
  uint64_t capacity = cb_ring_capacity(check_ring(L));
  uint32_t n = check_number(L, 2), left = 0;
  uint32_t most = n < capacity ? n : (uint32_t)capacity;
  uint64_t *values = lua_newuserdatauv(L, (most + 1) * sizeof *values, 0);
  push_room(L, most);
  int64_t done = dequeue(check_ring(L), values, bulk && n > most ? 0 : most,
                         &left, &error);
  if (done < 0)
    return raise(L, &error);
  if (bulk && done < n)
    lua_pushnil(L);
  else
    fill(L, values, (uint32_t)done);
  lua_pushinteger(L, left);
  return 2;
}

static int ring_dequeue_bulk(lua_State *L)
{
  return get(L, cb_ring_dequeue_bulk, true);
}

static int ring_dequeue_burst(lua_State *L)
{
  return get(L, cb_ring_dequeue_burst, false);
}

/* ---- what ptr_ring has ---- */

/* Elements that were given up, with room for all there can be. */
struct dropped {
  uint64_t *values;
  uint32_t count, most;
};

static void drop(void *context, uint64_t value)
{
  struct dropped *dropped = context;
  if (dropped->count < dropped->most)
    dropped->values[dropped->count++] = value;
}

static struct dropped new_dropped(lua_State *L, uint64_t most)
{
  struct dropped dropped = {.most = (uint32_t)most};
  dropped.values = lua_newuserdatauv(L, (most + 1) * sizeof *dropped.values, 0);
  push_room(L, dropped.most);
  return dropped;
}

/* ring:resize(n): the elements that no longer fit, oldest first. */
static int ring_resize(lua_State *L)
{
  struct cb_error error;
  uint64_t count = cb_ring_count(check_ring(L));
  lua_Integer size = luaL_checkinteger(L, 2);
  struct dropped dropped = new_dropped(L, count);
  int status = cb_ring_resize(check_ring(L), size < 0 ? 0 : (uint64_t)size,
                              drop, &dropped, &error);
  if (status == -ENOMEM) {
    lua_pushnil(L);
    lua_pushstring(L, error.text);
    lua_pushliteral(L, "ENOMEM");
    return 3;
  }
  if (status == -EINVAL && size < 0)
    cb_fail(&error, status, "size %lld is out of range [1, %d]",
            (long long)size, ELEMENTS_MAX);
  if (status == -EINVAL)
    return luaL_argerror(L, 2, error.text);
  if (status < 0)
    return raise(L, &error);
  fill(L, dropped.values, dropped.count);
  return 1;
}

/* ring:unconsume(list): how many went back in front; and those that did not,
 * youngest first. */
static int ring_unconsume(lua_State *L)
{
  struct cb_error error;
  size_t n;
  check_ring(L);
  const uint64_t *values = check_list(L, 2, &n);
  struct dropped dropped = new_dropped(L, n);
  int64_t back =
      cb_ring_unconsume(check_ring(L), values, n, drop, &dropped, &error);
  if (back < 0)
    return raise(L, &error);
  fill(L, dropped.values, dropped.count);
  lua_pushinteger(L, (lua_Integer)back);
  lua_insert(L, -2);
  return 2;
}

/* ---- the ring itself ---- */

static int ring_count(lua_State *L)
{
  lua_pushinteger(L, (lua_Integer)cb_ring_count(check_ring(L)));
  return 1;
}

static int ring_free_count(lua_State *L)
{
  lua_pushinteger(L, (lua_Integer)cb_ring_free_count(check_ring(L)));
  return 1;
}

static int ring_capacity(lua_State *L)
{
  lua_pushinteger(L, (lua_Integer)cb_ring_capacity(check_ring(L)));
  return 1;
}

/* Idempotent; a ring that something uses stays open. */
static int ring_close(lua_State *L)
{
  struct cb_lua_object *self = to_ring(L);
  if (self->object && self->uses) {
    lua_pushnil(L);
    lua_pushliteral(L, "a service or a measurement uses the ring");
    lua_pushliteral(L, "EBUSY");
    return 3;
  }
  cb_ring_destroy(self->object);
  self->object = NULL;
  lua_pushboolean(L, true);
  return 1;
}

static int ring_tostring(lua_State *L)
{
  struct cb_lua_object *self = to_ring(L);
  if (!self->object)
    lua_pushfstring(L, RING " (%s, closed): %p", self->kind->name, self);
  else
    lua_pushfstring(L, RING " (%s, %I of %I): %p", self->kind->name,
                    (lua_Integer)cb_ring_count(self->object),
                    (lua_Integer)cb_ring_capacity(self->object), self);
  return 1;
}

static const luaL_Reg ring_methods[] = {{"capacity", ring_capacity},
                                        {"close", ring_close},
                                        {"count", ring_count},
                                        {"dequeue", ring_dequeue},
                                        {"dequeue_bulk", ring_dequeue_bulk},
                                        {"dequeue_burst", ring_dequeue_burst},
                                        {"enqueue", ring_enqueue},
                                        {"enqueue_bulk", ring_enqueue_bulk},
                                        {"enqueue_burst", ring_enqueue_burst},
                                        {"free_count", ring_free_count},
                                        {"resize", ring_resize},
                                        {"unconsume", ring_unconsume},
                                        {NULL, NULL}};

static const luaL_Reg ring_metamethods[] = {{"__close", ring_close},
                                            {"__gc", ring_close},
                                            {"__len", ring_count},
                                            {"__tostring", ring_tostring},
                                            {NULL, NULL}};

static void set_metatable(lua_State *L)
{
  if (luaL_newmetatable(L, RING)) {
    luaL_setfuncs(L, ring_metamethods, 0);
    luaL_newlib(L, ring_methods);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
}

/* A number of threads; nothing where there is no limit. */
static void set_limit(lua_State *L, const char *name, uint32_t limit)
{
  if (limit == 0)
    return;
  lua_pushinteger(L, limit);
  lua_setfield(L, -2, name);
}

static void set_flag(lua_State *L, const char *name, bool flag)
{
  lua_pushboolean(L, flag);
  lua_setfield(L, -2, name);
}

void cb_lua_push_ring_limits(lua_State *L, const struct cb_kind *kind)
{
  const struct cb_ring_kind *ring = (const struct cb_ring_kind *)kind;
  lua_newtable(L);
  set_limit(L, "producers", ring->limits.producers);
  set_limit(L, "consumers", ring->limits.consumers);
  set_flag(L, "zero_allowed", ring->limits.zero_allowed);
  set_flag(L, "late_visible", ring->limits.late_visible);
  set_flag(L, "lazy_free", ring->limits.lazy_free);
  set_flag(L, "forgets", ring->limits.forgets);
  set_flag(L, "enqueue_bulk", ring->ops.enqueue_bulk != NULL);
  set_flag(L, "enqueue_burst", ring->ops.enqueue_burst != NULL);
  set_flag(L, "dequeue_bulk", ring->ops.dequeue_bulk != NULL);
  set_flag(L, "dequeue_burst", ring->ops.dequeue_burst != NULL);
  set_flag(L, "resize", ring->ops.resize != NULL);
  set_flag(L, "unconsume", ring->ops.unconsume != NULL);
}

int cb_lua_ring(lua_State *L)
{
  struct cb_error error;
  const struct cb_spec *spec = cb_lua_new_spec(L, 1, cb_family_find("ring"));
  if (!spec)
    return luaL_argerror(L, 1, lua_tostring(L, -1));
  if (cb_spec_object(spec))
    return luaL_argerror(L, 1, "it is a ring already");
  /* The userdata comes first: once there is a ring, nothing may fail. */
  struct cb_lua_object *self = lua_newuserdatauv(L, sizeof *self, 0);
  memset(self, 0, sizeof *self);
  self->kind = cb_spec_kind(spec);
  set_metatable(L);
  self->object = cb_ring_create(spec, &error);
  if (self->object)
    return 1;
  if (error.code != -ENOMEM)
    return luaL_argerror(L, 1, error.text);
  lua_pushnil(L);
  lua_pushstring(L, error.text);
  lua_pushliteral(L, "ENOMEM");
  return 3;
}
