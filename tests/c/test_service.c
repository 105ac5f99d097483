/*
 * The functional cases of DPDK's service_autotest and service_perf_autotest, by
 * their names. Where those wait for some milliseconds and hope, these shake
 * hands; none needs as many CPUs as it has lcores.
 */
#include "probe.h"

#include <string.h>
#include <unistd.h>

enum { OUT_OF_RANGE = 100000 };

static void dummy_register(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  struct cb_service service = {.name = "dummy_service"};
  assert_int_equal(cb_service_register(set, &service, NULL, NULL), -EINVAL);
  service.call = probe_call;
  service.name = "";
  assert_int_equal(cb_service_register(set, &service, NULL, NULL), -EINVAL);
  service.name = NULL;
  assert_int_equal(cb_service_register(set, &service, NULL, NULL), -EINVAL);
  probe_register(set, &probe, "dummy_service", false, CB_STATS_OFF, false);
  assert_int_equal(cb_service_count(set), 1);
}

static void unregister_all(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  probe_register(set, &probe, "dummy_service", false, CB_STATS_OFF, true);
  assert_int_equal(cb_service_unregister(set, 1000, NULL), -EINVAL);
  assert_int_equal(cb_service_unregister(set, probe.id, NULL), 0);
  assert_int_equal(cb_service_unregister(set, probe.id, NULL), -EINVAL);
  assert_int_equal(cb_service_count(set), 0);
}

static void service_name(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  char name[CB_SERVICE_NAME_SIZE];
  probe_register(set, &probe, "dummy_service", false, CB_STATS_OFF, false);
  assert_int_equal(cb_service_name(set, 0, name, NULL), 0);
  assert_string_equal(name, "dummy_service");
  assert_int_equal(cb_service_name(set, 1, name, NULL), -EINVAL);
}

static void service_get_by_name(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  uint64_t id = 42;
  assert_int_equal(cb_service_by_name(set, "dummy_service", &id, NULL),
                   -ENODEV);
  probe_register(set, &probe, "dummy_service", false, CB_STATS_OFF, false);
  assert_int_equal(cb_service_by_name(set, "dummy_service", NULL, NULL),
                   -EINVAL);
  assert_int_equal(cb_service_by_name(set, NULL, &id, NULL), -EINVAL);
  assert_int_equal(cb_service_by_name(set, "dummy_service", &id, NULL), 0);
  assert_int_equal(id, 0);
  assert_int_equal(cb_service_unregister(set, id, NULL), 0);
  assert_int_equal(cb_service_by_name(set, "dummy_service", &id, NULL),
                   -ENODEV);
}

static void service_dump(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  char text[400];
  size_t length;
  probe_register(set, &probe, "dummy_service", true, CB_STATS_OFF, true);
  assert_int_equal(cb_service_dump(set, 0, text, sizeof text, &length, NULL),
                   0);
  assert_string_equal(text, "Service dummy_service Summary\n"
                            "  dummy_service: stats off\tcalls 0\tticks 0\t"
                            "avg: 0\t(never mapped to an lcore)\n");
  assert_int_equal(length, strlen(text) + 1);
  assert_int_equal(cb_service_stats_set(set, 0, CB_STATS_COUNT, NULL), 0);
  assert_int_equal(cb_lcore_add(set, 3, CB_LCORE_CALLER, NULL), 0);
  assert_int_equal(cb_service_map_set(set, 0, 3, true, NULL), 0);
  assert_int_equal(cb_lcore_start(set, 3, NULL), 0);
  assert_int_equal(cb_lcore_passes(set, 3, 7), 7);
  assert_int_equal(
      cb_service_dump(set, CB_SERVICE_ALL, text, sizeof text, NULL, NULL), 0);
  assert_string_equal(text, "Services Summary\n"
                            "  dummy_service: stats count\tcalls 7\tticks 0\t"
                            "avg: 0\n"
                            "Service Cores Summary\n"
                            "03\t7\n");
  assert_int_equal(cb_service_dump(set, 9, text, sizeof text, NULL, NULL),
                   -EINVAL);
  /* Cut short, the length told. */
  assert_int_equal(cb_service_dump(set, 0, text, 8, &length, NULL), 0);
  assert_string_equal(text, "Service");
  assert_true(length > 50);
}

static void service_probe_capability(void **state)
{
  struct cb_services *set = *state;
  static struct probe safe, unsafe;
  probe_register(set, &safe, "safe", true, CB_STATS_OFF, false);
  probe_register(set, &unsafe, "unsafe", false, CB_STATS_OFF, false);
  assert_int_equal(cb_service_mt_safe(set, safe.id, NULL), 1);
  assert_int_equal(cb_service_mt_safe(set, unsafe.id, NULL), 0);
  assert_int_equal(cb_service_mt_safe(set, 2, NULL), -EINVAL);
}

static void service_start_stop(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  probe_register(set, &probe, "dummy_service", false, CB_STATS_OFF, false);
  assert_int_equal(cb_service_component_set(set, 0, true, NULL), 0);
  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_service_map_set(set, 0, 1, true, NULL), 0);
  assert_int_equal(cb_service_runstate_get(set, 0, NULL), 0);
  assert_int_equal(cb_service_runstate_set(set, 0, false, NULL), 0);
  assert_int_equal(cb_service_runstate_get(set, 0, NULL), 0);
  assert_int_equal(cb_service_runstate_set(set, 0, true, NULL), 0);
  assert_int_equal(cb_service_runstate_get(set, 0, NULL), 1);
  /* The check on mapped lcores is all that stands between. */
  assert_int_equal(cb_service_map_set(set, 0, 1, false, NULL), 0);
  assert_int_equal(cb_service_runstate_get(set, 0, NULL), 0);
  assert_int_equal(cb_service_mapped_check_set(set, 0, false, NULL), 0);
  assert_int_equal(cb_service_runstate_get(set, 0, NULL), 1);
  assert_int_equal(cb_service_component_set(set, 0, false, NULL), 0);
  assert_int_equal(cb_service_runstate_get(set, 0, NULL), 0);
}

static void service_lcore_add_del(void **state)
{
  struct cb_services *set = *state;
  unsigned list[4] = {9, 9, 9, 9};
  assert_int_equal(cb_lcore_count(set), 0);
  assert_int_equal(cb_lcore_add(set, 2, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_lcore_add(set, 2, CB_LCORE_ANYWHERE, NULL), -EALREADY);
  assert_int_equal(cb_lcore_count(set), 1);
  assert_int_equal(cb_lcore_list(set, list, 4), 1);
  assert_int_equal(list[0], 2);
  assert_int_equal(cb_lcore_add(set, 3, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_lcore_count(set), 3);
  assert_int_equal(cb_lcore_list(set, list, 4), 3);
  assert_int_equal(list[0], 1);
  assert_int_equal(list[1], 2);
  assert_int_equal(list[2], 3);
  assert_int_equal(cb_lcore_list(set, list, 2), -ENOMEM);
  assert_int_equal(cb_lcore_list(set, NULL, 4), -EINVAL);
  assert_int_equal(cb_lcore_del(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_del(set, 3, NULL), 0);
  assert_int_equal(cb_lcore_del(set, 3, NULL), -EINVAL);
  assert_int_equal(cb_lcore_count(set), 1);
  assert_int_equal(cb_lcore_add(set, 1024, CB_LCORE_ANYWHERE, NULL), -EINVAL);
  assert_int_equal(cb_lcore_del(set, 1024, NULL), -EINVAL);
}

static void service_lcore_en_dis_able(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  probe_register(set, &probe, "dummy_service", false, CB_STATS_OFF, true);
  assert_int_equal(cb_service_map_set(set, 0, OUT_OF_RANGE, true, NULL),
                   -EINVAL);
  assert_int_equal(cb_service_map_set(set, 0, OUT_OF_RANGE, false, NULL),
                   -EINVAL);
  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_service_map_set(set, 0, 1, true, NULL), 0);
  assert_int_equal(cb_service_map_get(set, 0, 1, NULL), 1);
  assert_int_equal(cb_lcore_count_services(set, 1, NULL), 1);
  assert_int_equal(cb_service_map_set(set, 0, 1, true, NULL), 0);
  assert_int_equal(cb_lcore_count_services(set, 1, NULL), 1);
  assert_int_equal(cb_service_map_set(set, 0, 1, false, NULL), 0);
  assert_int_equal(cb_service_map_get(set, 0, 1, NULL), 0);
  assert_int_equal(cb_lcore_count_services(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_count_services(set, 2, NULL), -ENOTSUP);
  assert_int_equal(cb_lcore_count_services(set, OUT_OF_RANGE, NULL), -EINVAL);
  /* And it still runs. */
  assert_int_equal(cb_lcore_start(set, 1, NULL), 0);
  assert_int_equal(cb_service_map_set(set, 0, 1, true, NULL), 0);
  until_called(&probe);
}

/* Two service lcores on one service; its callbacks are held until both have
 * had their chance to come in. */
static void poll_on_two(struct cb_services *set, struct probe *probe,
                        bool mt_safe)
{
  static struct probe other;
  probe_register(set, probe, "polled", mt_safe, CB_STATS_OFF, false);
  probe_register(set, &other, "other", true, CB_STATS_OFF, true);
  for (unsigned i = 1; i <= 2; i++) {
    assert_int_equal(cb_lcore_add(set, i, CB_LCORE_ANYWHERE, NULL), 0);
    assert_int_equal(cb_service_map_set(set, probe->id, i, true, NULL), 0);
    assert_int_equal(cb_service_map_set(set, other.id, i, true, NULL), 0);
    assert_int_equal(cb_lcore_start(set, i, NULL), 0);
  }
  /* Not while its component is not ready. */
  assert_int_equal(cb_service_runstate_set(set, probe->id, true, NULL), 0);
  until_called(&other);
  assert_int_equal(probe->calls, 0);
  probe->hold = true;
  assert_int_equal(cb_service_component_set(set, probe->id, true, NULL), 0);
  UNTIL(probe->inside > 0);
  if (mt_safe) {
    UNTIL(probe->inside == 2);
  } else {
    /* The lcore that is not held passes by again and again. */
    for (int i = 0; i < 20; i++)
      until_called(&other);
  }
  probe->hold = false;
  until_called(probe);
  assert_int_equal(cb_service_runstate_set(set, probe->id, false, NULL), 0);
  assert_int_equal(cb_service_quiesce(set, probe->id, 10, NULL), 0);
}

static void service_mt_unsafe_poll(void **state)
{
  static struct probe probe;
  poll_on_two(*state, &probe, false);
  assert_int_equal(probe.most, 1);
  assert_int_equal(probe.plain, probe.calls);
}

static void service_mt_safe_poll(void **state)
{
  static struct probe probe;
  poll_on_two(*state, &probe, true);
  assert_int_equal(probe.most, 2);
}

static void becomes_inactive(struct cb_services *set, unsigned lcore)
{
  static struct probe probe;
  probe_register(set, &probe, "dummy_service", false, CB_STATS_OFF, true);
  assert_int_equal(cb_service_active(set, 10000, NULL), -EINVAL);
  for (unsigned i = 1; i <= lcore; i++)
    assert_int_equal(cb_lcore_add(set, i, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_service_map_set(set, probe.id, lcore, true, NULL), 0);
  assert_int_equal(cb_lcore_start(set, lcore, NULL), 0);
  until_called(&probe);
  probe.hold = true;
  UNTIL(probe.inside);
  assert_int_equal(cb_service_active(set, probe.id, NULL), 1);
  assert_int_equal(cb_service_runstate_set(set, probe.id, false, NULL), 0);
  assert_int_equal(cb_service_active(set, probe.id, NULL), 1);
  probe.hold = false;
  UNTIL(cb_service_active(set, probe.id, NULL) == 0);
  assert_int_equal(probe.inside, 0);
}

static void service_may_be_active(void **state)
{
  becomes_inactive(*state, 1);
}

static void service_active_two_cores(void **state)
{
  becomes_inactive(*state, 2);
}

static void service_attr_get(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  uint64_t value = 1;
  probe_register(set, &probe, "dummy_service", true, CB_STATS_TIME, true);
  assert_int_equal(cb_service_attr_get(set, 0, 42, &value, NULL), -EINVAL);
  assert_int_equal(cb_service_attr_get(set, UINT32_MAX, 0, &value, NULL),
                   -EINVAL);
  assert_int_equal(cb_service_attr_get(set, 0, 0, NULL, NULL), -EINVAL);
  for (unsigned which = 0; which <= CB_SERVICE_LONGEST; which++)
    assert_int_equal(attr(set, 0, which), 0);

  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_service_map_set(set, 0, 1, true, NULL), 0);
  assert_int_equal(cb_lcore_start(set, 1, NULL), 0);
  until_called(&probe);
  probe.result = -EAGAIN;
  until_called(&probe);
  until_called(&probe);
  probe.result = -ENOENT;
  until_called(&probe);
  until_called(&probe);
  assert_int_equal(cb_service_map_set(set, 0, 1, false, NULL), 0);
  assert_int_equal(cb_service_runstate_set(set, 0, false, NULL), 0);
  assert_int_equal(cb_service_quiesce(set, 0, 10, NULL), 0);

  assert_true(attr(set, 0, CB_SERVICE_TICKS) > 0);
  assert_true(attr(set, 0, CB_SERVICE_LONGEST) > 0);
  assert_int_equal(attr(set, 0, CB_SERVICE_CALLS), probe.calls);
  assert_int_equal(attr(set, 0, CB_SERVICE_IDLE_CALLS), probe.idle);
  assert_int_equal(attr(set, 0, CB_SERVICE_ERROR_CALLS), probe.errors);
  assert_int_equal(cb_service_attr_reset_all(set, 9, NULL), -EINVAL);
  assert_int_equal(cb_service_attr_reset_all(set, 0, NULL), 0);
  for (unsigned which = 0; which <= CB_SERVICE_LONGEST; which++)
    assert_int_equal(attr(set, 0, which), 0);
}

static void service_lcore_attr_get(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  uint64_t value = 0;
  probe_register(set, &probe, "dummy_service", false, CB_STATS_OFF, true);
  assert_int_equal(cb_lcore_attr_get(set, UINT32_MAX, 0, &value, NULL),
                   -EINVAL);
  assert_int_equal(cb_lcore_attr_get(set, 1, 0, &value, NULL), -ENOTSUP);
  assert_int_equal(cb_lcore_attr_reset_all(set, 1, NULL), -ENOTSUP);
  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_lcore_active(set, 1, NULL), 0);
  assert_int_equal(cb_service_map_set(set, 0, 1, true, NULL), 0);
  assert_int_equal(cb_lcore_start(set, 1, NULL), 0);
  until_called(&probe);
  until_called(&probe);
  assert_int_equal(cb_lcore_attr_get(set, 1, CB_LCORE_LOOPS, &value, NULL), 0);
  assert_true(value > 0);
  assert_int_equal(cb_lcore_attr_get(set, 1, 42, &value, NULL), -EINVAL);
  assert_int_equal(cb_lcore_attr_get(set, 1, 0, NULL, NULL), -EINVAL);
  assert_int_equal(cb_lcore_active(set, 1, NULL), 1);
  assert_int_equal(cb_lcore_active(set, OUT_OF_RANGE, NULL), -EINVAL);
  assert_int_equal(cb_service_map_set(set, 0, 1, false, NULL), 0);
  assert_int_equal(cb_lcore_stop(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_join(set, 1, 10, NULL), 0);
  assert_int_equal(cb_lcore_active(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_attr_reset_all(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_attr_get(set, 1, CB_LCORE_LOOPS, &value, NULL), 0);
  assert_int_equal(value, 0);
}

static void service_lcore_start_stop(void **state)
{
  struct cb_services *set = *state;
  static struct probe probe;
  probe_register(set, &probe, "dummy_service", false, CB_STATS_OFF, true);
  assert_int_equal(cb_service_map_set(set, 0, 1, true, NULL), -EINVAL);
  assert_int_equal(cb_lcore_start(set, 1, NULL), -EINVAL);
  assert_int_equal(cb_lcore_stop(set, 1, NULL), -EALREADY);
  assert_int_equal(cb_lcore_add(set, 1, CB_LCORE_ANYWHERE, NULL), 0);
  assert_int_equal(cb_service_map_set(set, 0, 1, true, NULL), 0);
  assert_int_equal(cb_lcore_start(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_start(set, 1, NULL), -EALREADY);
  assert_int_equal(cb_lcore_del(set, 1, NULL), -EBUSY);
  until_called(&probe);
  assert_int_equal(cb_lcore_stop(set, 1, NULL), -EBUSY);
  assert_int_equal(cb_service_runstate_set(set, 0, false, NULL), 0);
  assert_int_equal(cb_lcore_stop(set, OUT_OF_RANGE, NULL), -EINVAL);
  assert_int_equal(cb_lcore_stop(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_stop(set, 1, NULL), -EALREADY);
  assert_int_equal(cb_lcore_join(set, 1, 10, NULL), 0);
  unsigned calls = probe.calls;
  assert_int_equal(cb_service_active(set, 0, NULL), 0);
  assert_int_equal(probe.calls, calls);
  assert_int_equal(cb_lcore_del(set, 1, NULL), 0);
}

/* One application lcore is held inside; what does another get? */
static int late_run(struct cb_services *set, bool mt_safe)
{
  static struct probe probe;
  struct runner early, late;
  probe_register(set, &probe, "dummy_service", mt_safe, CB_STATS_OFF, true);
  probe.hold = true;
  runner_start(&early, set, probe.id);
  UNTIL(probe.inside == 1);
  runner_start(&late, set, probe.id);
  if (mt_safe)
    UNTIL(probe.inside == 2);
  else
    runner_join(&late);
  probe.hold = false;
  assert_int_equal(runner_join(&early), 0);
  if (mt_safe)
    runner_join(&late);
  return late.status;
}

static void service_app_lcore_mt_safe(void **state)
{
  assert_int_equal(late_run(*state, true), 0);
}

static void service_app_lcore_mt_unsafe(void **state)
{
  assert_int_equal(late_run(*state, false), -EBUSY);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  alarm(60);
  const struct CMUnitTest tests[] = {CASE(dummy_register),
                                     CASE(unregister_all),
                                     CASE(service_name),
                                     CASE(service_get_by_name),
                                     CASE(service_dump),
                                     CASE(service_probe_capability),
                                     CASE(service_start_stop),
                                     CASE(service_lcore_add_del),
                                     CASE(service_lcore_en_dis_able),
                                     CASE(service_mt_unsafe_poll),
                                     CASE(service_mt_safe_poll),
                                     CASE(service_may_be_active),
                                     CASE(service_active_two_cores),
                                     CASE(service_attr_get),
                                     CASE(service_lcore_attr_get),
                                     CASE(service_lcore_start_stop),
                                     CASE(service_app_lcore_mt_safe),
                                     CASE(service_app_lcore_mt_unsafe)};
  return cmocka_run_group_tests_name("service", tests, NULL, NULL);
}
