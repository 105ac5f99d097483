/* The workload `lock` proves its counts on every kind, and refuses to let
 * several threads into a lock that excludes nobody. */
#include "test.h"

#include "base/locks.h"
#include "drive.h"
#include "workload/kinds.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int create(const char *lock, unsigned threads,
                  struct cb_workload *workload, struct cb_error *error)
{
  struct cb_spec *spec = cb_spec_create(&cb_workload_family, "lock", error);
  assert_non_null(spec);
  assert_int_equal(cb_spec_set_string(spec, "lock", lock, error), 0);
  assert_int_equal(cb_spec_set_integer(spec, "threads", threads, error), 0);
  int status = cb_workload_lock.create(spec, workload, error);
  cb_spec_destroy(spec);
  return status;
}

static void every_kind_proves_its_counts(void **state)
{
  (void)state;
  for (int i = 0; cb_lock_family.kinds[i]; i++) {
    const struct cb_lock_kind *kind =
        (const struct cb_lock_kind *)cb_lock_family.kinds[i];
    for (unsigned threads = 1; threads <= (kind->threads ? 1 : 4); threads++) {
      struct cb_workload workload;
      struct cb_error error;
      assert_int_equal(create(kind->kind.name, threads, &workload, &error), 0);
      assert_int_equal(drive(&workload, 2000, &error), 0);
      workload.destroy(&workload);
    }
  }
}

static void none_is_for_one_thread(void **state)
{
  (void)state;
  struct cb_workload workload;
  struct cb_error error;
  assert_int_equal(create("none", 2, &workload, &error), -ENOTSUP);
  assert_string_equal(
      error.text, "option 'threads': the lock 'none' serves 1 thread, not 2");
}

static void a_false_count_fails(void **state)
{
  (void)state;
  struct cb_workload workload;
  struct cb_error error;
  static const struct cb_control control;
  assert_int_equal(create("ttas", 2, &workload, &error), 0);
  assert_int_equal(workload.setup(workload.state, &control, &error), 0);
  uint64_t done = workload.roles[0].run(workload.state, 0, 10);
  assert_int_equal(workload.check(workload.state, done, &error), 0);
  assert_int_equal(workload.check(workload.state, done + 1, &error), -EINVAL);
  assert_string_equal(error.text, "10 counts inside for 11 operations");
  workload.destroy(&workload);
}

int main(void)
{
  alarm(60);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_proves_its_counts),
      cmocka_unit_test(none_is_for_one_thread),
      cmocka_unit_test(a_false_count_fails)};
  return cmocka_run_group_tests_name("workload lock", tests, NULL, NULL);
}
