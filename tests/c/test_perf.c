/* Hardware counters: they count where they are, and are told why where not.
 * Events of the kernel stand in for those of a processor that has none. */
#include "test.h"

#include "config.h"

#include "measure/perf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_LINUX_PERF_EVENT_H
#include <linux/perf_event.h>
#endif

static void names_are_those_of_the_records(void **state)
{
  (void)state;
  assert_string_equal(cb_hardware_name(CB_CYCLES), "cycles");
  assert_string_equal(cb_hardware_name(CB_BRANCH_MISSES), "branch_misses");
  assert_null(cb_hardware_name(CB_HARDWARE_COUNT));
}

#ifdef HAVE_LINUX_PERF_EVENT_H

static void touch_pages(size_t pages)
{
  char *memory = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(memory, MAP_FAILED);
  madvise(memory, pages * 4096, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < pages; i++)
    memory[i * 4096] = 1;
  munmap(memory, pages * 4096);
}

static void events_are_counted(void **state)
{
  (void)state;
  /* One that every kernel has, and one that none has. */
  struct cb_perf_event events[CB_HARDWARE_COUNT] = {
      {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
      {PERF_TYPE_SOFTWARE, 1000},
      {PERF_TYPE_SOFTWARE, 1000},
      {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN}};
  struct cb_perf perf;
  struct cb_perf_counts before, after;
  if (cb_perf_open(&perf, events) < 0)
    skip(); /* forbidden here */
  cb_perf_read(&perf, &before);
  touch_pages(100);
  cb_perf_read(&perf, &after);
  assert_true(after.values[0] - before.values[0] >= 100);
  assert_true(after.values[3] - before.values[3] >= 100);
  assert_true(isnan(after.values[1]) && isnan(after.values[2]));
  cb_perf_close(&perf);
  cb_perf_read(&perf, &after);
  assert_true(isnan(after.values[0]));
}

static void none_is_an_error(void **state)
{
  (void)state;
  struct cb_perf_event events[CB_HARDWARE_COUNT] = {{PERF_TYPE_SOFTWARE, 1000},
                                                    {PERF_TYPE_SOFTWARE, 1000},
                                                    {PERF_TYPE_SOFTWARE, 1000},
                                                    {PERF_TYPE_SOFTWARE, 1000}};
  struct cb_perf perf;
  assert_true(cb_perf_open(&perf, events) < 0);
  cb_perf_close(&perf);
}

#endif

/* Measuring neither reads nor closes what it did not open: not even 0. */
static void none_touches_no_file(void **state)
{
  (void)state;
  struct cb_perf perf = {{0}};
  struct cb_perf_counts counts;
  int ends[2], input = dup(0);
  assert_int_equal(pipe(ends), 0);
  dup2(ends[0], 0);
  assert_int_equal(write(ends[1], "one line of a user", 18), 18);
  cb_perf_read(&perf, &counts);
  assert_true(isnan(counts.values[0]));
  cb_perf_close(&perf);
  char text[18];
  assert_int_equal(read(0, text, sizeof text), 18);
  dup2(input, 0);
  close(input);
  close(ends[0]);
  close(ends[1]);
}

static uint64_t run(void *state, unsigned thread, uint64_t n)
{
  volatile uint64_t *sum = state;
  (void)thread;
  for (uint64_t i = 0; i < n; i++)
    *sum += i;
  return n;
}

/* Absent means not a number in the result, and a sentence. */
static void results_have_them_or_a_reason(void **state)
{
  (void)state;
  uint64_t sum = 0;
  struct cb_role role = {.name = "one", .threads = 1, .run = run};
  struct cb_workload work = {.state = &sum, .roles = &role, .role_count = 1};
  struct cb_variant variant = {.workload = &work};
  struct cb_measure_options options = {.seconds = 20, .rounds = 5};
  struct cb_measurement *measurement = cb_measure(&variant, 1, &options, NULL);
  assert_non_null(measurement);
  const double *hardware = measurement->results[0].hardware;
  const char *absent = cb_hardware_absent();
  if (absent) {
    assert_true(strlen(absent) > 10);
    for (int i = 0; i < CB_HARDWARE_COUNT; i++)
      assert_true(isnan(hardware[i]));
  } else if (!isnan(hardware[CB_INSTRUCTIONS])) {
    assert_true(hardware[CB_INSTRUCTIONS] >= 1);
  }
  cb_measurement_destroy(measurement);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_those_of_the_records),
#ifdef HAVE_LINUX_PERF_EVENT_H
      cmocka_unit_test(events_are_counted), cmocka_unit_test(none_is_an_error),
#endif
      cmocka_unit_test(none_touches_no_file),
      cmocka_unit_test(results_have_them_or_a_reason)};
  return cmocka_run_group_tests_name("perf", tests, NULL, NULL);
}
