/* Ticks, CPUs, pinning and the description of the machine. */
#include "test.h"

#include "base/sentinel.h"
#include "base/ticks.h"
#include "base/topology.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

static void ticks_run_as_fast_as_they_say(void **state)
{
  (void)state;
  const struct cb_clock *clock = cb_clock();
  assert_true(clock->hz > 1e6);
  assert_true(clock->cost >= 0);
  assert_non_null(clock->source);
  assert_non_null(clock->basis);
  double start = cb_seconds();
  uint64_t ticks = cb_now();
  while (cb_seconds() - start < 0.02)
    continue;
  double seconds = cb_seconds() - start;
  double ratio = (double)(cb_now() - ticks) / clock->hz / seconds;
  /* Generous: the two may be read a preemption apart. */
  assert_true(ratio > 0.9 && ratio < 2);
  assert_ptr_equal(cb_clock(), clock);
}

static void sentinels_know_their_sum(void **state)
{
  (void)state;
  for (uint64_t adds = 0; adds < 100; adds++) {
    uint64_t lanes[CB_SENTINEL_LANES] = {0}, sum = 0;
    assert_int_equal(cb_sentinel_chain(5, 3, adds), 5 + 3 * adds);
    cb_sentinel_throughput(lanes, 3, adds);
    for (int i = 0; i < CB_SENTINEL_LANES; i++)
      sum += lanes[i];
    assert_int_equal(sum, 3 * adds);
  }
}

static void allowed_cpus_are_those_of_the_system(void **state)
{
  (void)state;
  enum { MOST = 256 };
  int cpus[MOST];
  cpu_set_t set;
  size_t count = cb_cpus_allowed(cpus, MOST);
  assert_true(count >= 1);
  assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
  assert_int_equal(count, (size_t)CPU_COUNT(&set));
  for (size_t i = 0; i < count && i < MOST; i++) {
    assert_true(CPU_ISSET((size_t)cpus[i], &set));
    if (i > 0)
      assert_true(cpus[i] > cpus[i - 1]);
  }
  assert_int_equal(cb_cpus_check(cpus, count < MOST ? count : MOST, NULL), 0);
}

static void foreign_cpus_are_named(void **state)
{
  (void)state;
  struct cb_error error;
  int cpus[2] = {0, 4711};
  cb_cpus_allowed(cpus, 1);
  assert_int_equal(cb_cpus_check(cpus, 2, &error), -EINVAL);
  assert_non_null(strstr(error.text, "CPU 4711"));
  assert_int_equal(cb_pin(-1, &error), -EINVAL);
  assert_int_equal(cb_pin(1 << 20, &error), -EINVAL);
}

/* On a thread of its own, for the others keep their CPUs. */
static void *pin_and_restore(void *argument)
{
  struct cb_affinity before, after;
  cpu_set_t set;
  int cpu = -1;
  (void)argument;
  cb_cpus_allowed(&cpu, 1);
  assert_int_equal(cb_affinity_save(&before), 0);
  assert_int_equal(cb_pin(cpu, NULL), 0);
  assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
  assert_int_equal(CPU_COUNT(&set), 1);
  assert_true(CPU_ISSET((size_t)cpu, &set));
  assert_int_equal(sched_getcpu(), cpu);
  assert_int_equal(cb_affinity_restore(&before), 0);
  assert_int_equal(cb_affinity_save(&after), 0);
  assert_memory_equal(&before, &after, sizeof before);
  return NULL;
}

static void pins_hold_and_are_undone(void **state)
{
  (void)state;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, pin_and_restore, NULL), 0);
  pthread_join(thread, NULL);
}

static void places_choose_allowed_cpus(void **state)
{
  (void)state;
  static const char *const names[] = {"same",    "smt",    "cache",
                                      "package", "spread", NULL};
  size_t allowed = cb_cpus_allowed(NULL, 0);
  for (int i = 0; names[i]; i++)
    for (unsigned threads = 1; threads <= 9; threads++) {
      int cpus[9];
      struct cb_error error = {0, ""};
      int status = cb_cpus_place(names[i], threads, cpus, &error);
      if (status < 0) {
        /* Only what the machine may not have is refused, with a reason. */
        assert_int_equal(status, -ENOTSUP);
        assert_true(strcmp(names[i], "same") && strcmp(names[i], "spread"));
        assert_non_null(strstr(error.text, names[i]));
        continue;
      }
      assert_int_equal(cb_cpus_check(cpus, threads, NULL), 0);
      for (unsigned j = 1; j < threads; j++) {
        if (strcmp(names[i], "same") == 0)
          assert_int_equal(cpus[j], cpus[0]);
        else if (j < allowed)
          assert_int_not_equal(cpus[j], cpus[j - 1]);
      }
    }
}

static void unknown_places_are_named(void **state)
{
  (void)state;
  int cpu;
  struct cb_error error;
  assert_int_equal(cb_cpus_place("spraed", 1, &cpu, &error), -EINVAL);
  assert_non_null(strstr(error.text, "did you mean 'spread'?"));
  assert_int_equal(cb_cpus_place("", 1, &cpu, &error), -EINVAL);
}

static const struct cb_fact *find(const struct cb_fact *facts,
                                  const char *group, const char *name)
{
  for (; facts->name; facts++)
    if (strcmp(facts->group, group) == 0 && strcmp(facts->name, name) == 0)
      return facts;
  fail_msg("no fact '%s' of '%s'", name, group);
  return NULL;
}

static void the_machine_is_described(void **state)
{
  (void)state;
  static const char *const wanted[][2] = {
      {"machine", "cpu"},        {"machine", "microcode"},
      {"machine", "hypervisor"}, {"machine", "cpus_allowed"},
      {"machine", "smt"},        {"machine", "frequency"},
      {"machine", "kernel"},     {"machine", "libc"},
      {"build", "code"},         {"build", "version"},
      {"build", "compiler"},     {"build", "flags"},
      {"build", "revision"},     {"state", "aslr"},
      {"state", "huge_pages"},   {"state", "quota"}};
  struct cb_machine *machine = cb_machine_read(false, NULL);
  assert_non_null(machine);
  const struct cb_fact *facts = cb_machine_facts(machine);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    assert_non_null(find(facts, wanted[i][0], wanted[i][1])->text);
  assert_true(find(facts, "machine", "cpus_online")->number >= 1);
  assert_true(find(facts, "machine", "clock_hz")->number == cb_clock()->hz);
  assert_string_equal(find(facts, "build", "version")->text, cb_version());
  cb_machine_destroy(machine);
}

static void fingerprints_stay(void **state)
{
  (void)state;
  struct cb_machine *one = cb_machine_read(true, NULL);
  struct cb_machine *two = cb_machine_read(false, NULL);
  static const char *const groups[] = {"machine", "build"};
  for (int i = 0; i < 2; i++) {
    const char *text =
        find(cb_machine_facts(one), groups[i], "fingerprint")->text;
    assert_int_equal(strlen(text), 16);
    assert_string_equal(
        text, find(cb_machine_facts(two), groups[i], "fingerprint")->text);
  }
#ifdef HAVE_HWLOC
  assert_true(find(cb_machine_facts(one), "machine", "cores")->number >= 1);
#endif
  cb_machine_destroy(one);
  cb_machine_destroy(two);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ticks_run_as_fast_as_they_say),
      cmocka_unit_test(sentinels_know_their_sum),
      cmocka_unit_test(allowed_cpus_are_those_of_the_system),
      cmocka_unit_test(foreign_cpus_are_named),
      cmocka_unit_test(pins_hold_and_are_undone),
      cmocka_unit_test(places_choose_allowed_cpus),
      cmocka_unit_test(unknown_places_are_named),
      cmocka_unit_test(the_machine_is_described),
      cmocka_unit_test(fingerprints_stay)};
  return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
