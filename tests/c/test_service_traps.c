/*
 * What rte_service does and should not: each case was seen in DPDK 22.11.11 and
 * 26.07 and is done right here. What was seen there stands in the comments.
 */
#include "probe.h"

#include <string.h>
#include <unistd.h>

static void use_lcore(struct cb_services *set, unsigned number)
{
  assert_int_equal(cb_lcore_add(set, number, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_lcore_start(set, number, NULL), 0);
}

/* 1000 runs from an application lcore were counted as 0. */
static void application_lcores_are_counted(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  probe_register(set, &probe, "counted", true, CB_STATS_COUNT, true);
  struct cb_lcore *lcore = cb_lcore_attach(set, NULL);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(cb_service_run(lcore, probe.id, true, NULL), 0);
  assert_int_equal(attr(set, probe.id, CB_SERVICE_CALLS), 1000);
  /* Also when the thread has left. */
  assert_int_equal(cb_lcore_detach(lcore, NULL), 0);
  assert_int_equal(attr(set, probe.id, CB_SERVICE_CALLS), 1000);
}

/* A run on an application lcore left the service inactive, and made it look
 * mapped. */
static void application_lcores_are_active(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  struct runner runner;
  probe_register(set, &probe, "held", true, CB_STATS_OFF, true);
  assert_int_equal(cb_service_active(set, probe.id, NULL), 0);
  probe.hold = true;
  runner_start(&runner, set, probe.id);
  UNTIL(probe.inside);
  assert_int_equal(cb_service_active(set, probe.id, NULL), 1);
  assert_int_equal(cb_service_runstate_get(set, probe.id, NULL), 0);
  probe.hold = false;
  assert_int_equal(runner_join(&runner), 0);
  assert_int_equal(cb_service_active(set, probe.id, NULL), 0);
}

/* Unregistering it then succeeded, and the next service in that slot counted
 * one lcore too many for ever. */
static void a_service_in_use_is_not_unregistered(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe, next;
  struct runner runner;
  struct cb_error error;
  probe_register(set, &probe, "held", true, CB_STATS_OFF, true);
  probe.hold = true;
  runner_start(&runner, set, probe.id);
  UNTIL(probe.inside);
  assert_int_equal(cb_service_unregister(set, probe.id, &error), -EBUSY);
  assert_string_equal(error.text, "a callback of service 'held' is running");
  assert_int_equal(cb_service_count(set), 1);
  probe.hold = false;
  assert_int_equal(runner_join(&runner), 0);
  /* Nothing changed: it still runs. */
  struct cb_lcore *lcore = cb_lcore_attach(set, NULL);
  assert_int_equal(cb_service_run(lcore, probe.id, true, NULL), 0);
  assert_int_equal(cb_service_unregister(set, probe.id, NULL), 0);
  probe_register(set, &next, "next", true, CB_STATS_OFF, true);
  assert_int_equal(next.id, (uint64_t)1 << 32);
  assert_int_equal(cb_service_runstate_get(set, next.id, NULL), 0);
  assert_int_equal(cb_service_run(lcore, probe.id, true, NULL), -EINVAL);
}

/* lcore_add returned what the lcore's last function had returned. */
static void add_returns_its_own_result(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  probe_register(set, &probe, "seven", true, CB_STATS_OFF, true);
  probe.result = 7;
  use_lcore(set, 1);
  assert_int_equal(cb_service_map_set(set, probe.id, 1, true, NULL), 0);
  until_called(&probe);
  assert_int_equal(cb_service_runstate_set(set, probe.id, false, NULL), 0);
  assert_int_equal(cb_lcore_stop(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_del(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_ANYWHERE, NULL), 0);
}

/* Deleting an lcore forgot to count its services down: they seemed mapped, and
 * their last lcore could be stopped under them. */
static void counts_survive_delete_and_add(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  probe_register(set, &probe, "kept", true, CB_STATS_OFF, true);
  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_service_map_set(set, probe.id, 1, true, NULL), 0);
  assert_int_equal(cb_lcore_del(set, 1, NULL), 0);
  assert_int_equal(cb_service_runstate_get(set, probe.id, NULL), 0);
  use_lcore(set, 1);
  assert_int_equal(cb_lcore_count_services(set, 1, NULL), 0);
  assert_int_equal(cb_service_map_set(set, probe.id, 1, true, NULL), 0);
  assert_int_equal(cb_lcore_stop(set, 1, NULL), -EBUSY);
}

/* After its only service was unmapped a running lcore left it active. */
static void unmapping_ends_activity(void **state)
{
  struct cb_services *set = *state;
  static struct probe probes[3];
  static const char *const names[] = {"a", "b", "c"};
  use_lcore(set, 1);
  for (int i = 0; i < 3; i++) {
    probe_register(set, &probes[i], names[i], true, CB_STATS_OFF, true);
    assert_int_equal(cb_service_map_set(set, probes[i].id, 1, true, NULL), 0);
    until_called(&probes[i]);
  }
  for (int i = 0; i < 3; i++) {
    assert_int_equal(cb_service_map_set(set, probes[i].id, 1, false, NULL), 0);
    assert_int_equal(cb_service_quiesce(set, probes[i].id, 10, NULL), 0);
    unsigned calls = probes[i].calls;
    if (i < 2)
      until_called(&probes[i + 1]);
    assert_int_equal(cb_service_active(set, probes[i].id, NULL), 0);
    assert_int_equal(probes[i].calls, calls);
  }
}

/* The next service in a slot began with the old one's counts; they came and
 * went with the lcore's role. */
static void counts_begin_at_zero(void **state)
{
  struct cb_services *set = *state;
  static struct probe old, new;
  probe_register(set, &old, "old", true, CB_STATS_TIME, true);
  use_lcore(set, 1);
  assert_int_equal(cb_service_map_set(set, old.id, 1, true, NULL), 0);
  until_called(&old);
  assert_int_equal(cb_service_runstate_set(set, old.id, false, NULL), 0);
  assert_int_equal(cb_service_quiesce(set, old.id, 10, NULL), 0);
  unsigned calls = old.calls;
  assert_int_equal(attr(set, old.id, CB_SERVICE_CALLS), calls);
  assert_int_equal(cb_lcore_stop(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_del(set, 1, NULL), 0);
  assert_int_equal(attr(set, old.id, CB_SERVICE_CALLS), calls);
  use_lcore(set, 1);
  assert_int_equal(attr(set, old.id, CB_SERVICE_CALLS), calls);
  assert_int_equal(cb_service_unregister(set, old.id, NULL), 0);
  probe_register(set, &new, "new", true, CB_STATS_TIME, true);
  for (unsigned which = 0; which <= CB_SERVICE_LONGEST; which++)
    assert_int_equal(attr(set, new.id, which), 0);
}

/* Resetting an lcore's attributes reset its loops only. */
static void reset_resets_all(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  uint64_t loops, ticks;
  probe_register(set, &probe, "timed", true, CB_STATS_TIME, true);
  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_CALLER, NULL), 0);
  assert_int_equal(cb_lcore_start(set, 1, NULL), 0);
  assert_int_equal(cb_service_map_set(set, probe.id, 1, true, NULL), 0);
  assert_int_equal(cb_lcore_passes(set, 1, 3), 3);
  assert_int_equal(cb_lcore_attr_get(set, 1, CB_LCORE_LOOPS, &loops, NULL), 0);
  assert_int_equal(cb_lcore_attr_get(set, 1, CB_LCORE_TICKS, &ticks, NULL), 0);
  assert_int_equal(loops, 3);
  assert_int_equal(ticks, attr(set, probe.id, CB_SERVICE_TICKS));
  assert_true(ticks > 0);
  assert_int_equal(cb_lcore_attr_reset_all(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_attr_get(set, 1, CB_LCORE_LOOPS, &loops, NULL), 0);
  assert_int_equal(cb_lcore_attr_get(set, 1, CB_LCORE_TICKS, &ticks, NULL), 0);
  assert_int_equal(loops, 0);
  assert_int_equal(ticks, 0);
}

/* Two services could have one name, and a hole in the numbers made the start
 * with defaults fail. */
static void names_are_unique_and_holes_are_skipped(void **state)
{
  struct cb_services *set = *state;
  static struct probe first, second, third;
  struct cb_error error;
  probe_register(set, &first, "first", true, CB_STATS_OFF, false);
  probe_register(set, &second, "second", true, CB_STATS_OFF, false);
  probe_register(set, &third, "third", true, CB_STATS_OFF, false);
  const struct cb_service again = {.name = "second", .call = probe_call};
  assert_int_equal(cb_service_register(set, &again, NULL, &error), -EEXIST);
  assert_string_equal(error.text, "there is a service 'second' already");
  assert_int_equal(cb_service_unregister(set, first.id, NULL), 0);
  assert_int_equal(cb_services_start_with_defaults(set, NULL), -ENOTSUP);
  assert_int_equal(cb_service_component_set(set, second.id, true, NULL), 0);
  assert_int_equal(cb_service_component_set(set, third.id, true, NULL), 0);
  assert_int_equal(cb_lcore_add(set, 4, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_lcore_add(set, 7, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_services_start_with_defaults(set, NULL), 0);
  assert_int_equal(cb_service_map_get(set, second.id, 4, NULL), 1);
  assert_int_equal(cb_service_map_get(set, third.id, 7, NULL), 1);
  until_called(&second);
  until_called(&third);
}

/* An invalid handle was accepted. */
static void settings_check_the_handle(void **state)
{
  struct cb_services *set = *state;
  struct cb_error error;
  assert_int_equal(cb_service_stats_set(set, 99, CB_STATS_TIME, &error),
                   -EINVAL);
  assert_string_equal(error.text, "there is no service with the handle 99");
  assert_int_equal(cb_service_mapped_check_set(set, 99, false, NULL), -EINVAL);
  static struct probe probe;
  probe_register(set, &probe, "known", true, CB_STATS_OFF, false);
  assert_int_equal(
      cb_service_stats_set(set, probe.id, (enum cb_stats)4, &error), -EINVAL);
}

/* A service that was never called had one call in the dump. */
static void dump_shows_no_call_that_was_none(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  char text[200];
  probe_register(set, &probe, "idle", true, CB_STATS_COUNT, false);
  assert_int_equal(
      cb_service_dump(set, probe.id, text, sizeof text, NULL, NULL), 0);
  assert_non_null(strstr(text, "calls 0\t"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  alarm(60);
  const struct CMUnitTest tests[] = {
      CASE(application_lcores_are_counted),
      CASE(application_lcores_are_active),
      CASE(a_service_in_use_is_not_unregistered),
      CASE(add_returns_its_own_result),
      CASE(counts_survive_delete_and_add),
      CASE(unmapping_ends_activity),
      CASE(counts_begin_at_zero),
      CASE(reset_resets_all),
      CASE(names_are_unique_and_holes_are_skipped),
      CASE(settings_check_the_handle),
      CASE(dump_shows_no_call_that_was_none)};
  return cmocka_run_group_tests_name("service traps", tests, NULL, NULL);
}
