/* locks.h - the lock kinds there are, as structs (see lock.h for the inline
 * operations). */
#ifndef CB_BASE_LOCKS_H
#define CB_BASE_LOCKS_H

#include "cbench.h"

extern const struct cb_lock_kind cb_lock_tas, cb_lock_ttas, cb_lock_cas,
    cb_lock_ticket, cb_lock_mcs, cb_lock_none;
extern const struct cb_family cb_lock_family;

#endif
