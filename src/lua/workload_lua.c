#include "lua/workload_lua.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The function is called on a Lua thread of its own, so that an error in it
 * unwinds no frame of whoever measures, and so that nothing here needs the
 * thread that described the work, which may be gone. */
struct state {
  lua_State *thread; /* anchored in the registry by the address of this */
  bool collecting;   /* the collector was not stopped when this began */
  bool prepared;
  bool loop; /* the function takes n and does n operations */
  bool failed;
  char sentence[200];
  uint64_t calls;
};

static void keep_sentence(struct state *state)
{
  if (lua_type(state->thread, -1) == LUA_TSTRING)
    snprintf(state->sentence, sizeof state->sentence, "%s",
             lua_tostring(state->thread, -1));
  else
    snprintf(state->sentence, sizeof state->sentence,
             "(error object is a %s value)", luaL_typename(state->thread, -1));
  state->failed = true;
  lua_settop(state->thread, 1);
}

static void end_function(lua_State *L, lua_Debug *debug)
{
  (void)debug;
  luaL_error(L, "interrupted");
}

/* The watchdog's. Setting a hook is the one thing that Lua lets others do to a
 * state that runs; it stays set, since the row has failed. */
static void interrupt(void *opaque)
{
  const struct state *state = opaque;
  lua_sethook(state->thread, end_function, LUA_MASKCOUNT, 1);
}

static uint64_t run_calls(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  if (state->failed)
    return 0;
  for (uint64_t i = 0; i < n; i++) {
    lua_pushvalue(state->thread, 1);
    if (lua_pcall(state->thread, 0, 0, 0) != LUA_OK) {
      keep_sentence(state);
      return i;
    }
  }
  state->calls += n;
  return n;
}

static uint64_t run_loop(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  if (state->failed)
    return 0;
  lua_pushvalue(state->thread, 1);
  lua_pushinteger(state->thread, (lua_Integer)n);
  if (lua_pcall(state->thread, 1, 0, 0) != LUA_OK) {
    keep_sentence(state);
    return 0;
  }
  state->calls += n;
  return n;
}

/* No collection inside a batch; what the last one left is collected before
 * the next. */
static int prepare(void *opaque, uint64_t n, struct cb_error *error)
{
  struct state *state = opaque;
  (void)n;
  if (state->failed)
    return cb_fail(error, -EINVAL, "%s", state->sentence);
  if (!state->prepared)
    state->collecting = lua_gc(state->thread, LUA_GCISRUNNING);
  state->prepared = true;
  lua_gc(state->thread, LUA_GCCOLLECT);
  lua_gc(state->thread, LUA_GCSTOP);
  return 0;
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  struct state *state = opaque;
  if (state->failed)
    return cb_fail(error, -EINVAL, "%s", state->sentence);
  if (state->calls != operations)
    return cb_fail(error, -EINVAL, "%llu calls for %llu operations",
                   (unsigned long long)state->calls,
                   (unsigned long long)operations);
  return 0;
}

static void teardown(void *opaque)
{
  struct state *state = opaque;
  if (state->prepared && state->collecting)
    lua_gc(state->thread, LUA_GCRESTART);
  state->prepared = false;
}

static void destroy(struct cb_workload *workload)
{
  struct state *state = workload->state;
  lua_pushnil(state->thread);
  lua_rawsetp(state->thread, LUA_REGISTRYINDEX, state);
  free(state);
}

static const struct cb_role call_role = {
    .name = "caller", .threads = 1, .run = run_calls};
static const struct cb_role loop_role = {
    .name = "caller", .threads = 1, .run = run_loop};

bool cb_lua_is_lua_workload(lua_State *L, int index)
{
  lua_getfield(L, index, "kind");
  const char *kind = lua_tostring(L, -1);
  bool is = kind && strcmp(kind, "lua") == 0;
  lua_pop(L, 1);
  return is;
}

/* Pushes the function that the params at the top describe and returns its key,
 * or pushes a sentence and returns NULL. */
static const char *push_function(lua_State *L, int params)
{
  static const char *const keys[] = {"call", "loop", "code"};
  const char *found = NULL;

  for (int i = 0; i < 3; i++) {
    lua_getfield(L, params, keys[i]);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      continue;
    }
    if (found) {
      lua_pushliteral(L, "lua takes one of call, loop and code, not several");
      return NULL;
    }
    found = keys[i];
  }
  if (!found) {
    lua_pushliteral(L, "lua takes one of call (a function), loop (a function "
                       "of n) and code (a chunk)");
    return NULL;
  }
  if (strcmp(found, "code") == 0) {
    if (lua_type(L, -1) != LUA_TSTRING) {
      lua_pushliteral(L, "option 'code': string expected");
      return NULL;
    }
    if (luaL_loadbufferx(L, lua_tostring(L, -1), lua_rawlen(L, -1), "=code",
                         "t") != LUA_OK)
      return NULL;
  } else if (!lua_isfunction(L, -1)) {
    lua_pushfstring(L, "option '%s': function expected, got %s", found,
                    luaL_typename(L, -1));
    return NULL;
  }
  return found;
}

bool cb_lua_create_lua_workload(lua_State *L, int index,
                                struct cb_workload *workload)
{
  luaL_checkstack(L, 10, NULL);
  lua_getfield(L, index, "params");
  const char *key = push_function(L, lua_gettop(L));
  if (!key)
    return false;
  lua_State *thread = lua_newthread(L);
  lua_insert(L, -2);
  lua_xmove(L, thread, 1);
  struct state *state = calloc(1, sizeof *state);
  if (!state) {
    lua_pushliteral(L, "out of memory");
    return false;
  }
  state->thread = thread;
  state->loop = strcmp(key, "loop") == 0;
  lua_rawsetp(L, LUA_REGISTRYINDEX, state);
  lua_pop(L, strcmp(key, "code") == 0 ? 2 : 1);
  *workload = (struct cb_workload){
      .operation = state->loop ? "one operation of a Lua function of n"
                               : "one call of a Lua function",
      .state = state,
      .roles = state->loop ? &loop_role : &call_role,
      .role_count = 1,
      .flags = CB_KIND_INTERPRETER,
      .prepare = prepare,
      .check = check,
      .interrupt = interrupt,
      .teardown = teardown,
      .destroy = destroy};
  return true;
}

static int refuse(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  (void)spec;
  (void)workload;
  return cb_fail(error, -ENOTSUP, "the workload 'lua' needs a Lua state");
}

static const struct cb_option options[] = {
    {.name = "call",
     .type = CB_STRING,
     .help = "a function, called once an operation"},
    {.name = "loop",
     .type = CB_STRING,
     .help = "a function of n that does n operations itself"},
    {.name = "code",
     .type = CB_STRING,
     .help = "a chunk of Lua, run once an operation"},
    {.name = NULL}};

const struct cb_workload_kind cb_workload_lua = {
    .kind.name = "lua",
    .kind.summary = "a Lua function, called from C",
    .kind.options = options,
    .kind.flags = CB_KIND_INTERPRETER,
    .create = refuse};
