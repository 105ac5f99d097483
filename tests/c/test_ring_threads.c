/* Every ring kind between threads, more of them than CPUs: nothing lost, twice
 * or out of order; owners alone with what they own; what was enqueued is seen;
 * small histories have an order that a queue could have had. */
#include "test.h"

#include "base/cpu.h"
#include "rings.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS_MAX = 8 };

/* ThreadSanitizer makes everything dozens of times as long. */
#if CB_TSAN
enum { EFFORT = 1 };
#else
enum { EFFORT = 2 };
#endif

struct team;

struct member {
  struct team *team;
  unsigned index;
  pthread_t id;
  uint64_t seed;
  char trouble[160];
};

/* Threads that do the same on one ring. */
struct team {
  struct cb_ring *ring;
  unsigned producers, consumers, size;
  pthread_barrier_t start;
  void (*body)(struct member *member);
  void *data;
  struct member members[THREADS_MAX];
};

static void *member_main(void *argument)
{
  struct member *member = argument;
  pthread_barrier_wait(&member->team->start);
  member->team->body(member);
  return NULL;
}

/* Runs the team to its end; what went wrong is told on this thread. */
static void team_run(struct team *team, const char *label, uint64_t *seed)
{
  assert_int_equal(pthread_barrier_init(&team->start, NULL, team->size), 0);
  for (unsigned i = 0; i < team->size; i++) {
    struct member *member = &team->members[i];
    *member = (struct member){.team = team, .index = i, .seed = draw(seed)};
    assert_int_equal(pthread_create(&member->id, NULL, member_main, member), 0);
  }
  for (unsigned i = 0; i < team->size; i++)
    assert_int_equal(pthread_join(team->members[i].id, NULL), 0);
  pthread_barrier_destroy(&team->start);
  for (unsigned i = 0; i < team->size; i++)
    if (team->members[i].trouble[0])
      fail_msg("%s, %u + %u threads: %s", label, team->producers,
               team->consumers, team->members[i].trouble);
}

static bool allows(uint32_t limit, unsigned threads)
{
  return limit == 0 || threads <= limit;
}

/* A ring whose waiters give way: there are more threads than CPUs. */
static struct cb_ring *yielding_ring(struct cb_spec *spec, int64_t size)
{
  if (has_option(spec, "wait"))
    assert_int_equal(cb_spec_set_string(spec, "wait", "yield", NULL), 0);
  return make_ring(spec, size);
}

/* ---- exactly once, in the order of each producer ---- */

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

/* ---- small histories ---- */

enum { CALLERS = 3, CALLS = 3, HISTORIES = 40 * EFFORT };

/* One call, between two readings of a clock that all threads share. */
struct call {
  bool enqueue;
  int result; /* 1 done, 0 full or empty */
  uint64_t value;
  uint32_t begun, ended;
};

struct history {
  _Atomic uint32_t clock, arrived;
  struct call calls[CALLERS][CALLS];
};

static void meet(struct history *history, uint32_t round)
{
  atomic_fetch_add(&history->arrived, 1);
  while (atomic_load(&history->arrived) < round * CALLERS)
    sched_yield();
}

static void make_call(struct member *member, struct call *call)
{
  struct history *history = member->team->data;
  struct cb_ring *ring = member->team->ring;
  call->begun = atomic_fetch_add(&history->clock, 1);
  if (call->enqueue)
    call->result = cb_ring_enqueue(ring, call->value, NULL);
  else
    call->result = cb_ring_dequeue(ring, &call->value);
  call->ended = atomic_fetch_add(&history->clock, 1);
}

/* Thread 0 may enqueue and the last one dequeue in any kind; the others as the
 * limits allow. */
static void make_history(struct member *member)
{
  struct history *history = member->team->data;
  struct cb_ring *ring = member->team->ring;
  bool may_enqueue = ring->limits.producers == 0 || member->index == 0;
  bool may_dequeue = ring->limits.consumers == 0 || member->index == 2;
  meet(history, 1);
  for (int i = 0; i < CALLS; i++) {
    struct call *call = &history->calls[member->index][i];
    bool enqueue = draw(&member->seed) % 2;
    if (!may_enqueue && !may_dequeue)
      continue;
    call->enqueue = may_enqueue && (enqueue || !may_dequeue);
    call->value = member->index * 100u + (unsigned)i + 1;
    make_call(member, call);
  }
}

/* A queue, step by step. In rings whose producers (or consumers) claim a place
 * and publish it later, in turn, an operation is two steps: a place that is
 * claimed and not yet published is full to producers and empty to consumers.
 * In all others it is one. */
struct queue {
  uint64_t values[CALLERS * CALLS]; /* by place */
  uint32_t capacity;
  uint32_t in_claimed, in_published, out_claimed, out_published;
  bool in_turn, out_turn; /* two steps */
  bool late;              /* any refusal is allowed */
};

/* How far a search has come. */
struct progress {
  struct queue queue;
  int next[CALLERS];       /* the call that a thread is in */
  bool claimed[CALLERS];   /* it has taken its first of two steps */
  uint32_t place[CALLERS]; /* and that is its place */
};

static bool refuse(const struct queue *queue, const struct call *call)
{
  if (queue->late)
    return true;
  if (call->enqueue)
    return queue->in_claimed - queue->out_published >= queue->capacity;
  return queue->in_published == queue->out_claimed;
}

/* True when a queue allows the claim, which is then made. */
static bool claim(struct queue *queue, const struct call *call, uint32_t *place)
{
  if (call->enqueue) {
    if (queue->in_claimed - queue->out_published >= queue->capacity)
      return false;
    *place = queue->in_claimed++;
    queue->values[*place] = call->value;
    return true;
  }
  if (queue->out_claimed == queue->in_published ||
      queue->values[queue->out_claimed] != call->value)
    return false;
  *place = queue->out_claimed++;
  return true;
}

static bool publish(struct queue *queue, const struct call *call,
                    uint32_t place)
{
  uint32_t *turn = call->enqueue ? &queue->in_published : &queue->out_published;
  if (*turn != place)
    return false;
  ++*turn;
  return true;
}

/* The next step of thread i, if a queue allows it. */
static bool advance(struct progress *at, int i, const struct call *call)
{
  struct queue *queue = &at->queue;
  if (!call->result) {
    at->next[i]++;
    return refuse(queue, call);
  }
  bool two_steps = call->enqueue ? queue->in_turn : queue->out_turn;
  if (!at->claimed[i]) {
    if (!claim(queue, call, &at->place[i]))
      return false;
    at->claimed[i] = two_steps;
    if (two_steps)
      return true;
  }
  at->claimed[i] = false;
  at->next[i]++;
  return publish(queue, call, at->place[i]);
}

/* Is there an order of the steps from here on, each thread's in its own order,
 * none before a call that had ended when its own began, that a queue allows? */
static bool has_order(struct call calls[CALLERS][CALLS],
                      const struct progress *at)
{
  uint32_t first_end = UINT32_MAX;
  for (int i = 0; i < CALLERS; i++)
    if (at->next[i] < CALLS && calls[i][at->next[i]].ended &&
        calls[i][at->next[i]].ended < first_end)
      first_end = calls[i][at->next[i]].ended;
  if (first_end == UINT32_MAX)
    return true;
  for (int i = 0; i < CALLERS; i++) {
    if (at->next[i] >= CALLS)
      continue;
    const struct call *call = &calls[i][at->next[i]];
    if (!call->ended || call->begun > first_end)
      continue;
    struct progress then = *at;
    if (advance(&then, i, call) && has_order(calls, &then))
      return true;
  }
  return false;
}

static void print_history(struct call calls[CALLERS][CALLS])
{
  for (int i = 0; i < CALLERS; i++)
    for (int j = 0; j < CALLS; j++)
      print_message("# thread %d: %u..%u %s %llu -> %d\n", i, calls[i][j].begun,
                    calls[i][j].ended,
                    calls[i][j].enqueue ? "enqueue" : "dequeue",
                    (unsigned long long)calls[i][j].value, calls[i][j].result);
}

static bool in_turn(const char *label, const char *kind)
{
  return strncmp(label, kind, strlen(kind)) == 0;
}

static void visit_histories(struct cb_spec *spec, const char *label,
                            void *context)
{
  static struct history history;
  for (int i = 0; i < HISTORIES; i++) {
    /* Small enough to be full at times. */
    struct team team = {.ring = yielding_ring(spec, 2),
                        .producers = CALLERS,
                        .consumers = CALLERS,
                        .size = CALLERS,
                        .body = make_history,
                        .data = &history};
    assert_non_null(team.ring);
    memset(&history, 0, sizeof history);
    history.clock = 1;
    team_run(&team, label, context);
    struct progress begin = {
        .queue = {.capacity = (uint32_t)cb_ring_capacity(team.ring),
                  .in_turn = in_turn(label, "rte") || in_turn(label, "alf") ||
                             in_turn(label, "ck"),
                  .out_turn = in_turn(label, "rte") || in_turn(label, "alf"),
                  .late = team.ring->limits.late_visible}};
    if (!has_order(history.calls, &begin)) {
      print_history(history.calls);
      fail_msg("%s: no queue could have answered so", label);
    }
    cb_ring_destroy(team.ring);
  }
}

/* The search itself: what a queue could not have answered is found. */
static bool explained(const struct call *list, bool in_turn, bool out_turn)
{
  struct call calls[CALLERS][CALLS];
  struct progress begin = {
      .queue = {.capacity = 1, .in_turn = in_turn, .out_turn = out_turn}};
  memset(calls, 0, sizeof calls);
  for (int i = 0; i < CALLERS; i++)
    calls[i][0] = list[i];
  return has_order(calls, &begin);
}

static void what_no_queue_answers_is_found(void **state)
{
  const struct call put = {true, 1, 7, 1, 2};
  const struct call get = {false, 1, 7, 3, 4}, none = {false, 0, 0, 5, 6};
  (void)state;
  assert_true(explained((struct call[]){put, get, none}, false, false));
  /* Empty after an enqueue that nobody took has returned. */
  assert_false(
      explained((struct call[]){put, {false, 0, 0, 3, 4}, {false, 1, 7, 5, 6}},
                true, true));
  /* Taken twice, taken before it was put in, never put in. */
  assert_false(
      explained((struct call[]){put, get, {false, 1, 7, 5, 6}}, true, true));
  assert_false(
      explained((struct call[]){{true, 1, 7, 3, 4}, {false, 1, 7, 1, 2}, none},
                true, true));
  assert_false(
      explained((struct call[]){put, {false, 1, 8, 3, 4}, none}, true, true));
  /* While the enqueue is under way another one finds the ring full, and a
   * dequeue after that finds it empty: two steps, and no single one. */
  const struct call slow = {true, 1, 7, 1, 6};
  const struct call full = {true, 0, 8, 2, 3}, empty = {false, 0, 0, 4, 5};
  assert_false(explained((struct call[]){slow, full, empty}, false, false));
  assert_true(explained((struct call[]){slow, full, empty}, true, true));
}

static void small_histories_have_an_order(void **state)
{
  visit_rings_between(visit_histories, *state);
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
      cmocka_unit_test(what_no_queue_answers_is_found),
      cmocka_unit_test_prestate(small_histories_have_an_order, &seed),
      cmocka_unit_test_prestate(waits_end_when_stopped, &seed),
      cmocka_unit_test_prestate(a_serialised_side_can_be_left, &seed),
      cmocka_unit_test_prestate(one_cpu_is_enough, &seed),
  };
  return cmocka_run_group_tests_name("ring_threads", tests, NULL, NULL);
}
