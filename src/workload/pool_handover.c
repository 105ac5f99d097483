/*
 * pool_handover.c - the workload `pool_handover`: one thread creates, another
 * frees. A pool that keeps coroutines where they ended has none to give to the
 * thread that creates; how they come back is what is measured.
 *
 * A coroutine goes from thread to thread through a mailbox of one slot. What
 * that costs by itself is measured with `mailbox`: then the same coroutine,
 * which is nobody's, is passed on without a pool.
 */
#include "coroutine/here.h"

#include "base/cpu.h"
#include "base/lock.h"
#include "base/memory.h"
#include "pool/pool.h"
#include "workload/kinds.h"
#include "workload/pools.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct pair {
  _Alignas(CB_APART) struct cb_coroutine *_Atomic slot; /* NULL: empty */
  _Alignas(CB_APART) uint64_t created;                  /* of the one thread, */
  int status;
  struct cb_error error;
  bool furnished;
  _Alignas(CB_APART) uint64_t freed; /* and of the other */
};

struct state {
  struct workload_pool pool;
  const struct cb_control *control;
  bool only_mailbox;
  struct cb_coroutine token;
  struct cb_role roles[2];
  struct pair *pairs;
};

static void never_run(void *opaque)
{
  (void)opaque;
}

static void give(struct cb_coroutine *coroutine)
{
  coroutine->caller = CB_ENDED; /* as if it had run */
  cb_give(coroutine);
}

/* Waits until the slot is empty, or is not; false when it is time to stop. */
static bool await(struct state *state, struct pair *pair, bool empty)
{
  unsigned turns = 0;
  while (!atomic_load_explicit(&pair->slot, memory_order_acquire) != empty) {
    if (atomic_load_explicit(&state->control->stop, memory_order_relaxed))
      return false;
    cb_lock_wait(&turns);
  }
  return true;
}

static uint64_t create_all(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  struct pair *pair = &state->pairs[thread];
  uint64_t done;
  for (done = 0; done < n; done++) {
    struct cb_coroutine *coroutine = &state->token;
    if (!state->only_mailbox)
      coroutine = cb_take(state->pool.pool, never_run, pair, &pair->error);
    if (!coroutine) {
      pair->status = pair->error.code;
      break;
    }
    if (!await(state, pair, true)) {
      if (!state->only_mailbox)
        give(coroutine);
      break;
    }
    atomic_store_explicit(&pair->slot, coroutine, memory_order_release);
  }
  pair->created += done;
  return done;
}

static uint64_t free_all(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  struct pair *pair = &state->pairs[thread];
  uint64_t done;
  for (done = 0; done < n; done++) {
    if (!await(state, pair, false))
      break;
    struct cb_coroutine *coroutine =
        atomic_load_explicit(&pair->slot, memory_order_acquire);
    atomic_store_explicit(&pair->slot, NULL, memory_order_release);
    if (!state->only_mailbox)
      give(coroutine);
  }
  pair->freed += done;
  return done;
}

/* As many as two batches on either side: until so many go round, each costs a
 * hundred times what the others do, which is no measure of how long a batch of
 * the measurement should be. On the creator's thread, because what a thread is
 * given it may keep. Not where nothing comes back: it would find these once,
 * and they pass for what that policy does. */
static int furnish(void *opaque, unsigned thread, struct cb_error *error)
{
  enum { GO_ROUND = 512 };
  struct state *state = opaque;
  struct pair *pair = &state->pairs[thread];
  if (state->only_mailbox || pair->furnished)
    return 0;
  pair->furnished = true;
  if (cb_pool_policy(state->pool.pool) == &cb_pool_local.kind)
    return 0;
  return cb_pool_prefill(state->pool.pool, GO_ROUND, error);
}

/* What was stopped on its way. */
static void empty_mailboxes(struct state *state)
{
  for (unsigned i = 0; i < state->roles[0].threads; i++) {
    struct pair *pair = &state->pairs[i];
    struct cb_coroutine *left =
        atomic_exchange_explicit(&pair->slot, NULL, memory_order_acquire);
    if (!left)
      continue;
    pair->freed++;
    if (!state->only_mailbox)
      give(left);
  }
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  struct state *state = opaque;
  uint64_t done = 0;
  for (unsigned i = 0; i < state->roles[0].threads; i++)
    done += state->pairs[i].created + state->pairs[i].freed;
  empty_mailboxes(state);
  for (unsigned i = 0; i < state->roles[0].threads; i++) {
    const struct pair *pair = &state->pairs[i];
    if (pair->status < 0)
      return cb_fail(error, pair->status, "%s", pair->error.text);
    if (pair->created != pair->freed)
      return cb_fail(error, -EPROTO, "%llu coroutines sent, %llu received",
                     (unsigned long long)pair->created,
                     (unsigned long long)pair->freed);
  }
  if (done != operations)
    return cb_fail(error, -EPROTO, "%llu sent or received in %llu operations",
                   (unsigned long long)done, (unsigned long long)operations);
  return cb_workload_pool_check(&state->pool, error);
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  (void)error;
  state->control = control;
  for (unsigned i = 0; i < state->roles[0].threads; i++) {
    struct pair *pair = &state->pairs[i];
    atomic_store_explicit(&pair->slot, NULL, memory_order_relaxed);
    pair->created = pair->freed = 0;
    pair->status = 0;
    pair->furnished = false;
  }
  cb_workload_pool_setup(&state->pool);
  return 0;
}

static void teardown(void *opaque)
{
  struct state *state = opaque;
  empty_mailboxes(state);
  cb_workload_pool_teardown(&state->pool);
}

static size_t counters(void *opaque, struct cb_counter *list, size_t capacity)
{
  const struct state *state = opaque;
  if (state->only_mailbox)
    return 0;
  return cb_workload_pool_counters(&state->pool, list, capacity);
}

static void free_state(struct state *state)
{
  cb_workload_pool_free(&state->pool);
  free(state->pairs);
  free(state);
}

static void destroy(struct cb_workload *workload)
{
  free_state(workload->state);
}

static int make_pairs(struct state *state, unsigned threads,
                      struct cb_error *error)
{
  state->roles[0] = (struct cb_role){.name = "creator",
                                     .threads = threads,
                                     .run = create_all,
                                     .begin = furnish};
  state->roles[1] =
      (struct cb_role){.name = "freer", .threads = threads, .run = free_all};
  state->pairs = cb_memory_apart(threads * sizeof *state->pairs);
  if (!state->pairs)
    return cb_fail(error, -ENOMEM, "out of memory");
  return 0;
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  struct state *state = calloc(1, sizeof *state);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  state->only_mailbox = cb_spec_boolean(spec, "mailbox");
  int status = cb_workload_pool_init(&state->pool, spec, true, error);
  if (status == 0)
    status =
        make_pairs(state, (unsigned)cb_spec_integer(spec, "threads"), error);
  if (status < 0) {
    free_state(state);
    return status;
  }
  *workload = (struct cb_workload){
      .operation =
          state->only_mailbox
              ? "one pointer through the mailbox, no pool"
              : "one coroutine created on one thread, freed on another",
      .state = state,
      .roles = state->roles,
      .role_count = 2,
      .setup = setup,
      .check = check,
      .counters = counters,
      .teardown = teardown,
      .destroy = destroy};
  return 0;
}

static const struct cb_option options[] = {
    POOL_OPTION,
    {.name = "mailbox",
     .type = CB_BOOLEAN,
     .preset = "false",
     .help = "only the mailbox, without a pool"},
    THREADS_OPTION("pairs of threads, each with a mailbox"),
    BACKEND_OPTION,
    STACK_OPTIONS,
    {.name = NULL}};

const struct cb_workload_kind cb_workload_pool_handover = {
    .kind.name = "pool_handover",
    .kind.summary = "create on one thread what another frees",
    .kind.options = options,
    .create = create};
