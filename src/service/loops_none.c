/* loops_none.c - the run path under the lock kind 'none'. */
#include "base/lock_none.h"

#define LOCK none
#include "service/service_loops.h"
