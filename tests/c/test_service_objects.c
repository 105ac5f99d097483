/* Sets, services and lcores as objects: growth, limits, nesting, statistics
 * modes, states after failures, and two sets at once. */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count_call(void *argument, struct cb_lcore *lcore)
{
  (void)lcore;
  ++*(unsigned *)argument;
  return 0;
}

static uint64_t register_counter(struct cb_services *set, const char *name,
                                 unsigned *counter, enum cb_stats stats)
{
  const struct cb_service service = {.name = name,
                                     .call = count_call,
                                     .argument = counter,
                                     .mt_safe = true,
                                     .stats = stats};
  uint64_t id;
  assert_int_equal(cb_service_register(set, &service, &id, NULL), 0);
  assert_int_equal(cb_service_component_set(set, id, true, NULL), 0);
  assert_int_equal(cb_service_runstate_set(set, id, true, NULL), 0);
  return id;
}

/* An lcore that the test itself drives. */
static void own_lcore(struct cb_services *set)
{
  assert_int_equal(cb_lcore_add(set, 0, CB_LCORE_CALLER, NULL), 0);
  assert_int_equal(cb_lcore_start(set, 0, NULL), 0);
}

static void a_set_grows_beyond_64(void **state)
{
  enum { COUNT = 200 };
  struct cb_services *set = *state;
  unsigned counters[COUNT] = {0};
  uint64_t ids[COUNT];
  own_lcore(set);
  struct cb_lcore *lcore = cb_lcore_attach(set, NULL);
  for (unsigned i = 0; i < COUNT; i++) {
    char name[16];
    snprintf(name, sizeof name, "s%u", i);
    ids[i] = register_counter(set, name, &counters[i], CB_STATS_OFF);
    assert_int_equal(ids[i], i);
    assert_int_equal(cb_service_map_set(set, ids[i], 0, true, NULL), 0);
  }
  assert_int_equal(cb_lcore_passes(set, 0, 3), 3);
  /* Stopped ones are left out, the order of the others stays. */
  for (unsigned i = 0; i < COUNT; i += 2)
    assert_int_equal(cb_service_runstate_set(set, ids[i], false, NULL), 0);
  assert_int_equal(cb_lcore_passes(set, 0, 2), 2);
  for (unsigned i = 0; i < COUNT; i++) {
    assert_int_equal(counters[i], i % 2 ? 5 : 3);
    assert_int_equal(cb_service_run(lcore, ids[i], true, NULL),
                     i % 2 ? 0 : -ENOEXEC);
  }
  assert_int_equal(cb_service_run(lcore, COUNT, true, NULL), -EINVAL);
  assert_int_equal(cb_service_run(lcore, UINT64_MAX, true, NULL), -EINVAL);
  assert_int_equal(cb_lcore_detach(lcore, NULL), 0);
}

static void a_set_has_a_limit(void **state)
{
  struct cb_services *set = *state;
  struct cb_error error;
  struct cb_service service = {.call = count_call};
  char name[CB_SERVICE_NAME_SIZE + 1];
  service.name = name;
  for (unsigned i = 0; i < 4096; i++) {
    snprintf(name, sizeof name, "s%u", i);
    assert_int_equal(cb_service_register(set, &service, NULL, NULL), 0);
  }
  strcpy(name, "one more");
  assert_int_equal(cb_service_register(set, &service, NULL, &error), -ENOSPC);
  assert_string_equal(error.text, "a set holds at most 4096 services");
  memset(name, 'x', CB_SERVICE_NAME_SIZE);
  name[CB_SERVICE_NAME_SIZE] = '\0';
  assert_int_equal(cb_service_register(set, &service, NULL, &error), -EINVAL);
  assert_non_null(strstr(error.text, "has 64 characters, the limit is 63"));
  static const char *const bad[] = {"a\nb", "\x7f", "tab\t", "\033[1m"};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
    service.name = bad[i];
    assert_int_equal(cb_service_register(set, &service, NULL, &error), -EINVAL);
    assert_non_null(strstr(error.text, "control characters"));
  }
}

/* Statistics are told apart by result: idle calls take no ticks. */
static int result_call(void *argument, struct cb_lcore *lcore)
{
  int *results = argument;
  (void)lcore;
  return results[++results[0]];
}

static void statistics_tell_results_apart(void **state)
{
  struct cb_services *set = *state;
  for (unsigned mode = 0; mode <= CB_STATS_CHAIN; mode++) {
    int results[] = {0, 0, -EAGAIN, -EIO, 7, 0, -EAGAIN}, result;
    const struct cb_service service = {.name = "results",
                                       .call = result_call,
                                       .argument = results,
                                       .stats = (enum cb_stats)mode};
    uint64_t id;
    assert_int_equal(cb_service_register(set, &service, &id, NULL), 0);
    assert_int_equal(cb_service_component_set(set, id, true, NULL), 0);
    assert_int_equal(cb_service_runstate_set(set, id, true, NULL), 0);
    struct cb_lcore *lcore = cb_lcore_attach(set, NULL);
    static const int expected[] = {0, -EAGAIN, -EIO, 7, 0, -EAGAIN};
    for (int i = 0; i < 6; i++) {
      assert_int_equal(cb_service_run(lcore, id, true, &result), 0);
      assert_int_equal(result, expected[i]);
    }
    assert_int_equal(attr(set, id, CB_SERVICE_CALLS), mode ? 6 : 0);
    assert_int_equal(attr(set, id, CB_SERVICE_IDLE_CALLS), mode ? 2 : 0);
    assert_int_equal(attr(set, id, CB_SERVICE_ERROR_CALLS), mode ? 2 : 0);
    assert_int_equal(attr(set, id, CB_SERVICE_TICKS) > 0,
                     mode >= CB_STATS_TIME);
    assert_int_equal(cb_lcore_detach(lcore, NULL), 0);
    assert_int_equal(cb_service_unregister(set, id, NULL), 0);
  }
}

/* A service that never has work is never busy, in the loop as well. */
static int idle_call(void *argument, struct cb_lcore *lcore)
{
  (void)argument, (void)lcore;
  return -EAGAIN;
}

static void an_idle_service_is_not_busy(void **state)
{
  struct cb_services *set = *state;
  uint64_t ticks = 1, id;
  own_lcore(set);
  static const char *const names[] = {"time", "chain"};
  for (unsigned i = 0; i < 2; i++) {
    const struct cb_service service = {.name = names[i],
                                       .call = idle_call,
                                       .stats =
                                           i ? CB_STATS_CHAIN : CB_STATS_TIME};
    assert_int_equal(cb_service_register(set, &service, &id, NULL), 0);
    assert_int_equal(cb_service_component_set(set, id, true, NULL), 0);
    assert_int_equal(cb_service_runstate_set(set, id, true, NULL), 0);
    assert_int_equal(cb_service_map_set(set, id, 0, true, NULL), 0);
  }
  assert_int_equal(cb_lcore_passes(set, 0, 100), 100);
  assert_int_equal(cb_lcore_attr_get(set, 0, CB_LCORE_TICKS, &ticks, NULL), 0);
  assert_int_equal(ticks, 0);
  assert_int_equal(attr(set, id, CB_SERVICE_IDLE_CALLS), 100);
  assert_int_equal(attr(set, id, CB_SERVICE_LONGEST), 0);
}

/* Every kind of lcore's calls, in one list of all modes. */
static void counts_are_exact_in_a_mixed_list(void **state)
{
  struct cb_services *set = *state;
  unsigned counters[4] = {0};
  static const char *const names[] = {"off", "count", "time", "chain"};
  own_lcore(set);
  for (unsigned mode = 0; mode < 4; mode++) {
    uint64_t id = register_counter(set, names[mode], &counters[mode],
                                   (enum cb_stats)mode);
    assert_int_equal(cb_service_map_set(set, id, 0, true, NULL), 0);
  }
  assert_int_equal(cb_lcore_passes(set, 0, 500), 500);
  assert_int_equal(cb_service_stats_set(set, 0, CB_STATS_COUNT, NULL), 0);
  assert_int_equal(cb_service_stats_set(set, 1, CB_STATS_OFF, NULL), 0);
  assert_int_equal(cb_lcore_passes(set, 0, 40), 40);
  for (unsigned mode = 0; mode < 4; mode++)
    assert_int_equal(counters[mode], 540);
  assert_int_equal(attr(set, 0, CB_SERVICE_CALLS), 40);
  assert_int_equal(attr(set, 1, CB_SERVICE_CALLS), 500);
  assert_int_equal(attr(set, 2, CB_SERVICE_CALLS), 540);
  assert_int_equal(attr(set, 3, CB_SERVICE_CALLS), 540);
}

/* No update is lost between threads that run one service at once. */
enum { RUNS = 20000, THREADS = 3 };

static void *run_many(void *argument)
{
  struct runner *runner = argument;
  struct cb_run_tally tally;
  struct cb_lcore *lcore = cb_lcore_attach(runner->set, NULL);
  cb_service_repeat(lcore, runner->id, true, RUNS, &tally);
  runner->status = (int)tally.done;
  assert_int_equal(tally.done + tally.busy, RUNS);
  cb_lcore_detach(lcore, NULL);
  return NULL;
}

static void no_count_is_lost(void **state)
{
  struct cb_services *set = *state;
  struct runner runners[THREADS];
  static struct probe probe;
  for (int mt_safe = 0; mt_safe < 2; mt_safe++) {
    uint64_t done = 0, id;
    struct cb_service service = {.name = mt_safe ? "safe" : "unsafe",
                                 .call = mt_safe ? idle_call : count_call,
                                 .argument = &probe.plain,
                                 .mt_safe = mt_safe,
                                 .stats = CB_STATS_COUNT};
    probe.plain = 0;
    assert_int_equal(cb_service_register(set, &service, &id, NULL), 0);
    assert_int_equal(cb_service_component_set(set, id, true, NULL), 0);
    assert_int_equal(cb_service_runstate_set(set, id, true, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
      runners[i] = (struct runner){.set = set, .id = id};
      assert_int_equal(
          pthread_create(&runners[i].thread, NULL, run_many, &runners[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
      done += (uint64_t)runner_join(&runners[i]);
    assert_int_equal(attr(set, id, CB_SERVICE_CALLS), done);
    if (mt_safe)
      assert_int_equal(done, RUNS * THREADS);
    else /* and never two inside */
      assert_int_equal(probe.plain, done);
  }
}

/* Alone, nobody is ever told that another lcore is inside. */
static void alone_nothing_is_busy(void **state)
{
  struct cb_services *set = *state;
  struct cb_run_tally tally;
  static struct probe probe;
  probe_register(set, &probe, "unsafe", false, CB_STATS_OFF, true);
  struct cb_lcore *lcore = cb_lcore_attach(set, NULL);
  probe.result = -EAGAIN;
  cb_service_repeat(lcore, probe.id, true, 1000, &tally);
  assert_int_equal(tally.done, 1000);
  assert_int_equal(tally.idle, 1000);
  probe.result = -EIO;
  cb_service_repeat(lcore, probe.id, false, 10, &tally);
  assert_int_equal(tally.errors, 10);
  cb_service_repeat(lcore, 55, false, 10, &tally);
  assert_int_equal(tally.refused, 10);
  assert_int_equal(tally.done + tally.busy, 0);
}

/* A callback runs another service, and itself. */
struct nest {
  uint64_t self, inner;
  int self_status, inner_status, inner_result, number;
  struct cb_services *set;
  int active;
};

static int nest_call(void *argument, struct cb_lcore *lcore)
{
  struct nest *nest = argument;
  nest->number = cb_lcore_number(lcore);
  nest->self_status = cb_service_run(lcore, nest->self, true, NULL);
  nest->inner_status =
      cb_service_run(lcore, nest->inner, true, &nest->inner_result);
  nest->active = cb_service_active(nest->set, nest->self, NULL);
  assert_int_equal(cb_services_destroy(nest->set, 1, NULL), -EDEADLK);
  return 0;
}

static void callbacks_may_run_services(void **state)
{
  struct cb_services *set = *state;
  static struct probe inner;
  struct nest nest = {.set = set};
  const struct cb_service service = {
      .name = "outer", .call = nest_call, .argument = &nest};
  probe_register(set, &inner, "inner", false, CB_STATS_OFF, true);
  inner.result = 42;
  nest.inner = inner.id;
  assert_int_equal(cb_service_register(set, &service, &nest.self, NULL), 0);
  assert_int_equal(cb_service_component_set(set, nest.self, true, NULL), 0);
  assert_int_equal(cb_service_runstate_set(set, nest.self, true, NULL), 0);
  struct cb_lcore *lcore = cb_lcore_attach(set, NULL);
  assert_int_equal(cb_service_run(lcore, nest.self, true, NULL), 0);
  assert_int_equal(nest.self_status, -EBUSY);
  assert_int_equal(nest.inner_status, 0);
  assert_int_equal(nest.inner_result, 42);
  assert_int_equal(nest.number, -1);
  assert_int_equal(nest.active, 1);
  assert_int_equal(cb_service_active(set, nest.self, NULL), 0);
  own_lcore(set);
  assert_int_equal(cb_service_map_set(set, nest.self, 0, true, NULL), 0);
  nest.active = 0;
  assert_int_equal(cb_lcore_passes(set, 0, 1), 1);
  assert_int_equal(nest.number, 0);
  assert_int_equal(nest.inner_status, 0);
  assert_int_equal(nest.active, 1);
  assert_int_equal(cb_service_active(set, nest.self, NULL), 0);
}

/* An lcore's own pointer, given back when the lcore goes. */
static _Atomic int locals;

static void local_release(void *local)
{
  locals -= *(int *)local;
}

static int local_call(void *argument, struct cb_lcore *lcore)
{
  if (!cb_lcore_local(lcore)) {
    cb_lcore_local_set(lcore, argument, local_release);
    locals += *(int *)argument;
  }
  return 0;
}

static void lcores_keep_a_pointer(void **state)
{
  struct cb_services *set = *state;
  int one = 1;
  const struct cb_service service = {
      .name = "local", .call = local_call, .argument = &one, .mt_safe = true};
  locals = 0;
  assert_int_equal(cb_service_register(set, &service, NULL, NULL), 0);
  assert_int_equal(cb_service_component_set(set, 0, true, NULL), 0);
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(cb_lcore_add(set, i, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_service_map_set(set, 0, 1, true, NULL), 0);
  assert_int_equal(cb_services_start_with_defaults(set, NULL), 0);
  struct cb_lcore *lcore = cb_lcore_attach(set, NULL);
  assert_int_equal(cb_service_run(lcore, 0, true, NULL), 0);
  UNTIL(locals == 3);
  assert_int_equal(cb_lcore_detach(lcore, NULL), 0);
  assert_int_equal(locals, 2);
  assert_int_equal(cb_lcore_reset_all(set), 0);
  assert_int_equal(cb_lcore_count(set), 0);
  assert_int_equal(cb_service_runstate_get(set, 0, NULL), 0);
  UNTIL(locals == 0);
}

static void lcores_come_and_go(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  probe_register(set, &probe, "again", true, CB_STATS_COUNT, true);
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_ANYWHERE, NULL), 0);
    assert_int_equal(cb_lcore_start(set, 1, NULL), 0);
    assert_int_equal(cb_lcore_stop(set, 1, NULL), 0);
    assert_int_equal(cb_lcore_del(set, 1, NULL), 0);
  }
  /* And start and stop of one that stays. */
  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_service_map_set(set, probe.id, 1, true, NULL), 0);
  for (int i = 0; i < 50; i++) {
    assert_int_equal(cb_service_runstate_set(set, probe.id, true, NULL), 0);
    assert_int_equal(cb_lcore_start(set, 1, NULL), 0);
    if (i % 10 == 0)
      until_called(&probe);
    assert_int_equal(cb_service_runstate_set(set, probe.id, false, NULL), 0);
    assert_int_equal(cb_lcore_stop(set, 1, NULL), 0);
    assert_int_equal(cb_lcore_join(set, 1, 10, NULL), 0);
    assert_int_equal(cb_service_active(set, probe.id, NULL), 0);
  }
  assert_int_equal(attr(set, probe.id, CB_SERVICE_CALLS), probe.calls);
}

static void what_cannot_be_is_refused(void **state)
{
  struct cb_services *set = *state;
  struct cb_error error;
  assert_null(cb_services_create("tsa", NULL, &error));
  assert_string_equal(error.text, "unknown lock 'tsa' (did you mean 'tas'?)");
  assert_null(cb_services_create(NULL, "seqsct", &error));
  assert_string_equal(error.text,
                      "unknown order 'seqsct' (did you mean 'seqcst'?)");
  assert_int_equal(cb_lcore_add(set, 1, 100000, &error), -EINVAL);
  assert_non_null(strstr(error.text, "100000"));
  assert_int_equal(cb_lcore_add(set, 1, -3, &error), -EINVAL);
  assert_int_equal(cb_lcore_count(set), 0);
  /* The number is free for a CPU that is there. */
  int cpu = 0;
  assert_true(cb_cpus_allowed(&cpu, 1) > 0);
  assert_int_equal(cb_lcore_add(set, 1, cpu, &error), 0);
  assert_int_equal(cb_lcore_passes(set, 1, 5), 0);
  assert_int_equal(cb_lcore_passes(set, 2, 5), 0);
}

/* Two sets share nothing; a thread serves both. */
static void sets_are_apart(void **state)
{
  struct cb_services *first = *state;
  struct cb_services *second = cb_services_create("mcs", "seqcst", NULL);
  static struct probe a, b;
  assert_string_equal(cb_services_quiescence(second), "fence");
  probe_register(first, &a, "same name", false, CB_STATS_COUNT, true);
  probe_register(second, &b, "same name", false, CB_STATS_COUNT, true);
  struct cb_lcore *in_first = cb_lcore_attach(first, NULL);
  struct cb_lcore *in_second = cb_lcore_attach(second, NULL);
  assert_int_equal(cb_service_run(in_first, 0, true, NULL), 0);
  assert_int_equal(cb_service_run(in_second, 0, true, NULL), 0);
  assert_int_equal(cb_service_run(in_second, 0, true, NULL), 0);
  assert_int_equal(attr(first, 0, CB_SERVICE_CALLS), 1);
  assert_int_equal(attr(second, 0, CB_SERVICE_CALLS), 2);
  assert_int_equal(cb_services_destroy(second, 1, NULL), 0);
  assert_int_equal(cb_service_run(in_first, 0, true, NULL), 0);
  assert_int_equal(cb_services_destroy(NULL, 1, NULL), 0);
}

/* A held callback keeps an application lcore attached and its set whole. */
static void an_lcore_inside_cannot_leave(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  struct runner runner;
  struct cb_error error;
  probe_register(set, &probe, "held", true, CB_STATS_OFF, true);
  probe.hold = true;
  runner_start(&runner, set, probe.id);
  UNTIL(probe.inside);
  assert_int_equal(cb_services_destroy(set, 1, &error), -EBUSY);
  assert_string_equal(error.text,
                      "an application lcore is inside the service 'held'");
  probe.hold = false;
  assert_int_equal(runner_join(&runner), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  alarm(60);
  const struct CMUnitTest tests[] = {CASE(a_set_grows_beyond_64),
                                     CASE(a_set_has_a_limit),
                                     CASE(statistics_tell_results_apart),
                                     CASE(an_idle_service_is_not_busy),
                                     CASE(counts_are_exact_in_a_mixed_list),
                                     CASE(no_count_is_lost),
                                     CASE(alone_nothing_is_busy),
                                     CASE(callbacks_may_run_services),
                                     CASE(lcores_keep_a_pointer),
                                     CASE(lcores_come_and_go),
                                     CASE(what_cannot_be_is_refused),
                                     CASE(sets_are_apart),
                                     CASE(an_lcore_inside_cannot_leave)};
  return cmocka_run_group_tests_name("service objects", tests, NULL, NULL);
}
