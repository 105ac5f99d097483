/* Every ring kind between threads: small histories of calls have an order that
 * a queue could have had. */
#include "ring_team.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

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

int main(void)
{
  static uint64_t seed;
  seed = test_seed();
  alarm(240);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_no_queue_answers_is_found),
      cmocka_unit_test_prestate(small_histories_have_an_order, &seed),
  };
  return cmocka_run_group_tests_name("ring_histories", tests, NULL, NULL);
}
