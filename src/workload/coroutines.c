#include "workload/coroutines.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "pool/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than policies move at once by their presets. */
enum { FURNISHED = 256 };

struct worker {
  _Alignas(CB_APART) struct cb_coroutine_work work;
  uint64_t operations, begun;
  bool filled, furnished;
};

struct state {
  const struct coroutine_job *job;
  const struct cb_backend *backend;
  cb_coroutine_loop *loop;
  struct workload_pool pool; /* without one for comparison kinds */
  uint64_t prefill;          /* for each thread */
  bool keeps;                /* the pool keeps something */
  struct cb_role role;
  struct worker *workers;
};

/* ---- the role ---- */

static uint64_t run(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  struct worker *worker = &state->workers[thread];
  uint64_t done = state->loop(&worker->work, n);
  worker->operations += done;
  return done;
}

/* On the thread itself, because what it ends it keeps. */
static int prefill(struct state *state, struct worker *worker,
                   struct cb_error *error)
{
  if (worker->filled || !state->prefill || !state->pool.pool)
    return 0;
  worker->filled = true;
  return cb_pool_prefill(state->pool.pool, state->prefill, error);
}

/* The first nest, or burst, or the first of what goes round through a shared
 * list finds an empty pool, and costs a hundred times what the others do: no
 * measure of how long a batch should be. */
static void furnish(struct state *state, struct worker *worker)
{
  struct cb_coroutine_work *work = &worker->work;
  uint64_t entered = work->entered, ended = work->ended;
  if (worker->furnished || !state->keeps)
    return;
  worker->furnished = true;
  /* Threads need not be at their fullest together until long after. */
  uint64_t alive = work->depth > work->count ? work->depth : work->count;
  if (state->role.threads > 1 && alive > 1)
    cb_pool_prefill(state->pool.pool, alive + FURNISHED / 2, NULL);
  state->loop(work, work->depth > FURNISHED ? work->depth : FURNISHED);
  work->entered = entered;
  work->ended = ended;
}

/* The first visit of a coroutine is none of a living one: it begins its
 * function, and touches pages that no one has touched. Where there are many, no
 * batch need ever get round to a second. */
static void visit_all(struct state *state, struct cb_coroutine_work *work)
{
  uint64_t entered = work->entered;
  state->loop(work, work->count);
  work->entered = entered;
}

static int begin(void *opaque, unsigned thread, struct cb_error *error)
{
  struct state *state = opaque;
  struct worker *worker = &state->workers[thread];
  int status = prefill(state, worker, error);
  furnish(state, worker);
  if (status < 0 || !state->job->living)
    return status;
  if (state->backend->loops->begin(&worker->work) < 0) {
    *error = worker->work.error;
    return worker->work.error.code;
  }
  worker->begun += worker->work.count;
  visit_all(state, &worker->work);
  return 0;
}

static void end(void *opaque, unsigned thread)
{
  struct state *state = opaque;
  if (state->job->living)
    state->backend->loops->end(&state->workers[thread].work);
}

/* ---- the proof ---- */

static int check_work(const struct cb_coroutine_work *work,
                      struct cb_error *error)
{
  if (work->status == 0)
    return 0;
  return cb_fail(error, work->status, "%s",
                 work->error.code ? work->error.text
                                  : cb_coroutine_message(work->status));
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  struct state *state = opaque;
  struct coroutine_sums sums = {0};
  for (unsigned i = 0; i < state->role.threads; i++) {
    const struct worker *worker = &state->workers[i];
    int status = check_work(&worker->work, error);
    if (status < 0)
      return status;
    sums.operations += worker->operations;
    sums.entered += worker->work.entered;
    sums.ended += worker->work.ended;
    sums.begun += worker->begun;
  }
  if (sums.operations != operations || !state->job->proof(&sums))
    return cb_fail(error, -EPROTO,
                   "for %llu operations %llu bodies were entered and %llu "
                   "ended",
                   (unsigned long long)operations,
                   (unsigned long long)sums.entered,
                   (unsigned long long)sums.ended);
  return state->pool.pool ? cb_workload_pool_check(&state->pool, error) : 0;
}

/* ---- setting up ---- */

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  (void)control;
  (void)error;
  for (unsigned i = 0; i < state->role.threads; i++) {
    struct worker *worker = &state->workers[i];
    worker->operations = worker->begun = 0;
    worker->filled = worker->furnished = false;
    worker->work.entered = worker->work.ended = 0;
    worker->work.status = 0;
    worker->work.error.code = 0;
  }
  if (state->pool.pool)
    cb_workload_pool_setup(&state->pool);
  return 0;
}

static void teardown(void *opaque)
{
  struct state *state = opaque;
  if (state->pool.pool)
    cb_workload_pool_teardown(&state->pool);
}

static size_t counters(void *opaque, struct cb_counter *list, size_t capacity)
{
  const struct state *state = opaque;
  if (!state->pool.pool || !state->job->pooled)
    return 0;
  return cb_workload_pool_counters(&state->pool, list, capacity);
}

static void free_state(struct state *state)
{
  cb_workload_pool_free(&state->pool);
  for (unsigned i = 0; state->workers && i < state->role.threads; i++)
    free(state->workers[i].work.coroutines);
  free(state->workers);
  free(state);
}

static void destroy(struct cb_workload *workload)
{
  free_state(workload->state);
}

/* ---- creating ---- */

static int choose_loop(struct state *state, const char *name,
                       struct cb_error *error)
{
  const struct cb_kind *kind = &state->backend->kind;
  state->loop = state->job->own_loop;
  if (!state->loop)
    memcpy(&state->loop, (const char *)state->backend->loops + state->job->loop,
           sizeof state->loop);
  if (state->job->own_loop && kind->flags & CB_KIND_COMPARISON)
    state->loop = NULL;
  if (!state->loop)
    return cb_fail(error, -ENOTSUP, "the back end '%s' has no '%s'", kind->name,
                   name);
  return 0;
}

static int make_pool(struct state *state, const struct cb_spec *spec,
                     struct cb_error *error)
{
  if (state->job->prefills)
    state->prefill = (uint64_t)cb_spec_integer(spec, "prefill");
  if (state->backend->kind.flags & CB_KIND_COMPARISON)
    return 0;
  state->keeps = state->job->pooled &&
                 cb_spec_kind(cb_spec_spec(spec, "pool")) != &cb_pool_none.kind;
  return cb_workload_pool_init(&state->pool, spec, state->job->pooled, error);
}

static int make_worker(struct state *state, struct worker *worker,
                       const struct cb_spec *spec, struct cb_error *error)
{
  struct cb_coroutine_work *work = &worker->work;
  work->pool = state->pool.pool;
  work->count = state->job->living;
  if (state->job->configure) {
    int status = state->job->configure(spec, state->backend, work, error);
    if (status < 0)
      return status;
  }
  work->coroutines = calloc(work->count + 1, sizeof(struct cb_coroutine *));
  return work->coroutines ? 0 : cb_fail(error, -ENOMEM, "out of memory");
}

static int make_workers(struct state *state, const struct cb_spec *spec,
                        struct cb_error *error)
{
  unsigned threads = state->role.threads;
  int status = 0;
  state->workers = cb_memory_apart(threads * sizeof *state->workers);
  if (!state->workers)
    return cb_fail(error, -ENOMEM, "out of memory");
  if (state->pool.pool)
    status = cb_pool_check_memory(state->prefill * threads, error);
  for (unsigned i = 0; status == 0 && i < threads; i++)
    status = make_worker(state, &state->workers[i], spec, error);
  return status;
}

/* A nest, or a visit of all that live. */
static uint64_t warmup_of(const struct cb_coroutine_work *work)
{
  uint64_t most = work->depth > work->count ? work->depth : work->count;
  return most > 1 ? most : 0;
}

int cb_coroutine_workload(const struct coroutine_job *job,
                          const struct cb_spec *spec,
                          struct cb_workload *workload, struct cb_error *error)
{
  const struct cb_kind *backend = cb_spec_kind(cb_spec_spec(spec, "backend"));
  struct state *state = calloc(1, sizeof *state);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  state->job = job;
  state->backend = (const struct cb_backend *)backend;
  state->role =
      (struct cb_role){.name = "worker",
                       .threads = (unsigned)cb_spec_integer(spec, "threads"),
                       .run = run,
                       .begin = begin,
                       .end = end};

  int status = choose_loop(state, cb_spec_kind(spec)->name, error);
  if (status == 0)
    status = make_pool(state, spec, error);
  if (status == 0)
    status = make_workers(state, spec, error);
  if (status < 0) {
    free_state(state);
    return status;
  }
  *workload =
      (struct cb_workload){.operation = job->operation,
                           .state = state,
                           .roles = &state->role,
                           .role_count = 1,
                           .flags = backend->flags & CB_KIND_INTERPRETER,
                           .setup = setup,
                           .check = check,
                           .counters = counters,
                           .teardown = teardown,
                           .destroy = destroy,
                           .batch_min = state->workers[0].work.depth,
                           .warmup = warmup_of(&state->workers[0].work)};
  return 0;
}
