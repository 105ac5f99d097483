/*
 * nesting.c - the workload `nesting`: each coroutine creates the next, enters
 * it and ends after it.
 *
 * A nest is not divided: a batch of n operations is as many whole nests as make
 * n or more, and says how many that were. All coroutines of a nest are alive
 * at its deepest point, so a pool that keeps fewer shows as `new`.
 */
#include "workload/coroutines.h"
#include "workload/kinds.h"

#include <errno.h>

/* Nested calls stand on one stack, that of the thread. */
enum { CALLS_MAX = 50000 };

static bool proof(const struct coroutine_sums *sums)
{
  return sums->entered == sums->operations && sums->ended == sums->operations;
}

static int configure(const struct cb_spec *spec,
                     const struct cb_backend *backend,
                     struct cb_coroutine_work *work, struct cb_error *error)
{
  work->depth = (uint64_t)cb_spec_integer(spec, "depth");
  if (backend->kind.flags & CB_KIND_COMPARISON && work->depth > CALLS_MAX)
    return cb_fail(error, -ENOTSUP,
                   "option 'depth': '%s' nests on the stack of its thread, at "
                   "most %d deep, not %llu",
                   backend->kind.name, CALLS_MAX,
                   (unsigned long long)work->depth);
  return 0;
}

static const struct coroutine_job job = {
    .operation = "one coroutine of the nest: create, enter, end",
    .loop = COROUTINE_LOOP(nesting),
    .pooled = true,
    .configure = configure,
    .proof = proof};

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  return cb_coroutine_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {BACKEND_OPTION,
                                           {.name = "depth",
                                            .type = CB_INTEGER,
                                            .preset = "1000",
                                            .min = 1,
                                            .max = 1000000,
                                            .help = "coroutines in each other"},
                                           POOL_OPTION,
                                           COROUTINE_THREADS_OPTION,
                                           STACK_OPTIONS,
                                           {.name = NULL}};

const struct cb_workload_kind cb_workload_nesting = {
    .kind.name = "nesting",
    .kind.summary = "coroutines that each create and enter the next",
    .kind.options = options,
    .create = create};
