/* The histogram keeps every value to within 1 %, and its parts add up. */
#include "test.h"

#include "measure/histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct cb_histogram one, two, all;

static uint64_t any_value(void)
{
  uint64_t value = 0;
  for (int i = 0; i < 5; i++)
    value = value << 15 ^ (uint64_t)rand();
  return value >> rand() % 64;
}

static void buckets_meet_without_gap(void **state)
{
  (void)state;
  uint64_t expected = 0;
  struct cb_bucket bucket = {0, 0, 0};
  cb_histogram_clear(&one);
  for (size_t i = 0; i < CB_HISTOGRAM_BUCKETS; i++)
    one.buckets[i] = 1;
  for (size_t i = 0; (i = cb_histogram_next(&one, i, &bucket));) {
    assert_int_equal(bucket.low, expected);
    assert_true(bucket.high >= bucket.low);
    assert_int_equal(cb_histogram_index(bucket.low), i - 1);
    assert_int_equal(cb_histogram_index(bucket.high), i - 1);
    assert_true(bucket.high - bucket.low <= bucket.low / 64);
    expected = bucket.high + 1;
  }
  assert_int_equal(bucket.high, UINT64_MAX);
}

static void small_values_are_exact(void **state)
{
  (void)state;
  cb_histogram_clear(&one);
  for (uint64_t i = 0; i < 128; i++)
    cb_histogram_record(&one, i);
  assert_int_equal(cb_histogram_quantile(&one, 0), 0);
  assert_int_equal(cb_histogram_quantile(&one, 0.5), 63);
  assert_int_equal(cb_histogram_quantile(&one, 1), 127);
}

static int ascending(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void quantiles_are_within_one_per_cent(void **state)
{
  (void)state;
  enum { COUNT = 10000 };
  static uint64_t values[COUNT];
  unsigned seed = (unsigned)time(NULL);
  printf("# seed %u\n", seed);
  srand(seed);
  cb_histogram_clear(&one);
  for (size_t i = 0; i < COUNT; i++)
    cb_histogram_record(&one, values[i] = any_value());
  qsort(values, COUNT, sizeof *values, ascending);
  for (size_t i = 1; i <= COUNT; i++) {
    double true_value = (double)values[i - 1];
    double found = (double)cb_histogram_quantile(&one, (double)i / COUNT);
    assert_true(found >= true_value * (1 - 1 / 127.0) - 1);
    assert_true(found <= true_value * (1 + 1 / 127.0) + 1);
  }
  assert_int_equal(one.least, values[0]);
  assert_int_equal(one.most, values[COUNT - 1]);
}

static void parts_add_up(void **state)
{
  (void)state;
  cb_histogram_clear(&one);
  cb_histogram_clear(&two);
  cb_histogram_clear(&all);
  for (int i = 0; i < 3000; i++) {
    uint64_t value = any_value();
    cb_histogram_record(i % 3 ? &one : &two, value);
    cb_histogram_record(&all, value);
  }
  cb_histogram_merge(&one, &two);
  assert_memory_equal(&one, &all, sizeof all);
  /* As read from a file: by bucket. */
  struct cb_bucket bucket;
  cb_histogram_clear(&two);
  for (size_t i = 0; (i = cb_histogram_next(&all, i, &bucket));)
    cb_histogram_add(&two, bucket.low, bucket.count);
  assert_memory_equal(two.buckets, all.buckets, sizeof all.buckets);
  assert_int_equal(two.count, all.count);
}

static void an_empty_one_says_nothing(void **state)
{
  (void)state;
  struct cb_bucket bucket;
  cb_histogram_clear(&one);
  cb_histogram_add(&one, 7, 0);
  assert_int_equal(cb_histogram_quantile(&one, 0.5), 0);
  assert_int_equal(cb_histogram_next(&one, 0, &bucket), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buckets_meet_without_gap),
      cmocka_unit_test(small_values_are_exact),
      cmocka_unit_test(quantiles_are_within_one_per_cent),
      cmocka_unit_test(parts_add_up),
      cmocka_unit_test(an_empty_one_says_nothing)};
  return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
