/* What samples mean: estimates, intervals and verdicts, on samples made up for
 * the purpose. */
#include "test.h"

#include "measure/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void assert_near(double value, double wanted, double within)
{
  if (!(fabs(value - wanted) <= within))
    fail_msg("%.9g is not within %g of %.9g", value, within, wanted);
}

/* ---- quantiles and intervals --------------------------------------------- */

static void quantiles_lie_between(void **state)
{
  (void)state;
  double values[] = {5, 1, 4, 2, 3};
  assert_near(cb_median(values, 5), 3, 0);
  assert_near(cb_quantile(values, 5, 0), 1, 0);
  assert_near(cb_quantile(values, 5, 1), 5, 0);
  assert_near(cb_quantile(values, 5, 0.1), 1.4, 1e-12);
  assert_near(cb_median(values, 4), 2.5, 1e-12);
  assert_true(isnan(cb_median(values, 0)));
}

/* Two-sided, from the usual table. */
static void student_is_as_printed(void **state)
{
  (void)state;
  static const struct {
    double level;
    unsigned freedom;
    double t;
  } table[] = {{0.95, 1, 12.706}, {0.95, 2, 4.303},   {0.95, 3, 3.182},
               {0.95, 4, 2.776},  {0.95, 5, 2.571},   {0.95, 6, 2.447},
               {0.99, 2, 9.925},  {0.99, 6, 3.707},   {0.90, 1, 6.314},
               {0.95, 30, 2.042}, {0.999, 2, 31.599}, {0.998, 6, 5.208}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    assert_near(cb_student(table[i].level, table[i].freedom), table[i].t,
                0.0006);
}

static void order_statistics_cover(void **state)
{
  (void)state;
  assert_near(cb_coverage(10, 2), 1 - 22 / 1024.0, 1e-12);
  assert_near(cb_coverage(10, 1), 1 - 2 / 1024.0, 1e-12);
  assert_near(cb_coverage(8, 1), 1 - 2 / 256.0, 1e-12);
  assert_near(cb_coverage(20, 6), 0.9586, 0.0001);
  assert_int_equal(cb_order_statistic(8, 0.95), 1);
  assert_int_equal(cb_order_statistic(9, 0.95), 2);
  assert_int_equal(cb_order_statistic(10, 0.95), 2);
  assert_int_equal(cb_order_statistic(10, 1 - 0.05 / 2), 2);
  assert_int_equal(cb_order_statistic(10, 1 - 0.05 / 3), 1);
  assert_int_equal(cb_order_statistic(10, 1 - 0.05 / 1000), 1);
  assert_int_equal(cb_order_statistic(20, 0.95), 6);
}

/* ---- comparison ---------------------------------------------------------- */

enum { ROUNDS = 20, FORKS = 10 };

/* Samples of so many processes in which one operation takes ticks, times the
 * process's own factor. */
static size_t make(struct cb_sample *samples, unsigned forks, double ticks,
                   const double *factors)
{
  size_t count = 0;
  for (uint32_t fork = 0; fork < forks; fork++)
    for (uint32_t round = 0; round < ROUNDS; round++) {
      double factor = factors ? factors[fork] : 1;
      uint64_t all = (uint64_t)(ticks * factor * 1000);
      samples[count++] = (struct cb_sample){.fork = fork,
                                            .round = round,
                                            .n = 1000,
                                            .ticks = all,
                                            .wall = all,
                                            .canary = {100, 100}};
    }
  return count;
}

static struct cb_comparison compare(unsigned forks, double a, double b,
                                    const double *factors, unsigned rows)
{
  static struct cb_sample one[FORKS * ROUNDS], two[FORKS * ROUNDS];
  struct cb_compare_options options = {.rows = rows};
  struct cb_comparison comparison;
  size_t count = make(one, forks, a, factors);
  make(two, forks, b, NULL);
  assert_int_equal(cb_compare(one, count, two, count, &options, &comparison),
                   0);
  return comparison;
}

static void few_processes_have_no_verdict(void **state)
{
  (void)state;
  for (unsigned forks = 1; forks <= 2; forks++) {
    struct cb_comparison comparison = compare(forks, 200, 100, NULL, 1);
    assert_int_equal(comparison.verdict, CB_UNRESOLVED);
    assert_string_equal(comparison.reason,
                        forks == 1 ? "one process" : "two processes");
    assert_near(comparison.ratio, 2, 1e-9);
    assert_true(isnan(comparison.low));
  }
  struct cb_comparison none = compare(0, 1, 1, NULL, 1);
  assert_int_equal(none.verdict, CB_UNRESOLVED);
  assert_string_equal(none.reason, "no rounds in common");
  assert_true(isnan(none.ratio));
}

static void verdicts_ask_for_the_smallest_effect(void **state)
{
  (void)state;
  for (unsigned forks = 3; forks <= FORKS; forks++) {
    assert_int_equal(compare(forks, 105, 100, NULL, 1).verdict, CB_SLOWER);
    assert_int_equal(compare(forks, 100, 105, NULL, 1).verdict, CB_FASTER);
    assert_int_equal(compare(forks, 101, 100, NULL, 1).verdict, CB_SAME);
    assert_int_equal(compare(forks, 100, 101, NULL, 1).verdict, CB_SAME);
    /* Within the bias of the harness of the limit itself. */
    struct cb_comparison edge = compare(forks, 102, 100, NULL, 1);
    assert_int_equal(edge.verdict, CB_UNRESOLVED);
    assert_non_null(edge.reason);
    assert_near(edge.low, 1.02 * 0.999, 1e-6);
    assert_near(edge.high, 1.02 * 1.001, 1e-6);
  }
}

static void one_stray_process_changes_nothing(void **state)
{
  (void)state;
  static const double factors[FORKS] = {1, 1.001, 0.999, 1,     1,
                                        1, 1.09,  1,     1.002, 1};
  struct cb_comparison comparison = compare(10, 105, 100, factors, 1);
  assert_int_equal(comparison.verdict, CB_SLOWER);
  assert_near(comparison.high, 1.05 * 1.002 * 1.001, 1e-4);
  assert_near(comparison.level, 0.978515625, 1e-9);
  assert_true(comparison.rogue);
  assert_int_equal(comparison.farthest_fork, 6);
  assert_near(comparison.farthest, 1.09, 1e-3);
  /* Where a hundred rows share a table it counts: first to tenth. */
  comparison = compare(10, 105, 100, factors, 100);
  assert_near(comparison.high, 1.05 * 1.09 * 1.001, 1e-3);
  assert_near(comparison.level, 1 - 2 / 1024.0, 1e-9);
  /* Student's interval cannot bear it. */
  comparison = compare(7, 103, 100, factors, 1);
  assert_int_equal(comparison.verdict, CB_UNRESOLVED);
  assert_near(comparison.level, 0.95, 1e-9);
}

static void only_common_rounds_count(void **state)
{
  (void)state;
  static struct cb_sample one[FORKS * ROUNDS], two[FORKS * ROUNDS];
  struct cb_comparison comparison;
  size_t count = make(one, 3, 100, NULL);
  make(two, 3, 100, NULL);
  /* A fork that the other has not, a batch without operations. */
  for (size_t i = 0; i < ROUNDS; i++)
    two[i].fork = 77;
  one[ROUNDS].n = 0;
  one[ROUNDS + 1].ticks = 0;
  assert_int_equal(cb_compare(one, count, two, count, NULL, &comparison), 0);
  assert_int_equal(comparison.forks, 2);
  assert_near(comparison.ratio, 1, 1e-12);
  /* Order of the samples does not matter. */
  struct cb_sample first = one[0];
  one[0] = one[count - 1];
  one[count - 1] = first;
  assert_int_equal(cb_compare(one, count, two, count, NULL, &comparison), 0);
  assert_int_equal(comparison.forks, 2);
}

/* A normal deviate, near enough. */
static double noise(void)
{
  double sum = 0;
  for (int i = 0; i < 12; i++)
    sum += (double)rand() / RAND_MAX;
  return sum - 6;
}

/* The processes of A/A differ by 0.5 %: over many runs the verdict is never
 * that one is faster, and the interval covers 1 as often as it says. */
static void equals_are_hardly_ever_told_apart(void **state)
{
  (void)state;
  enum { RUNS = 2000 };
  unsigned seed = (unsigned)time(NULL), missed = 0, told = 0;
  printf("# seed %u\n", seed);
  srand(seed);
  for (int run = 0; run < RUNS; run++) {
    double factors[FORKS];
    for (int i = 0; i < FORKS; i++)
      factors[i] = exp(0.005 * noise());
    struct cb_comparison comparison = compare(FORKS, 1e4, 1e4, factors, 1);
    missed += comparison.low > 1 || comparison.high < 1;
    told += comparison.verdict == CB_FASTER || comparison.verdict == CB_SLOWER;
  }
  assert_int_equal(told, 0);
  /* 2.1 % are expected without the widening: 43, and 70 by bad luck. */
  assert_in_range(missed, 0, 75);
}

/* ---- estimates ----------------------------------------------------------- */

static struct cb_estimate estimate(const struct cb_sample *samples,
                                   size_t count)
{
  struct cb_estimate result;
  assert_int_equal(cb_estimate(samples, count, &result), 0);
  return result;
}

/* 100 rounds that take 1000, 1001, ... ticks an operation. */
static void stairs(struct cb_sample *samples)
{
  for (uint32_t i = 0; i < 100; i++)
    samples[i] = (struct cb_sample){.round = i,
                                    .n = 100,
                                    .ticks = 100 * (1000 + i),
                                    .wall = 50 * (1000 + i),
                                    .canary = {100, 100}};
}

static void nothing_is_not_a_number(void **state)
{
  (void)state;
  struct cb_estimate none = estimate(NULL, 0);
  assert_int_equal(none.rounds, 0);
  assert_true(isnan(none.fast));
  assert_true(isnan(none.per_second));
  struct cb_sample empty = {.n = 0};
  assert_true(isnan(estimate(&empty, 1).typical));
}

static void estimates_are_quantiles(void **state)
{
  (void)state;
  struct cb_sample samples[100];
  stairs(samples);
  struct cb_estimate result = estimate(samples, 100);
  assert_int_equal(result.rounds, 100);
  assert_near(result.fast, 1009.9, 1e-9);
  assert_near(result.typical, 1049.5, 1e-9);
  assert_near(result.p90, 1089.1, 1e-9);
  assert_near(result.min, 1000, 0);
  assert_near(result.max, 1099, 0);
  assert_int_equal(result.noise, CB_NOISE_OK);
  assert_false(result.below_resolution);
  /* Two threads worked: the wall is half. */
  assert_near(result.per_second * 1049.5 / 2 / cb_clock()->hz, 1, 1e-9);
}

static void caused_rounds_are_not_typical(void **state)
{
  (void)state;
  struct cb_sample samples[100];
  stairs(samples);
  for (size_t i = 0; i < 20; i++) {
    samples[i * 5].causes = i % 2 ? CB_PREEMPTED : CB_STOLEN | CB_MIGRATED;
    samples[i * 5].ticks = 100000000;
  }
  struct cb_estimate result = estimate(samples, 100);
  assert_near(result.disturbed, 0.2, 1e-12);
  assert_near(result.shares[0], 0.1, 1e-12);
  assert_near(result.shares[1], 0.1, 1e-12);
  assert_near(result.shares[2], 0.1, 1e-12);
  assert_near(result.max, 1000000, 0);
  assert_true(result.typical < 1100);
  assert_int_equal(result.noise, CB_NOISE_NOISY);
  for (int i = 0; i < 100; i++)
    samples[i].causes = CB_PREEMPTED;
  result = estimate(samples, 100);
  assert_int_equal(result.noise, CB_NOISE_NOISY);
  assert_true(!isnan(result.typical));
}

/* So many of the 100 rounds have a slow canary; the operation takes then
 * factor times as long. */
static struct cb_estimate with_slow(size_t slow, double factor)
{
  struct cb_sample samples[100];
  stairs(samples);
  for (size_t i = 0; i < slow; i++) {
    samples[i].canary[1] = 130;
    samples[i].ticks = (uint64_t)((double)samples[i].ticks * factor);
  }
  cb_classify(samples, 100);
  for (size_t i = 0; i < 100; i++)
    assert_int_equal(samples[i].causes, i < slow ? CB_HOST_SLOW : 0);
  return estimate(samples, 100);
}

static void a_mode_voids_only_those_who_feel_it(void **state)
{
  (void)state;
  struct cb_estimate result = with_slow(95, 1.4);
  assert_true(result.feels_mode);
  assert_int_equal(result.noise, CB_NOISE_VOID);
  result = with_slow(95, 1);
  assert_false(result.feels_mode);
  assert_int_equal(result.noise, CB_NOISE_OK);
  assert_near(result.shares[4], 0.95, 1e-12);
  result = with_slow(50, 1.4);
  assert_int_equal(result.noise, CB_NOISE_NOISY);
  /* The median is that of the fast rounds. */
  assert_near(result.typical, 1074.5, 1e-9);
  assert_int_equal(with_slow(5, 1.4).noise, CB_NOISE_OK);
}

static void classifying_again_finds_the_best_of_all(void **state)
{
  (void)state;
  struct cb_sample samples[2] = {{.n = 1, .canary = {120, 100}},
                                 {.n = 1, .canary = {100, 100}}};
  cb_classify(samples, 1);
  assert_int_equal(samples[0].causes, 0);
  cb_classify(samples, 2);
  assert_int_equal(samples[0].causes, CB_HOST_SLOW);
  assert_int_equal(samples[1].causes, 0);
}

static void names_are_words(void **state)
{
  (void)state;
  assert_string_equal(cb_cause_name(0), "preempted");
  assert_string_equal(cb_cause_name(4), "host-slow");
  assert_null(cb_cause_name(CB_CAUSE_COUNT));
  assert_string_equal(cb_status_name(CB_NA), "n/a");
  assert_string_equal(cb_noise_name(CB_NOISE_VOID), "void");
  assert_string_equal(cb_verdict_name(CB_SLOWER), "slower");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantiles_lie_between),
      cmocka_unit_test(student_is_as_printed),
      cmocka_unit_test(order_statistics_cover),
      cmocka_unit_test(few_processes_have_no_verdict),
      cmocka_unit_test(verdicts_ask_for_the_smallest_effect),
      cmocka_unit_test(one_stray_process_changes_nothing),
      cmocka_unit_test(only_common_rounds_count),
      cmocka_unit_test(equals_are_hardly_ever_told_apart),
      cmocka_unit_test(nothing_is_not_a_number),
      cmocka_unit_test(estimates_are_quantiles),
      cmocka_unit_test(caused_rounds_are_not_typical),
      cmocka_unit_test(a_mode_voids_only_those_who_feel_it),
      cmocka_unit_test(classifying_again_finds_the_best_of_all),
      cmocka_unit_test(names_are_words)};
  return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
