/* fake.h - a workload that does nothing but keep a record of how it was called,
 * and measuring some of them. */
#ifndef CB_TEST_FAKE_H
#define CB_TEST_FAKE_H

#include "test.h"

#include "base/ticks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Spins for so many ticks an operation, and remembers. */
struct fake {
  struct cb_role roles[2];
  struct cb_workload work;
  const struct cb_control *control;
  double cost;      /* ticks */
  uint64_t give_up; /* most operations a call of run does, 0: all */
  int setup_status, begin_status, check_status, prepare_status, guard_status;
  double guard_cost;  /* ticks of its functional check */
  bool deaf;          /* does not look at stop */
  bool interruptible; /* but can be told */
  atomic_bool told;
  atomic_ulong operations, batches, begun, ended;
  uint64_t guarded, set_up, prepared, checked, torn_down, proven;
};

static void spin(double ticks)
{
  uint64_t start = cb_ticks_begin();
  while ((double)(cb_ticks_end() - start) < ticks)
    continue;
}

static uint64_t run(void *state, unsigned thread, uint64_t n)
{
  struct fake *fake = state;
  (void)thread;
  if (fake->give_up > 0 && n > fake->give_up)
    n = fake->give_up;
  if (fake->cost > 0)
    spin(fake->cost * (double)n);
  atomic_fetch_add(&fake->operations, n);
  atomic_fetch_add(&fake->batches, 1);
  return n;
}

static int guard(void *state, struct cb_error *error)
{
  struct fake *fake = state;
  assert_int_equal(fake->set_up, 0);
  fake->guarded++;
  spin(fake->guard_cost);
  return fake->guard_status < 0 ? cb_fail(error, fake->guard_status, "no good")
                                : 0;
}

static int setup(void *state, const struct cb_control *control,
                 struct cb_error *error)
{
  struct fake *fake = state;
  fake->set_up++;
  fake->control = control;
  return fake->setup_status < 0
             ? cb_fail(error, fake->setup_status, "cannot set up")
             : 0;
}

static int begin(void *state, unsigned thread, struct cb_error *error)
{
  struct fake *fake = state;
  atomic_fetch_add(&fake->begun, 1);
  if (fake->begin_status < 0)
    return cb_fail(error, fake->begin_status, "thread %u cannot begin", thread);
  return 0;
}

static void end(void *state, unsigned thread)
{
  struct fake *fake = state;
  (void)thread;
  atomic_fetch_add(&fake->ended, 1);
}

static int prepare(void *state, uint64_t n, struct cb_error *error)
{
  struct fake *fake = state;
  (void)n;
  if (++fake->prepared > 2 && fake->prepare_status < 0)
    return cb_fail(error, fake->prepare_status, "cannot prepare");
  return 0;
}

static int check(void *state, uint64_t operations, struct cb_error *error)
{
  struct fake *fake = state;
  fake->checked++;
  fake->proven = operations;
  return fake->check_status < 0
             ? cb_fail(error, fake->check_status, "one got lost")
             : 0;
}

static size_t counters(void *state, struct cb_counter *counters,
                       size_t capacity)
{
  struct fake *fake = state;
  double operations = (double)atomic_load(&fake->operations);
  assert_true(capacity >= 3);
  counters[0] = (struct cb_counter){"done", CB_COUNT, operations};
  counters[1] = (struct cb_counter){"half", CB_SHARE, operations / 2};
  counters[2] = (struct cb_counter){"level", CB_GAUGE, 7};
  return 3;
}

static void teardown(void *state)
{
  struct fake *fake = state;
  fake->torn_down++;
}

static void tell(void *state)
{
  struct fake *fake = state;
  if (fake->interruptible)
    atomic_store(&fake->told, true);
}

static struct fake *make(double cost, unsigned threads)
{
  struct fake *fake = calloc(1, sizeof *fake);
  assert_non_null(fake);
  fake->cost = cost;
  fake->roles[0] = (struct cb_role){.name = "one",
                                    .threads = threads,
                                    .run = run,
                                    .begin = begin,
                                    .end = end};
  fake->roles[1] = fake->roles[0];
  fake->roles[1].name = "two";
  fake->work = (struct cb_workload){.operation = "a fake",
                                    .state = fake,
                                    .roles = fake->roles,
                                    .role_count = 1,
                                    .guard = guard,
                                    .setup = setup,
                                    .prepare = prepare,
                                    .check = check,
                                    .counters = counters,
                                    .teardown = teardown,
                                    .interrupt = tell};
  return fake;
}

static struct cb_measurement *measure(struct fake **fakes, size_t count,
                                      struct cb_measure_options options)
{
  struct cb_variant variants[16];
  struct cb_error error = {0, ""};
  memset(variants, 0, sizeof variants);
  for (size_t i = 0; i < count; i++)
    variants[i] =
        (struct cb_variant){.name = "fake", .workload = &fakes[i]->work};
  struct cb_measurement *measurement =
      cb_measure(variants, count, &options, &error);
  if (!measurement)
    print_error("%s\n", error.text);
  assert_non_null(measurement);
  assert_int_equal(measurement->result_count, count);
  return measurement;
}

#endif
