/* loops_ticket.c - the run path under the lock kind 'ticket'. */
#include "base/lock_ticket.h"

#define LOCK ticket
#include "service/service_loops.h"
