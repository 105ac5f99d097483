/* probe.h - a service whose callback the test holds and lets go, and the
 * hand-shakes of the service tests. Nothing here sleeps; what never happens
 * ends by the alarm of the program. */
#ifndef CB_TEST_PROBE_H
#define CB_TEST_PROBE_H

#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define UNTIL(condition)                                                       \
  do {                                                                         \
    while (!(condition))                                                       \
      sched_yield();                                                           \
  } while (0)

/* Static in the tests: an lcore calls until the set is taken apart. */
struct probe {
  _Atomic unsigned calls;  /* ended */
  _Atomic unsigned inside; /* now */
  _Atomic unsigned most;   /* inside at once, ever */
  _Atomic unsigned idle, errors;
  _Atomic bool hold; /* callbacks stay until this is false */
  _Atomic int result;
  unsigned plain; /* of services that are not mt_safe: no two at once */
  bool mt_safe;
  uint64_t id;
};

static inline int probe_call(void *argument, struct cb_lcore *lcore)
{
  struct probe *probe = argument;
  (void)lcore;
  unsigned inside = ++probe->inside, most = probe->most;
  while (most < inside &&
         !atomic_compare_exchange_weak(&probe->most, &most, inside))
    ;
  if (!probe->mt_safe)
    probe->plain++;
  int result = probe->result;
  probe->idle += result == -EAGAIN;
  probe->errors += result && result != -EAGAIN;
  do
    sched_yield();
  while (probe->hold);
  probe->inside--;
  probe->calls++;
  return result;
}

/* Registers the probe; ready and wanted when it shall run. */
static inline void probe_register(struct cb_services *set, struct probe *probe,
                                  const char *name, bool mt_safe,
                                  enum cb_stats stats, bool run)
{
  *probe = (struct probe){.mt_safe = mt_safe};
  const struct cb_service service = {.name = name,
                                     .call = probe_call,
                                     .argument = probe,
                                     .mt_safe = mt_safe,
                                     .stats = stats};
  assert_int_equal(cb_service_register(set, &service, &probe->id, NULL), 0);
  if (run) {
    assert_int_equal(cb_service_component_set(set, probe->id, true, NULL), 0);
    assert_int_equal(cb_service_runstate_set(set, probe->id, true, NULL), 0);
  }
}

static inline void until_called(struct probe *probe)
{
  unsigned calls = probe->calls;
  UNTIL(probe->calls != calls);
}

/* A thread of the test that runs a service once, as an application lcore. */
struct runner {
  struct cb_services *set;
  uint64_t id;
  bool serialize;
  int status, result;
  pthread_t thread;
};

static inline void *runner_main(void *argument)
{
  struct runner *runner = argument;
  struct cb_lcore *lcore = cb_lcore_attach(runner->set, NULL);
  runner->status =
      cb_service_run(lcore, runner->id, runner->serialize, &runner->result);
  cb_lcore_detach(lcore, NULL);
  return NULL;
}

static inline void runner_start(struct runner *runner, struct cb_services *set,
                                uint64_t id)
{
  *runner = (struct runner){.set = set, .id = id, .serialize = true};
  assert_int_equal(pthread_create(&runner->thread, NULL, runner_main, runner),
                   0);
}

static inline int runner_join(struct runner *runner)
{
  assert_int_equal(pthread_join(runner->thread, NULL), 0);
  return runner->status;
}

/* A fresh set before each test, destroyed after it. */
static inline int set_up(void **state)
{
  *state = cb_services_create(NULL, NULL, NULL);
  return *state ? 0 : -1;
}

static inline int tear_down(void **state)
{
  return cb_services_destroy(*state, 10, NULL);
}

static inline uint64_t attr(struct cb_services *set, uint64_t id,
                            unsigned which)
{
  uint64_t value = 0;
  assert_int_equal(cb_service_attr_get(set, id, which, &value, NULL), 0);
  return value;
}

#endif
