/* request.c - the workload `request`: what QEMU's test-coroutine calls "Run
 * operation", a coroutine for one request that waits once. */
#include "workload/coroutines.h"
#include "workload/kinds.h"

static bool proof(const struct coroutine_sums *sums)
{
  return sums->entered == sums->operations && sums->ended == sums->operations;
}

static const struct coroutine_job job = {
    .operation = "one coroutine: create, enter, yield, enter, end",
    .loop = COROUTINE_LOOP(request),
    .pooled = true,
    .prefills = true,
    .proof = proof};

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  return cb_coroutine_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {
    BACKEND_OPTION,           POOL_OPTION,   PREFILL_OPTION,
    COROUTINE_THREADS_OPTION, STACK_OPTIONS, {.name = NULL}};

const struct cb_workload_kind cb_workload_request = {
    .kind.name = "request",
    .kind.summary = "a coroutine that yields once and ends (\"Run operation\")",
    .kind.options = options,
    .create = create};
