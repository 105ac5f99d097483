/*
 * coroutine.h - Lua functions in stackful coroutines.
 *
 * Each object has a C coroutine and a Lua thread of its own. While a coroutine
 * is suspended, the values that it yielded or that it will get lie on the
 * stack of the Lua thread that called yield.
 */
#ifndef CB_LUA_COROUTINE_H
#define CB_LUA_COROUTINE_H

#include <lua.h>
#include <stdbool.h>

/* Makes what the rest needs; once, when the module is opened. */
void cb_lua_open_coroutines(lua_State *L);

/* core.coroutine(f, pool): a suspended coroutine out of the pool object, whose
 * stacks have a mebibyte at least. nil, a sentence and the name of the error
 * when it cannot be made. */
int cb_lua_coroutine(lua_State *L);

/* core.coroutine_yield(...), core.coroutine_self(),
 * core.coroutine_running(). */
int cb_lua_coroutine_yield(lua_State *L);
int cb_lua_coroutine_self(lua_State *L);
int cb_lua_coroutine_running(lua_State *L);

/* Forbids the running coroutine, if there is one, to yield out of what begins
 * here ("measurement"): one that never came back would leave threads pinned and
 * work half done. Those that it enters meanwhile may yield to it. Returns what
 * is to be handed in, in the same coroutine, when it is over. */
const char *cb_lua_hold(lua_State *L, const char *why);

/* ---- the Lua threads that run ----
 *
 * A hook is of one Lua thread, so whoever wants to interrupt what runs must
 * know the threads: the one at the top runs, and those below wait for it. A
 * signal handler on the thread that runs Lua may read the list. Coroutines of
 * cbench keep the list themselves; who resumes a thread of Lua's own can add
 * it. The main thread is not in it. */
struct cb_lua_thread {
  lua_State *thread;
  struct cb_lua_thread *below;
};

/* Where the top is; valid as long as the Lua state. */
struct cb_lua_thread *_Atomic *cb_lua_threads(lua_State *L);

/* Put a thread on top of the list, right before it is resumed, and take it off
 * when it came back. The node stays where it is meanwhile. */
void cb_lua_push_thread(lua_State *L, struct cb_lua_thread *node,
                        lua_State *thread);
void cb_lua_pop_thread(lua_State *L, const struct cb_lua_thread *node);

#endif
