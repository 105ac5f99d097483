/*
 * Quiescence is exact: when a stopped, unmapped or unregistered service was
 * inactive once, its argument may be changed and freed. The tests do just that
 * while application lcores and service lcores go on calling, and leave it to
 * the sanitizers to see a callback that comes too late.
 */
#include "probe.h"

#include "base/ticks.h"
#include "service/service.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLERS = 1, ROUNDS = 40 };

/* A service's argument that changes between its runs, plainly. */
struct epoch {
  unsigned first, second; /* equal whenever a callback may look */
};

static _Atomic unsigned torn;

static int epoch_call(void *argument, struct cb_lcore *lcore)
{
  const struct epoch *epoch = argument;
  (void)lcore;
  if (epoch->first != epoch->second)
    torn++;
  return 0;
}

struct caller {
  struct cb_services *set;
  _Atomic uint64_t *id;
  _Atomic bool *stop;
  _Atomic unsigned refused, done;
  pthread_t thread;
};

static void *caller_main(void *argument)
{
  struct caller *caller = argument;
  struct cb_lcore *lcore = cb_lcore_attach(caller->set, NULL);
  while (!*caller->stop) {
    int status = cb_service_run(lcore, *caller->id, true, NULL);
    if (status == 0)
      caller->done++;
    else
      caller->refused++;
    if (status < 0)
      sched_yield();
  }
  cb_lcore_detach(lcore, NULL);
  return NULL;
}

static void callers_start(struct caller *callers, struct cb_services *set,
                          _Atomic uint64_t *id, _Atomic bool *stop)
{
  for (int i = 0; i < CALLERS; i++) {
    memset(&callers[i], 0, sizeof callers[i]);
    callers[i].set = set;
    callers[i].id = id;
    callers[i].stop = stop;
    assert_int_equal(
        pthread_create(&callers[i].thread, NULL, caller_main, &callers[i]), 0);
  }
}

static void callers_stop(struct caller *callers, _Atomic bool *stop)
{
  *stop = true;
  for (int i = 0; i < CALLERS; i++)
    pthread_join(callers[i].thread, NULL);
}

static struct cb_services *busy_set(const char *order)
{
  struct cb_services *set = cb_services_create("ttas", order, NULL);
  assert_non_null(set);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(cb_lcore_add(set, i, CB_LCORE_ANYWHERE, NULL), 0);
    assert_int_equal(cb_lcore_start(set, i, NULL), 0);
  }
  return set;
}

static void stop_is_exact(const char *order)
{
  struct cb_services *set = busy_set(order);
  struct caller callers[CALLERS];
  struct epoch epoch = {0, 0};
  const struct cb_service service = {
      .name = "epoch", .call = epoch_call, .argument = &epoch, .mt_safe = true};
  uint64_t plain_id;
  assert_int_equal(cb_service_register(set, &service, &plain_id, NULL), 0);
  _Atomic uint64_t id = plain_id;
  _Atomic bool stop = false;
  assert_int_equal(cb_service_component_set(set, id, true, NULL), 0);
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(cb_service_map_set(set, id, i, true, NULL), 0);
  torn = 0;
  callers_start(callers, set, &id, &stop);
  for (unsigned round = 1; round <= ROUNDS; round++) {
    assert_int_equal(cb_service_runstate_set(set, id, true, NULL), 0);
    if (round % 16 == 0)
      sched_yield();
    assert_int_equal(cb_service_runstate_set(set, id, false, NULL), 0);
    assert_int_equal(cb_service_quiesce(set, id, 10, NULL), 0);
    assert_int_equal(cb_service_active(set, id, NULL), 0);
    epoch.first = round;
    epoch.second = round;
  }
  callers_stop(callers, &stop);
  assert_int_equal(torn, 0);
  assert_int_equal(cb_services_destroy(set, 10, NULL), 0);
}

static void a_stopped_service_may_be_changed(void **state)
{
  (void)state;
  stop_is_exact("acqrel");
  stop_is_exact("seqcst");
  stop_is_exact("fence");
}

/* Map and unmap alone: the service stays runnable for application lcores, and
 * here there are none. */
static void an_unmapped_service_may_be_changed(void **state)
{
  (void)state;
  struct cb_services *set = busy_set("acqrel");
  struct epoch epoch = {0, 0};
  const struct cb_service service = {.name = "epoch",
                                     .call = epoch_call,
                                     .argument = &epoch,
                                     .mt_safe = true,
                                     .stats = CB_STATS_COUNT};
  uint64_t id;
  assert_int_equal(cb_service_register(set, &service, &id, NULL), 0);
  assert_int_equal(cb_service_component_set(set, id, true, NULL), 0);
  assert_int_equal(cb_service_runstate_set(set, id, true, NULL), 0);
  torn = 0;
  for (unsigned round = 1; round <= ROUNDS; round++) {
    assert_int_equal(cb_service_map_set(set, id, round % 2, true, NULL), 0);
    if (round % 16 == 0) {
      uint64_t calls = attr(set, id, CB_SERVICE_CALLS);
      UNTIL(attr(set, id, CB_SERVICE_CALLS) != calls);
    }
    assert_int_equal(cb_service_map_set(set, id, round % 2, false, NULL), 0);
    assert_int_equal(cb_service_quiesce(set, id, 10, NULL), 0);
    epoch.first = round;
    epoch.second = round;
  }
  assert_int_equal(torn, 0);
  assert_int_equal(cb_services_destroy(set, 10, NULL), 0);
}

static _Atomic unsigned freed;

static void free_argument(void *argument)
{
  memset(argument, 0xee, sizeof(struct epoch));
  free(argument);
  freed++;
}

/* The same slot again and again, while callers use handles that go stale. */
static void an_unregistered_service_may_be_freed(void **state)
{
  (void)state;
  struct cb_services *set = busy_set("acqrel");
  struct caller callers[CALLERS];
  _Atomic uint64_t id = 0;
  _Atomic bool stop = false;
  freed = 0;
  torn = 0;
  callers_start(callers, set, &id, &stop);
  for (unsigned round = 0; round < ROUNDS; round++) {
    struct epoch *epoch = malloc(sizeof *epoch);
    assert_non_null(epoch);
    epoch->first = epoch->second = round;
    const struct cb_service service = {.name = "epoch",
                                       .call = epoch_call,
                                       .argument = epoch,
                                       .release = free_argument,
                                       .mt_safe = true};
    uint64_t now;
    assert_int_equal(cb_service_register(set, &service, &now, NULL), 0);
    assert_int_equal(now, (uint64_t)round << 32);
    assert_int_equal(cb_service_map_set(set, now, round % 2, true, NULL), 0);
    assert_int_equal(cb_service_component_set(set, now, true, NULL), 0);
    assert_int_equal(cb_service_runstate_set(set, now, true, NULL), 0);
    id = now;
    if (round % 8 == 0)
      sched_yield();
    /* While it runs, luck decides; once it is at rest, nothing does. */
    if (round % 2 || cb_service_unregister(set, now, NULL) == -EBUSY) {
      assert_int_equal(cb_service_runstate_set(set, now, false, NULL), 0);
      assert_int_equal(cb_service_quiesce(set, now, 10, NULL), 0);
      assert_int_equal(cb_service_unregister(set, now, NULL), 0);
    }
    assert_int_equal(freed, round + 1);
  }
  callers_stop(callers, &stop);
  assert_int_equal(torn, 0);
  assert_int_equal(cb_services_destroy(set, 10, NULL), 0);
}

/*
 * What exactness rests on, by itself: a run stores its announcement and loads
 * the word, control stores the word, makes the barrier and loads the
 * announcement. Without the barrier both miss the other within some hundred
 * rounds, on a machine where the two have a CPU each.
 */
struct litmus {
  _Alignas(128) _Atomic unsigned announced;
  _Alignas(128) _Atomic unsigned cleared;
  _Alignas(128) _Atomic unsigned round;
  _Alignas(128) _Atomic unsigned answered;
  unsigned saw_cleared;
};

/* So many rounds, or a second of them where others want the CPUs, too. */
enum { LITMUS_ROUNDS = 4000, LITMUS_SECONDS = 1, LITMUS_OVER = ~0u >> 1 };

static unsigned spin_while(_Atomic unsigned *value, unsigned old)
{
  unsigned now;
  for (unsigned turns = 1; (now = *value) == old; turns++)
    if (turns % 100 == 0)
      sched_yield();
  return now;
}

static void *litmus_main(void *argument)
{
  struct litmus *litmus = argument;
  unsigned round = 0;
  while ((round = spin_while(&litmus->round, round)) != LITMUS_OVER) {
    atomic_store_explicit(&litmus->announced, round, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    litmus->saw_cleared =
        atomic_load_explicit(&litmus->cleared, memory_order_relaxed) == round;
    litmus->answered = round;
  }
  return NULL;
}

static void the_barrier_replaces_the_fence(void **state)
{
  (void)state;
  struct cb_services *set = cb_services_create(NULL, NULL, NULL);
  static struct litmus litmus;
  pthread_t thread;
  unsigned missed = 0;
  if (!set->membarrier) {
    cb_services_destroy(set, 1, NULL);
    skip();
  }
  assert_int_equal(pthread_create(&thread, NULL, litmus_main, &litmus), 0);
  double deadline = cb_seconds() + LITMUS_SECONDS;
  for (unsigned round = 1; round <= LITMUS_ROUNDS && cb_seconds() < deadline;
       round++) {
    litmus.round = round;
    /* Vary how the two meet. */
    for (unsigned i = 0; i < round % 64; i++)
      atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&litmus.cleared, round, memory_order_relaxed);
    cb_quiesce_barrier(set);
    bool announced =
        atomic_load_explicit(&litmus.announced, memory_order_relaxed) == round;
    spin_while(&litmus.answered, round - 1);
    missed += !announced && !litmus.saw_cleared;
  }
  litmus.round = LITMUS_OVER;
  pthread_join(thread, NULL);
  assert_int_equal(missed, 0);
  assert_int_equal(cb_services_destroy(set, 1, NULL), 0);
}

/* A service that unregisters itself. */
struct suicide {
  struct cb_services *set;
  uint64_t id;
  _Atomic int status, active_after, found_after;
  _Atomic bool let_go, released;
};

static int suicide_call(void *argument, struct cb_lcore *lcore)
{
  struct suicide *self = argument;
  struct cb_error error;
  (void)lcore;
  assert_int_equal(cb_service_quiesce(self->set, self->id, 1, &error),
                   -EDEADLK);
  self->found_after = 1;
  self->status = cb_service_unregister(self->set, self->id, NULL);
  self->found_after = cb_service_runstate_get(self->set, self->id, NULL);
  self->active_after = cb_service_active(self->set, self->id, NULL);
  UNTIL(self->let_go);
  return 0;
}

static void suicide_release(void *argument)
{
  ((struct suicide *)argument)->released = true;
}

static void unregistering_from_inside_is_deferred(void **state)
{
  (void)state;
  struct cb_services *set = busy_set("acqrel");
  struct suicide self = {.set = set, .status = 1};
  const struct cb_service service = {.name = "suicide",
                                     .call = suicide_call,
                                     .argument = &self,
                                     .release = suicide_release};
  uint64_t next;
  assert_int_equal(cb_service_register(set, &service, &self.id, NULL), 0);
  assert_int_equal(cb_service_map_set(set, self.id, 0, true, NULL), 0);
  assert_int_equal(cb_service_map_set(set, self.id, 1, true, NULL), 0);
  assert_int_equal(cb_service_component_set(set, self.id, true, NULL), 0);
  assert_int_equal(cb_service_runstate_set(set, self.id, true, NULL), 0);
  UNTIL(self.status == 0 && self.active_after == 1);
  assert_int_equal(self.found_after, -EINVAL);
  assert_int_equal(cb_service_count(set), 0);
  /* The name is free, the slot is not. */
  assert_int_equal(cb_service_register(set, &service, &next, NULL), 0);
  assert_int_equal(next, 1);
  assert_false(self.released);
  self.let_go = true;
  assert_int_equal(cb_service_quiesce(set, self.id, 10, NULL), 0);
  assert_int_equal(cb_service_active(set, self.id, NULL), -EINVAL);
  assert_true(self.released);
  assert_int_equal(cb_service_unregister(set, next, NULL), 0);
  assert_int_equal(cb_service_register(set, &service, &next, NULL), 0);
  assert_int_equal(next, (uint64_t)1 << 32);
  assert_int_equal(cb_services_destroy(set, 10, NULL), 0);
}

/* A callback that never returns is named by whoever waits for it. */
static void what_never_returns_is_named(void **state)
{
  (void)state;
  struct cb_services *set = busy_set("acqrel");
  static struct probe probe;
  struct cb_error error;
  probe_register(set, &probe, "sleepy", true, CB_STATS_OFF, true);
  probe.hold = true;
  assert_int_equal(cb_service_map_set(set, probe.id, 1, true, NULL), 0);
  UNTIL(probe.inside);
  assert_int_equal(cb_service_runstate_set(set, probe.id, false, NULL), 0);
  static const char said[] =
      "the callback of service 'sleepy' has not returned for 0.01 s on lcore 1";
  assert_int_equal(cb_service_quiesce(set, probe.id, 0.01, &error), -ETIMEDOUT);
  assert_string_equal(error.text, said);
  assert_int_equal(cb_lcore_join(set, 1, 0.01, &error), -EBUSY);
  assert_int_equal(cb_lcore_stop(set, 1, NULL), 0);
  assert_int_equal(cb_lcore_join(set, 1, 0.01, &error), -ETIMEDOUT);
  assert_string_equal(error.text, said);
  /* Started again before it has stopped. */
  assert_int_equal(cb_lcore_start(set, 1, &error), -EBUSY);
  assert_int_equal(cb_lcore_active(set, 1, NULL), 1);
  assert_int_equal(cb_services_destroy(set, 0.01, &error), -ETIMEDOUT);
  assert_string_equal(error.text, said);
  probe.hold = false;
  assert_int_equal(cb_services_destroy(set, 10, NULL), 0);
}

int main(void)
{
  alarm(60);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stopped_service_may_be_changed),
      cmocka_unit_test(an_unmapped_service_may_be_changed),
      cmocka_unit_test(an_unregistered_service_may_be_freed),
      cmocka_unit_test(the_barrier_replaces_the_fence),
      cmocka_unit_test(unregistering_from_inside_is_deferred),
      cmocka_unit_test(what_never_returns_is_named)};
  return cmocka_run_group_tests_name("service quiescence", tests, NULL, NULL);
}
