/* Every lock kind excludes, in each memory order, with more threads than CPUs;
 * a try fails while the lock is held and succeeds afterwards. */
#include "test.h"

#include "plugins.h"

#include "base/lock_cas.h"
#include "base/lock_mcs.h"
#include "base/lock_tas.h"
#include "base/lock_ticket.h"
#include "base/lock_ttas.h"
#include "base/locks.h"

#include <pthread.h>
#include <unistd.h>

/* A plug-in's locks may spin for a whole time slice. */
enum { THREADS = 5, TURNS = 4000, PLUGIN_TURNS = 50 };

/* What the threads share. counter is plain: a lock that fails loses counts,
 * and ThreadSanitizer sees the race. */
struct shared {
  _Alignas(64) unsigned char lock[CB_LOCK_SIZE];
  uint64_t counter;
  const struct cb_lock_kind *kind;
  int turns;
  void (*body)(struct shared *shared);
  pthread_barrier_t start;
};

static void *thread_main(void *argument)
{
  struct shared *shared = argument;
  pthread_barrier_wait(&shared->start);
  shared->body(shared);
  return NULL;
}

static uint64_t run_threads(struct shared *shared)
{
  pthread_t threads[THREADS];
  shared->counter = 0;
  assert_int_equal(pthread_barrier_init(&shared->start, NULL, THREADS), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, thread_main, shared), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  pthread_barrier_destroy(&shared->start);
  return shared->counter;
}

static void by_lock(struct shared *shared)
{
  static const struct cb_control control;
  shared->kind->counted(shared->lock, (uint64_t)shared->turns, &shared->counter,
                        &control);
}

static void by_trylock(struct shared *shared)
{
  union cb_lock_place node;
  unsigned turns = 0;
  for (int i = 0; i < shared->turns; i++) {
    while (!shared->kind->trylock(shared->lock, &node))
      cb_lock_wait(&turns);
    shared->counter++;
    shared->kind->unlock(shared->lock, &node);
  }
}

/* The first kind that is not built in, or NULL. */
static const struct cb_kind *first_added(void)
{
  size_t count = 0;
  while (cb_lock_family.kinds[count])
    count++;
  return cb_kind_at(&cb_lock_family, count);
}

static void every_kind_excludes(void **state)
{
  (void)state;
  struct shared shared = {.turns = TURNS};
  const struct cb_kind *kind;
  for (size_t i = 0; (kind = cb_kind_at(&cb_lock_family, i)); i++) {
    if (kind == first_added())
      shared.turns = PLUGIN_TURNS;
    shared.kind = (const struct cb_lock_kind *)kind;
    if (shared.kind->threads)
      continue;
    shared.kind->init(shared.lock);
    shared.body = by_lock;
    assert_int_equal(run_threads(&shared), THREADS * shared.turns);
    shared.body = by_trylock;
    assert_int_equal(run_threads(&shared), THREADS * shared.turns);
  }
}

/* The orders that the kinds' own functions do not use: half the turns by
 * lock, half by trylock, so that the two exclude each other too. */
#define ORDERED(NAME, ORDER)                                                   \
  static void NAME##_##ORDER(struct shared *shared)                            \
  {                                                                            \
    struct cb_lock_node room, *node = &room;                                   \
    struct cb_##NAME *lock = (void *)shared->lock;                             \
    unsigned turns = 0;                                                        \
    for (int i = 0; i < TURNS; i++) {                                          \
      if (i % 2)                                                               \
        cb_##NAME##_lock(lock, node, CB_ORDER_##ORDER);                        \
      else                                                                     \
        while (!cb_##NAME##_trylock(lock, node, CB_ORDER_##ORDER))             \
          cb_lock_wait(&turns);                                                \
      shared->counter++;                                                       \
      cb_##NAME##_unlock(lock, node, CB_ORDER_##ORDER);                        \
    }                                                                          \
  }
#define EACH_ORDER(NAME) ORDERED(NAME, SEQCST) ORDERED(NAME, FENCE)
EACH_ORDER(tas)
EACH_ORDER(ttas)
EACH_ORDER(cas)
EACH_ORDER(ticket)
EACH_ORDER(mcs)

static void every_order_excludes(void **state)
{
  (void)state;
  static const struct {
    const struct cb_lock_kind *kind;
    void (*body[2])(struct shared *shared);
  } rows[] = {
      {&cb_lock_tas, {tas_SEQCST, tas_FENCE}},
      {&cb_lock_ttas, {ttas_SEQCST, ttas_FENCE}},
      {&cb_lock_cas, {cas_SEQCST, cas_FENCE}},
      {&cb_lock_ticket, {ticket_SEQCST, ticket_FENCE}},
      {&cb_lock_mcs, {mcs_SEQCST, mcs_FENCE}},
  };
  struct shared shared = {.turns = TURNS};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t j = 0; j < 2; j++) {
      rows[i].kind->init(shared.lock);
      shared.body = rows[i].body[j];
      assert_int_equal(run_threads(&shared), THREADS * TURNS);
    }
}

static void a_held_lock_is_refused(void **state)
{
  (void)state;
  _Alignas(64) unsigned char lock[CB_LOCK_SIZE];
  union cb_lock_place mine, other;
  const struct cb_lock_kind *kind;
  for (size_t i = 0; (kind = (const void *)cb_kind_at(&cb_lock_family, i));
       i++) {
    kind->init(lock);
    assert_true(kind->trylock(lock, &mine));
    assert_int_equal(kind->trylock(lock, &other), kind == &cb_lock_none);
    kind->unlock(lock, &mine);
    kind->lock(lock, &mine);
    assert_int_equal(kind->trylock(lock, &other), kind == &cb_lock_none);
    kind->unlock(lock, &mine);
    assert_true(kind->trylock(lock, &other));
    kind->unlock(lock, &other);
  }
}

static void counting_can_be_stopped(void **state)
{
  (void)state;
  _Alignas(64) unsigned char lock[CB_LOCK_SIZE];
  struct cb_control control = {.stop = 0};
  uint64_t counter = 0;
  cb_lock_ttas.init(lock);
  assert_int_equal(cb_lock_ttas.counted(lock, 10, &counter, &control), 10);
  control.stop = 1;
  assert_int_equal(cb_lock_ttas.counted(lock, 10, &counter, &control), 0);
  assert_int_equal(counter, 10);
}

int main(void)
{
  alarm(60);
  load_test_plugins();
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_held_lock_is_refused),
                                     cmocka_unit_test(every_kind_excludes),
                                     cmocka_unit_test(every_order_excludes),
                                     cmocka_unit_test(counting_can_be_stopped)};
  return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
