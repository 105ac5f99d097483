/*
 * signals.h - ending a measurement by Ctrl-C or SIGTERM with what there is.
 *
 * While armed, the first SIGINT or SIGTERM sets the stop flag that measuring
 * looks at between batches; the second one kills (a SIGTERM only when it comes
 * more than a second later). Handlers that were there before are put back when
 * disarmed.
 */
#ifndef CB_LUA_SIGNALS_H
#define CB_LUA_SIGNALS_H

#include "cbench.h"

#include <lua.h>
#include <signal.h>

/* The flag, for struct cb_measure_options. */
const struct cb_control *cb_lua_stop_control(void);

/* The signal that came since arming, or 0. */
int cb_lua_stop_signal(void);

/* How a process that measures is asked by its parent to stop. It starts with
 * this and SIGINT blocked, so that neither can hit it before it is ready. */
#define CB_LUA_STOP_CHILD SIGUSR1

/* core.obey_parent(): what such a process does when it is ready; arms. */
int cb_lua_obey_parent(lua_State *L);

/* core.arm_signals(): from now on signals stop what is measured; calls may be
 * nested. core.disarm_signals() ends it. core.stop_signal(): the number of the
 * signal that has come since the outermost arming, or nil. */
int cb_lua_arm_signals(lua_State *L);
int cb_lua_disarm_signals(lua_State *L);
int cb_lua_stop_signal_number(lua_State *L);

#endif
