/*
 * selftest.c - what measuring itself costs, and how well it tells equals from
 * unequals here and now.
 *
 * Five workloads of our own go through cb_measure like any other: one that does
 * nothing, an empty loop, a chain of adds twice (A/A), and a chain of twice the
 * length, whose ratio is known.
 */
#include "config.h"

#include "base/sentinel.h"
#include "cbench.h"
#include "measure/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { NOTHING, TURNS, CHAIN, SAME_CHAIN, LONG_CHAIN, COUNT };
enum { ADDS = 1000, UNROLLED = 8 };

static uint64_t do_nothing(void *state, unsigned thread, uint64_t n)
{
  (void)state;
  (void)thread;
  return n;
}

static uint64_t do_turns(void *state, unsigned thread, uint64_t n)
{
  (void)state;
  (void)thread;
  for (uint64_t turns = n; turns > 0; turns--)
    __asm__ volatile("");
  return n;
}

static uint64_t do_chain(void *state, unsigned thread, uint64_t n)
{
  uint64_t *value = state;
  (void)thread;
  *value = cb_sentinel_chain(*value, 1, n * ADDS);
  return n;
}

static uint64_t do_long_chain(void *state, unsigned thread, uint64_t n)
{
  uint64_t *value = state;
  (void)thread;
  *value = cb_sentinel_chain(*value, 1, 2 * n * ADDS);
  return n;
}

static double typical(const struct cb_result *result)
{
  struct cb_estimate estimate;
  if (cb_estimate(result->samples, result->sample_count, &estimate) < 0)
    return NAN;
  return estimate.typical;
}

static double ratio(const struct cb_result *a, const struct cb_result *b)
{
  struct cb_comparison comparison;
  if (cb_compare(a->samples, a->sample_count, b->samples, b->sample_count, NULL,
                 &comparison) < 0)
    return NAN;
  return comparison.ratio;
}

static int find_canary(const struct cb_result *result,
                       struct cb_selftest *selftest)
{
  double *values = calloc(result->sample_count + 1, sizeof *values);
  if (!values)
    return -ENOMEM;
  for (int i = 0; i < 2; i++) {
    for (size_t j = 0; j < result->sample_count; j++)
      values[j] = result->samples[j].canary[i];
    selftest->canary_typical[i] = cb_median(values, result->sample_count);
    selftest->canary_best[i] = cb_quantile(values, result->sample_count, 0);
  }
  free(values);
  return 0;
}

/* The CPU time of the run that went into no batch, by batch. */
static double time_around(const struct cb_measurement *measurement, double busy)
{
  double batches = 0, inside = 0;
  for (size_t i = 0; i < measurement->result_count; i++) {
    const struct cb_result *result = &measurement->results[i];
    batches += (double)result->sample_count;
    inside += typical(result) * (double)result->operations / cb_clock()->hz;
  }
  return (busy - inside) / batches;
}

static double busy_time(void)
{
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* An operation of 1 ns in a batch of 100 us, its loop unrolled: its share of
 * the clock, of the call of run and of the turn. */
static double harness_cost(const struct cb_selftest *selftest)
{
  double batch = 100e-6, operation = 1e-9;
  return (selftest->empty_batch * operation / batch +
          selftest->turn / UNROLLED) /
         cb_clock()->hz;
}

static int conclude(const struct cb_measurement *measurement, double busy,
                    struct cb_selftest *selftest, struct cb_error *error)
{
  const struct cb_result *results = measurement->results;
  for (int i = 0; i < COUNT; i++)
    if (results[i].status != CB_OK)
      return cb_fail(error, results[i].reason.code, "%s",
                     results[i].reason.text);
  selftest->clock_cost = cb_clock()->cost;
  /* Its batches are of one operation. */
  selftest->empty_batch = typical(&results[NOTHING]);
  selftest->turn = typical(&results[TURNS]);
  selftest->harness = harness_cost(selftest);
  selftest->around = time_around(measurement, busy);
  selftest->same_ratio = ratio(&results[SAME_CHAIN], &results[CHAIN]);
  selftest->double_ratio = ratio(&results[LONG_CHAIN], &results[CHAIN]);
  selftest->rounds = measurement->rounds;
  if (find_canary(&results[CHAIN], selftest) < 0)
    return cb_fail(error, -ENOMEM, "out of memory");
  return 0;
}

int cb_selftest_run(const struct cb_measure_options *options,
                    struct cb_selftest *selftest, struct cb_error *error)
{
  static uint64_t (*const runs[])(void *, unsigned, uint64_t) = {
      do_nothing, do_turns, do_chain, do_chain, do_long_chain};
  static const char *const names[] = {
      "nothing", "turns", "chain", "the same chain", "a chain twice as long"};
  uint64_t values[COUNT] = {0};
  struct cb_role roles[COUNT];
  struct cb_workload works[COUNT];
  struct cb_variant variants[COUNT];
  for (int i = 0; i < COUNT; i++) {
    roles[i] = (struct cb_role){.name = names[i], .threads = 1, .run = runs[i]};
    works[i] = (struct cb_workload){.operation = names[i],
                                    .state = &values[i],
                                    .roles = &roles[i],
                                    .role_count = 1};
    variants[i] = (struct cb_variant){.name = names[i], .workload = &works[i]};
  }
  variants[NOTHING].n = 1;
  double before = busy_time();
  struct cb_measurement *measurement =
      cb_measure(variants, COUNT, options, error);
  if (!measurement)
    return -EINVAL;
  int status = conclude(measurement, busy_time() - before, selftest, error);
  cb_measurement_destroy(measurement);
  return status;
}
