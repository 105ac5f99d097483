/* request.c - the workload `request`: what QEMU's test-coroutine calls "Run
 * operation", a coroutine for one request that waits once. With a burst, so
 * many are begun before the first of them goes on: what one costs when others
 * are in flight, and their stacks no longer all in the nearest cache. */
#include "workload/coroutines.h"
#include "workload/kinds.h"

static bool proof(const struct coroutine_sums *sums)
{
  return sums->entered == sums->operations && sums->ended == sums->operations;
}

enum { BURST_MAX = 256 };

static int configure(const struct cb_spec *spec,
                     const struct cb_backend *backend,
                     struct cb_coroutine_work *work, struct cb_error *error)
{
  (void)backend;
  (void)error;
  work->depth = (uint64_t)cb_spec_integer(spec, "burst");
  return 0;
}

/* Bursts of work->depth, and a last one of what is left. */
static uint64_t run_bursts(struct cb_coroutine_work *work, uint64_t n)
{
  const struct cb_coroutine_loops *loops = work->pool->backend->loops;
  struct cb_coroutine *waiting[BURST_MAX];
  uint64_t items[BURST_MAX] = {0}, done[BURST_MAX], count = 0;
  struct cb_coroutine_line line = {.pool = work->pool,
                                   .yields = 1,
                                   .depth = 1,
                                   .waiting = waiting,
                                   .mask = BURST_MAX - 1,
                                   .done = done};
  while (count < n && line.status == 0) {
    uint64_t left = n - count;
    uint32_t burst = (uint32_t)(left < work->depth ? left : work->depth);
    uint32_t begun = loops->start(&line, items, burst);
    count += loops->resume(&line, begun);
    line.done_count = 0;
  }
  work->entered += line.entered;
  work->ended += line.ended;
  work->status = line.status;
  work->error = line.error;
  return count;
}

static const struct coroutine_job job_bursts = {
    .operation = "one coroutine: create, enter, yield, enter, end",
    .own_loop = run_bursts,
    .configure = configure,
    .pooled = true,
    .prefills = true,
    .proof = proof};

static const struct coroutine_job job = {
    .operation = "one coroutine: create, enter, yield, enter, end",
    .loop = COROUTINE_LOOP(request),
    .pooled = true,
    .prefills = true,
    .proof = proof};

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  bool bursts = cb_spec_integer(spec, "burst") > 1;
  return cb_coroutine_workload(bursts ? &job_bursts : &job, spec, workload,
                               error);
}

static const struct cb_option options[] = {
    BACKEND_OPTION,
    POOL_OPTION,
    {.name = "burst",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 1,
     .max = BURST_MAX,
     .help = "coroutines begun before the first of them goes on"},
    PREFILL_OPTION,
    COROUTINE_THREADS_OPTION,
    STACK_OPTIONS,
    {.name = NULL}};

const struct cb_workload_kind cb_workload_request = {
    .kind.name = "request",
    .kind.summary = "a coroutine that yields once and ends (\"Run operation\")",
    .kind.options = options,
    .create = create};
