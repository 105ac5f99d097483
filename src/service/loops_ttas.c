/* loops_ttas.c - the run path under the lock kind 'ttas'. */
#include "base/lock_ttas.h"

#define LOCK ttas
#include "service/service_loops.h"
