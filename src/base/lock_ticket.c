/* lock_ticket.c - the lock kind of lock_ticket.h. */
#include "base/lock_ticket.h"

#include "base/locks.h"

#define LOCK ticket
#include "base/lock_loops.h"

const struct cb_lock_kind cb_lock_ticket = {
    .kind.name = "ticket",
    .kind.summary = "served in the order of arrival",
    LOCK_FUNCTIONS};
