#include "workload/coroutines.h"

#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>

typedef uint64_t cb_loop(struct cb_coroutine_work *work, uint64_t n);

struct worker {
  _Alignas(CB_APART) struct cb_coroutine_work work;
  uint64_t operations, begun;
};

struct state {
  const struct coroutine_job *job;
  const struct cb_backend *backend;
  cb_loop *loop;
  struct cb_pool *pool; /* NULL for comparison kinds */
  bool lent;            /* the pool is somebody's, to be left as it was */
  struct cb_pool_stats before;
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

static int begin(void *opaque, unsigned thread, struct cb_error *error)
{
  struct state *state = opaque;
  struct worker *worker = &state->workers[thread];
  if (state->backend->loops->begin(&worker->work) < 0) {
    *error = worker->work.error;
    return worker->work.error.code;
  }
  worker->begun += worker->work.count;
  return 0;
}

static void end(void *opaque, unsigned thread)
{
  struct state *state = opaque;
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

static int check_pool(const struct state *state, struct cb_error *error)
{
  struct cb_pool_stats stats;
  if (!state->pool)
    return 0;
  cb_pool_stats(state->pool, &stats);
  if (stats.live != state->before.live)
    return cb_fail(error, -EPROTO, "%llu coroutines have not ended",
                   (unsigned long long)(stats.live - state->before.live));
  if (stats.fresh != stats.deleted + stats.live + stats.idle)
    return cb_fail(error, -EPROTO,
                   "the pool made %llu coroutines, but deleted %llu and keeps "
                   "%llu",
                   (unsigned long long)stats.fresh,
                   (unsigned long long)stats.deleted,
                   (unsigned long long)(stats.live + stats.idle));
  return 0;
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
  return check_pool(state, error);
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
    worker->work.entered = worker->work.ended = 0;
    worker->work.status = 0;
    worker->work.error.code = 0;
  }
  if (state->pool)
    cb_pool_stats(state->pool, &state->before);
  return 0;
}

static void teardown(void *opaque)
{
  struct state *state = opaque;
  struct cb_pool_stats now;
  if (!state->pool)
    return;
  cb_pool_trim(state->pool, state->before.idle);
  cb_pool_stats(state->pool, &now);
  if (state->lent && now.idle < state->before.idle)
    cb_pool_prefill(state->pool, state->before.idle - now.idle, NULL);
}

static size_t counters(void *opaque, struct cb_counter *list, size_t capacity)
{
  const struct state *state = opaque;
  struct cb_pool_stats stats;
  if (!state->pool || !state->job->pooled)
    return 0;
  cb_pool_stats(state->pool, &stats);
  const struct cb_counter all[] = {
      {"new", CB_SHARE, (double)stats.fresh},
      {"hits_local", CB_COUNT, (double)stats.hits_local},
      {"hits_global", CB_COUNT, (double)stats.hits_global},
      {"deleted", CB_COUNT, (double)stats.deleted},
      {"idle", CB_GAUGE, (double)stats.idle},
      {"peak", CB_GAUGE, (double)stats.peak}};
  size_t count = sizeof all / sizeof all[0];
  if (count > capacity)
    count = capacity;
  memcpy(list, all, count * sizeof all[0]);
  return count;
}

static void free_state(struct state *state)
{
  if (state->pool && !state->lent)
    cb_pool_destroy(state->pool, NULL);
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

static enum cb_guard guard_of(const char *name)
{
  enum cb_guard guard = CB_GUARD_AUTO;
  while (strcmp(cb_guard_name(guard), name) != 0)
    guard++;
  return guard;
}

static int borrow_pool(struct state *state, struct cb_pool *pool,
                       struct cb_error *error)
{
  const struct cb_kind *kind = cb_pool_backend(pool);
  if (kind != &state->backend->kind)
    return cb_fail(error, -EINVAL,
                   "option 'pool': its coroutines have the back end '%s', not "
                   "'%s'",
                   kind->name, state->backend->kind.name);
  state->pool = pool;
  state->lent = true;
  return 0;
}

static int make_pool(struct state *state, const struct cb_spec *spec,
                     struct cb_error *error)
{
  struct cb_spec *none = NULL;
  const struct cb_spec *policy;
  if (state->job->pooled)
    policy = cb_spec_spec(spec, "pool");
  else
    policy = none = cb_spec_create(&cb_pool_family, "none", error);
  if (!policy)
    return -ENOMEM;
  if (cb_spec_object(policy))
    return borrow_pool(state, cb_spec_object(policy), error);

  struct cb_pool_options options = {
      .policy = policy,
      .backend = cb_spec_spec(spec, "backend"),
      .stack = {.size = (size_t)cb_spec_integer(spec, "stack_size"),
                .guard = guard_of(cb_spec_string(spec, "guard")),
                .colour = cb_spec_boolean(spec, "colour")}};
  struct cb_error trouble = {.code = -ENOMEM};
  state->pool = cb_pool_create(&options, &trouble);
  cb_spec_destroy(none);
  if (!state->pool)
    return cb_fail(error, trouble.code, "%s", trouble.text);
  return 0;
}

static int make_workers(struct state *state, const struct cb_spec *spec,
                        struct cb_error *error)
{
  unsigned threads = state->role.threads;
  state->workers = aligned_alloc(CB_APART, threads * sizeof *state->workers);
  if (!state->workers)
    return cb_fail(error, -ENOMEM, "out of memory");
  memset(state->workers, 0, threads * sizeof *state->workers);
  for (unsigned i = 0; i < threads; i++) {
    struct cb_coroutine_work *work = &state->workers[i].work;
    work->pool = state->pool;
    work->count = state->job->living;
    if (state->job->configure) {
      int status = state->job->configure(spec, state->backend, work, error);
      if (status < 0)
        return status;
    }
    work->coroutines = calloc(work->count + 1, sizeof(struct cb_coroutine *));
    if (!work->coroutines)
      return cb_fail(error, -ENOMEM, "out of memory");
  }
  return 0;
}

static int choose_loop(struct state *state, const char *name,
                       struct cb_error *error)
{
  const struct cb_coroutine_loops *loops = state->backend->loops;
  memcpy(&state->loop, (const char *)loops + state->job->loop,
         sizeof state->loop);
  if (!state->loop)
    return cb_fail(error, -ENOTSUP, "the back end '%s' has no '%s'",
                   state->backend->kind.name, name);
  return 0;
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
                       .run = run};
  if (job->living) {
    state->role.begin = begin;
    state->role.end = end;
  }

  int status = choose_loop(state, cb_spec_kind(spec)->name, error);
  if (status == 0 && !(backend->flags & CB_KIND_COMPARISON))
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
                           .destroy = destroy};
  return 0;
}
