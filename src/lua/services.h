/*
 * services.h - sets of services, services and lcores as Lua objects.
 *
 * A set owns its services and lcores; the objects of those only name them, and
 * keep the set from being collected. What a callback needs (a Lua function, a
 * live ring) is kept by the set until the service is gone.
 */
#ifndef CB_LUA_SERVICES_H
#define CB_LUA_SERVICES_H

#include "cbench.h"
#include "lua/object.h"

#include <lua.h>
#include <stdbool.h>

/* core.services(options): a set, or nil, a sentence and the name of the
 * error. */
int cb_lua_services(lua_State *L);
/* core.quiescence(): how a set of the usual order knows that a service is at
 * rest, "membarrier" or "fence". */
int cb_lua_quiescence(lua_State *L);

/* ---- what the files of these objects share */

/* Userdata "cbench.services". Its user value is a table: service objects to
 * { the box of the spec that they were made from }. */
struct cb_lua_set {
  struct cb_services *set; /* NULL once it is closed */
  struct cb_lcore *lcore;  /* of the thread that runs Lua; made when needed */
};

/* Userdata "cbench.service"; its user value is the set. */
struct cb_lua_service {
  struct cb_lua_object head; /* object is &handle, NULL once unregistered */
  struct cb_service_handle handle;
  struct cb_lua_set *set;
  struct cb_lua_function *function; /* its callback, when that is one */
  struct cb_lua_code *code;
  bool uses; /* counted by the live objects of its spec */
};

/* A Lua function as a callback, on the thread that runs Lua. */
struct cb_lua_function {
  lua_State *own;    /* a Lua thread to call it on */
  lua_State *caller; /* while service:run is at work: whose stack is used */
  bool keep;         /* leave the result on that stack, for service:run */
  int status;        /* of the last call: LUA_OK or an error */
  char own_key, function_key; /* their places in the registry */
};

/* Raises "services are closed" for a set that is. */
struct cb_lua_set *cb_lua_check_set(lua_State *L, int index);
/* Raises "lcore is closed"; the set is open then. number is the lcore's. */
struct cb_lua_set *cb_lua_check_lcore(lua_State *L, int index,
                                      unsigned *number);
/* Seconds to wait, 10 without an argument. */
double cb_lua_check_seconds(lua_State *L, int index);
/* nil, the sentence, the name of the error. */
int cb_lua_refuse(lua_State *L, const struct cb_error *error);

/* Reads options out of the table at index: a spec of one of the kinds in
 * services.c, pushed on the stack. Those in skip (NULL at its end) are left
 * out. Raises what is wrong as a bad argument. */
struct cb_spec *cb_lua_service_options(lua_State *L, int index,
                                       const char *kind,
                                       const char *const *skip);

/* service.c: set:register{...}; -EBUSY and a sentence while a measurement uses
 * a service of the set at index; and the end of all its service objects. */
int cb_lua_register(lua_State *L);
int cb_lua_check_services_unused(lua_State *L, int index,
                                 struct cb_error *error);
void cb_lua_close_services(lua_State *L, int index);

/* service_call.c: a callback out of the function at index; out of a chunk of
 * Lua and the table of plain values at index (or nil), for any lcore. They
 * raise what is wrong. The function is kept by the registry. */
struct cb_lua_function *cb_lua_function_call(lua_State *L, int index,
                                             struct cb_call *call);
struct cb_lua_code *cb_lua_code_call(lua_State *L, const char *source,
                                     int values, struct cb_call *call);
/* The first error that a run of the chunk raised, or "". */
void cb_lua_code_error(struct cb_lua_code *code, char *text, size_t size);
/* Lets runs of the chunk, or of the function, end by an error: those that are
 * at work, and all to come until it is called with false. On any thread. */
void cb_lua_code_interrupt(struct cb_lua_code *code, bool on);
void cb_lua_function_interrupt(struct cb_lua_function *function, bool on);

#endif
