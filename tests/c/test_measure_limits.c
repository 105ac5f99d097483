/* The limits of measuring: time, the user, a row's cap, the watchdog. */
#include "fake.h"

#include "base/cpu.h"

#include <errno.h>
#include <unistd.h>

/* Never ends of itself. */
static uint64_t run_for_ever(void *state, unsigned thread, uint64_t n)
{
  struct fake *fake = state;
  (void)thread;
  (void)n;
  while ((fake->deaf || !atomic_load(&fake->control->stop)) &&
         !atomic_load(&fake->told))
    continue;
  return 0;
}

static void time_ends_it(void **state)
{
  (void)state;
  struct fake *fake = make(1000, 1);
  struct cb_measurement *measurement =
      measure(&fake, 1, (struct cb_measure_options){.seconds = 0.3});
  assert_string_equal(measurement->stopped_by, "time");
  assert_true(measurement->rounds > 0);
  assert_int_equal(measurement->results[0].sample_count, measurement->rounds);
  cb_measurement_destroy(measurement);
  free(fake);
}

/* One operation takes longer than there is time: the probe is the figure. */
static void one_operation_outlasts_the_budget(void **state)
{
  (void)state;
  struct fake *fake = make(0.25 * cb_clock()->hz, 1);
  struct cb_measurement *measurement =
      measure(&fake, 1, (struct cb_measure_options){.seconds = 0.2});
  assert_int_equal(measurement->results[0].status, CB_OK);
  assert_int_equal(measurement->results[0].sample_count, 1);
  assert_int_equal(atomic_load(&fake->batches), 1);
  /* Its counters are of the probe, too: of each operation a half. */
  assert_true(measurement->results[0].counters[1].value == 0.5);
  cb_measurement_destroy(measurement);
  free(fake);
}

/* What a functional check takes is not taken from the budget, where it may be
 * had elsewhere. */
static void functional_checks_prolong_the_budget(void **state)
{
  (void)state;
  for (int prolong = 0; prolong < 2; prolong++) {
    struct fake *fake = make(1000, 1);
    fake->guard_cost = 0.7 * cb_clock()->hz;
    struct cb_measurement *measurement =
        measure(&fake, 1,
                (struct cb_measure_options){.seconds = 0.5,
                                            .guard_seconds = prolong ? 10 : 0});
    assert_int_equal(measurement->results[0].status,
                     prolong ? CB_OK : CB_PARTIAL);
    assert_true(measurement->ready >= 0.7);
    assert_true(measurement->elapsed >= measurement->ready);
    cb_measurement_destroy(measurement);
    free(fake);
  }
}

/* A process that starts late still gives one batch of a known size. */
static void a_given_n_is_never_too_late(void **state)
{
  (void)state;
  struct fake *fakes[2] = {make(0.25 * cb_clock()->hz, 1), make(1000, 1)};
  struct cb_variant variants[2] = {{.workload = &fakes[0]->work, .n = 1},
                                   {.workload = &fakes[1]->work, .n = 9}};
  struct cb_measure_options options = {.seconds = 0.2};
  struct cb_measurement *measurement = cb_measure(variants, 2, &options, NULL);
  assert_non_null(measurement);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(measurement->results[i].status, CB_OK);
    assert_int_equal(measurement->results[i].sample_count, 1);
    assert_int_equal(measurement->results[i].samples[0].round, 0);
    free(fakes[i]);
  }
  assert_int_equal(measurement->rounds, 1);
  cb_measurement_destroy(measurement);
}

static struct cb_control user;

static void stop_now(void *data, const struct cb_progress *progress)
{
  (void)data;
  if (progress->round > 0)
    atomic_store(&user.stop, 1);
}

static void a_signal_keeps_what_there_is(void **state)
{
  (void)state;
  struct fake *fake = make(1000, 1);
  atomic_store(&user.stop, 0);
  struct cb_measurement *measurement =
      measure(&fake, 1,
              (struct cb_measure_options){
                  .seconds = 50, .control = &user, .progress = stop_now});
  assert_string_equal(measurement->stopped_by, "signal");
  assert_int_equal(measurement->results[0].status, CB_PARTIAL);
  assert_true(measurement->results[0].sample_count > 0);
  assert_true(measurement->results[0].checked);
  cb_measurement_destroy(measurement);
  free(fake);
}

static void check_bitten(struct fake *fake, bool by_force)
{
  struct fake *fakes[2] = {fake, make(1000, 1)};
  struct cb_measurement *measurement = measure(
      fakes, 2, (struct cb_measure_options){.seconds = 0.3, .grace = 0.1});
  assert_string_equal(measurement->stopped_by, "watchdog");
  assert_int_equal(measurement->results[1].status, CB_PARTIAL);
  assert_int_equal(measurement->results[0].status, CB_FAIL);
  assert_non_null(
      strstr(measurement->results[0].reason.text, "'fake' did not return"));
  assert_int_equal(measurement->damaged, by_force);
  assert_int_equal(fake->torn_down, !by_force);
  cb_measurement_destroy(measurement);
  free(fakes[1]);
  free(fake);
}

/* A limit of its own costs a row its figures and the others nothing. */
static void a_cap_ends_one_row(void **state)
{
  (void)state;
  struct fake *fakes[2] = {make(0, 2), make(1000, 1)};
  fakes[0]->roles[0].run = run_for_ever;
  fakes[0]->work.batch_cap = 0.05;
  fakes[0]->check_status = -EPROTO;
  struct cb_measurement *measurement =
      measure(fakes, 2, (struct cb_measure_options){.seconds = 0.3});
  assert_string_equal(measurement->stopped_by, "time");
  assert_int_equal(measurement->results[0].status, CB_FAIL);
  assert_string_equal(measurement->results[0].reason.text,
                      "one got lost: a batch took more than 0.05 s");
  assert_int_equal(fakes[0]->torn_down, 1);
  assert_int_equal(measurement->results[1].status, CB_OK);
  assert_true(measurement->results[1].sample_count > 1);
  cb_measurement_destroy(measurement);
  free(fakes[0]);
  free(fakes[1]);
}

static uint64_t run_until_the_user_has_enough(void *state, unsigned thread,
                                              uint64_t n)
{
  atomic_store(&user.stop, 1);
  return run_for_ever(state, thread, n);
}

/* What ended a batch before its cap is not called the cap. */
static void a_signal_or_the_time_can_come_before_a_cap(void **state)
{
  (void)state;
  for (int by_user = 0; by_user < 2; by_user++) {
    struct fake *fake = make(0, 1);
    fake->roles[0].run = by_user ? run_until_the_user_has_enough : run_for_ever;
    fake->work.batch_cap = 50;
    fake->check_status = -EPROTO;
    atomic_store(&user.stop, 0);
    struct cb_measurement *measurement =
        measure(&fake, 1,
                (struct cb_measure_options){.seconds = by_user ? 50 : 0.1,
                                            .grace = by_user ? 0 : 0.1,
                                            .control = &user});
    const char *reason = measurement->results[0].reason.text;
    assert_int_equal(measurement->results[0].status, CB_FAIL);
    if (by_user)
      assert_string_equal(reason, "one got lost: stopped by a signal");
    else
      assert_non_null(strstr(reason, "one got lost: the time was up "));
    cb_measurement_destroy(measurement);
    free(fake);
  }
}

static void the_watchdog_asks_first(void **state)
{
  (void)state;
  struct fake *fake = make(0, 1);
  fake->roles[0].run = run_for_ever;
  check_bitten(fake, false);
}

static void the_watchdog_interrupts(void **state)
{
  (void)state;
  struct fake *fake = make(0, 2);
  fake->roles[0].run = run_for_ever;
  fake->deaf = fake->interruptible = true;
  check_bitten(fake, false);
}

static void the_watchdog_uses_force(void **state)
{
  (void)state;
#if CB_TSAN
  /* A signal reaches a thread under ThreadSanitizer only when that calls the
   * system. */
  skip();
#endif
  struct fake *fake = make(0, 1);
  fake->roles[0].run = run_for_ever;
  fake->deaf = true;
  check_bitten(fake, true);
  fake = make(0, 2);
  fake->roles[0].run = run_for_ever;
  fake->deaf = true;
  check_bitten(fake, true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(time_ends_it),
      cmocka_unit_test(one_operation_outlasts_the_budget),
      cmocka_unit_test(functional_checks_prolong_the_budget),
      cmocka_unit_test(a_given_n_is_never_too_late),
      cmocka_unit_test(a_signal_keeps_what_there_is),
      cmocka_unit_test(a_cap_ends_one_row),
      cmocka_unit_test(a_signal_or_the_time_can_come_before_a_cap),
      cmocka_unit_test(the_watchdog_asks_first),
      cmocka_unit_test(the_watchdog_interrupts),
      cmocka_unit_test(the_watchdog_uses_force)};
  alarm(100);
  return cmocka_run_group_tests_name("measure limits", tests, NULL, NULL);
}
