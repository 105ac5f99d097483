/*
 * call.c - the workload `call`: one call that is not inlined.
 *
 * The callee decrements a word of memory, as in the baseline of QEMU's
 * coroutine benchmark (tests/unit/test-coroutine.c, perf_baseline), so that a
 * round trip of coroutines can be told as so many calls. There the loop ends
 * when the word is 0 and is part of every call; here eight calls stand in a
 * turn and the loop counts in a register.
 */
#include "workload/kinds.h"
#include "workload/lanes.h"

#include <errno.h>

/* The empty asm keeps the compiler from reasoning about what a call does. */
static __attribute__((noinline)) void decrement(uint64_t *word)
{
  __asm__("" : "+r"(word));
  (*word)--;
}

static uint64_t run(void *state, unsigned thread, uint64_t n)
{
  struct cb_lanes *lanes = state;
  uint64_t *word = lanes->lane[thread].values;
  for (uint64_t turns = n / 8; turns > 0; turns--) {
    decrement(word);
    decrement(word);
    decrement(word);
    decrement(word);
    decrement(word);
    decrement(word);
    decrement(word);
    decrement(word);
  }
  for (uint64_t rest = n % 8; rest > 0; rest--)
    decrement(word);
  return n;
}

static int check(void *state, uint64_t operations, struct cb_error *error)
{
  uint64_t calls = -cb_lanes_sum(state);
  if (calls != operations)
    return cb_fail(error, -EINVAL, "%llu calls counted for %llu operations",
                   (unsigned long long)calls, (unsigned long long)operations);
  return 0;
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  int status = cb_lanes_create(spec, workload, run, error);
  workload->operation = "one call of a function that decrements a word";
  workload->check = check;
  return status;
}

static const struct cb_option options[] = {CB_LANES_THREADS, {.name = NULL}};

const struct cb_workload_kind cb_workload_call = {
    .kind.name = "call",
    .kind.summary = "a call that is not inlined: the yardstick",
    .kind.options = options,
    .create = create};
