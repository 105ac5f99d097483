/* yield.c - the workload `yield`: one coroutine that is entered and yields. */
#include "workload/coroutines.h"
#include "workload/kinds.h"

static bool proof(const struct coroutine_sums *sums)
{
  return sums->entered == sums->operations && sums->ended == sums->begun;
}

static const struct coroutine_job job = {
    .operation = "one enter and one yield of a living coroutine",
    .loop = COROUTINE_LOOP(yield),
    .living = true,
    .proof = proof};

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  return cb_coroutine_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {
    BACKEND_OPTION, COROUTINE_THREADS_OPTION, STACK_OPTIONS, {.name = NULL}};

const struct cb_workload_kind cb_workload_yield = {
    .kind.name = "yield",
    .kind.summary = "enter a coroutine, which yields",
    .kind.options = options,
    .create = create};
