/* lock_ttas.c - the lock kind of lock_ttas.h. */
#include "base/lock_ttas.h"

#include "base/locks.h"

#define LOCK ttas
#include "base/lock_loops.h"

const struct cb_lock_kind cb_lock_ttas = {
    .kind.name = "ttas",
    .kind.summary = "reads before it exchanges; a refused attempt only reads",
    LOCK_FUNCTIONS};
