/* lock_mcs.c - the lock kind of lock_mcs.h. */
#include "base/lock_mcs.h"

#include "base/locks.h"

#define LOCK mcs
#include "base/lock_loops.h"

const struct cb_lock_kind cb_lock_mcs = {
    .kind.name = "mcs",
    .kind.summary = "a queue of waiters, each on a line of its own",
    LOCK_FUNCTIONS};
