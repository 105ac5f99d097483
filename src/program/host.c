/*
 * host.c - a Lua interpreter as its manual page describes lua5.4.
 *
 * The behaviour follows lua5.4 down to the text of messages, since scripts and
 * their users rely on it: what is prefixed, what gets a traceback, what the
 * global `arg` holds, when SIGINT is an error and when it ends the process.
 */
#include "program/host.h"

#include "lua/coroutine.h"

#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *host_prefix;

void host_message(const char *text)
{
  if (host_prefix)
    fprintf(stderr, "%s: ", host_prefix);
  fprintf(stderr, "%s\n", text);
  fflush(stderr);
}

int host_report(lua_State *L, int status)
{
  if (status != LUA_OK) {
    const char *text = lua_tostring(L, -1);
    host_message(text ? text : "(error message not a string)");
    lua_pop(L, 1);
  }
  return status;
}

/* ---- calls ---- */

/* The message handler: an error object that turns itself into text keeps that
 * text, anything else gets a traceback. */
static int add_traceback(lua_State *L)
{
  const char *text = lua_tostring(L, 1);
  if (!text) {
    if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
      return 1;
    text =
        lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
  luaL_traceback(L, L, text, 1);
  return 1;
}

/* The message handler where one line is wanted: FILE:LINE: TEXT. */
static int add_place(lua_State *L)
{
  lua_Debug ar;
  const char *text = lua_tostring(L, 1);
  if (text)
    return 1;
  if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
    return 1;
  for (int level = 1; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline > 0) {
      lua_pushfstring(L, "%s:%d: (error object is a %s value)", ar.short_src,
                      ar.currentline, luaL_typename(L, 1));
      return 1;
    }
  }
  lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  return 1;
}

int host_patience = 1;
static lua_State *interruptible;
static pthread_t interruptible_thread;
static struct cb_lua_thread *_Atomic *threads; /* those that run, or NULL */
static atomic_int patience_left;

static void set_signal(int number, void (*handler)(int))
{
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

static void raise_interrupt(lua_State *L, lua_Debug *ar)
{
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}

static void interrupt(lua_State *L)
{
  lua_sethook(L, raise_interrupt,
              LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/* Setting a hook is all that a handler may do to a Lua state. When patience is
 * at its end the next SIGINT ends the process, in case C code never comes back
 * to Lua. The list of threads holds still only for the thread that runs them:
 * one of a service passes the signal on. */
static void on_interrupt(int number)
{
  if (!pthread_equal(pthread_self(), interruptible_thread)) {
    pthread_kill(interruptible_thread, number);
    return;
  }
  if (atomic_fetch_sub(&patience_left, 1) <= 1)
    set_signal(number, SIG_DFL);
  interrupt(interruptible);
  for (const struct cb_lua_thread *one = threads ? atomic_load(threads) : NULL;
       one; one = one->below)
    interrupt(one->thread);
}

static int call_handled(lua_State *L, int arguments, int results,
                        lua_CFunction handler)
{
  struct sigaction before;
  int base = lua_gettop(L) - arguments;

  lua_pushcfunction(L, handler);
  lua_insert(L, base);
  interruptible = L;
  interruptible_thread = pthread_self();
  atomic_store(&patience_left, host_patience);
  sigaction(SIGINT, NULL, &before);
  set_signal(SIGINT, on_interrupt);
  int status = lua_pcall(L, arguments, results, base);
  sigaction(SIGINT, &before, NULL);
  /* A signal that came too late must not break the next call. */
  if (lua_gethook(L) == raise_interrupt)
    lua_sethook(L, NULL, 0, 0);
  lua_remove(L, base);
  return status;
}

int host_call(lua_State *L, int arguments, int results)
{
  return call_handled(L, arguments, results, add_traceback);
}

int host_call_brief(lua_State *L, int arguments, int results)
{
  return call_handled(L, arguments, results, add_place);
}

/* ---- coroutines ---- */

/* Resumes the thread with the values on top of L, which it takes; returns how
 * many it gives, or -1 with an error object. */
static int resume(lua_State *L, lua_State *thread, int count)
{
  struct cb_lua_thread node;
  int given = 0;
  if (!lua_checkstack(thread, count)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, thread, count);
  cb_lua_push_thread(L, &node, thread);
  int status = lua_resume(thread, L, count, &given);
  cb_lua_pop_thread(L, &node);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(thread, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, given + 1)) {
    lua_pop(thread, given);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(thread, L, given);
  return given;
}

static int watched_resume(lua_State *L)
{
  lua_State *thread = lua_tothread(L, 1);
  luaL_checktype(L, 1, LUA_TTHREAD);
  int given = resume(L, thread, lua_gettop(L) - 1);
  lua_pushboolean(L, given >= 0);
  lua_insert(L, given >= 0 ? -(given + 1) : -2);
  return given >= 0 ? given + 1 : 2;
}

/* What coroutine.wrap returns: an error of the body gets the place of the call
 * ahead of it, and the body's variables are closed. */
static int call_wrapped(lua_State *L)
{
  lua_State *thread = lua_tothread(L, lua_upvalueindex(1));
  int given = resume(L, thread, lua_gettop(L));
  if (given >= 0)
    return given;
  int status = lua_status(thread);
  if (status != LUA_OK && status != LUA_YIELD) {
    status = lua_resetthread(thread);
    lua_xmove(thread, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

static int watched_wrap(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *thread = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, thread, 1);
  lua_pushcclosure(L, call_wrapped, 1);
  return 1;
}

void host_watch_threads(lua_State *L)
{
  static const luaL_Reg functions[] = {
      {"resume", watched_resume}, {"wrap", watched_wrap}, {NULL, NULL}};
  threads = L ? cb_lua_threads(L) : NULL;
  if (!L)
    return;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, LUA_COLIBNAME) == LUA_TTABLE)
    luaL_setfuncs(L, functions, 0);
  lua_pop(L, 2);
}

/* ---- running ---- */

static int run_loaded(lua_State *L, int status)
{
  if (status == LUA_OK)
    status = host_call(L, 0, 0);
  return host_report(L, status);
}

int host_run_text(lua_State *L, const char *text, size_t size,
                  const char *chunk)
{
  return run_loaded(L, luaL_loadbuffer(L, text, size, chunk));
}

int host_run_file(lua_State *L, const char *file)
{
  return run_loaded(L, luaL_loadfile(L, file));
}

int host_require(lua_State *L, const char *name)
{
  const char *equals = strchr(name, '=');
  lua_getglobal(L, "require");
  lua_pushstring(L, equals ? equals + 1 : name);
  int status = host_call(L, 1, 1);
  if (status == LUA_OK) {
    lua_pushglobaltable(L);
    if (equals)
      lua_pushlstring(L, name, (size_t)(equals - name));
    else
      lua_pushstring(L, name);
    lua_pushvalue(L, -3);
    lua_settable(L, -3);
    lua_pop(L, 2);
  }
  return host_report(L, status);
}

int host_run_init(lua_State *L)
{
  const char *chunk = "=LUA_INIT_5_4";
  const char *init = getenv(chunk + 1);
  if (!init) {
    chunk = "=LUA_INIT";
    init = getenv(chunk + 1);
  }
  if (!init)
    return LUA_OK;
  if (*init == '@')
    return host_run_file(L, init + 1);
  return host_run_text(L, init, strlen(init), chunk);
}

/* ---- the global arg ---- */

void host_set_arguments(lua_State *L, char *const *words, int script)
{
  lua_newtable(L);
  for (int i = 0; words[i]; i++) {
    lua_pushstring(L, words[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
}

int host_push_arguments(lua_State *L)
{
  if (lua_getglobal(L, "arg") != LUA_TTABLE)
    luaL_error(L, "'arg' is not a table");
  int table = lua_gettop(L);
  int count = (int)luaL_len(L, table);
  luaL_checkstack(L, count + 3, "too many arguments to script");
  for (int i = 1; i <= count; i++)
    lua_rawgeti(L, table, i);
  lua_remove(L, table);
  return count;
}
