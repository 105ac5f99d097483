/* The workloads with known answers: whatever the number of operations, their
 * proofs hold for it, and for no other. */
#include "test.h"

#include "drive.h"
#include "workload/kinds.h"

#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void create(const char *name, const char *option, const char *value,
                   unsigned threads, struct cb_workload *workload)
{
  struct cb_error error;
  struct cb_spec *spec = cb_spec_create(&cb_workload_family, name, &error);
  assert_non_null(spec);
  if (option && isdigit((unsigned char)*value))
    assert_int_equal(cb_spec_set_integer(spec, option, atoi(value), &error), 0);
  else if (option)
    assert_int_equal(cb_spec_set_string(spec, option, value, &error), 0);
  assert_int_equal(cb_spec_set_integer(spec, "threads", threads, &error), 0);
  const struct cb_workload_kind *kind =
      (const struct cb_workload_kind *)cb_spec_kind(spec);
  assert_int_equal(kind->create(spec, workload, &error), 0);
  cb_spec_destroy(spec);
}

/* Some batches on each thread, one after the other. */
static uint64_t run_all(struct cb_workload *workload)
{
  static const uint64_t batches[] = {0, 1, 7, 8, 9, 1000, 31, 33};
  uint64_t done = 0;
  for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
    for (unsigned j = 0; j < workload->roles[0].threads; j++) {
      uint64_t n = workload->roles[0].run(workload->state, j, batches[i]);
      assert_int_equal(n, batches[i]);
      done += n;
    }
  return done;
}

static void prove(const char *name, const char *option, const char *value)
{
  for (unsigned threads = 1; threads <= 3; threads++) {
    struct cb_workload workload;
    struct cb_error error = {0, ""};
    static const struct cb_control control;
    create(name, option, value, threads, &workload);
    assert_int_equal(workload.setup(workload.state, &control, &error), 0);
    uint64_t done = run_all(&workload);
    assert_int_equal(workload.check(workload.state, done, &error), 0);
    assert_true(workload.check(workload.state, done + 1, &error) < 0);
    assert_true(error.text[0] != '\0');
    assert_true(workload.check(workload.state, 0, &error) < 0);
    workload.destroy(&workload);
    /* And at the same time. */
    create(name, option, value, threads, &workload);
    assert_int_equal(drive(&workload, 3000, &error), 0);
    workload.destroy(&workload);
  }
}

static void call_counts(void **state)
{
  (void)state;
  prove("call", NULL, NULL);
}

static void chain_ends_where_it_must(void **state)
{
  (void)state;
  prove("chain", NULL, NULL);
}

static void throughput_adds_up(void **state)
{
  (void)state;
  prove("throughput", NULL, NULL);
  for (int adds = 1; adds <= 40; adds++) {
    char text[4];
    snprintf(text, sizeof text, "%d", adds);
    prove("throughput", "adds", text);
  }
}

static void time_does_not_go_back(void **state)
{
  (void)state;
  prove("clock", "read", "begin");
  prove("clock", "read", "end");
  prove("clock", "read", "system");
}

static void atomics_lose_nothing(void **state)
{
  (void)state;
  prove("atomic", "op", "add");
  prove("atomic", "op", "relaxed_add");
  prove("atomic", "op", "xchg");
  prove("atomic", "op", "cmpxchg");
  prove("atomic", "op", "load");
  prove("atomic", "op", "fence");
}

/* Stores overwrite each other: with several threads on one word, the count of
 * each must still be the last value that it stored. */
static void stores_leave_the_last(void **state)
{
  (void)state;
  struct cb_workload workload;
  struct cb_error error = {0, ""};
  static const struct cb_control control;
  prove("atomic", "op", "store");
  create("atomic", "op", "store", 2, &workload);
  assert_int_equal(workload.setup(workload.state, &control, &error), 0);
  workload.roles[0].run(workload.state, 0, 5);
  workload.roles[0].run(workload.state, 1, 3);
  assert_int_equal(workload.check(workload.state, 8, &error), 0);
  workload.destroy(&workload);
}

static void a_line_goes_there_and_back(void **state)
{
  (void)state;
  struct cb_error error = {0, ""};
  struct cb_workload workload;
  struct cb_control control = {0};
  struct cb_spec *spec =
      cb_spec_create(&cb_workload_family, "cacheline", &error);
  assert_int_equal(cb_workload_cacheline.create(spec, &workload, &error), 0);
  cb_spec_destroy(spec);
  assert_int_equal(workload.role_count, 2);
  assert_int_equal(drive(&workload, 2000, &error), 0);
  /* Alone it waits until it is told to stop, and did nothing. */
  assert_int_equal(workload.setup(workload.state, &control, &error), 0);
  atomic_store(&control.stop, 1);
  assert_int_equal(workload.roles[1].run(workload.state, 0, 5), 0);
  assert_int_equal(workload.check(workload.state, 0, &error), 0);
  assert_int_equal(workload.roles[0].run(workload.state, 0, 5), 0);
  assert_int_equal(workload.check(workload.state, 0, &error), 0);
  assert_true(workload.check(workload.state, 2, &error) < 0);
  workload.destroy(&workload);
}

static void adds_are_limited(void **state)
{
  (void)state;
  struct cb_error error;
  struct cb_spec *spec = cb_spec_create(&cb_workload_family, "chain", &error);
  assert_int_equal(cb_spec_set_integer(spec, "adds", 0, &error), -EINVAL);
  assert_int_equal(cb_spec_set_integer(spec, "adds", 1000001, &error), -EINVAL);
  assert_int_equal(cb_spec_set_integer(spec, "threads", 0, &error), -EINVAL);
  assert_int_equal(cb_spec_set_integer(spec, "threads", 1025, &error), -EINVAL);
  cb_spec_destroy(spec);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(call_counts),
      cmocka_unit_test(chain_ends_where_it_must),
      cmocka_unit_test(throughput_adds_up),
      cmocka_unit_test(time_does_not_go_back),
      cmocka_unit_test(atomics_lose_nothing),
      cmocka_unit_test(stores_leave_the_last),
      cmocka_unit_test(a_line_goes_there_and_back),
      cmocka_unit_test(adds_are_limited)};
  alarm(120);
  return cmocka_run_group_tests_name("workload_sentinels", tests, NULL, NULL);
}
