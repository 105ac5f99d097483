#include "lua/signals.h"

#include <signal.h>
#include <stdatomic.h>

static struct cb_control control;
static _Atomic int came; /* the signal's number; lock-free, so fit for it */
static unsigned depth;
static struct sigaction interrupt_before, terminate_before;

/* The second signal is delivered to the default action. */
static void handle(int number)
{
  struct sigaction again = {.sa_handler = SIG_DFL};
  if (atomic_load(&control.stop)) {
    sigaction(number, &again, NULL);
    raise(number);
    return;
  }
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

int cb_lua_stop_signal_number(lua_State *L)
{
  if (cb_lua_stop_signal() == 0)
    return 0;
  lua_pushinteger(L, cb_lua_stop_signal());
  return 1;
}
