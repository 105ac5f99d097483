#include "lua/coroutine.h"

#include "cbench.h"
#include "lua/pool.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdatomic.h>
#include <string.h>

#define COROUTINE "cbench.coroutine"

/* Each coroutine that enters the next takes some 10 KB, which Lua's own limits
 * do not see: a nest without end would use up all memory. */
enum { STACK_LEAST = 1 << 20, NEST_MOST = 20000 };

struct coroutine {
  struct cb_coroutine *coroutine; /* NULL once it ended or was closed */
  lua_State *thread;              /* the first user value keeps it */
  lua_State *suspended;           /* whose stack the values are on */
  struct coroutine *enterer;      /* whom this one was entered by, in Lua */
  int count;                      /* values that are handed over */
  int status;                     /* of the function when it ended */
  int depth;                      /* of those that are entered, this one too */
  const char *held;               /* by what it may not yield out of */
  struct cb_lua_thread bottom;    /* its thread in the list of those that run */
  struct cb_lua_thread *top;      /* of the list, where it yielded */
  bool entered, ended;
};

/* What all coroutines of one Lua universe share. */
struct world {
  struct coroutine *current;
  struct cb_lua_thread *_Atomic threads;
};

static const char world_key = 'w';

void cb_lua_open_coroutines(lua_State *L)
{
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &world_key) == LUA_TNIL) {
    struct world *world = lua_newuserdatauv(L, sizeof *world, 0);
    world->current = NULL;
    atomic_init(&world->threads, NULL);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &world_key);
  }
  lua_pop(L, 1);
}

/* Allocates nothing, so that no finaliser runs between a check and a switch. */
static struct world *get_world(lua_State *L)
{
  lua_rawgetp(L, LUA_REGISTRYINDEX, &world_key);
  struct world *world = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return world;
}

/* ---- the threads that run ---- */

struct cb_lua_thread *_Atomic *cb_lua_threads(lua_State *L)
{
  return &get_world(L)->threads;
}

void cb_lua_push_thread(lua_State *L, struct cb_lua_thread *node,
                        lua_State *thread)
{
  struct world *world = get_world(L);
  node->thread = thread;
  node->below = atomic_load(&world->threads);
  atomic_store(&world->threads, node);
}

void cb_lua_pop_thread(lua_State *L, const struct cb_lua_thread *node)
{
  atomic_store(&get_world(L)->threads, node->below);
}

/* ---- objects ---- */

/* Pushes the table that finds an object by its address and does not keep it
 * alive. */
static void push_objects(lua_State *L)
{
  if (luaL_getsubtable(L, LUA_REGISTRYINDEX, COROUTINE "s"))
    return;
  lua_newtable(L);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
}

const char *cb_lua_hold(lua_State *L, const char *why)
{
  struct coroutine *current = get_world(L)->current;
  const char *before = current ? current->held : NULL;
  if (current)
    current->held = why;
  return before;
}

static struct coroutine *to_coroutine(lua_State *L, int index)
{
  return luaL_checkudata(L, index, COROUTINE);
}

/* Moves count values from the top of one stack to the other. */
static void hand_over(lua_State *from, lua_State *to, int count)
{
  if (from != to)
    lua_xmove(from, to, count);
}

/* The body: the function and its arguments are on the thread's stack. Errors
 * end here, so that none unwinds into another stack. */
static void run(void *opaque)
{
  struct coroutine *self = opaque;
  lua_State *L = self->thread;
  self->status = lua_pcall(L, self->count, LUA_MULTRET, 0);
  self->suspended = L;
  self->count = lua_gettop(L);
  self->ended = true;
}

/* "Co-routine re-entered recursively", and why. */
static int refuse_entry(lua_State *L, const char *why)
{
  return luaL_error(L, "%s (%s)", cb_coroutine_message(-EBUSY), why);
}

static void check_enterable(lua_State *L, const struct coroutine *self)
{
  if (self->ended)
    refuse_entry(L, "it has ended");
  if (!self->coroutine)
    refuse_entry(L, "it is closed");
  if (self->entered)
    refuse_entry(L, "it is running");
}

/* As Lua says of functions that call each other without end. */
static int check_depth(lua_State *L)
{
  const struct coroutine *current = get_world(L)->current;
  int depth = current ? current->depth + 1 : 1;
  if (depth > NEST_MOST)
    luaL_error(L, "stack overflow (%d coroutines have entered each other)",
               NEST_MOST);
  return depth;
}

/* Switches to the coroutine and, when it ended, forgets it. The threads that
 * ran in it when it yielded run again: they stand on those of whoever enters
 * it now. */
static int switch_to(lua_State *L, struct coroutine *self)
{
  struct world *world = get_world(L);
  struct cb_lua_thread *threads = atomic_load(&world->threads);
  self->entered = true;
  self->enterer = world->current;
  self->bottom.below = threads;
  world->current = self;
  atomic_store(&world->threads, self->top);
  int action = cb_coroutine_enter(self->coroutine);
  self->top = atomic_load(&world->threads);
  atomic_store(&world->threads, threads);
  world->current = self->enterer;
  self->entered = false;
  if (action == CB_TERMINATE)
    self->coroutine = NULL;
  return action;
}

/* co:enter(...): what it yields or returns; raises what it raises. */
static int coroutine_enter(lua_State *L)
{
  struct coroutine *self = to_coroutine(L, 1);
  int count = lua_gettop(L) - 1;
  check_enterable(L, self);
  if (!lua_checkstack(self->suspended, count + 1))
    return luaL_error(L, "too many arguments to enter");
  self->depth = check_depth(L);
  hand_over(L, self->suspended, count);
  self->count = count;
  int action = switch_to(L, self);
  if (action < 0) {
    lua_pop(self->suspended, count);
    return luaL_error(L, "%s", cb_coroutine_message(action));
  }
  if (!lua_checkstack(L, self->count)) {
    lua_pop(self->suspended, self->count);
    return luaL_error(L, "too many results of a coroutine");
  }
  hand_over(self->suspended, L, self->count);
  if (self->ended && self->status != LUA_OK)
    return lua_error(L);
  return self->count;
}

int cb_lua_coroutine_yield(lua_State *L)
{
  struct world *world = get_world(L);
  struct coroutine *self = world->current;
  if (!self || cb_coroutine_self() != self->coroutine)
    return luaL_error(L, "%s", cb_coroutine_message(-EPERM));
  if (self->held)
    return luaL_error(L, "a coroutine cannot yield out of a %s", self->held);
  self->suspended = L;
  self->count = lua_gettop(L);
  int status = cb_coroutine_yield();
  if (status < 0)
    return luaL_error(L, "%s", cb_coroutine_message(status));
  return self->count;
}

/* The object of the running coroutine, or nil. */
int cb_lua_coroutine_self(lua_State *L)
{
  struct coroutine *self = get_world(L)->current;
  if (!self)
    return 0;
  push_objects(L);
  lua_rawgetp(L, -1, self);
  return 1;
}

int cb_lua_coroutine_running(lua_State *L)
{
  lua_pushboolean(L, get_world(L)->current != NULL);
  return 1;
}

/* Is it running, or waiting for one that it entered? */
static int coroutine_entered(lua_State *L)
{
  lua_pushboolean(L, to_coroutine(L, 1)->entered);
  return 1;
}

static int coroutine_status(lua_State *L)
{
  struct coroutine *self = to_coroutine(L, 1);
  const char *status = "suspended";
  if (!self->coroutine)
    status = "dead";
  else if (self->entered)
    status = get_world(L)->current == self ? "running" : "normal";
  lua_pushstring(L, status);
  return 1;
}

/* Frees the stack; what stood on it is not run to its end. Idempotent. */
static int coroutine_close(lua_State *L)
{
  struct coroutine *self = to_coroutine(L, 1);
  if (self->entered)
    return luaL_error(L, "a coroutine that is entered cannot be closed");
  if (self->coroutine) {
    cb_coroutine_destroy(self->coroutine);
    self->coroutine = NULL;
  }
  return 0;
}

static int coroutine_gc(lua_State *L)
{
  struct coroutine *self = to_coroutine(L, 1);
  if (!self->entered && self->coroutine)
    cb_coroutine_destroy(self->coroutine);
  self->coroutine = NULL;
  return 0;
}

static int coroutine_tostring(lua_State *L)
{
  coroutine_status(L);
  lua_pushfstring(L, COROUTINE " (%s): %p", lua_tostring(L, -1),
                  lua_touserdata(L, 1));
  return 1;
}

static const luaL_Reg coroutine_methods[] = {{"close", coroutine_close},
                                             {"enter", coroutine_enter},
                                             {"entered", coroutine_entered},
                                             {"status", coroutine_status},
                                             {NULL, NULL}};

static const luaL_Reg coroutine_metamethods[] = {
    {"__close", coroutine_close},
    {"__gc", coroutine_gc},
    {"__tostring", coroutine_tostring},
    {NULL, NULL}};

static void set_metatable(lua_State *L)
{
  if (luaL_newmetatable(L, COROUTINE)) {
    luaL_setfuncs(L, coroutine_metamethods, 0);
    luaL_newlib(L, coroutine_methods);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
}

int cb_lua_coroutine(lua_State *L)
{
  struct cb_error error;
  struct cb_stack_options stack;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  cb_pool_stack(cb_lua_check_pool(L, 2), &stack);
  lua_settop(L, 2);
  if (stack.size < STACK_LEAST)
    return luaL_error(L,
                      "a pool for Lua functions needs stacks of 1 MiB at "
                      "least, for calls from C to Lua and back; these have "
                      "%I bytes",
                      (lua_Integer)stack.size);
  struct coroutine *self = lua_newuserdatauv(L, sizeof *self, 2);
  memset(self, 0, sizeof *self);
  self->thread = lua_newthread(L);
  self->suspended = self->thread;
  self->bottom.thread = self->thread;
  self->top = &self->bottom;
  lua_setiuservalue(L, 3, 1);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, 3, 2);
  lua_pushvalue(L, 1);
  lua_xmove(L, self->thread, 1);
  /* A finaliser may have closed the pool meanwhile. */
  struct cb_pool *pool = cb_lua_check_pool(L, 2);
  self->coroutine = cb_coroutine_create(pool, run, self, &error);
  if (!self->coroutine) {
    const char *name = strerrorname_np(-error.code);
    lua_pushnil(L);
    lua_pushstring(L, error.text);
    lua_pushstring(L, name ? name : "ENOMEM");
    return 3;
  }
  set_metatable(L);
  push_objects(L);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, self);
  lua_pop(L, 1);
  return 1;
}
