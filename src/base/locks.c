/* locks.c - the family of the spin locks. */
#include "base/locks.h"

static const struct cb_kind *const kinds[] = {&cb_lock_tas.kind,
                                              &cb_lock_ttas.kind,
                                              &cb_lock_cas.kind,
                                              &cb_lock_ticket.kind,
                                              &cb_lock_mcs.kind,
                                              &cb_lock_none.kind,
                                              NULL};

const struct cb_family cb_lock_family = {
    .name = "lock", .kinds = kinds, .size = sizeof(struct cb_lock_kind)};
