/*
 * cacheline.c - the workload `cacheline`: one line of memory to another CPU and
 * back.
 *
 * Two threads count one word up in turn: ping makes it odd, pong even. Each
 * step of the other must have arrived before the next is made, so a round trip
 * is twice the time that a changed line takes from one CPU to another. A
 * release store gives the turn away and an acquire load takes it. The proof is
 * the word itself: two steps for each round trip, and a waiting thread that
 * sees anything but the next step counts it as an error.
 */
#include "base/cpu.h"
#include "base/memory.h"
#include "workload/kinds.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct state {
  _Alignas(CB_APART) _Atomic uint64_t word;
  _Alignas(CB_APART) struct cb_role roles[2];
  const struct cb_control *control;
  /* Steps that each thread has made, and wrong ones that it saw. */
  struct side {
    _Alignas(CB_APART) uint64_t steps;
    uint64_t errors;
  } sides[2];
};

/* Waits until the word is wanted, or measuring says stop: the CPU is given away
 * after a while, for the other thread may need it. */
static bool await(struct state *state, struct side *side, uint64_t wanted)
{
  enum { PATIENCE = 4000 };
  uint64_t seen;
  for (unsigned polls = 0;; polls++) {
    seen = atomic_load_explicit(&state->word, memory_order_acquire);
    if (seen == wanted)
      return true;
    if (polls < PATIENCE)
      continue;
    if (seen != wanted - 1)
      side->errors++;
    if (atomic_load_explicit(&state->control->stop, memory_order_relaxed))
      return false;
    sched_yield();
  }
}

static uint64_t run_ping(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  struct side *side = &state->sides[0];
  uint64_t step = atomic_load_explicit(&state->word, memory_order_relaxed);
  (void)thread;
  for (uint64_t i = 0; i < n; i++, step += 2) {
    atomic_store_explicit(&state->word, step + 1, memory_order_release);
    side->steps++;
    if (!await(state, side, step + 2))
      return i;
  }
  return n;
}

static uint64_t run_pong(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  struct side *side = &state->sides[1];
  uint64_t step = 2 * side->steps;
  (void)thread;
  for (uint64_t i = 0; i < n; i++, step += 2) {
    if (!await(state, side, step + 1))
      return i;
    atomic_store_explicit(&state->word, step + 2, memory_order_release);
    side->steps++;
  }
  return n;
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  (void)error;
  state->control = control;
  atomic_store(&state->word, 0);
  for (int i = 0; i < 2; i++)
    state->sides[i].steps = state->sides[i].errors = 0;
  return 0;
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  struct state *state = opaque;
  uint64_t word = atomic_load(&state->word);
  uint64_t steps = state->sides[0].steps + state->sides[1].steps;
  uint64_t errors = state->sides[0].errors + state->sides[1].errors;
  if (errors > 0)
    return cb_fail(error, -EINVAL, "%llu steps came out of turn",
                   (unsigned long long)errors);
  /* A stop can leave one step without its answer. */
  if (word != steps || steps < operations || steps > operations + 1)
    return cb_fail(error, -EINVAL,
                   "the word is at %llu after %llu steps in %llu operations",
                   (unsigned long long)word, (unsigned long long)steps,
                   (unsigned long long)operations);
  return 0;
}

static void destroy(struct cb_workload *workload)
{
  free(workload->state);
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  (void)spec;
  struct state *state = cb_memory_apart(sizeof *state);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  state->roles[0] =
      (struct cb_role){.name = "ping", .threads = 1, .run = run_ping};
  state->roles[1] =
      (struct cb_role){.name = "pong", .threads = 1, .run = run_pong};
  *workload =
      (struct cb_workload){.operation = "a cache line to another CPU and back",
                           .state = state,
                           .roles = state->roles,
                           .role_count = 2,
                           .setup = setup,
                           .check = check,
                           .destroy = destroy};
  return 0;
}

static const struct cb_option options[] = {{.name = NULL}};

const struct cb_workload_kind cb_workload_cacheline = {
    .kind.name = "cacheline",
    .kind.summary = "a cache line to another CPU and back",
    .kind.options = options,
    .create = create};
