/*
 * pool_pair.c - the workload `pool_pair`: coroutines out of a pool and back,
 * none of them run. burst are out at once; as many as a policy keeps for a
 * thread, or in all, and one more, are where it shows its price.
 */
#include "coroutine/here.h"

#include "workload/coroutines.h"
#include "workload/kinds.h"

static void never_run(void *opaque)
{
  (void)opaque;
}

/* Whole bursts, until n coroutines or more were done. */
static uint64_t pairs(struct cb_coroutine_work *work, uint64_t n)
{
  uint64_t done = 0;
  while (done < n && work->status == 0) {
    size_t out;
    for (out = 0; out < work->count; out++) {
      struct cb_coroutine *coroutine =
          cb_take(work->pool, never_run, work, &work->error);
      if (!coroutine) {
        work->status = work->error.code;
        break;
      }
      work->coroutines[out] = coroutine;
    }
    for (size_t i = 0; i < out; i++) {
      work->coroutines[i]->caller = CB_ENDED; /* as if it had run */
      cb_give(work->coroutines[i]);
    }
    work->ended += out;
    done += out;
  }
  return done;
}

static bool proof(const struct coroutine_sums *sums)
{
  return sums->ended == sums->operations;
}

static int configure(const struct cb_spec *spec,
                     const struct cb_backend *backend,
                     struct cb_coroutine_work *work, struct cb_error *error)
{
  (void)backend;
  (void)error;
  work->count = (size_t)cb_spec_integer(spec, "burst");
  return 0;
}

static const struct coroutine_job job = {
    .operation = "one coroutine out of the pool and back, not run",
    .own_loop = pairs,
    .pooled = true,
    .prefills = true,
    .configure = configure,
    .proof = proof};

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  return cb_coroutine_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {
    POOL_OPTION,
    {.name = "burst",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 1,
     .max = 1000000,
     .help = "coroutines that are out at once"},
    PREFILL_OPTION,
    THREADS_OPTION("threads that use the pool at once"),
    BACKEND_OPTION,
    STACK_OPTIONS,
    {.name = NULL}};

const struct cb_workload_kind cb_workload_pool_pair = {
    .kind.name = "pool_pair",
    .kind.summary = "take coroutines from a pool and give them back",
    .kind.options = options,
    .create = create};
