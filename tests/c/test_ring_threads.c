/* Every ring kind between threads, more of them than CPUs: nothing lost, twice
 * or out of order; owners alone with what they own; what was enqueued is seen;
 * waits end. */
#include "ring_team.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- exactly once, in the order of each producer ---- */

static bool allows(uint32_t limit, unsigned threads)
{
  return limit == 0 || threads <= limit;
}

enum { PRODUCERS = 4, EACH = 500 * EFFORT };

struct delivery {
  _Atomic unsigned char times[PRODUCERS][EACH];
  _Atomic uint32_t delivered;
};

/* Now one element, now several. */
static int64_t put_some(struct member *member, uint64_t first, uint32_t most)
{
  struct cb_ring *ring = member->team->ring;
  uint64_t values[16];
  uint32_t n = draw(&member->seed) % 16 + 1;
  if (n > most)
    n = most;
  for (uint32_t i = 0; i < n; i++)
    values[i] = first + i;
  if (n > 1 && ring->ops->enqueue_burst)
    return cb_ring_enqueue_burst(ring, values, n, NULL, NULL);
  if (n > 1 && ring->ops->enqueue_bulk)
    return cb_ring_enqueue_bulk(ring, values, n, NULL, NULL);
  return cb_ring_enqueue(ring, first, NULL);
}

static int64_t get_some(struct member *member, uint64_t *values)
{
  struct cb_ring *ring = member->team->ring;
  uint32_t n = draw(&member->seed) % 16 + 1;
  if (n > 1 && ring->ops->dequeue_burst)
    return cb_ring_dequeue_burst(ring, values, n, NULL, NULL);
  return cb_ring_dequeue(ring, values);
}

static void deliver(struct member *member)
{
  uint64_t made = 0;
  uint64_t name = (uint64_t)member->index << 32;
  while (made < EACH) {
    int64_t n = put_some(member, name + made + 1, (uint32_t)(EACH - made));
    made += (uint64_t)n;
    if (n == 0)
      sched_yield();
  }
}

static void receive(struct member *member)
{
  struct delivery *delivery = member->team->data;
  uint64_t values[16], last[PRODUCERS] = {0};
  uint32_t all = member->team->producers * EACH;
  while (atomic_load(&delivery->delivered) < all) {
    int64_t n = get_some(member, values);
    if (n == 0)
      sched_yield();
    for (int64_t i = 0; i < n; i++) {
      uint64_t producer = values[i] >> 32, number = (uint32_t)values[i];
      if (producer >= member->team->producers || number - 1 >= EACH ||
          number <= last[producer]) {
        snprintf(member->trouble, sizeof member->trouble,
                 "%llu of producer %llu came after %llu",
                 (unsigned long long)number, (unsigned long long)producer,
                 (unsigned long long)last[producer % PRODUCERS]);
        atomic_store(&delivery->delivered, all);
        return;
      }
      last[producer] = number;
      atomic_fetch_add(&delivery->times[producer][number - 1], 1);
    }
    atomic_fetch_add(&delivery->delivered, (uint32_t)n);
  }
}

static void deliver_or_receive(struct member *member)
{
  if (member->index < member->team->producers)
    deliver(member);
  else
    receive(member);
}

static void run_delivery(struct cb_spec *spec, const char *label,
                         unsigned producers, unsigned consumers, int64_t size,
                         uint64_t *seed)
{
  static struct delivery delivery;
  struct team team = {.producers = producers,
                      .consumers = consumers,
                      .size = producers + consumers,
                      .body = deliver_or_receive,
                      .data = &delivery};
  team.ring = yielding_ring(spec, size);
  assert_non_null(team.ring);
  if (allows(team.ring->limits.producers, producers) &&
      allows(team.ring->limits.consumers, consumers)) {
    memset(&delivery, 0, sizeof delivery);
    team_run(&team, label, seed);
    for (unsigned i = 0; i < producers; i++)
      for (unsigned j = 0; j < EACH; j++)
        if (delivery.times[i][j] != 1)
          fail_msg("%s, %u + %u threads: element %u of producer %u came %d "
                   "times",
                   label, producers, consumers, j + 1, i,
                   (int)delivery.times[i][j]);
    assert_int_equal(cb_ring_count(team.ring), 0);
  }
  cb_ring_destroy(team.ring);
}

static void visit_delivery(struct cb_spec *spec, const char *label,
                           void *context)
{
  static const unsigned counts[] = {1, 2, 4};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      run_delivery(spec, label, counts[i], counts[j], i == j ? 64 : 16,
                   context);
}

/* Small rings whose end falls anywhere, for kinds that take such sizes. */
static void visit_odd(struct cb_spec *spec, const char *label, void *context)
{
  static const int64_t sizes[] = {1, 2, 3, 7, 9, 17};
  for (int i = 0; i < 6; i++) {
    struct cb_ring *ring = make_ring(spec, sizes[i]);
    if (ring)
      run_delivery(spec, label, 1, 1, sizes[i], context);
    cb_ring_destroy(ring);
  }
}

static void odd_sizes_deliver_too(void **state)
{
  visit_rings(visit_odd, *state);
}

static void every_element_arrives_once_in_order(void **state)
{
  visit_rings_between(visit_delivery, *state);
}

/* ---- whoever took an object has it alone ---- */

enum { OBJECTS = 40, WORDS = 8, FREE = 0x5f5f5f5f, TURNS = 400 * EFFORT };

struct object {
  uint64_t words[WORDS];
};

/* Plain writes: an object that two threads hold is a race that
 * ThreadSanitizer sees too. */
static bool change_hands(struct object *object, uint64_t from, uint64_t to)
{
  bool good = true;
  for (int i = 0; i < WORDS; i++) {
    good = good && object->words[i] == from;
    object->words[i] = to;
  }
  return good;
}

static void own_and_return(struct member *member)
{
  struct cb_ring *ring = member->team->ring;
  uint64_t held[16], me = member->index + 1;
  for (int turn = 0; turn < TURNS;) {
    int64_t n = get_some(member, held);
    bool good = true;
    turn += n > 0;
    for (int64_t i = 0; i < n; i++)
      good &= change_hands((struct object *)(uintptr_t)held[i], FREE, me);
    for (int64_t i = 0; i < n; i++)
      good &= change_hands((struct object *)(uintptr_t)held[i], me, FREE);
    for (int64_t i = 0; i < n; i++)
      while (cb_ring_enqueue(ring, held[i], NULL) != 1)
        sched_yield();
    if (n == 0)
      sched_yield();
    if (!good) {
      snprintf(member->trouble, sizeof member->trouble,
               "an object was somebody else's");
      return;
    }
  }
}

static void visit_ownership(struct cb_spec *spec, const char *label,
                            void *context)
{
  static struct object objects[OBJECTS];
  struct team team = {.ring = yielding_ring(spec, 64), .body = own_and_return};
  assert_non_null(team.ring);
  for (int i = 0; i < OBJECTS; i++) {
    change_hands(&objects[i], 0, FREE);
    assert_int_equal(cb_ring_enqueue(team.ring, (uintptr_t)&objects[i], NULL),
                     1);
  }
  bool several =
      team.ring->limits.producers == 0 && team.ring->limits.consumers == 0;
  team.size = team.producers = team.consumers = several ? 4 : 1;
  team_run(&team, label, context);
  assert_int_equal(cb_ring_count(team.ring), OBJECTS);
  cb_ring_destroy(team.ring);
}

static void owners_are_alone(void **state)
{
  visit_rings_between(visit_ownership, *state);
}

/* ---- enqueue returned means visible ---- */

/* Everybody takes out after putting in, so at each dequeue there have been more
 * enqueues than dequeues: the ring may not seem empty. */
static void put_and_take(struct member *member)
{
  struct cb_ring *ring = member->team->ring;
  bool late = ring->limits.late_visible;
  uint64_t value;
  for (int turn = 0; turn < TURNS; turn++) {
    while (cb_ring_enqueue(ring, member->index + 1, NULL) != 1)
      sched_yield();
    while (cb_ring_dequeue(ring, &value) != 1) {
      if (!late) {
        snprintf(member->trouble, sizeof member->trouble,
                 "empty after an enqueue had returned");
        return;
      }
      sched_yield();
    }
  }
}

static void visit_visibility(struct cb_spec *spec, const char *label,
                             void *context)
{
  struct team team = {.ring = yielding_ring(spec, 64),
                      .producers = 3,
                      .consumers = 3,
                      .size = 3,
                      .body = put_and_take};
  assert_non_null(team.ring);
  if (team.ring->limits.producers == 0 && team.ring->limits.consumers == 0)
    team_run(&team, label, context);
  cb_ring_destroy(team.ring);
}

static void what_was_enqueued_is_seen(void **state)
{
  visit_rings_between(visit_visibility, *state);
}

/* ---- waits end ---- */

/* Two producers and two consumers that would go on for ever. */
static void work_until_stopped(struct member *member)
{
  struct cb_ring *ring = member->team->ring;
  uint64_t values[16];
  while (!atomic_load(&ring->control->stop))
    if (member->index % 2)
      get_some(member, values);
    else
      put_some(member, 1, 16);
}

static void stop_at_once(struct member *member)
{
  if (member->index)
    work_until_stopped(member);
  else
    atomic_store((_Atomic uint32_t *)member->team->data, 1);
}

/* Pure spinning, where a thread without its CPU is waited for: told to stop,
 * everybody comes back. */
static void visit_stop(struct cb_spec *spec, const char *label, void *context)
{
  if (has_option(spec, "wait"))
    assert_int_equal(cb_spec_set_string(spec, "wait", "spin", NULL), 0);
  for (int i = 0; i < 2 * EFFORT; i++) {
    struct cb_control control;
    struct team team = {.ring = make_ring(spec, 16),
                        .body = stop_at_once,
                        .data = &control.stop};
    assert_non_null(team.ring);
    atomic_init(&control.stop, 0);
    team.ring->control = &control;
    team.producers = team.ring->limits.producers ? 1 : 2;
    team.consumers = team.ring->limits.consumers ? 1 : 2;
    team.size = 1 + (team.producers + team.consumers == 4 ? 4 : 2);
    team_run(&team, label, context);
    cb_ring_destroy(team.ring);
  }
}

static void waits_end_when_stopped(void **state)
{
  visit_rings_between(visit_stop, *state);
}

/* One thread stays inside, as one that lost its CPU would; the other comes
 * back when told to stop, and the ring still works. */
static void enqueue_one(struct member *member)
{
  uint64_t value = 7;
  if (member->index == 0)
    atomic_store((_Atomic uint32_t *)member->team->data, 1);
  else if (cb_ring_enqueue(member->team->ring, value, NULL) != 0)
    snprintf(member->trouble, sizeof member->trouble,
             "an enqueue went through");
}

static void a_serialised_side_can_be_left(void **state)
{
  struct cb_spec *spec = cb_spec_create(cb_family_find("ring"), "rte", NULL);
  struct cb_control control;
  uint64_t value = 3;
  assert_int_equal(cb_spec_set_string(spec, "sync", "hts", NULL), 0);
  struct team team = {.ring = make_ring(spec, 16),
                      .size = 2,
                      .body = enqueue_one,
                      .data = &control.stop};
  atomic_init(&control.stop, 0);
  team.ring->control = &control;
  assert_int_equal(
      cb_ring_enqueue_start(team.ring, 1, CB_RING_BULK, NULL, NULL), 1);
  team_run(&team, "rte hts", *state);
  assert_int_equal(team.ring->broken, 0);
  assert_int_equal(cb_ring_enqueue_finish(team.ring, &value, 1, NULL), 0);
  assert_int_equal(cb_ring_dequeue(team.ring, &value), 1);
  assert_int_equal(value, 3);
  cb_ring_destroy(team.ring);
  cb_spec_destroy(spec);
}

/* All on one CPU: those that never wait for a turn as they are, the others with
 * wait = yield. */
static void visit_one_cpu(struct cb_spec *spec, const char *label,
                          void *context)
{
  run_delivery(spec, label, 2, 1, 64, context);
}

static void one_cpu_is_enough(void **state)
{
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  visit_rings_between(visit_one_cpu, *state);
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void)
{
  static uint64_t seed;
  seed = test_seed();
  alarm(240);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(every_element_arrives_once_in_order, &seed),
      cmocka_unit_test_prestate(odd_sizes_deliver_too, &seed),
      cmocka_unit_test_prestate(owners_are_alone, &seed),
      cmocka_unit_test_prestate(what_was_enqueued_is_seen, &seed),
      cmocka_unit_test_prestate(waits_end_when_stopped, &seed),
      cmocka_unit_test_prestate(a_serialised_side_can_be_left, &seed),
      cmocka_unit_test_prestate(one_cpu_is_enough, &seed),
  };
  return cmocka_run_group_tests_name("ring_threads", tests, NULL, NULL);
}
