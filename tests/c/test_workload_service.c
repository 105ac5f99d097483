/* The workloads `service_run` and `service_loop` prove their counts in every
 * combination, and give no figure where a functional check fails. */
#include "drive.h"
#include "probe.h"

#include "service/service.h"
#include "workload/kinds.h"
#include "workload/services.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct cb_spec *spec_of(const char *kind)
{
  struct cb_spec *spec = cb_spec_create(&cb_workload_family, kind, NULL);
  assert_non_null(spec);
  return spec;
}

static void set_string(struct cb_spec *spec, const char *option,
                       const char *value)
{
  assert_int_equal(cb_spec_set_string(spec, option, value, NULL), 0);
}

static int create(struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  const struct cb_workload_kind *kind =
      (const struct cb_workload_kind *)cb_spec_kind(spec);
  return kind->create(spec, workload, error);
}

/* Creates, runs and proves; frees the spec. */
static void proves(struct cb_spec *spec, uint64_t n)
{
  struct cb_workload workload;
  struct cb_error error = {0, ""};
  assert_int_equal(create(spec, &workload, &error), 0);
  int status = drive(&workload, n, &error);
  assert_string_equal(error.text, "");
  assert_int_equal(status, 0);
  workload.destroy(&workload);
  cb_spec_destroy(spec);
}

static void refuses(struct cb_spec *spec, int code, const char *sentence)
{
  struct cb_workload workload;
  struct cb_error error = {0, ""};
  assert_int_equal(create(spec, &workload, &error), code);
  assert_string_equal(error.text, sentence);
  cb_spec_destroy(spec);
}

static const char *const orders[] = {"acqrel", "seqcst", "fence"};
static const char *const modes[] = {"off", "count", "time", "chain"};

static void runs_are_proved(void **state)
{
  (void)state;
  for (int lock = 0; cb_lock_family.kinds[lock]; lock++)
    for (int order = 0; order < 3; order++)
      for (int mode = 0; mode < 4; mode++)
        for (int mt_safe = 0; mt_safe < 2; mt_safe++) {
          struct cb_spec *spec = spec_of("service_run");
          set_string(spec, "lock", cb_lock_family.kinds[lock]->name);
          set_string(spec, "order", orders[order]);
          set_string(spec, "stats", modes[mode]);
          cb_spec_set_boolean(spec, "mt_safe", mt_safe, NULL);
          proves(spec, 50);
        }
}

static void contended_runs_are_proved(void **state)
{
  (void)state;
  for (int mode = 0; mode < 4; mode++)
    for (int variant = 0; variant < 4; variant++) {
      struct cb_spec *spec = spec_of("service_run");
      set_string(spec, "stats", modes[mode]);
      cb_spec_set_integer(spec, "contenders", 2, NULL);
      cb_spec_set_boolean(spec, "mt_safe", variant == 0, NULL);
      cb_spec_set_boolean(spec, "apart", variant == 2, NULL);
      cb_spec_set_boolean(spec, "serialize", variant != 3, NULL);
      cb_spec_set_boolean(spec, "allow_race", variant == 3, NULL);
      proves(spec, 500);
    }
}

/* An operation is a run, whoever had it. */
static void successes_are_proved(void **state)
{
  (void)state;
  for (int mt_safe = 0; mt_safe < 2; mt_safe++)
    for (int contenders = 0; contenders < 4; contenders++) {
      struct cb_spec *spec = spec_of("service_run");
      set_string(spec, "per", "success");
      set_string(spec, "stats", "count");
      cb_spec_set_boolean(spec, "mt_safe", mt_safe, NULL);
      cb_spec_set_integer(spec, "contenders", contenders, NULL);
      proves(spec, 3000);
    }
}

static void every_call_is_proved(void **state)
{
  (void)state;
  for (int call = 0; cb_call_family.kinds[call]; call++)
    for (int mode = 0; mode < 4; mode++) {
      struct cb_spec *run = spec_of("service_run");
      set_string(run, "call", cb_call_family.kinds[call]->name);
      set_string(run, "stats", modes[mode]);
      cb_spec_set_boolean(run, "mt_safe", false, NULL);
      proves(run, 50);
      struct cb_spec *loop = spec_of("service_loop");
      set_string(loop, "call", cb_call_family.kinds[call]->name);
      set_string(loop, "stats", modes[mode]);
      cb_spec_set_integer(loop, "running", 8, NULL);
      cb_spec_set_boolean(loop, "mt_safe", false, NULL);
      proves(loop, 20);
    }
}

static void loops_are_proved(void **state)
{
  (void)state;
  static const unsigned sizes[][2] = {{1, 0},   {1, 1},   {2, 2},  {8, 3},
                                      {64, 64}, {65, 65}, {100, 1}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int sparse = 0; sparse < 2; sparse++)
      for (int mode = 0; mode < 4; mode++) {
        struct cb_spec *spec = spec_of("service_loop");
        cb_spec_set_integer(spec, "services", sizes[i][0], NULL);
        cb_spec_set_integer(spec, "running", sizes[i][1], NULL);
        set_string(spec, "ids", sparse ? "sparse" : "adjacent");
        set_string(spec, "stats", modes[mode]);
        proves(spec, 30);
      }
}

static void a_false_count_fails(void **state)
{
  (void)state;
  struct cb_workload workload;
  struct cb_error error;
  static const struct cb_control control;
  struct cb_spec *spec = spec_of("service_run");
  assert_int_equal(create(spec, &workload, NULL), 0);
  assert_int_equal(workload.setup(workload.state, &control, NULL), 0);
  assert_int_equal(workload.roles[0].begin(workload.state, 0, NULL), 0);
  uint64_t done = workload.roles[0].run(workload.state, 0, 10);
  workload.roles[0].end(workload.state, 0);
  assert_int_equal(workload.check(workload.state, done, &error), 0);
  assert_int_equal(workload.check(workload.state, done + 1, &error), -EPROTO);
  assert_string_equal(error.text, "runs: 10, not 11");
  workload.teardown(workload.state);
  workload.destroy(&workload);
  cb_spec_destroy(spec);

  spec = spec_of("service_loop");
  assert_int_equal(create(spec, &workload, NULL), 0);
  assert_int_equal(workload.setup(workload.state, &control, NULL), 0);
  done = workload.roles[0].run(workload.state, 0, 10);
  assert_int_equal(workload.check(workload.state, done, &error), 0);
  assert_int_equal(workload.check(workload.state, done + 1, &error), -EPROTO);
  assert_string_equal(error.text, "passes counted by the lcore: 10, not 11");
  workload.teardown(workload.state);
  workload.destroy(&workload);
  cb_spec_destroy(spec);
}

static void what_makes_no_sense_is_refused(void **state)
{
  (void)state;
  static const char race[] =
      "several lcores would be inside a service that is not mt_safe: say "
      "allow_race = true to measure that";
  struct cb_spec *spec = spec_of("service_run");
  cb_spec_set_boolean(spec, "mt_safe", false, NULL);
  cb_spec_set_boolean(spec, "serialize", false, NULL);
  cb_spec_set_integer(spec, "contenders", 1, NULL);
  refuses(spec, -EPERM, race);
  spec = spec_of("service_run");
  cb_spec_set_boolean(spec, "mt_safe", false, NULL);
  set_string(spec, "lock", "none");
  cb_spec_set_integer(spec, "contenders", 1, NULL);
  refuses(spec, -EPERM, race);
  spec = spec_of("service_loop");
  cb_spec_set_integer(spec, "services", 2, NULL);
  cb_spec_set_integer(spec, "running", 3, NULL);
  refuses(spec, -EINVAL, "option 'running': 3 of 2 services cannot run");
  spec = spec_of("service_run");
  set_string(spec, "call", "coroutine_resume");
  refuses(spec, -ENOTSUP,
          "the callback 'coroutine_resume' cannot be mt_safe: one lcore at a "
          "time may be inside");
  spec = spec_of("service_run");
  set_string(spec, "service", "live");
  refuses(spec, -EINVAL, "option 'service': a live service is wanted");
}

/* The check of exclusion cannot hold under a lock that excludes nobody. */
static void a_failed_check_is_told(void **state)
{
  (void)state;
  struct cb_error error;
  assert_int_equal(
      cb_service_check(&cb_check_app_mt_unsafe, "none", "acqrel", &error),
      -EPROTO);
  assert_string_equal(error.text,
                      "no figures: the functional check "
                      "service_app_lcore_mt_unsafe failed: a second lcore got "
                      "0, not -EBUSY, and 2 were inside");
  for (int order = 0; order < 3; order++) {
    assert_int_equal(
        cb_service_check(&cb_check_app_mt_unsafe, "mcs", orders[order], &error),
        0);
    assert_int_equal(
        cb_service_check(&cb_check_app_mt_safe, "tas", orders[order], &error),
        0);
  }
}

/* The linker puts this in the place of cb_service_check in all that the library
 * calls: sabotaged, a check is given a lock that excludes nobody. */
int __real_cb_service_check(const struct cb_service_check *check,
                            const char *lock, const char *order,
                            struct cb_error *error);
int __wrap_cb_service_check(const struct cb_service_check *check,
                            const char *lock, const char *order,
                            struct cb_error *error);

static bool sabotaged;

int __wrap_cb_service_check(const struct cb_service_check *check,
                            const char *lock, const char *order,
                            struct cb_error *error)
{
  return __real_cb_service_check(check, sabotaged ? "none" : lock, order,
                                 error);
}

/* Measured, the row of a check that fails has its reason and no sample, and
 * the row beside it has its figures. */
static void a_failed_check_leaves_no_figure(void **state)
{
  (void)state;
  if (strstr(CFLAGS, "-flto")) { /* which leaves the linker nothing to put */
    print_message("link-time optimisation\n");
    skip();
  }
  struct cb_workload workloads[2];
  struct cb_variant variants[2];
  const struct cb_measure_options options = {.seconds = 5, .rounds = 3};
  for (int mt_safe = 0; mt_safe < 2; mt_safe++) {
    struct cb_spec *spec = spec_of("service_run");
    cb_spec_set_boolean(spec, "mt_safe", mt_safe, NULL);
    assert_int_equal(create(spec, &workloads[mt_safe], NULL), 0);
    cb_spec_destroy(spec);
    variants[mt_safe] = (struct cb_variant){.name = mt_safe ? "safe" : "unsafe",
                                            .workload = &workloads[mt_safe]};
  }
  for (int turn = 0; turn < 2; turn++) {
    sabotaged = turn == 0;
    struct cb_measurement *measured = cb_measure(variants, 2, &options, NULL);
    assert_non_null(measured);
    const struct cb_result *unsafe = &measured->results[0];
    assert_int_equal(unsafe->status, sabotaged ? CB_FAIL : CB_OK);
    assert_int_equal(unsafe->sample_count > 0, !sabotaged);
    if (sabotaged)
      assert_string_equal(unsafe->reason.text,
                          "no figures: the functional check "
                          "service_app_lcore_mt_unsafe failed: a second lcore "
                          "got 0, not -EBUSY, and 2 were inside");
    assert_int_equal(measured->results[1].status, CB_OK);
    assert_true(measured->results[1].sample_count > 0);
    cb_measurement_destroy(measured);
  }
  for (int i = 0; i < 2; i++)
    workloads[i].destroy(&workloads[i]);
}

static void guards_are_named(void **state)
{
  (void)state;
  static const struct {
    const char *kind, *stats, *lock, *guards;
    bool mt_safe;
  } rows[] = {
      {"service_run", "off", "ttas", "service_app_lcore_mt_safe", true},
      {"service_run", "off", "mcs", "service_app_lcore_mt_unsafe", false},
      {"service_run", "time", "tas",
       "service_app_lcore_mt_unsafe service_attr_get", false},
      {"service_run", "off", "none", "service_start_stop", false},
      {"service_loop", "chain", "ttas", "service_start_stop service_attr_get",
       true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct cb_workload workload;
    struct cb_spec *spec = spec_of(rows[i].kind);
    set_string(spec, "stats", rows[i].stats);
    set_string(spec, "lock", rows[i].lock);
    cb_spec_set_boolean(spec, "mt_safe", rows[i].mt_safe, NULL);
    assert_int_equal(create(spec, &workload, NULL), 0);
    assert_string_equal(workload.guards, rows[i].guards);
    workload.destroy(&workload);
    cb_spec_destroy(spec);
  }
}

/* Never comes back, and nobody can let it go. */
static int endless_call(void *argument, struct cb_lcore *lcore)
{
  static _Atomic int result = 1;
  (void)argument, (void)lcore;
  while (result)
    cb_cpu_pause();
  return 0;
}

static int create_endless(const struct cb_spec *spec, struct cb_call *call,
                          struct cb_error *error)
{
  (void)spec, (void)error;
  *call = (struct cb_call){.call = endless_call, .mt_safe = true};
  return 0;
}

static const struct cb_call_kind endless_kind = {.kind.name = "endless",
                                                 .kind.summary =
                                                     "never returns",
                                                 .create = create_endless};

/* What is left by force is still in use as far as anybody knows, so it is kept
 * for ever. */
static void check_blamed(struct cb_spec *spec, const char *name)
{
  static struct cb_workload kept[4];
  static size_t count;
  struct cb_workload *workload = &kept[count++];
  struct cb_error error;
  char wanted[120];
  assert_int_equal(create(spec, workload, &error), 0);
  cb_spec_destroy(spec);
  const struct cb_variant variant = {.name = "row", .workload = workload};
  const struct cb_measure_options options = {.seconds = 0.2, .grace = 0.1};
  struct cb_measurement *measured = cb_measure(&variant, 1, &options, NULL);
  assert_non_null(measured);
  assert_true(measured->damaged);
  assert_int_equal(measured->results[0].status, CB_FAIL);
  snprintf(wanted, sizeof wanted,
           ": it was in the callback of the service '%s'", name);
  assert_non_null(strstr(measured->results[0].reason.text, "'row' did not"));
  assert_non_null(strstr(measured->results[0].reason.text, wanted));
  cb_measurement_destroy(measured);
}

/* The watchdog names the service whose callback it had to leave: a live one
 * alone and contended, and one that was made for the row. */
static void an_endless_callback_is_named(void **state)
{
  (void)state;
#if CB_TSAN
  /* A signal reaches a thread under ThreadSanitizer only when that calls the
   * system. */
  skip();
#endif
  static struct cb_service_handle handle;
  const struct cb_service service = {
      .name = "sleepy", .call = endless_call, .mt_safe = true};
  handle.set = cb_services_create(NULL, NULL, NULL);
  cb_service_register(handle.set, &service, &handle.id, NULL);
  cb_service_component_set(handle.set, handle.id, true, NULL);
  cb_service_runstate_set(handle.set, handle.id, true, NULL);
  for (int contenders = 0; contenders < 2; contenders++) {
    struct cb_spec *spec = spec_of("service_run");
    struct cb_spec *live = cb_spec_create(&cb_service_family, "live", NULL);
    cb_spec_lend(live, &handle);
    assert_int_equal(cb_spec_set_spec(spec, "service", live, NULL), 0);
    cb_spec_set_integer(spec, "contenders", contenders, NULL);
    check_blamed(spec, "sleepy");
  }
  assert_int_equal(cb_kind_add(&cb_call_family, &endless_kind.kind, NULL), 0);
  static const char *const kinds[] = {"service_run", "service_loop"};
  for (int kind = 0; kind < 2; kind++) {
    struct cb_spec *spec = spec_of(kinds[kind]);
    set_string(spec, "call", "endless");
    check_blamed(spec, "endless 0");
  }
}

/* A live service is measured and keeps its state and its counts. */
static void a_live_service_is_left_as_found(void **state)
{
  (void)state;
  struct cb_services *set = cb_services_create("ticket", "seqcst", NULL);
  static struct probe probe;
  struct cb_service_handle handle = {.set = set};
  struct cb_workload workload;
  struct cb_error error;
  probe_register(set, &probe, "live", false, CB_STATS_TIME, true);
  struct cb_lcore *lcore = cb_lcore_attach(set, NULL);
  assert_int_equal(cb_service_run(lcore, probe.id, true, NULL), 0);
  uint64_t before[CB_SERVICE_LONGEST + 1];
  for (unsigned i = 0; i <= CB_SERVICE_LONGEST; i++)
    before[i] = attr(set, probe.id, i);
  handle.id = probe.id;

  struct cb_spec *spec = spec_of("service_run");
  struct cb_spec *live = cb_spec_create(&cb_service_family, "live", NULL);
  cb_spec_lend(live, &handle);
  assert_int_equal(cb_spec_set_spec(spec, "service", live, NULL), 0);
  assert_int_equal(create(spec, &workload, &error), 0);
  assert_int_equal(drive(&workload, 100, &error), 0);
  assert_int_equal(probe.calls, 201);
  for (unsigned i = 0; i <= CB_SERVICE_LONGEST; i++)
    assert_int_equal(attr(set, probe.id, i), before[i]);

  /* Stopped, it gives no figure. */
  assert_int_equal(cb_service_runstate_set(set, probe.id, false, NULL), 0);
  assert_int_equal(drive(&workload, 100, &error), -ENOEXEC);
  assert_string_equal(error.text, "the service 'live' is not running");
  workload.destroy(&workload);

  /* Unserialised while a service lcore may come in. */
  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_CALLER, NULL), 0);
  assert_int_equal(cb_service_map_set(set, probe.id, 1, true, NULL), 0);
  cb_spec_set_boolean(spec, "serialize", false, NULL);
  assert_int_equal(create(spec, &workload, &error), -EPERM);
  assert_int_equal(cb_service_unregister(set, probe.id, NULL), 0);
  assert_int_equal(create(spec, &workload, &error), -EINVAL);
  assert_string_equal(error.text,
                      "there is no service with the handle 0 any more");
  cb_spec_destroy(spec);
  assert_int_equal(cb_services_destroy(set, 1, NULL), 0);
}

/* A live ring is emptied by the service, a burst a call. */
static void a_ring_is_consumed(void **state)
{
  (void)state;
  static const char *const kinds[] = {"spsc", "ptr_ring"};
  for (int i = 0; i < 2; i++) {
    const struct cb_family *rings = cb_family_find("ring");
    struct cb_spec *ring_spec = cb_spec_create(rings, kinds[i], NULL);
    struct cb_ring *ring = cb_ring_create(ring_spec, NULL);
    struct cb_spec *spec =
        cb_spec_create(&cb_call_family, "ring_consume", NULL);
    struct cb_call call;
    assert_non_null(ring);
    for (uint64_t value = 1; value <= 10; value++)
      assert_int_equal(cb_ring_enqueue(ring, value, NULL), 1);
    cb_spec_lend(ring_spec, ring);
    assert_int_equal(cb_spec_set_spec(spec, "ring", ring_spec, NULL), 0);
    assert_int_equal(cb_spec_set_integer(spec, "burst", 4, NULL), 0);
    assert_int_equal(cb_call_make(spec, false, &call, NULL), 0);
    struct cb_services *set = cb_services_create(NULL, NULL, NULL);
    struct cb_lcore *lcore = cb_lcore_attach(set, NULL);
    for (int turn = 0; turn < 3; turn++)
      assert_int_equal(call.call(call.argument, lcore), 0);
    assert_int_equal(call.call(call.argument, lcore), -EAGAIN);
    assert_int_equal(cb_ring_count(ring), 0);
    cb_call_release(&call);
    /* In one that somebody was stopped inside it could wait for ever. */
    atomic_store(&ring->broken, 1);
    assert_int_equal(cb_call_make(spec, false, &call, NULL), -EPIPE);
    cb_spec_destroy(spec);
    cb_ring_destroy(ring);
    assert_int_equal(cb_services_destroy(set, 1, NULL), 0);
  }
}

int main(void)
{
  alarm(60);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_are_proved),
      cmocka_unit_test(contended_runs_are_proved),
      cmocka_unit_test(successes_are_proved),
      cmocka_unit_test(every_call_is_proved),
      cmocka_unit_test(loops_are_proved),
      cmocka_unit_test(a_false_count_fails),
      cmocka_unit_test(what_makes_no_sense_is_refused),
      cmocka_unit_test(a_failed_check_is_told),
      cmocka_unit_test(a_failed_check_leaves_no_figure),
      cmocka_unit_test(guards_are_named),
      cmocka_unit_test(a_live_service_is_left_as_found),
      cmocka_unit_test(a_ring_is_consumed),
      cmocka_unit_test(an_endless_callback_is_named)};
  return cmocka_run_group_tests_name("workload service", tests, NULL, NULL);
}
