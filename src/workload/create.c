/* create.c - the workload `create`: what a pool saves. The stack is not
 * touched but by what prepares its context. */
#include "workload/coroutines.h"
#include "workload/kinds.h"

static bool proof(const struct coroutine_sums *sums)
{
  return sums->ended == sums->operations;
}

static const struct coroutine_job job = {
    .operation = "create and delete one coroutine, no pool",
    .loop = COROUTINE_LOOP(create),
    .proof = proof};

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  return cb_coroutine_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {
    BACKEND_OPTION, COROUTINE_THREADS_OPTION, STACK_OPTIONS, {.name = NULL}};

const struct cb_workload_kind cb_workload_create = {
    .kind.name = "create",
    .kind.summary = "map a stack, prepare a coroutine on it, delete both",
    .kind.options = options,
    .create = create};
