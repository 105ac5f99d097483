/* service.c - services as objects. For sets and lcores see services.c. */
#include "lua/services.h"

#include "lua/coroutine.h"
#include "lua/options.h"
#include "service/service.h"
#include "workload/services.h"

#include <errno.h>
#include <lauxlib.h>
#include <stddef.h>
#include <string.h>

#define SERVICE "cbench.service"

static struct cb_lua_service *to_service(lua_State *L, int index)
{
  return luaL_checkudata(L, index, SERVICE);
}

static struct cb_lua_service *check_service(lua_State *L, int index)
{
  struct cb_lua_service *self = to_service(L, index);
  if (!self->head.object)
    luaL_error(L, "service is closed");
  return self;
}

/* NULL once the set is closed, which outlives its objects as a userdata. */
static struct cb_services *set_of(const struct cb_lua_service *self)
{
  return self->set->set;
}

static int succeed(lua_State *L, int status, const struct cb_error *error)
{
  if (status < 0)
    return cb_lua_refuse(L, error);
  lua_pushboolean(L, true);
  return 1;
}

/* ---- registering */

/* The set's table keeps what a service needs under a key of its own: a table
 * { object, spec }, by the service's object. */
static void keep(lua_State *L, int object, int spec)
{
  lua_getiuservalue(L, 1, 1);
  lua_pushvalue(L, object);
  lua_createtable(L, 1, 0);
  lua_pushvalue(L, spec);
  lua_rawseti(L, -2, 1);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* Where the set's table holds the guard. */
static const char guard_key;

struct guard {
  bool armed;
};

static int guard_gc(lua_State *L)
{
  const struct guard *guard = lua_touserdata(L, 1);
  lua_getiuservalue(L, 1, 1);
  if (guard->armed && luaL_testudata(L, -1, "cbench.services") &&
      luaL_getmetafield(L, -1, "__gc") != LUA_TNIL) {
    lua_insert(L, -2);
    lua_call(L, 1, 0);
  }
  return 0;
}

/* A live object that a callback uses must outlive it. When a whole state is
 * closed, objects are finalised in the reverse order of their making: a guard
 * that is made now, and closes the set, comes before the callback's ring. It
 * takes the place of the guard before it. */
static void guard_set(lua_State *L)
{
  struct guard *guard = lua_newuserdatauv(L, sizeof *guard, 1);
  guard->armed = true;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, guard_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);

  lua_getiuservalue(L, 1, 1);
  if (lua_rawgetp(L, -1, &guard_key) == LUA_TUSERDATA)
    ((struct guard *)lua_touserdata(L, -1))->armed = false;
  lua_pop(L, 1);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, &guard_key);
  lua_pop(L, 2);
}

/* No Lua code runs between the look at the live objects, in the box at 3, and
 * their use. */
static void make_native(lua_State *L, const struct cb_spec *spec, bool mt_safe,
                        struct cb_call *call)
{
  struct cb_error error;
  const char *closed = cb_lua_closed_object(L, 3);
  if (closed)
    luaL_argerror(L, 2, lua_pushfstring(L, "%s is closed", closed));
  if (cb_call_make(cb_spec_spec(spec, "call"), mt_safe, call, &error) < 0)
    luaL_argerror(L, 2, lua_pushstring(L, error.text));
}

/* What the service does: one of call (a name, a table, a function) and code. */
static void make_call(lua_State *L, const struct cb_spec *spec, bool mt_safe,
                      struct cb_lua_service *self, struct cb_call *call)
{
  lua_getfield(L, 2, "call");
  lua_getfield(L, 2, "values");
  const char *code = cb_spec_string(spec, "code");
  if (code && !lua_isnil(L, -2))
    luaL_argerror(L, 2, "call or code, not both");
  if (!code && lua_isnil(L, -2))
    luaL_argerror(L, 2, "option 'call' (or 'code') is needed: what it does");
  if (!code && !lua_isnil(L, -1))
    luaL_argerror(L, 2, "option 'values': they go with 'code'");
  if (code) {
    self->code = cb_lua_code_call(L, code, lua_gettop(L), call);
  } else if (lua_isfunction(L, -2)) {
    self->function = cb_lua_function_call(L, -2, call);
  } else {
    make_native(L, spec, mt_safe, call);
  }
  lua_pop(L, 2);
}

/* A finaliser may have closed the set since it was looked at. */
static int add(struct cb_lua_set *set, const struct cb_spec *spec,
               struct cb_lua_service *self, const struct cb_call *call,
               struct cb_error *error)
{
  const struct cb_service service = {
      .name = cb_spec_string(spec, "name"),
      .call = call->call,
      .argument = call->argument,
      .release = call->release,
      .mt_safe = cb_spec_boolean(spec, "mt_safe"),
      .stats = cb_stats_of(cb_spec_string(spec, "stats"))};
  int status = set->set ? cb_service_register(set->set, &service,
                                              &self->handle.id, error)
                        : -EINVAL;
  if (status < 0 && call->release)
    call->release(call->argument);
  return status;
}

static void set_metatable(lua_State *L);
static void close_object(struct cb_lua_service *self);
static void forget(lua_State *L, int index);

static struct cb_lua_service *new_service(lua_State *L, struct cb_lua_set *set)
{
  struct cb_lua_service *self = lua_newuserdatauv(L, sizeof *self, 1);
  memset(self, 0, sizeof *self);
  self->set = set;
  self->handle.set = set->set;
  self->head.kind = cb_kind_at(&cb_service_family, 0);
  set_metatable(L);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return self;
}

/* For whoever measures the service: its callback is Lua and does not return. */
static void interrupt(struct cb_service_handle *handle, bool on)
{
  char *at = (char *)handle - offsetof(struct cb_lua_service, handle);
  const struct cb_lua_service *self = (struct cb_lua_service *)at;
  if (self->code)
    cb_lua_code_interrupt(self->code, on);
  else if (self->function)
    cb_lua_function_interrupt(self->function, on);
}

/* set:register{...}: a service, its component not ready and itself stopped. */
int cb_lua_register(lua_State *L)
{
  static const char *const ours[] = {"values", NULL};
  static const char *const with_call[] = {"values", "call", NULL};
  struct cb_error error;
  struct cb_call call;
  struct cb_lua_set *set = cb_lua_check_set(L, 1);
  lua_settop(L, 2);
  luaL_checktype(L, 2, LUA_TTABLE);
  bool function = lua_getfield(L, 2, "call") == LUA_TFUNCTION;
  lua_pop(L, 1);
  const struct cb_spec *spec =
      cb_lua_service_options(L, 2, "register", function ? with_call : ours);
  struct cb_lua_service *self = new_service(L, set); /* at 4, the spec at 3 */
  if (!cb_spec_string(spec, "name"))
    luaL_argerror(L, 2, "option 'name' is needed");
  keep(L, 4, 3);
  if (lua_getiuservalue(L, 3, 1) == LUA_TTABLE)
    guard_set(L);
  lua_settop(L, 4);
  make_call(L, spec, cb_spec_boolean(spec, "mt_safe"), self, &call);
  if (add(set, spec, self, &call, &error) < 0) {
    close_object(self); /* what it called is released */
    forget(L, 4);
    cb_lua_check_set(L, 1);
    return cb_lua_refuse(L, &error);
  }
  cb_lua_use_objects(L, 3, 1);
  self->uses = true;
  self->handle.flags = call.uncounted ? CB_KIND_INTERPRETER : 0;
  self->handle.own_thread = self->function != NULL;
  self->handle.interrupt = call.uncounted ? interrupt : NULL;
  self->head.object = &self->handle;
  lua_settop(L, 4);
  return 1;
}

/* ---- the end of a service */

static void close_object(struct cb_lua_service *self)
{
  self->head.object = NULL;
  self->function = NULL;
  self->code = NULL;
}

/* Lets go of the live objects in { box }, the table on top of the stack. */
static void let_go(lua_State *L, struct cb_lua_service *self)
{
  lua_rawgeti(L, -1, 1);
  if (self->uses)
    cb_lua_use_objects(L, -1, -1);
  lua_pop(L, 1);
  self->uses = false;
}

/* Gives back what the set keeps for the service at index, whose callback runs
 * no more. */
static void forget(lua_State *L, int index)
{
  lua_getiuservalue(L, index, 1);
  lua_getiuservalue(L, -1, 1);
  lua_pushvalue(L, index);
  if (lua_rawget(L, -2) == LUA_TTABLE)
    let_go(L, to_service(L, index));
  lua_pop(L, 1);
  lua_pushvalue(L, index);
  lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pop(L, 2);
}

void cb_lua_close_services(lua_State *L, int index)
{
  lua_getiuservalue(L, index, 1);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    struct cb_lua_service *service = luaL_testudata(L, -2, SERVICE);
    if (!service)
      continue;
    close_object(service);
    let_go(L, service);
  }
  lua_pop(L, 1);
  lua_newtable(L);
  lua_setiuservalue(L, index, 1);
}

/* A measurement that runs needs the service and its set. */
static int check_unused(const struct cb_lua_service *self,
                        struct cb_error *error)
{
  char name[CB_SERVICE_NAME_SIZE] = "";
  if (!self->head.object || !self->head.uses)
    return 0;
  cb_service_name(set_of(self), self->handle.id, name, NULL);
  return cb_fail(error, -EBUSY, "a measurement uses the service '%s'", name);
}

int cb_lua_check_services_unused(lua_State *L, int index,
                                 struct cb_error *error)
{
  int status = 0;
  lua_getiuservalue(L, index, 1);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    const struct cb_lua_service *service = luaL_testudata(L, -2, SERVICE);
    if (service && status == 0)
      status = check_unused(service, error);
  }
  lua_pop(L, 1);
  return status;
}

/* service:unregister(): from inside its own callback it takes effect when that
 * has returned. Also close, which is idempotent. */
static int unregister(lua_State *L, struct cb_lua_service *self)
{
  struct cb_error error;
  struct cb_services *set = set_of(self);
  uint64_t id = self->handle.id;
  if (check_unused(self, &error) < 0)
    return cb_lua_refuse(L, &error);
  if (cb_service_unregister(set, id, &error) < 0)
    return cb_lua_refuse(L, &error);
  close_object(self);
  if (cb_service_active(set, id, NULL) < 0)
    forget(L, 1);
  lua_pushboolean(L, true);
  return 1;
}

static int service_unregister(lua_State *L)
{
  return unregister(L, check_service(L, 1));
}

static int service_close(lua_State *L)
{
  struct cb_lua_service *self = to_service(L, 1);
  if (self->head.object)
    return unregister(L, self);
  lua_pushboolean(L, true);
  return 1;
}

/* ---- running */

static struct cb_lcore *own_lcore(lua_State *L, struct cb_lua_set *set)
{
  struct cb_error error;
  if (!set->lcore)
    set->lcore = cb_lcore_attach(set->set, &error);
  if (!set->lcore)
    luaL_error(L, "%s", error.text);
  return set->lcore;
}

static int refuse_run(lua_State *L, const struct cb_lua_service *self,
                      int status)
{
  struct cb_error error;
  char name[CB_SERVICE_NAME_SIZE] = "";
  cb_service_name(set_of(self), self->handle.id, name, NULL);
  if (status == -EBUSY)
    cb_fail(&error, status, "the service '%s' is running on another lcore",
            name);
  else if (status == -ENOEXEC)
    cb_fail(&error, status,
            "the service '%s' may not run: its component is not ready, or it "
            "was not started",
            name);
  else
    cb_fail(&error, status, "the service is gone");
  return cb_lua_refuse(L, &error);
}

/* One that unregistered itself in its callback is gone once that has returned,
 * and so is what it used. */
static void forget_if_gone(lua_State *L, struct cb_lua_service *self)
{
  if (!self->head.object && set_of(self) &&
      cb_service_active(set_of(self), self->handle.id, NULL) < 0)
    forget(L, 1);
}

/* A Lua function's own result, left on the stack by the callback. Its error is
 * raised here, after the service has been left. */
static int run_function(lua_State *L, struct cb_lua_service *self,
                        struct cb_lcore *lcore, bool serialize)
{
  struct cb_lua_function *function = self->function;
  lua_State *before = function->caller;
  int top = lua_gettop(L), result;
  function->caller = L;
  function->keep = true;
  const char *held = cb_lua_hold(L, "service's callback");
  int status = cb_service_run(lcore, self->handle.id, serialize, &result);
  cb_lua_hold(L, held);
  function->caller = before;
  function->keep = false;
  if (status < 0)
    return refuse_run(L, self, status);
  bool full = lua_gettop(L) == top, good = function->status == LUA_OK;
  forget_if_gone(L, self);
  if (full)
    return luaL_error(L, "out of memory");
  if (!good)
    return lua_error(L);
  lua_pushboolean(L, true);
  lua_insert(L, -2);
  return 2;
}

static int check_race(const struct cb_lua_service *self,
                      const struct cb_spec *spec, struct cb_error *error)
{
  if (cb_spec_boolean(spec, "serialize") ||
      cb_spec_boolean(spec, "allow_race") ||
      cb_service_mt_safe(set_of(self), self->handle.id, NULL) != 0 ||
      !cb_service_is_mapped(set_of(self), self->handle.id))
    return 0;
  return cb_fail(error, -EPERM,
                 "an lcore may be inside the service, which is not mt_safe: "
                 "say allow_race = true to run it unserialised");
}

/* service:run{ serialize =, allow_race = }: true and the callback's result. */
static int service_run(lua_State *L)
{
  static const char *const nothing[] = {NULL};
  struct cb_error error;
  struct cb_lua_service *self = check_service(L, 1);
  int result;
  lua_settop(L, 2);
  bool serialize = true;
  if (!lua_isnil(L, 2)) {
    const struct cb_spec *spec = cb_lua_service_options(L, 2, "run", nothing);
    check_service(L, 1); /* a finaliser may have unregistered it meanwhile */
    serialize = cb_spec_boolean(spec, "serialize");
    if (check_race(self, spec, &error) < 0)
      return cb_lua_refuse(L, &error);
  }
  struct cb_lcore *lcore = own_lcore(L, self->set);
  if (self->function)
    return run_function(L, self, lcore, serialize);
  int status = cb_service_run(lcore, self->handle.id, serialize, &result);
  if (status < 0)
    return refuse_run(L, self, status);
  lua_pushboolean(L, true);
  lua_pushinteger(L, result);
  return 2;
}

/* ---- states */

/* service:component(ready): is what the service works for there? */
static int service_component(lua_State *L)
{
  struct cb_error error;
  struct cb_lua_service *self = check_service(L, 1);
  luaL_checktype(L, 2, LUA_TBOOLEAN);
  int status = cb_service_component_set(set_of(self), self->handle.id,
                                        lua_toboolean(L, 2), &error);
  return succeed(L, status, &error);
}

static int set_runstate(lua_State *L, bool run)
{
  struct cb_error error;
  struct cb_lua_service *self = check_service(L, 1);
  int status =
      cb_service_runstate_set(set_of(self), self->handle.id, run, &error);
  return succeed(L, status, &error);
}

static int service_start(lua_State *L)
{
  return set_runstate(L, true);
}

static int service_stop(lua_State *L)
{
  return set_runstate(L, false);
}

static int set_map(lua_State *L, bool map)
{
  struct cb_error error;
  unsigned number;
  struct cb_lua_service *self = check_service(L, 1);
  const struct cb_lua_set *set = cb_lua_check_lcore(L, 2, &number);
  luaL_argcheck(L, set == self->set, 2, "an lcore of another set");
  if (map && self->function)
    luaL_argerror(L, 2,
                  "a Lua function runs on the calling thread only (give "
                  "code = for service lcores)");
  int status =
      cb_service_map_set(set_of(self), self->handle.id, number, map, &error);
  return succeed(L, status, &error);
}

static int service_map(lua_State *L)
{
  return set_map(L, true);
}

static int service_unmap(lua_State *L)
{
  return set_map(L, false);
}

/* service:active(): does a callback of it run, on whatever lcore? Also asked
 * of a service that was unregistered. */
static int service_active(lua_State *L)
{
  const struct cb_lua_service *self = to_service(L, 1);
  lua_pushboolean(L,
                  set_of(self) && cb_service_active(set_of(self),
                                                    self->handle.id, NULL) > 0);
  return 1;
}

/* service:quiesce([seconds]): waits until none does. */
static int service_quiesce(lua_State *L)
{
  struct cb_error error;
  const struct cb_lua_service *self = to_service(L, 1);
  double seconds = cb_lua_check_seconds(L, 2);
  int status = 0;
  if (set_of(self))
    status = cb_service_quiesce(set_of(self), self->handle.id, seconds, &error);
  return succeed(L, status, &error);
}

static void set_count(lua_State *L, const char *name, uint64_t count)
{
  lua_pushinteger(L, (lua_Integer)count);
  lua_setfield(L, -2, name);
}

/* service:stats(): calls, idle, errors, ticks, longest, and the first error
 * that a chunk raised. */
static int service_stats(lua_State *L)
{
  static const char *const names[] = {"ticks", "calls", "idle", "errors",
                                      "longest"};
  lua_settop(L, 1);
  lua_createtable(L, 0, 6);
  const struct cb_lua_service *self = check_service(L, 1);
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    uint64_t value = 0;
    cb_service_attr_get(set_of(self), self->handle.id, i, &value, NULL);
    set_count(L, names[i], value);
  }
  if (self->code) {
    char text[200];
    cb_lua_code_error(self->code, text, sizeof text);
    if (text[0]) {
      lua_pushstring(L, text);
      lua_setfield(L, -2, "error");
    }
  }
  return 1;
}

static int service_tostring(lua_State *L)
{
  const struct cb_lua_service *self = to_service(L, 1);
  char name[CB_SERVICE_NAME_SIZE];
  if (self->head.object &&
      cb_service_name(set_of(self), self->handle.id, name, NULL) == 0)
    lua_pushfstring(L, SERVICE " (%s): %p", name, (const void *)self);
  else
    lua_pushfstring(L, SERVICE " (closed): %p", (const void *)self);
  return 1;
}

static const luaL_Reg service_methods[] = {{"active", service_active},
                                           {"close", service_close},
                                           {"component", service_component},
                                           {"map", service_map},
                                           {"quiesce", service_quiesce},
                                           {"run", service_run},
                                           {"start", service_start},
                                           {"stats", service_stats},
                                           {"stop", service_stop},
                                           {"unmap", service_unmap},
                                           {"unregister", service_unregister},
                                           {NULL, NULL}};

/* The set keeps its services, so there is nothing to collect. */
static const luaL_Reg service_metamethods[] = {
    {"__close", service_close}, {"__tostring", service_tostring}, {NULL, NULL}};

static void set_metatable(lua_State *L)
{
  if (luaL_newmetatable(L, SERVICE)) {
    luaL_setfuncs(L, service_metamethods, 0);
    luaL_newlib(L, service_methods);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
}
