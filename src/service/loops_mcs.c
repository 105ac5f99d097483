/* loops_mcs.c - the run path under the lock kind 'mcs'. */
#include "base/lock_mcs.h"

#define LOCK mcs
#include "service/service_loops.h"
