#include "lua/signals.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static struct cb_control control;
static _Atomic int came; /* the signal's number; lock-free, so fit for it */
static _Atomic int64_t came_at; /* milliseconds */
static unsigned depth;
static struct sigaction interrupt_before, terminate_before;

static int64_t milliseconds(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Launchers say SIGTERM more than once: to the process, to its group, to all
 * of a job; and who started us passes it on. That is one wish. */
static bool is_echo(int number)
{
  enum { ECHO_MILLISECONDS = 1000 };
  return number == SIGTERM && atomic_load(&came) == SIGTERM &&
         milliseconds() - atomic_load(&came_at) < ECHO_MILLISECONDS;
}

/* The second signal is delivered to the default action. What the parent asks
 * for does not count: it and a Ctrl-C are often the same event. */
static void handle(int number)
{
  struct sigaction again = {.sa_handler = SIG_DFL};
  if (number == CB_LUA_STOP_CHILD) {
    atomic_store(&control.stop, 1);
    return;
  }
  if (is_echo(number))
    return;
  if (atomic_load(&came)) {
    sigaction(number, &again, NULL);
    raise(number);
    return;
  }
  atomic_store(&came_at, milliseconds());
  atomic_store(&came, number);
  atomic_store(&control.stop, 1);
}

const struct cb_control *cb_lua_stop_control(void)
{
  return &control;
}

int cb_lua_stop_signal(void)
{
  return atomic_load(&came);
}

int cb_lua_arm_signals(lua_State *L)
{
  struct sigaction stop = {.sa_handler = handle};
  (void)L;
  if (depth++ > 0)
    return 0;
  atomic_store(&came, 0);
  atomic_store(&control.stop, 0);
  sigaction(SIGINT, &stop, &interrupt_before);
  sigaction(SIGTERM, &stop, &terminate_before);
  return 0;
}

int cb_lua_disarm_signals(lua_State *L)
{
  (void)L;
  if (depth == 0 || --depth > 0)
    return 0;
  sigaction(SIGINT, &interrupt_before, NULL);
  sigaction(SIGTERM, &terminate_before, NULL);
  return 0;
}

int cb_lua_obey_parent(lua_State *L)
{
  struct sigaction stop = {.sa_handler = handle};
  sigset_t held;

  cb_lua_arm_signals(L);
  sigaction(CB_LUA_STOP_CHILD, &stop, NULL);
  sigemptyset(&held);
  sigaddset(&held, CB_LUA_STOP_CHILD);
  sigaddset(&held, SIGINT);
  sigprocmask(SIG_UNBLOCK, &held, NULL);
  return 0;
}

int cb_lua_stop_signal_number(lua_State *L)
{
  if (cb_lua_stop_signal() == 0)
    return 0;
  lua_pushinteger(L, cb_lua_stop_signal());
  return 1;
}
