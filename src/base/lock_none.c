/* lock_none.c - the lock kind of lock_none.h. */
#include "base/lock_none.h"

#include "base/locks.h"

#define LOCK none
#include "base/lock_loops.h"

const struct cb_lock_kind cb_lock_none = {
    .kind.name = "none",
    .kind.summary = "excludes nobody: what the others are compared with",
    .kind.flags = CB_KIND_COMPARISON,
    .threads = 1,
    LOCK_FUNCTIONS};
