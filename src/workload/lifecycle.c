/* lifecycle.c - the workload `lifecycle`: coroutines that do nothing. */
#include "workload/coroutines.h"
#include "workload/kinds.h"

static bool proof(const struct coroutine_sums *sums)
{
  return sums->ended == sums->operations;
}

static const struct coroutine_job job = {
    .operation = "one coroutine: create, enter, end",
    .loop = COROUTINE_LOOP(lifecycle),
    .pooled = true,
    .proof = proof};

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  return cb_coroutine_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {BACKEND_OPTION,
                                           POOL_OPTION,
                                           COROUTINE_THREADS_OPTION,
                                           STACK_OPTIONS,
                                           {.name = NULL}};

const struct cb_workload_kind cb_workload_lifecycle = {
    .kind.name = "lifecycle",
    .kind.summary = "create a coroutine and enter it; it ends",
    .kind.options = options,
    .create = create};
