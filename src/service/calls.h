/* calls.h - the callbacks that are built in, as kinds of the family "call".
 * Those that need a ring or a coroutine live with the workloads. */
#ifndef CB_SERVICE_CALLS_H
#define CB_SERVICE_CALLS_H

#include "cbench.h"

#include "service/service.h"

extern const struct cb_call_kind cb_call_nop, cb_call_spin, cb_call_touch,
    cb_call_again, cb_call_fail;

/* What every built-in callback does first: the count that proves it ran. It
 * is the lcore's own, so it costs an add and disturbs nobody. */
CB_INLINE void cb_call_count(struct cb_lcore *lcore)
{
  lcore->called++;
}

#endif
