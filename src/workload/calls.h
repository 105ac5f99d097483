/* calls.h - the family "call": what a service's callback can be. */
#ifndef CB_WORKLOAD_CALLS_H
#define CB_WORKLOAD_CALLS_H

#include "cbench.h"

extern const struct cb_call_kind cb_call_ring_consume, cb_call_coroutine_resume;
extern const struct cb_family cb_call_family;

/* The callback of a spec of that family. mt_safe asks for one that two lcores
 * may run at once: -ENOTSUP says why there is none. */
int cb_call_make(const struct cb_spec *spec, bool mt_safe, struct cb_call *call,
                 struct cb_error *error);
void cb_call_release(struct cb_call *call);

#endif
