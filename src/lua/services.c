/* services.c - sets of services and their lcores. For services see service.c.
 */
#include "lua/services.h"

#include "base/locks.h"
#include "lua/options.h"
#include "workload/calls.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#define SET "cbench.services"
#define LCORE "cbench.lcore"

/* How long closing waits for callbacks: by request, and in the collector. */
static const double patience = 10, patience_gc = 2;

/* ---- options */

static const struct cb_option set_options[] = {
    {.name = "lock",
     .type = CB_KIND,
     .preset = "ttas",
     .family = &cb_lock_family,
     .help = "the lock around what is not mt_safe"},
    {.name = "order",
     .type = CB_CHOICE,
     .preset = "acqrel",
     .choices = "acqrel|seqcst|fence",
     .help = "memory order of the run path"},
    {.name = NULL}};

static const struct cb_option register_options[] = {
    {.name = "name", .type = CB_STRING, .help = "told from others by it"},
    {.name = "call",
     .type = CB_KIND,
     .family = &cb_call_family,
     .help = "what it does: a name, a table, or a Lua function"},
    {.name = "code",
     .type = CB_STRING,
     .help = "a chunk of Lua that any lcore can run"},
    {.name = "values", .type = CB_STRING, .help = "globals of that chunk"},
    {.name = "mt_safe",
     .type = CB_BOOLEAN,
     .preset = "false",
     .help = "two lcores may be inside at once"},
    {.name = "stats",
     .type = CB_CHOICE,
     .preset = "off",
     .choices = "off|count|time|chain",
     .help = "what each run records"},
    {.name = NULL}};

static const struct cb_option run_options[] = {
    {.name = "serialize",
     .type = CB_BOOLEAN,
     .preset = "true",
     .help = "take the lock where the service is not mt_safe"},
    {.name = "allow_race",
     .type = CB_BOOLEAN,
     .preset = "false",
     .help = "go in without the lock although others may be inside"},
    {.name = NULL}};

static const struct cb_option lcore_options[] = {
    {.name = "cpu",
     .type = CB_INTEGER,
     .preset = "-1",
     .min = -1,
     .max = 1048575,
     .help = "the CPU that its thread is tied to; -1: none"},
    {.name = NULL}};

static const struct cb_kind option_kinds[] = {
    {.name = "services", .options = set_options},
    {.name = "register", .options = register_options},
    {.name = "run", .options = run_options},
    {.name = "lcore", .options = lcore_options}};

static const struct cb_kind *const option_table[] = {
    &option_kinds[0], &option_kinds[1], &option_kinds[2], &option_kinds[3],
    NULL};

static const struct cb_family option_family = {
    .name = "option", .kinds = option_table, .size = sizeof(struct cb_kind)};

static bool among(const char *key, const char *const *names)
{
  while (*names && strcmp(*names, key) != 0)
    names++;
  return *names != NULL;
}

struct cb_spec *cb_lua_service_options(lua_State *L, int index,
                                       const char *kind,
                                       const char *const *skip)
{
  if (!lua_isnoneornil(L, index))
    luaL_checktype(L, index, LUA_TTABLE);
  lua_newtable(L);
  int copy = lua_gettop(L);
  lua_pushstring(L, kind);
  lua_rawseti(L, copy, 1);
  if (lua_istable(L, index))
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
      if (lua_type(L, -2) != LUA_TSTRING)
        luaL_argerror(L, index, "options have names, as in { name = ... }");
      if (among(lua_tostring(L, -2), skip))
        continue;
      lua_pushvalue(L, -2);
      lua_pushvalue(L, -2);
      lua_rawset(L, copy);
    }
  struct cb_spec *spec = cb_lua_new_spec(L, copy, &option_family);
  if (!spec)
    luaL_argerror(L, index, lua_tostring(L, -1));
  lua_remove(L, copy);
  return spec;
}

int cb_lua_refuse(lua_State *L, const struct cb_error *error)
{
  const char *name = strerrorname_np(-error->code);
  lua_pushnil(L);
  lua_pushstring(L, error->text);
  lua_pushstring(L, name ? name : "EINVAL");
  return 3;
}

static int succeed(lua_State *L, int status, const struct cb_error *error)
{
  if (status < 0)
    return cb_lua_refuse(L, error);
  lua_pushboolean(L, true);
  return 1;
}

/* ---- sets */

struct cb_lua_set *cb_lua_check_set(lua_State *L, int index)
{
  struct cb_lua_set *self = luaL_checkudata(L, index, SET);
  if (!self->set)
    luaL_error(L, "services are closed");
  return self;
}

/* Lets chunks that would run for ever end by an error, or run on. */
static void interrupt_all(lua_State *L, int index, bool on)
{
  lua_getiuservalue(L, index, 1);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    const struct cb_lua_service *service =
        luaL_testudata(L, -2, "cbench.service");
    if (service && service->code)
      cb_lua_code_interrupt(service->code, on);
  }
  lua_pop(L, 1);
}

static int close_set(lua_State *L, double seconds, struct cb_error *error)
{
  struct cb_lua_set *self = luaL_checkudata(L, 1, SET);
  if (!self->set)
    return 0;
  int status = cb_lua_check_services_unused(L, 1, error);
  if (status < 0)
    return status;
  status = cb_services_destroy(self->set, seconds / 2, error);
  if (status == -ETIMEDOUT) {
    interrupt_all(L, 1, true);
    status = cb_services_destroy(self->set, seconds / 2, error);
  }
  if (status < 0)
    return status;
  self->set = NULL;
  self->lcore = NULL;
  cb_lua_close_services(L, 1);
  return 0;
}

/* A set that could not be closed in time is still there to be used. */
static int end_set(lua_State *L, double seconds)
{
  struct cb_error error;
  int status = close_set(L, seconds, &error);
  if (status == -ETIMEDOUT)
    interrupt_all(L, 1, false);
  return succeed(L, status, &error);
}

/* set:close([seconds]): stops the lcores and waits for them. Idempotent. */
static int set_close(lua_State *L)
{
  luaL_checkudata(L, 1, SET);
  return end_set(L, cb_lua_check_seconds(L, 2));
}

/* __close has an error, or nil, as its second argument. */
static int set_leave(lua_State *L)
{
  return end_set(L, patience);
}

/* A set that cannot be taken apart stays, with the thread that is stuck in
 * it. */
static int set_gc(lua_State *L)
{
  close_set(L, patience_gc, NULL);
  return 0;
}

static int set_tostring(lua_State *L)
{
  const struct cb_lua_set *self = luaL_checkudata(L, 1, SET);
  if (self->set)
    lua_pushfstring(L, SET " (%d services, %d lcores): %p",
                    (int)cb_service_count(self->set),
                    (int)cb_lcore_count(self->set), (const void *)self);
  else
    lua_pushfstring(L, SET " (closed): %p", (const void *)self);
  return 1;
}

/* set:dump(): what there is and what it has done, as text. */
static int set_dump(lua_State *L)
{
  size_t size = 0, length;
  luaL_Buffer buffer;
  cb_service_dump(cb_lua_check_set(L, 1)->set, CB_SERVICE_ALL, NULL, 0, &length,
                  NULL);
  do { /* counts may grow between the two, and a finaliser close the set */
    size = length + 100;
    luaL_buffinitsize(L, &buffer, size);
    cb_service_dump(cb_lua_check_set(L, 1)->set, CB_SERVICE_ALL,
                    luaL_buffaddr(&buffer), size, &length, NULL);
    if (length > size)
      luaL_pushresultsize(&buffer, 0);
  } while (length > size);
  luaL_pushresultsize(&buffer, length - 1);
  return 1;
}

/* ---- lcores */

/* Userdata LCORE; its user value is the set. */
struct lcore {
  struct cb_lua_set *set; /* NULL once the lcore is closed */
  unsigned number;
  int cpu;
};

struct cb_lua_set *cb_lua_check_lcore(lua_State *L, int index, unsigned *number)
{
  const struct lcore *self = luaL_checkudata(L, index, LCORE);
  if (!self->set || !self->set->set)
    luaL_error(L, "lcore is closed");
  *number = self->number;
  return self->set;
}

static int add_lcore(struct cb_services *set, struct lcore *lcore,
                     struct cb_error *error)
{
  int status;
  unsigned number = 0;
  do
    status = cb_lcore_add(set, number++, lcore->cpu, error);
  while (status == -EALREADY);
  lcore->number = number - 1;
  return status;
}

/* lcore:close(): gives the thread back; nil, a sentence, "EBUSY" while it
 * runs. Idempotent. */
static int lcore_close(lua_State *L)
{
  struct cb_error error;
  struct lcore *self = luaL_checkudata(L, 1, LCORE);
  int status = 0;
  if (self->set && self->set->set)
    status = cb_lcore_del(self->set->set, self->number, &error);
  if (status == 0)
    self->set = NULL;
  return succeed(L, status, &error);
}

static int lcore_start(lua_State *L)
{
  struct cb_error error;
  unsigned number;
  struct cb_services *set = cb_lua_check_lcore(L, 1, &number)->set;
  return succeed(L, cb_lcore_start(set, number, &error), &error);
}

static int lcore_stop(lua_State *L)
{
  struct cb_error error;
  unsigned number;
  struct cb_services *set = cb_lua_check_lcore(L, 1, &number)->set;
  return succeed(L, cb_lcore_stop(set, number, &error), &error);
}

double cb_lua_check_seconds(lua_State *L, int index)
{
  double seconds = luaL_optnumber(L, index, patience);
  luaL_argcheck(L, seconds >= 0 && seconds <= 1e6, index,
                "seconds, 0 to 1000000, are wanted");
  return seconds;
}

/* lcore:join([seconds]): waits until it has come to rest. */
static int lcore_join(lua_State *L)
{
  struct cb_error error;
  unsigned number;
  struct cb_services *set = cb_lua_check_lcore(L, 1, &number)->set;
  double seconds = cb_lua_check_seconds(L, 2);
  return succeed(L, cb_lcore_join(set, number, seconds, &error), &error);
}

static int lcore_active(lua_State *L)
{
  unsigned number;
  struct cb_services *set = cb_lua_check_lcore(L, 1, &number)->set;
  lua_pushboolean(L, cb_lcore_active(set, number, NULL) > 0);
  return 1;
}

static int lcore_stats(lua_State *L)
{
  unsigned number;
  uint64_t loops = 0, ticks = 0;
  const struct lcore *self = lua_touserdata(L, 1);
  struct cb_services *set = cb_lua_check_lcore(L, 1, &number)->set;
  cb_lcore_attr_get(set, number, CB_LCORE_LOOPS, &loops, NULL);
  cb_lcore_attr_get(set, number, CB_LCORE_TICKS, &ticks, NULL);
  int services = cb_lcore_count_services(set, number, NULL);
  lua_createtable(L, 0, 5);
  lua_pushinteger(L, (lua_Integer)loops);
  lua_setfield(L, -2, "loops");
  lua_pushinteger(L, (lua_Integer)ticks);
  lua_setfield(L, -2, "ticks");
  lua_pushinteger(L, number);
  lua_setfield(L, -2, "number");
  lua_pushinteger(L, services);
  lua_setfield(L, -2, "services");
  if (self->cpu >= 0) {
    lua_pushinteger(L, self->cpu);
    lua_setfield(L, -2, "cpu");
  }
  return 1;
}

static int lcore_tostring(lua_State *L)
{
  const struct lcore *self = luaL_checkudata(L, 1, LCORE);
  if (self->set && self->set->set)
    lua_pushfstring(L, LCORE " (%d): %p", (int)self->number,
                    (const void *)self);
  else
    lua_pushfstring(L, LCORE " (closed): %p", (const void *)self);
  return 1;
}

static const luaL_Reg lcore_methods[] = {{"active", lcore_active},
                                         {"close", lcore_close},
                                         {"join", lcore_join},
                                         {"start", lcore_start},
                                         {"stats", lcore_stats},
                                         {"stop", lcore_stop},
                                         {NULL, NULL}};

/* The set ends what was not closed, so there is nothing to collect. */
static const luaL_Reg lcore_metamethods[] = {
    {"__close", lcore_close}, {"__tostring", lcore_tostring}, {NULL, NULL}};

static void set_metatable(lua_State *L, const char *name,
                          const luaL_Reg *metamethods, const luaL_Reg *methods)
{
  if (luaL_newmetatable(L, name)) {
    luaL_setfuncs(L, metamethods, 0);
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
}

/* set:lcore{ cpu = }: a service lcore, stopped, with the lowest free number. */
static int set_lcore(lua_State *L)
{
  struct cb_error error;
  static const char *const nothing[] = {NULL};
  cb_lua_check_set(L, 1);
  lua_settop(L, 2);
  const struct cb_spec *spec = cb_lua_service_options(L, 2, "lcore", nothing);
  struct lcore *self = lua_newuserdatauv(L, sizeof *self, 1);
  *self = (struct lcore){.cpu = (int)cb_spec_integer(spec, "cpu")};
  set_metatable(L, LCORE, lcore_metamethods, lcore_methods);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  /* A finaliser may have closed the set meanwhile. */
  struct cb_lua_set *set = cb_lua_check_set(L, 1);
  if (add_lcore(set->set, self, &error) < 0)
    return cb_lua_refuse(L, &error);
  self->set = set;
  return 1;
}

static const luaL_Reg set_methods[] = {{"close", set_close},
                                       {"dump", set_dump},
                                       {"lcore", set_lcore},
                                       {"register", cb_lua_register},
                                       {NULL, NULL}};

static const luaL_Reg set_metamethods[] = {{"__close", set_leave},
                                           {"__gc", set_gc},
                                           {"__tostring", set_tostring},
                                           {NULL, NULL}};

int cb_lua_quiescence(lua_State *L)
{
  struct cb_error error;
  struct cb_services *set = cb_services_create(NULL, NULL, &error);
  if (!set)
    return luaL_error(L, "%s", error.text);
  lua_pushstring(L, cb_services_quiescence(set));
  cb_services_destroy(set, 0, NULL);
  return 1;
}

int cb_lua_services(lua_State *L)
{
  struct cb_error error;
  static const char *const nothing[] = {NULL};
  lua_settop(L, 1);
  const struct cb_spec *spec =
      cb_lua_service_options(L, 1, "services", nothing);
  struct cb_lua_set *self = lua_newuserdatauv(L, sizeof *self, 1);
  *self = (struct cb_lua_set){.set = NULL};
  set_metatable(L, SET, set_metamethods, set_methods);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  self->set = cb_services_create(cb_spec_kind(cb_spec_spec(spec, "lock"))->name,
                                 cb_spec_string(spec, "order"), &error);
  return self->set ? 1 : cb_lua_refuse(L, &error);
}
