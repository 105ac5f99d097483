/* loops_tas.c - the run path under the lock kind 'tas'. */
#include "base/lock_tas.h"

#define LOCK tas
#include "service/service_loops.h"
