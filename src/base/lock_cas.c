/* lock_cas.c - the lock kind of lock_cas.h. */
#include "base/lock_cas.h"

#include "base/locks.h"

#define LOCK cas
#include "base/lock_loops.h"

const struct cb_lock_kind cb_lock_cas = {
    .kind.name = "cas",
    .kind.summary = "compare and swap from free to held",
    LOCK_FUNCTIONS};
