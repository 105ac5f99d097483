/* families.c - every family of kinds there is, by name. */
#include "cbench.h"

#include "base/locks.h"
#include "coroutine/kinds.h"
#include "pool/kinds.h"
#include "ring/ring.h"
#include "workload/calls.h"
#include "workload/kinds.h"
#include "workload/pipeline.h"
#include "workload/services.h"

#include <string.h>

static const struct cb_family *const families[] = {
    &cb_backend_family,
    &cb_pool_family,
    &cb_ring_family,
    &cb_lock_family,
    &cb_call_family,
    &cb_service_family,
    &cb_stage_family,
    &cb_workload_family,
    NULL,
};

const struct cb_family *const *cb_families(void)
{
  return families;
}

const struct cb_family *cb_family_find(const char *name)
{
  for (const struct cb_family *const *family = families; *family; family++)
    if (strcmp((*family)->name, name) == 0)
      return *family;
  return NULL;
}
