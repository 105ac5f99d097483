/*
 * atomic.c - the workload `atomic`: one atomic operation on a word.
 *
 * All are sequentially consistent, but for `relaxed_add`. With several threads
 * they share the word, or each has its own (`shared`).
 *
 * Proofs. An add that got lost shows in the word. Exchanges hand values on:
 * what was put in is what came out, plus what is still there. A compare and
 * exchange that succeeded has counted the word up by one. A store leaves the
 * last value of one of the threads.
 */
#include "base/cpu.h"
#include "base/memory.h"
#include "workload/kinds.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What a thread has of its own. */
struct lane {
  _Alignas(CB_APART) _Atomic uint64_t word;
  /* What it exchanged in, summed up; or the last value it stored. */
  _Alignas(CB_APART) uint64_t put;
  uint64_t got;    /* what it exchanged out, or loaded */
  uint64_t failed; /* compares that found another value */
  uint64_t exchanges;
};

struct state;

struct operation {
  const char *name, *text;
  uint64_t (*run)(void *state, unsigned thread, uint64_t n);
  bool (*proof)(const struct state *state, uint64_t operations);
};

struct state {
  struct cb_role role;
  const struct operation *operation;
  bool shared;
  struct lane lanes[];
};

static _Atomic uint64_t *word_of(struct state *state, unsigned thread)
{
  return &state->lanes[state->shared ? 0 : thread].word;
}

/* n times the statement, eight in a turn. */
#define TWICE(statement)                                                       \
  {                                                                            \
    statement;                                                                 \
  }                                                                            \
  {                                                                            \
    statement;                                                                 \
  }
#define TIMES(n, statement)                                                    \
  do {                                                                         \
    for (uint64_t turns = (n) / 8; turns > 0; turns--) {                       \
      TWICE(statement) TWICE(statement) TWICE(statement) TWICE(statement)      \
    }                                                                          \
    for (uint64_t rest = (n) % 8; rest > 0; rest--) {                          \
      statement;                                                               \
    }                                                                          \
  } while (0)

static uint64_t run_add(void *opaque, unsigned thread, uint64_t n)
{
  _Atomic uint64_t *word = word_of(opaque, thread);
  TIMES(n, atomic_fetch_add(word, 1));
  return n;
}

static uint64_t run_relaxed_add(void *opaque, unsigned thread, uint64_t n)
{
  _Atomic uint64_t *word = word_of(opaque, thread);
  TIMES(n, atomic_fetch_add_explicit(word, 1, memory_order_relaxed));
  return n;
}

static uint64_t run_xchg(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  struct lane *lane = &state->lanes[thread];
  _Atomic uint64_t *word = word_of(state, thread);
  uint64_t value = lane->put, got = 0, put = 0;
  TIMES(n, put += ++value; got += atomic_exchange(word, value));
  lane->put += put;
  lane->got += got;
  lane->exchanges += n;
  return n;
}

static uint64_t run_cmpxchg(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  struct lane *lane = &state->lanes[thread];
  _Atomic uint64_t *word = word_of(state, thread);
  uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
  uint64_t failed = 0;
  /* A failure loads seen anew, a success leaves it one behind. */
#define ATTEMPT                                                                \
  if (atomic_compare_exchange_strong(word, &seen, seen + 1))                   \
    seen++;                                                                    \
  else                                                                         \
    failed++
  TIMES(n, ATTEMPT);
#undef ATTEMPT
  lane->failed += failed;
  return n;
}

static uint64_t run_store(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  struct lane *lane = &state->lanes[thread];
  _Atomic uint64_t *word = word_of(state, thread);
  uint64_t value = lane->put;
  TIMES(n, atomic_store(word, ++value));
  lane->put = value;
  return n;
}

static uint64_t run_load(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  _Atomic uint64_t *word = word_of(state, thread);
  uint64_t got = 0;
  TIMES(n, got += 1 + atomic_load(word));
  state->lanes[thread].got += got;
  return n;
}

static uint64_t run_fence(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  struct lane *lane = &state->lanes[thread];
  TIMES(n, atomic_thread_fence(memory_order_seq_cst));
  lane->put += n;
  return n;
}

/* ---- proofs -------------------------------------------------------------- */

struct totals {
  uint64_t words, put, got, failed, exchanges;
};

static struct totals total(const struct state *state)
{
  struct totals totals = {0, 0, 0, 0, 0};
  for (unsigned i = 0; i < state->role.threads; i++) {
    totals.words += atomic_load(&state->lanes[i].word);
    totals.put += state->lanes[i].put;
    totals.got += state->lanes[i].got;
    totals.failed += state->lanes[i].failed;
    totals.exchanges += state->lanes[i].exchanges;
  }
  return totals;
}

static bool counted_in_words(const struct state *state, uint64_t operations)
{
  return total(state).words == operations;
}

static bool handed_on(const struct state *state, uint64_t operations)
{
  struct totals totals = total(state);
  return totals.put == totals.got + totals.words &&
         totals.exchanges == operations;
}

static bool counted_or_failed(const struct state *state, uint64_t operations)
{
  struct totals totals = total(state);
  return totals.words + totals.failed == operations;
}

static bool last_is_there(const struct state *state, uint64_t operations)
{
  bool found = false;
  for (unsigned i = 0; i < state->role.threads; i++) {
    /* put is the number of its stores, and the last value it stored. */
    bool same = atomic_load(&state->lanes[state->shared ? 0 : i].word) ==
                state->lanes[i].put;
    if (!state->shared && !same)
      return false;
    found |= same;
  }
  return found && total(state).put == operations;
}

static bool counted_in_got(const struct state *state, uint64_t operations)
{
  return total(state).got == operations;
}

static bool counted_in_put(const struct state *state, uint64_t operations)
{
  return total(state).put == operations;
}

static const struct operation operations[] = {
    {"add", "an atomic fetch and add", run_add, counted_in_words},
    {"relaxed_add", "a relaxed atomic fetch and add", run_relaxed_add,
     counted_in_words},
    {"xchg", "an atomic exchange", run_xchg, handed_on},
    {"cmpxchg", "an atomic compare and exchange, successful or not",
     run_cmpxchg, counted_or_failed},
    {"store", "a sequentially consistent store", run_store, last_is_there},
    {"load", "a sequentially consistent load", run_load, counted_in_got},
    {"fence", "a full fence", run_fence, counted_in_put},
    {NULL, NULL, NULL, NULL}};

static int check(void *opaque, uint64_t count, struct cb_error *error)
{
  const struct state *state = opaque;
  if (!state->operation->proof(state, count))
    return cb_fail(error, -EINVAL,
                   "the word does not hold what %llu operations leave",
                   (unsigned long long)count);
  return 0;
}

static size_t counters(void *opaque, struct cb_counter *counters,
                       size_t capacity)
{
  const struct state *state = opaque;
  if (capacity == 0 || state->operation->run != run_cmpxchg)
    return 0;
  *counters = (struct cb_counter){
      .name = "failed", .type = CB_SHARE, .value = (double)total(state).failed};
  return 1;
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  (void)control;
  (void)error;
  memset(state->lanes, 0, state->role.threads * sizeof *state->lanes);
  return 0;
}

static void destroy(struct cb_workload *workload)
{
  free(workload->state);
}

static const struct operation *find(const char *name)
{
  const struct operation *operation = operations;
  while (strcmp(operation->name, name) != 0)
    operation++;
  return operation;
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  unsigned threads = (unsigned)cb_spec_integer(spec, "threads");
  struct state *state =
      cb_memory_apart(sizeof *state + threads * sizeof *state->lanes);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory for %u threads", threads);
  state->operation = find(cb_spec_string(spec, "op"));
  state->shared = cb_spec_boolean(spec, "shared");
  state->role = (struct cb_role){
      .name = "worker", .threads = threads, .run = state->operation->run};
  *workload = (struct cb_workload){.operation = state->operation->text,
                                   .state = state,
                                   .roles = &state->role,
                                   .role_count = 1,
                                   .setup = setup,
                                   .check = check,
                                   .counters = counters,
                                   .destroy = destroy};
  return 0;
}

static const struct cb_option options[] = {
    {.name = "op",
     .type = CB_CHOICE,
     .preset = "add",
     .choices = "add|relaxed_add|xchg|cmpxchg|store|load|fence",
     .help = "which operation"},
    {.name = "threads",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 1,
     .max = 1024,
     .help = "threads that do this at once"},
    {.name = "shared",
     .type = CB_BOOLEAN,
     .preset = "true",
     .help = "all threads on one word, or each on its own"},
    {.name = NULL}};

const struct cb_workload_kind cb_workload_atomic = {
    .kind.name = "atomic",
    .kind.summary = "one atomic operation on a word of memory",
    .kind.options = options,
    .create = create};
