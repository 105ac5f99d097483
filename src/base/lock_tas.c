/* lock_tas.c - the lock kind of lock_tas.h. */
#include "base/lock_tas.h"

#include "base/locks.h"

#define LOCK tas
#include "base/lock_loops.h"

const struct cb_lock_kind cb_lock_tas = {
    .kind.name = "tas",
    .kind.summary = "one exchange; a refused attempt writes too",
    LOCK_FUNCTIONS};
