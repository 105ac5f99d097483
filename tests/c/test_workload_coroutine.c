/* The workloads of coroutines prove what they did, on every back end. */
#include "backends.h"

#include "base/cpu.h"
#include "coroutine/annotate.h"
#include "drive.h"
#include "workload/kinds.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

static struct cb_spec *spec_of(const char *kind, const char *backend)
{
  struct cb_error error;
  struct cb_spec *spec = cb_spec_create(&cb_workload_family, kind, &error);
  assert_non_null(spec);
  assert_int_equal(cb_spec_set_string(spec, "backend", backend, &error), 0);
  return spec;
}

static int create(struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  const struct cb_workload_kind *kind =
      (const struct cb_workload_kind *)cb_spec_kind(spec);
  int status = kind->create(spec, workload, error);
  cb_spec_destroy(spec);
  return status;
}

static void run_and_prove(struct cb_spec *spec, uint64_t n)
{
  struct cb_workload workload;
  struct cb_error error = {0};
  if (create(spec, &workload, &error) < 0)
    fail_msg("%s", error.text);
  if (drive(&workload, n, &error) < 0)
    fail_msg("%s", error.text);
  workload.destroy(&workload);
}

static void each_kind_with_threads(const char *backend)
{
  static const char *const kinds[] = {"yield",     "lifecycle",    "nesting",
                                      "create",    "request",      "stack",
                                      "pool_pair", "pool_handover"};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    for (int threads = 1; threads <= 3; threads++) {
      struct cb_spec *spec = spec_of(kinds[i], backend);
      cb_spec_set_integer(spec, "threads", threads, NULL);
      if (strcmp(kinds[i], "nesting") == 0)
        cb_spec_set_integer(spec, "depth", 20, NULL);
      if (strcmp(kinds[i], "stack") == 0)
        cb_spec_set_integer(spec, "coroutines", 7, NULL);
      if (strcmp(kinds[i], "pool_pair") == 0)
        cb_spec_set_integer(spec, "burst", 9, NULL);
      run_and_prove(spec, 50);
    }
}

static void every_back_end_proves(void **state)
{
  each_kind_with_threads(*state);
}

/* Pools do not know back ends, so one will do. */
static void every_pool_proves(void **state)
{
  (void)state;
  static const char *const kinds[] = {"nesting", "request", "pool_pair",
                                      "pool_handover"};
  const struct cb_kind *policy;
  for (size_t i = 0; (policy = cb_kind_at(&cb_pool_family, i)); i++)
    for (size_t j = 0; j < sizeof kinds / sizeof kinds[0]; j++) {
      struct cb_spec *spec = spec_of(kinds[j], CB_BACKEND_PRESET);
      cb_spec_set_string(spec, "pool", policy->name, NULL);
      if (j == 0) /* a fibre of ThreadSanitizer's takes milliseconds */
        cb_spec_set_integer(spec, "depth", CB_TSAN ? 10 : 300, NULL);
      if (j == 1)
        cb_spec_set_integer(spec, "burst", 7, NULL);
      if (j == 2)
        cb_spec_set_integer(spec, "burst", CB_TSAN ? 10 : 257, NULL);
      cb_spec_set_integer(spec, "threads", 2, NULL);
      run_and_prove(spec, CB_TSAN ? 10 : 300);
    }
}

static void a_nest_is_not_divided(void **state)
{
  struct cb_workload workload;
  struct cb_error error;
  static const struct cb_control control;
  struct cb_spec *spec = spec_of("nesting", *state);
  cb_spec_set_integer(spec, "depth", 7, NULL);
  assert_int_equal(create(spec, &workload, &error), 0);
  assert_int_equal(workload.setup(workload.state, &control, &error), 0);
  assert_int_equal(workload.roles[0].run(workload.state, 0, 1), 7);
  assert_int_equal(workload.roles[0].run(workload.state, 0, 7), 7);
  assert_int_equal(workload.roles[0].run(workload.state, 0, 15), 21);
  assert_int_equal(workload.check(workload.state, 35, &error), 0);
  assert_int_equal(workload.check(workload.state, 36, &error), -EPROTO);
  workload.teardown(workload.state);
  workload.destroy(&workload);
}

static void counters_tell_new_from_pooled(void **state)
{
  static const char *const policies[] = {"none", "batch_spare"};
  static const double fresh[] = {200, 1};
  for (int i = 0; i < 2; i++) {
    struct cb_workload workload;
    struct cb_error error;
    struct cb_counter counters[8];
    static const struct cb_control control;
    struct cb_spec *spec = spec_of("lifecycle", *state);
    cb_spec_set_string(spec, "pool", policies[i], NULL);
    assert_int_equal(create(spec, &workload, &error), 0);
    assert_int_equal(workload.setup(workload.state, &control, &error), 0);
    assert_int_equal(workload.roles[0].run(workload.state, 0, 200), 200);
    assert_int_equal(workload.counters(workload.state, counters, 8), 6);
    assert_string_equal(counters[0].name, "new");
    assert_int_equal(counters[0].type, CB_SHARE);
    assert_true(counters[0].value == fresh[i]);
    workload.teardown(workload.state);
    workload.destroy(&workload);
  }
}

static void a_lent_pool_is_left_as_full_as_it_was(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  assert_int_equal(cb_pool_prefill(pool, 10, NULL), 0);
  struct cb_coroutine *held =
      cb_coroutine_create(pool, (cb_entry *)(uintptr_t)abort, NULL, NULL);
  struct cb_spec *policy = cb_spec_create(&cb_pool_family, "batch_spare", NULL);
  cb_spec_lend(policy, pool);
  struct cb_spec *spec = spec_of("nesting", *state);
  cb_spec_set_integer(spec, "depth", 40, NULL);
  assert_int_equal(cb_spec_set_spec(spec, "pool", policy, NULL), 0);
  run_and_prove(spec, 100);
  assert_int_equal(stats_of(pool).idle, 9);
  assert_int_equal(stats_of(pool).live, 1);
  assert_int_equal(cb_coroutine_destroy(held), 0);
  end_pool(pool);
}

static void prefill_stands_before_the_first_batch(void **state)
{
  struct cb_workload workload;
  struct cb_error error;
  struct cb_counter counters[8];
  static const struct cb_control control;
  struct cb_spec *spec = spec_of("request", *state);
  cb_spec_set_integer(spec, "prefill", 20, NULL);
  assert_int_equal(create(spec, &workload, &error), 0);
  assert_int_equal(workload.setup(workload.state, &control, &error), 0);
  const struct cb_role *role = &workload.roles[0];
  for (int i = 0; i < 2; i++) { /* once, whatever begins */
    assert_int_equal(role->begin(workload.state, 0, &error), 0);
    assert_int_equal(role->run(workload.state, 0, 30), 30);
    role->end(workload.state, 0);
    assert_int_equal(workload.counters(workload.state, counters, 8), 6);
    assert_true(counters[0].value == 20);
  }
  assert_int_equal(workload.check(workload.state, 60, &error), 0);
  workload.teardown(workload.state);
  workload.destroy(&workload);
}

/* The creator has its own thread here, so that it can wait. */
static void *send_forever(void *opaque)
{
  struct cb_workload *workload = opaque;
  workload->roles[0].run(workload->state, 0, UINT64_MAX);
  return NULL;
}

/* Stopped anywhere, nothing is lost on the way. */
static void a_handover_can_be_stopped(void **state)
{
  (void)state;
  struct cb_workload workload;
  struct cb_error error;
  static struct cb_control control;
  pthread_t sender;
  assert_int_equal(
      create(spec_of("pool_handover", CB_BACKEND_PRESET), &workload, &error),
      0);
  assert_int_equal(workload.setup(workload.state, &control, &error), 0);
  assert_int_equal(pthread_create(&sender, NULL, send_forever, &workload), 0);
  assert_int_equal(workload.roles[1].run(workload.state, 0, 1000), 1000);
  atomic_store(&control.stop, 1);
  assert_int_equal(pthread_join(sender, NULL), 0);
  assert_int_equal(workload.roles[1].run(workload.state, 0, 5) <= 1, 1);
  workload.check(workload.state, 0, &error);
  assert_non_null(strstr(error.text, "sent or received in 0 operations"));
  workload.teardown(workload.state);
  workload.destroy(&workload);
}

/* From the first one on: coroutines that the thread had before would be taken
 * for what comes back. */
static void what_stays_where_it_ended_is_created_anew(void **state)
{
  (void)state;
  struct cb_workload workload;
  struct cb_error error;
  struct cb_counter list[16];
  struct cb_spec *spec = spec_of("pool_handover", CB_BACKEND_PRESET);
  cb_spec_set_string(spec, "pool", "local", NULL);
  assert_int_equal(create(spec, &workload, &error), 0);
  assert_int_equal(drive(&workload, 50, &error), 0);
  size_t count = workload.counters(workload.state, list, 16);
  double taken = -1;
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i].name, "hits_local") == 0)
      taken = list[i].value;
  assert_true(taken == 0);
  workload.destroy(&workload);
}

/* ---- comparisons and refusals ---- */

static void the_call_proves_too(void **state)
{
  static const char *const kinds[] = {"yield", "lifecycle", "nesting",
                                      "request", "stack"};
  (void)state;
  for (int i = 0; i < 5; i++)
    run_and_prove(spec_of(kinds[i], "call"), 5000);
}

static void refused(struct cb_spec *spec, int code, const char *text)
{
  struct cb_workload workload;
  struct cb_error error;
  assert_int_equal(create(spec, &workload, &error), code);
  assert_string_equal(error.text, text);
}

static void what_cannot_be_is_refused(void **state)
{
  (void)state;
  struct cb_error error;
  refused(spec_of("create", "call"), -ENOTSUP,
          "the back end 'call' has no 'create'");
  struct cb_spec *spec = spec_of("nesting", "call");
  cb_spec_set_integer(spec, "depth", 1000000, NULL);
  refused(spec, -ENOTSUP,
          "option 'depth': 'call' nests on the stack of its thread, at most "
          "50000 deep, not 1000000");

  refused(spec_of("pool_pair", "call"), -ENOTSUP,
          "the back end 'call' has no 'pool_pair'");
  spec = spec_of("stack", CB_BACKEND_PRESET);
  cb_spec_set_integer(spec, "bytes", 64000, NULL);
  refused(spec, -EINVAL,
          "option 'bytes': a stack of 65536 bytes has room for 63488, not "
          "64000");

  spec = spec_of("nesting", CB_BACKEND_PRESET);
  assert_int_equal(cb_spec_set_integer(spec, "depth", 0, &error), -EINVAL);
  assert_string_equal(error.text,
                      "option 'depth': 0 is out of range [1, 1000000]");
  assert_int_equal(cb_spec_set_integer(spec, "stack_size", 4095, &error),
                   -EINVAL);
  assert_int_equal(cb_spec_set_integer(spec, "threads", 1025, &error), -EINVAL);
  struct cb_pool *pool = new_pool("ucontext", "none", NULL);
  struct cb_spec *policy = cb_spec_create(&cb_pool_family, "none", NULL);
  cb_spec_lend(policy, pool);
  cb_spec_set_string(spec, "backend", "swapcontext", NULL);
  cb_spec_set_spec(spec, "pool", policy, NULL);
  refused(spec, -EINVAL,
          "option 'pool': its coroutines have the back end 'ucontext', not "
          "'swapcontext'");
  policy = cb_spec_create(&cb_pool_family, "none", NULL);
  cb_spec_lend(policy, pool);
  spec = spec_of("nesting", "ucontext");
  cb_spec_set_integer(spec, "stack_size", 131072, NULL);
  cb_spec_set_spec(spec, "pool", policy, NULL);
  refused(spec, -EINVAL,
          "option 'pool': its coroutines have stacks of 65536 bytes, not "
          "131072");
  end_pool(pool);
}

static uint64_t faults_here(void)
{
  struct rusage usage;
  assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
  return (uint64_t)usage.ru_minflt;
}

/* However few are visited in a batch, each has touched its stack before. */
static void living_coroutines_have_been_visited(void **state)
{
  enum { MANY = 400 };
  (void)state;
  static const struct cb_control control;
  struct cb_workload workload;
  struct cb_error error;
  if (SANITIZED || cb_under_valgrind()) {
    skip();
    return;
  }
  struct cb_spec *spec = spec_of("stack", CB_BACKEND_PRESET);
  cb_spec_set_integer(spec, "coroutines", MANY, NULL);
  assert_int_equal(create(spec, &workload, &error), 0);
  assert_int_equal(workload.setup(workload.state, &control, &error), 0);
  assert_int_equal(workload.roles[0].begin(workload.state, 0, &error), 0);
  uint64_t before = faults_here();
  assert_int_equal(workload.roles[0].run(workload.state, 0, MANY), MANY);
  assert_true(faults_here() - before < MANY / 4);
  workload.roles[0].end(workload.state, 0);
  assert_int_equal(workload.check(workload.state, MANY, &error), 0);
  workload.teardown(workload.state);
  workload.destroy(&workload);
}

static long map_limit(void)
{
  long limit = 0;
  FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
  if (file && fscanf(file, "%ld", &limit) != 1)
    limit = 0;
  if (file)
    fclose(file);
  return limit;
}

/* The nest cannot be finished; the row fails with the reason, all ended. */
static void an_exhausted_nest_fails_with_its_reason(void **state)
{
  (void)state;
  struct cb_workload workload;
  struct cb_error error;
  if (SANITIZED || cb_under_valgrind() || map_limit() <= 0 ||
      map_limit() > 100000) {
    skip();
    return;
  }
  struct cb_spec *spec = spec_of("nesting", CB_BACKEND_PRESET);
  cb_spec_set_integer(spec, "depth", map_limit(), NULL);
  cb_spec_set_string(spec, "guard", "mprotect", NULL);
  cb_spec_set_string(spec, "pool", "none", NULL);
  assert_int_equal(create(spec, &workload, &error), 0);
  assert_int_equal(drive(&workload, 1, &error), -ENOMEM);
  assert_non_null(strstr(error.text, "vm.max_map_count"));
  workload.destroy(&workload);
}

int main(void)
{
  static const struct CMUnitTest plain[] = {
      cmocka_unit_test(the_call_proves_too),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(every_pool_proves),
      cmocka_unit_test(a_handover_can_be_stopped),
      cmocka_unit_test(what_stays_where_it_ended_is_created_anew),
      cmocka_unit_test(living_coroutines_have_been_visited),
      cmocka_unit_test(an_exhausted_nest_fails_with_its_reason)};
  static const struct CMUnitTest on_each[] = {
      cmocka_unit_test(every_back_end_proves),
      cmocka_unit_test(a_nest_is_not_divided),
      cmocka_unit_test(counters_tell_new_from_pooled),
      cmocka_unit_test(prefill_stands_before_the_first_batch),
      cmocka_unit_test(a_lent_pool_is_left_as_full_as_it_was)};
  alarm(300);
  return run_on_kinds("workload coroutine", &cb_backend_family, plain, 7,
                      on_each, 5);
}
