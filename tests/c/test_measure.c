/* Measuring: batches and rounds. */
#include "fake.h"

#include "base/topology.h"

#include <errno.h>
#include <unistd.h>

static struct cb_measure_options brief(uint64_t rounds)
{
  return (struct cb_measure_options){
      .seconds = 20, .rounds = rounds, .seed = 1};
}

/* ---- what is called, and when -------------------------------------------- */

static void rounds_are_kept(void **state)
{
  (void)state;
  struct fake *fakes[2] = {make(1000, 1), make(2000, 1)};
  struct cb_measurement *measurement = measure(fakes, 2, brief(30));
  assert_string_equal(measurement->stopped_by, "rounds");
  assert_int_equal(measurement->rounds, 30);
  for (int i = 0; i < 2; i++) {
    struct cb_result *result = &measurement->results[i];
    assert_int_equal(result->status, CB_OK);
    assert_int_equal(result->sample_count, 30);
    assert_true(result->checked);
    uint64_t operations = 0;
    for (uint32_t j = 0; j < 30; j++) {
      assert_int_equal(result->samples[j].round, j);
      assert_int_equal(result->samples[j].n, result->n);
      assert_true(result->samples[j].ticks > 0);
      assert_true(result->samples[j].canary[0] > 0);
      operations += result->samples[j].n;
    }
    assert_int_equal(result->operations, operations);
    assert_int_equal(result->roles[0].operations, operations);
    assert_int_equal(fakes[i]->proven, atomic_load(&fakes[i]->operations));
    assert_int_equal(atomic_load(&fakes[i]->begun), 1);
    assert_int_equal(atomic_load(&fakes[i]->ended), 1);
    assert_int_equal(fakes[i]->torn_down, 1);
    assert_int_equal(fakes[i]->prepared, atomic_load(&fakes[i]->batches));
  }
  /* One n for both. */
  assert_int_equal(measurement->results[0].n, measurement->results[1].n);
  assert_false(measurement->results[1].own_n);
  cb_measurement_destroy(measurement);
  free(fakes[0]);
  free(fakes[1]);
}

static void counters_are_of_timed_rounds(void **state)
{
  (void)state;
  struct fake *fake = make(1000, 1);
  struct cb_measurement *measurement = measure(&fake, 1, brief(5));
  struct cb_result *result = &measurement->results[0];
  assert_int_equal(result->counter_count, 3);
  assert_int_equal((uint64_t)result->counters[0].value, result->operations);
  assert_true(result->counters[1].value == 0.5);
  assert_true(result->counters[2].value == 7);
  cb_measurement_destroy(measurement);
  free(fake);
}

static void several_threads_meet(void **state)
{
  (void)state;
  struct fake *fake = make(100, 2);
  fake->work.role_count = 2;
  struct cb_measurement *measurement = measure(&fake, 1, brief(10));
  struct cb_result *result = &measurement->results[0];
  assert_int_equal(result->status, CB_OK);
  assert_int_equal(result->role_count, 4);
  assert_string_equal(result->roles[0].role, "one");
  assert_string_equal(result->roles[3].role, "two");
  assert_int_equal(result->roles[3].thread, 1);
  assert_int_equal(atomic_load(&fake->begun), 4);
  assert_int_equal(atomic_load(&fake->ended), 4);
  /* A sample counts the first role: two threads. */
  assert_int_equal(result->samples[0].n, 2 * result->n);
  assert_int_equal(result->operations,
                   result->roles[0].operations + result->roles[1].operations);
  assert_int_equal(fake->proven, atomic_load(&fake->operations));
  for (int i = 0; i < 4; i++) {
    assert_true(result->roles[i].overlap >= 0);
    assert_true(result->roles[i].overlap <= 1);
    assert_true(result->samples[0].wall > 0);
  }
  cb_measurement_destroy(measurement);
  free(fake);
}

static void more_threads_than_cpus_finish(void **state)
{
  (void)state;
  struct fake *fake = make(100, 40);
  struct cb_measurement *measurement = measure(&fake, 1, brief(5));
  assert_int_equal(measurement->results[0].status, CB_OK);
  assert_int_equal(measurement->results[0].sample_count, 5);
  cb_measurement_destroy(measurement);
  free(fake);
}

/* ---- sizes of batches ---------------------------------------------------- */

static void long_operations_go_one_by_one(void **state)
{
  (void)state;
  struct fake *fake = make(0.005 * cb_clock()->hz, 1);
  struct cb_measurement *measurement = measure(&fake, 1, brief(3));
  assert_int_equal(measurement->results[0].n, 1);
  assert_int_equal(measurement->results[0].sample_count, 3);
  cb_measurement_destroy(measurement);
  free(fake);
}

static void unlike_costs_have_their_own_n(void **state)
{
  (void)state;
  double us = cb_clock()->hz * 1e-6;
  struct fake *fakes[2] = {make(0.2 * us, 1), make(500 * us, 1)};
  struct cb_measurement *measurement = measure(fakes, 2, brief(3));
  assert_true(measurement->results[0].n > measurement->results[1].n);
  assert_false(measurement->results[0].own_n);
  assert_true(measurement->results[1].own_n);
  cb_measurement_destroy(measurement);
  free(fakes[0]);
  free(fakes[1]);
}

static void batch_max_is_kept(void **state)
{
  (void)state;
  struct fake *fakes[2] = {make(100, 1), make(100, 1)};
  fakes[1]->work.batch_max = 7;
  struct cb_measurement *measurement = measure(fakes, 2, brief(4));
  assert_true(measurement->results[1].n <= 7);
  assert_true(atomic_load(&fakes[1]->operations) <=
              7 * atomic_load(&fakes[1]->batches));
  cb_measurement_destroy(measurement);
  free(fakes[0]);
  free(fakes[1]);
}

/* They are proved with the others, and neither timed nor in the figures. */
static void warm_up_is_not_timed(void **state)
{
  (void)state;
  struct fake *fake = make(1000, 1);
  fake->work.warmup = 50;
  fake->work.batch_n = 7;
  struct cb_measurement *measurement = measure(&fake, 1, brief(4));
  const struct cb_result *result = &measurement->results[0];
  assert_int_equal(result->status, CB_OK);
  for (size_t i = 0; i < result->sample_count; i++)
    assert_int_equal(result->samples[i].n, 7);
  assert_int_equal(result->operations, 4 * 7);
  /* The batch that shows what an operation costs comes without. */
  assert_int_equal(fake->proven, 5 * 7 + 4 * 50);
  assert_int_equal(fake->proven, atomic_load(&fake->operations));
  cb_measurement_destroy(measurement);
  free(fake);
}

static void what_takes_a_millisecond_is_not_warmed_up(void **state)
{
  (void)state;
  struct fake *fake = make(1000, 1);
  fake->work.warmup = (uint64_t)(cb_clock()->hz / 1000); /* of 1000 ticks */
  fake->work.batch_n = 7;
  cb_measurement_destroy(measure(&fake, 1, brief(3)));
  assert_int_equal(fake->proven, 4 * 7);
  free(fake);
}

static void batch_min_is_kept(void **state)
{
  (void)state;
  struct fake *fake = make(2000, 1);
  fake->work.batch_min = 5000; /* 100 us are some 120 */
  struct cb_measurement *measurement = measure(&fake, 1, brief(3));
  assert_int_equal(measurement->results[0].n, 5000);
  cb_measurement_destroy(measurement);
  free(fake);
}

static void a_batch_is_whole_bundles(void **state)
{
  (void)state;
  struct fake *fakes[3];
  struct cb_variant variants[3];
  for (int i = 0; i < 3; i++) {
    fakes[i] = make(100, 1);
    fakes[i]->work.batch_min = i == 1 ? 30 : 28;
    variants[i] =
        (struct cb_variant){.name = "fake", .workload = &fakes[i]->work};
  }
  struct cb_measure_options options = brief(3);
  struct cb_measurement *measurement = cb_measure(variants, 2, &options, NULL);
  for (int i = 0; i < 2; i++) {
    assert_true(measurement->results[i].n > 0);
    assert_int_equal(measurement->results[i].n % 420, 0);
  }
  cb_measurement_destroy(measurement);
  fakes[2]->work.batch_max = 100;
  measurement = cb_measure(&variants[2], 1, &options, NULL);
  assert_int_equal(measurement->results[0].n, 84);
  cb_measurement_destroy(measurement);
  for (int i = 0; i < 3; i++)
    free(fakes[i]);
}

/* The shortest bundle of both is a millisecond long: each has its own. */
static void bundles_make_no_batch_long(void **state)
{
  (void)state;
  struct fake *fakes[2] = {make(100, 1), make(100, 1)};
  fakes[0]->work.batch_min = 151;
  fakes[1]->work.batch_min = 157;
  struct cb_measurement *measurement = measure(fakes, 2, brief(3));
  double most = 600e-6 * cb_clock()->hz / 100;
  for (uint64_t i = 0; i < 2; i++) {
    uint64_t n = measurement->results[i].n;
    assert_int_equal(n % fakes[i]->work.batch_min, 0);
    assert_true((double)n < most);
  }
  cb_measurement_destroy(measurement);
  free(fakes[0]);
  free(fakes[1]);
}

static void a_given_n_is_not_for_other_bundles(void **state)
{
  (void)state;
  struct fake *fakes[2] = {make(100, 1), make(100, 1)};
  struct cb_variant variants[2];
  for (int i = 0; i < 2; i++)
    variants[i] =
        (struct cb_variant){.name = "fake", .workload = &fakes[i]->work};
  variants[0].n = 3002;
  fakes[1]->work.batch_min = 5;
  struct cb_measure_options options = brief(3);
  struct cb_measurement *measurement = cb_measure(variants, 2, &options, NULL);
  assert_int_equal(measurement->results[0].n, 3002);
  assert_int_equal(measurement->results[1].n % 5, 0);
  cb_measurement_destroy(measurement);
  free(fakes[0]);
  free(fakes[1]);
}

static void a_given_n_is_used(void **state)
{
  (void)state;
  struct fake *fake = make(1000, 1);
  struct cb_variant variant = {
      .name = "fake", .workload = &fake->work, .n = 13};
  struct cb_measure_options options = brief(4);
  struct cb_measurement *measurement = cb_measure(&variant, 1, &options, NULL);
  assert_non_null(measurement);
  assert_int_equal(measurement->results[0].n, 13);
  assert_int_equal(measurement->results[0].samples[3].n, 13);
  cb_measurement_destroy(measurement);
  free(fake);
}

/* Threads that share a CPU need batches of several time slices. */
static void crowded_batches_are_long(void **state)
{
  (void)state;
  double us = cb_clock()->hz * 1e-6;
  unsigned crowd = (unsigned)cb_cpus_allowed(NULL, 0) + 1;
  struct fake *fakes[2] = {make(us, 1), make(us, crowd)};
  struct cb_measure_options options = {.seconds = 1, .rounds = 2};
  struct cb_measurement *measurement = measure(fakes, 2, options);
  assert_true(measurement->results[1].n > 20 * measurement->results[0].n);
  cb_measurement_destroy(measurement);
  free(fakes[0]);
  free(fakes[1]);
}

static void the_work_may_say_its_n(void **state)
{
  (void)state;
  struct fake *fakes[2] = {make(100, 1), make(100, 2)};
  fakes[0]->work.batch_n = 77;
  fakes[1]->work.batch_n = 50;
  fakes[1]->give_up = 20;
  struct cb_measurement *measurement = measure(fakes, 2, brief(4));
  assert_int_equal(measurement->results[0].n, 77);
  assert_int_equal(measurement->results[0].samples[3].n, 77);
  /* Also where it does not get so far. */
  assert_int_equal(measurement->results[1].n, 50);
  assert_int_equal(measurement->results[1].samples[3].n, 40);
  cb_measurement_destroy(measurement);
  free(fakes[0]);
  free(fakes[1]);
}

static uint64_t run_nothing(void *state, unsigned thread, uint64_t n)
{
  (void)state;
  (void)thread;
  return n;
}

static void nothing_is_below_resolution(void **state)
{
  (void)state;
  struct fake *fake = make(0, 1);
  fake->roles[0].run = run_nothing;
  struct cb_estimate estimate;
  struct cb_measurement *measurement = measure(&fake, 1, brief(20));
  struct cb_result *result = &measurement->results[0];
  assert_int_equal(result->status, CB_OK);
  assert_true(result->n <= UINT64_C(1) << 40);
  assert_int_equal(
      cb_estimate(result->samples, result->sample_count, &estimate), 0);
  assert_true(estimate.typical >= 0);
  assert_true(estimate.below_resolution);
  cb_measurement_destroy(measurement);
  free(fake);
}

/* A role whose batch ends by itself (a ring is full) is divided by what it did.
 */
static void early_ends_count_what_was_done(void **state)
{
  (void)state;
  struct fake *fake = make(100, 1);
  fake->give_up = 5;
  struct cb_measurement *measurement = measure(&fake, 1, brief(6));
  struct cb_result *result = &measurement->results[0];
  assert_int_equal(result->status, CB_OK);
  for (size_t i = 0; i < result->sample_count; i++)
    assert_true(result->samples[i].n <= 5);
  assert_int_equal(fake->proven, atomic_load(&fake->operations));
  cb_measurement_destroy(measurement);
  free(fake);
}

/* ---- order --------------------------------------------------------------- */

static unsigned who[400];
static size_t who_count;

struct marker {
  struct cb_role role;
  unsigned number;
};

static uint64_t run_marker(void *state, unsigned thread, uint64_t n)
{
  (void)thread;
  if (who_count < sizeof who / sizeof *who)
    who[who_count++] = ((struct marker *)state)->number;
  return n;
}

/* Who ran in which place of the rounds, as one run with this seed has it. */
static void record_order(uint64_t seed, unsigned *into)
{
  struct marker markers[4];
  struct cb_workload works[4];
  struct cb_variant variants[4];
  struct cb_measure_options options = {
      .seconds = 20, .rounds = 16, .seed = seed};
  for (unsigned i = 0; i < 4; i++) {
    markers[i] = (struct marker){{.threads = 1, .run = run_marker}, i};
    works[i] = (struct cb_workload){
        .state = &markers[i], .roles = &markers[i].role, .role_count = 1};
    variants[i] = (struct cb_variant){.workload = &works[i], .n = 1};
  }
  who_count = 0;
  struct cb_measurement *measurement = cb_measure(variants, 4, &options, NULL);
  assert_non_null(measurement);
  assert_int_equal(measurement->rounds, 16);
  assert_int_equal(measurement->seed, seed);
  /* Each warms up, then 16 rounds. */
  assert_int_equal(who_count, 4 + 64);
  memcpy(into, who + 4, 64 * sizeof *into);
  cb_measurement_destroy(measurement);
}

static void order_is_a_latin_square(void **state)
{
  (void)state;
  unsigned order[64];
  record_order(5, order);
  for (int block = 0; block < 4; block++) {
    unsigned places[4][4] = {{0}};
    for (int i = 0; i < 16; i++)
      places[order[block * 16 + i]][i % 4]++;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++)
        assert_int_equal(places[i][j], 1);
  }
  assert_memory_not_equal(order, order + 16, 16 * sizeof *order);
}

static void order_is_given_by_the_seed(void **state)
{
  (void)state;
  unsigned one[64], two[64], other[64];
  record_order(5, one);
  record_order(5, two);
  record_order(6, other);
  assert_memory_equal(one, two, sizeof one);
  assert_memory_not_equal(one, other, sizeof one);
}

/* ---- what goes wrong ----------------------------------------------------- */

static void a_failing_proof_fails_the_row(void **state)
{
  (void)state;
  struct fake *fakes[2] = {make(1000, 1), make(1000, 1)};
  fakes[0]->check_status = -EINVAL;
  struct cb_measurement *measurement = measure(fakes, 2, brief(3));
  assert_int_equal(measurement->results[0].status, CB_FAIL);
  assert_string_equal(measurement->results[0].reason.text, "one got lost");
  assert_false(measurement->results[0].checked);
  assert_int_equal(measurement->results[1].status, CB_OK);
  cb_measurement_destroy(measurement);
  free(fakes[0]);
  free(fakes[1]);
}

static void refusals_leave_the_others_alone(void **state)
{
  (void)state;
  struct fake *fakes[4] = {make(1000, 1), make(1000, 1), make(1000, 3),
                           make(1000, 1)};
  fakes[0]->setup_status = -ENOTSUP;
  fakes[1]->prepare_status = -ENOSPC;
  fakes[2]->begin_status = -ENOMEM;
  struct cb_measurement *measurement = measure(fakes, 4, brief(3));
  assert_int_equal(measurement->results[0].status, CB_NA);
  assert_string_equal(measurement->results[0].reason.text, "cannot set up");
  assert_int_equal(measurement->results[1].status, CB_FAIL);
  assert_string_equal(measurement->results[1].reason.text, "cannot prepare");
  assert_int_equal(measurement->results[2].status, CB_FAIL);
  assert_non_null(strstr(measurement->results[2].reason.text, "cannot begin"));
  assert_int_equal(fakes[0]->torn_down, 0);
  assert_int_equal(fakes[2]->torn_down, 1);
  assert_int_equal(atomic_load(&fakes[2]->ended), 0);
  assert_int_equal(measurement->results[3].status, CB_OK);
  assert_int_equal(measurement->results[3].sample_count, 3);
  cb_measurement_destroy(measurement);
  for (int i = 0; i < 4; i++)
    free(fakes[i]);
}

/* They come before everything, fail a row, and have to hold but once. */
static void functional_checks_guard_a_row(void **state)
{
  (void)state;
  struct fake *fakes[3] = {make(1000, 1), make(1000, 1), make(1000, 1)};
  struct cb_variant variants[3];
  for (int i = 0; i < 3; i++)
    variants[i] = (struct cb_variant){.workload = &fakes[i]->work};
  fakes[0]->guard_status = -EPROTO;
  variants[2].guarded = true;
  const struct cb_measure_options options = brief(3);
  struct cb_measurement *measurement = cb_measure(variants, 3, &options, NULL);
  const struct cb_result *results = measurement->results;
  assert_int_equal(results[0].status, CB_FAIL);
  assert_string_equal(results[0].reason.text, "no good");
  assert_int_equal(results[0].sample_count, 0);
  assert_false(results[0].guarded);
  assert_int_equal(fakes[0]->set_up, 0);
  for (int i = 1; i < 3; i++) {
    assert_int_equal(results[i].status, CB_OK);
    assert_true(results[i].guarded);
    assert_int_equal(fakes[i]->guarded, i == 1);
  }
  cb_measurement_destroy(measurement);
  for (int i = 0; i < 3; i++)
    free(fakes[i]);
}

static void arguments_are_checked(void **state)
{
  (void)state;
  struct cb_error error;
  struct fake *fake = make(1000, 1);
  struct cb_variant twice[2] = {{.workload = &fake->work},
                                {.workload = &fake->work}};
  struct cb_measure_options options = {.rounds = 2000000};
  assert_null(cb_measure(twice, 0, NULL, &error));
  assert_null(cb_measure(twice, 2, NULL, &error));
  assert_string_equal(error.text, "variants 0 and 1 share a workload");
  assert_null(cb_measure(twice, 1, &options, &error));
  assert_int_equal(error.code, -EINVAL);
  options = (struct cb_measure_options){.seconds = -1};
  assert_null(cb_measure(twice, 1, &options, &error));
  free(fake);
}

static void a_foreign_cpu_is_refused(void **state)
{
  (void)state;
  int cpu = 8000;
  struct fake *fake = make(1000, 1);
  struct cb_variant variant = {
      .workload = &fake->work, .cpus = &cpu, .cpu_count = 1};
  struct cb_measurement *measurement = cb_measure(&variant, 1, NULL, NULL);
  assert_non_null(measurement);
  assert_int_equal(measurement->results[0].status, CB_FAIL);
  assert_non_null(strstr(measurement->results[0].reason.text, "CPU 8000"));
  assert_string_equal(measurement->stopped_by, "error");
  cb_measurement_destroy(measurement);
  free(fake);
}

/* Its figures are for the reader; only that they are there can be tested. */
static void the_selftest_tells(void **state)
{
  (void)state;
  struct cb_selftest selftest;
  struct cb_error error = {0, ""};
  struct cb_measure_options options = brief(21);
  assert_int_equal(cb_selftest_run(&options, &selftest, &error), 0);
  assert_int_equal(selftest.rounds, 21);
  assert_true(selftest.clock_cost >= 0);
  assert_true(selftest.empty_batch >= selftest.clock_cost);
  assert_true(selftest.turn > 0 && selftest.harness > 0);
  /* Known answers, with room for a machine under load. */
  assert_true(selftest.same_ratio > 0.8 && selftest.same_ratio < 1.25);
  assert_true(selftest.double_ratio > 1.6 && selftest.double_ratio < 2.5);
  for (int i = 0; i < 2; i++) {
    assert_true(selftest.canary_best[i] > 0);
    assert_true(selftest.canary_typical[i] >= selftest.canary_best[i]);
  }
  options.seconds = -1;
  assert_true(cb_selftest_run(&options, &selftest, &error) < 0);
}

static uint64_t find_nothing(void *state, unsigned thread, uint64_t n)
{
  (void)state;
  (void)thread;
  (void)n;
  return 0;
}

/* A role that is left nothing to do has no figure, and it is said why. */
static void an_idle_role_is_told(void **state)
{
  (void)state;
  struct fake *fakes[2] = {make(1000, 1), make(1000, 1)};
  for (int i = 0; i < 2; i++) {
    fakes[i]->roles[0].run = find_nothing;
    fakes[i]->work.role_count = (size_t)i + 1;
    fakes[i]->work.batch_n = 10;
  }
  struct cb_measurement *measurement = measure(fakes, 2, brief(3));
  const struct cb_result *results = measurement->results;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(results[i].status, CB_FAIL);
    assert_int_equal(results[i].reason.code, -ENODATA);
    assert_int_equal(results[i].sample_count, 0);
  }
  assert_string_equal(results[0].reason.text, "it did not do one operation");
  assert_string_equal(results[1].reason.text,
                      "'one' found nothing to do in 4 batches, while the other "
                      "threads did 40 operations");
  cb_measurement_destroy(measurement);
  for (int i = 0; i < 2; i++)
    free(fakes[i]);
}

static void affinity_is_put_back(void **state)
{
  (void)state;
  struct cb_affinity before, after;
  struct fake *fake = make(1000, 1);
  assert_int_equal(cb_affinity_save(&before), 0);
  cb_measurement_destroy(measure(&fake, 1, brief(2)));
  assert_int_equal(cb_affinity_save(&after), 0);
  assert_memory_equal(&before, &after, sizeof before);
  free(fake);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_are_kept),
      cmocka_unit_test(counters_are_of_timed_rounds),
      cmocka_unit_test(several_threads_meet),
      cmocka_unit_test(more_threads_than_cpus_finish),
      cmocka_unit_test(long_operations_go_one_by_one),
      cmocka_unit_test(unlike_costs_have_their_own_n),
      cmocka_unit_test(batch_max_is_kept),
      cmocka_unit_test(batch_min_is_kept),
      cmocka_unit_test(a_batch_is_whole_bundles),
      cmocka_unit_test(bundles_make_no_batch_long),
      cmocka_unit_test(a_given_n_is_not_for_other_bundles),
      cmocka_unit_test(crowded_batches_are_long),
      cmocka_unit_test(warm_up_is_not_timed),
      cmocka_unit_test(what_takes_a_millisecond_is_not_warmed_up),
      cmocka_unit_test(the_work_may_say_its_n),
      cmocka_unit_test(a_given_n_is_used),
      cmocka_unit_test(nothing_is_below_resolution),
      cmocka_unit_test(early_ends_count_what_was_done),
      cmocka_unit_test(order_is_a_latin_square),
      cmocka_unit_test(order_is_given_by_the_seed),
      cmocka_unit_test(a_failing_proof_fails_the_row),
      cmocka_unit_test(refusals_leave_the_others_alone),
      cmocka_unit_test(functional_checks_guard_a_row),
      cmocka_unit_test(arguments_are_checked),
      cmocka_unit_test(a_foreign_cpu_is_refused),
      cmocka_unit_test(an_idle_role_is_told),
      cmocka_unit_test(the_selftest_tells),
      cmocka_unit_test(affinity_is_put_back)};
  alarm(100);
  return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
