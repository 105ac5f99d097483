/* loops_cas.c - the run path under the lock kind 'cas'. */
#include "base/lock_cas.h"

#define LOCK cas
#include "service/service_loops.h"
