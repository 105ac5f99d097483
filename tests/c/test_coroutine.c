/* The semantics of coroutines on every back end: QEMU's own tests, by name,
 * then what is an abort there and a status here. Bodies record; what they
 * recorded is asserted outside, for a failed assertion jumps to the stack of
 * the test. */
#include "backends.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static struct cb_coroutine *create(struct cb_pool *pool, cb_entry *entry,
                                   void *opaque)
{
  struct cb_error error = {0};
  struct cb_coroutine *coroutine =
      cb_coroutine_create(pool, entry, opaque, &error);
  if (!coroutine)
    fail_msg("%s", error.text);
  return coroutine;
}

/* ---- QEMU's ---- */

static void set_true(void *opaque)
{
  *(bool *)opaque = true;
}

static void yield_once(void *opaque)
{
  (void)opaque;
  cb_coroutine_yield();
}

static void enter_other(void *opaque)
{
  cb_coroutine_enter(opaque);
}

/* What entered a coroutine may be gone when that is entered again. */
static void no_dangling_access(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  struct cb_coroutine *c2 = create(pool, yield_once, NULL);
  struct cb_coroutine *c1 = create(pool, enter_other, c2);
  assert_int_equal(cb_coroutine_enter(c1), CB_TERMINATE);

  struct cb_coroutine before = *c1;
  memset(c1, 0xff, sizeof *c1);
  assert_int_equal(cb_coroutine_enter(c2), CB_TERMINATE);
  /* c2 was put above it, so the list's link is as it was. */
  *c1 = before;
  end_pool(pool);
}

static void lifecycle(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  for (int i = 0; i < 2; i++) {
    bool done = false;
    struct cb_coroutine *coroutine = create(pool, set_true, &done);
    assert_false(done);
    assert_int_equal(cb_coroutine_enter(coroutine), CB_TERMINATE);
    assert_true(done);
  }
  assert_int_equal(stats_of(pool).fresh, 1);
  end_pool(pool);
}

static void yield_5_times(void *opaque)
{
  for (int i = 0; i < 5; i++)
    cb_coroutine_yield();
  *(bool *)opaque = true;
}

static void yield(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  bool done = false;
  int enters = 0, action = CB_YIELD;
  struct cb_coroutine *coroutine = create(pool, yield_5_times, &done);
  while (!done) {
    assert_int_equal(action, CB_YIELD);
    action = cb_coroutine_enter(coroutine);
    enters++;
  }
  assert_int_equal(action, CB_TERMINATE);
  assert_int_equal(enters - 1, 5);
  end_pool(pool);
}

struct nest {
  struct cb_pool *pool;
  int entered, returned, depth;
};

static void nest(void *opaque)
{
  struct nest *data = opaque;
  if (++data->entered < data->depth)
    cb_coroutine_enter(cb_coroutine_create(data->pool, nest, data, NULL));
  data->returned++;
}

static void nesting(void **state)
{
  struct nest data = {.pool = new_pool(*state, "batch_spare", NULL),
                      .depth = 128};
  struct cb_coroutine *coroutine = create(data.pool, nest, &data);
  assert_int_equal(cb_coroutine_enter(coroutine), CB_TERMINATE);
  assert_int_equal(data.entered, 128);
  assert_int_equal(data.returned, 128);
  assert_int_equal(stats_of(data.pool).peak, 128);
  end_pool(data.pool);
}

static void tell_self(void *opaque)
{
  *(struct cb_coroutine **)opaque = cb_coroutine_self();
}

static void self(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  struct cb_coroutine *told = NULL;
  struct cb_coroutine *leader = cb_coroutine_self();
  struct cb_coroutine *coroutine = create(pool, tell_self, &told);
  cb_coroutine_enter(coroutine);
  assert_ptr_equal(told, coroutine);
  assert_non_null(leader);
  assert_ptr_equal(cb_coroutine_self(), leader);
  end_pool(pool);
}

struct kinship {
  struct cb_coroutine *parent, *child;
  bool all_entered, child_left;
};

static void child_body(void *opaque)
{
  struct kinship *kinship = opaque;
  kinship->all_entered = cb_coroutine_entered(kinship->parent) &&
                         cb_coroutine_entered(cb_coroutine_self());
  cb_coroutine_yield();
}

static void parent_body(void *opaque)
{
  struct kinship *kinship = opaque;
  cb_coroutine_enter(kinship->child);
  kinship->child_left = !cb_coroutine_entered(kinship->child) &&
                        cb_coroutine_entered(cb_coroutine_self());
  cb_coroutine_yield();
  kinship->all_entered = cb_coroutine_entered(cb_coroutine_self());
}

static void entered(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  struct kinship kinship = {0};
  kinship.parent = create(pool, parent_body, &kinship);
  kinship.child = create(pool, child_body, &kinship);
  assert_false(cb_coroutine_entered(kinship.parent));
  cb_coroutine_enter(kinship.parent);
  assert_true(kinship.all_entered);
  assert_true(kinship.child_left);
  assert_false(cb_coroutine_entered(kinship.parent));
  kinship.all_entered = false;
  assert_int_equal(cb_coroutine_enter(kinship.parent), CB_TERMINATE);
  assert_true(kinship.all_entered);
  assert_int_equal(cb_coroutine_enter(kinship.child), CB_TERMINATE);
  end_pool(pool);
}

static void tell_inside(void *opaque)
{
  *(bool *)opaque = cb_in_coroutine();
}

static void in_coroutine(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  bool inside = false;
  assert_false(cb_in_coroutine());
  cb_coroutine_enter(create(pool, tell_inside, &inside));
  assert_true(inside);
  assert_false(cb_in_coroutine());
  end_pool(pool);
}

static struct {
  int function, step;
} record[8];
static int recorded;

static void note(int function, int step)
{
  record[recorded].function = function;
  record[recorded++].step = step;
}

static void ordered(void *opaque)
{
  bool *inside = opaque;
  *inside = cb_in_coroutine();
  note(1, 1);
  cb_coroutine_yield();
  *inside = *inside && cb_in_coroutine();
  note(1, 2);
  cb_coroutine_yield();
  *inside = *inside && cb_in_coroutine();
  note(1, 3);
}

static void order(void **state)
{
  static const int expected[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {1, 3}};
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  bool inside = false;
  recorded = 0;
  struct cb_coroutine *coroutine = create(pool, ordered, &inside);
  cb_coroutine_enter(coroutine);
  assert_false(cb_in_coroutine());
  note(2, 1);
  cb_coroutine_enter(coroutine);
  assert_false(cb_in_coroutine());
  note(2, 2);
  cb_coroutine_enter(coroutine);
  assert_false(cb_in_coroutine());
  assert_true(inside);
  assert_int_equal(recorded, 5);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(record[i].function, expected[i][0]);
    assert_int_equal(record[i].step, expected[i][1]);
  }
  end_pool(pool);
}

/* ---- what QEMU answers by abort() ---- */

struct attempt {
  struct cb_coroutine *target;
  int status;
};

static void attempt_enter(void *opaque)
{
  struct attempt *attempt = opaque;
  attempt->status = cb_coroutine_enter(attempt->target);
}

static void misuse_is_a_status(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  struct attempt attempt = {0};
  assert_int_equal(cb_coroutine_yield(), -EPERM);
  assert_string_equal(cb_coroutine_message(-EPERM),
                      "Co-routine is yielding to no one");
  /* Itself, running. */
  attempt.target = create(pool, attempt_enter, &attempt);
  assert_int_equal(cb_coroutine_enter(attempt.target), CB_TERMINATE);
  assert_int_equal(attempt.status, -EBUSY);
  assert_string_equal(cb_coroutine_message(-EBUSY),
                      "Co-routine re-entered recursively");
  /* One that has ended and lies in the pool. */
  assert_int_equal(cb_coroutine_enter(attempt.target), -ESRCH);
  assert_int_equal(cb_coroutine_destroy(attempt.target), -ESRCH);
  assert_false(cb_coroutine_entered(attempt.target));
  /* The thread. */
  attempt.target = cb_coroutine_self();
  cb_coroutine_enter(create(pool, attempt_enter, &attempt));
  assert_int_equal(attempt.status, -EINVAL);
  assert_int_equal(cb_coroutine_enter(cb_coroutine_self()), -EINVAL);
  assert_int_equal(cb_coroutine_destroy(cb_coroutine_self()), -EINVAL);
  assert_int_equal(cb_coroutine_yield(), -EPERM);
  end_pool(pool);
}

static void its_caller_cannot_be_entered(void *opaque)
{
  struct attempt *outer = opaque;
  struct attempt inner = {.target = cb_coroutine_self()};
  struct cb_coroutine *child = cb_coroutine_create(
      ((struct cb_coroutine *)inner.target)->pool, attempt_enter, &inner, NULL);
  cb_coroutine_enter(child);
  outer->status = inner.status;
}

static void a_caller_is_entered_already(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  struct attempt attempt = {0};
  cb_coroutine_enter(create(pool, its_caller_cannot_be_entered, &attempt));
  assert_int_equal(attempt.status, -EBUSY);
  end_pool(pool);
}

static void try_to_destroy_self(void *opaque)
{
  *(int *)opaque = cb_coroutine_destroy(cb_coroutine_self());
}

static void a_suspended_one_can_be_destroyed(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  bool done = false;
  int status = 0;
  struct cb_coroutine *coroutine = create(pool, yield_5_times, &done);
  assert_int_equal(cb_coroutine_enter(coroutine), CB_YIELD);
  assert_int_equal(stats_of(pool).live, 1);
  assert_int_equal(cb_pool_destroy(pool, NULL), -EBUSY);
  assert_int_equal(cb_coroutine_destroy(coroutine), 0);
  assert_int_equal(cb_coroutine_destroy(create(pool, set_true, &done)), 0);
  assert_false(done);
  cb_coroutine_enter(create(pool, try_to_destroy_self, &status));
  assert_int_equal(status, -EBUSY);
  end_pool(pool);
}

/* ---- threads ---- */

struct journey {
  struct cb_coroutine *coroutine;
  pid_t seen[3]; /* not pthread_self, which compilers ask only once */
  struct cb_coroutine *leader[3];
  bool inside[3];
  int action;
};

/* After each yield this may be another thread, with another leader. */
static void traveller(void *opaque)
{
  struct journey *journey = opaque;
  for (int i = 0; i < 3; i++) {
    journey->seen[i] = gettid();
    journey->inside[i] =
        cb_in_coroutine() && cb_coroutine_self() == journey->coroutine;
    journey->leader[i] = journey->coroutine->caller;
    if (i < 2)
      cb_coroutine_yield();
  }
}

static void *enter_there(void *opaque)
{
  struct journey *journey = opaque;
  journey->action = cb_coroutine_enter(journey->coroutine);
  return NULL;
}

/* Made here, entered on two other threads, ended here; once with a new
 * coroutine and once with the same out of the pool. */
static void a_coroutine_changes_threads(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  for (int life = 0; life < 2; life++) {
    struct journey journey = {0};
    pthread_t thread;
    journey.coroutine = create(pool, traveller, &journey);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(pthread_create(&thread, NULL, enter_there, &journey), 0);
      assert_int_equal(pthread_join(thread, NULL), 0);
      assert_int_equal(journey.action, CB_YIELD);
    }
    assert_int_equal(cb_coroutine_enter(journey.coroutine), CB_TERMINATE);
    assert_true(journey.inside[0] && journey.inside[1] && journey.inside[2]);
    assert_int_equal(journey.seen[2], gettid());
    assert_int_not_equal(journey.seen[0], gettid());
    assert_int_not_equal(journey.seen[1], gettid());
    assert_ptr_equal(journey.leader[2], cb_coroutine_self());
    assert_ptr_not_equal(journey.leader[0], journey.leader[2]);
  }
  assert_int_equal(stats_of(pool).fresh, 1);
  end_pool(pool);
}

/* ---- what belongs to the thread, and what to the coroutine ---- */

static void round_up_and_yield(void *opaque)
{
  int *inside = opaque;
  fesetround(FE_UPWARD);
  cb_coroutine_yield();
  *inside = fegetround();
  fesetround(FE_TONEAREST);
}

static bool has_own_rounding(const char *backend)
{
  static const char *const names[] = {"asm_fpu", "swapcontext",
                                      /* of plug-ins */
                                      "boost_context", "pcl", NULL};
  for (const char *const *name = names; *name; name++)
    if (strcmp(*name, backend) == 0)
      return true;
  return false;
}

static void rounding(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  int inside = 0;
  struct cb_coroutine *coroutine = create(pool, round_up_and_yield, &inside);
  cb_coroutine_enter(coroutine);
  int outside = fegetround();
  fesetround(FE_TONEAREST);
  cb_coroutine_enter(coroutine);
  if (has_own_rounding(*state)) {
    assert_int_equal(outside, FE_TONEAREST);
    assert_int_equal(inside, FE_UPWARD);
  } else { /* shared, as documented */
    assert_int_equal(outside, FE_UPWARD);
    assert_int_equal(inside, FE_TONEAREST);
  }
  end_pool(pool);
}

static void never(int signal)
{
  (void)signal;
  abort();
}

/* Making coroutines leaves the application its signals: handler, alternate
 * stack and mask. */
static void signals_are_kept(void **state)
{
  static char memory[65536];
  stack_t mine = {.ss_sp = memory, .ss_size = sizeof memory}, after;
  struct sigaction handler = {.sa_handler = never}, handler_after;
  sigset_t mask, mask_after;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  assert_int_equal(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
  assert_int_equal(sigaltstack(&mine, NULL), 0);
  assert_int_equal(sigaction(SIGUSR2, &handler, NULL), 0);

  struct cb_pool *pool = new_pool(*state, "none", NULL);
  bool done = false;
  cb_coroutine_enter(create(pool, set_true, &done));
  assert_true(done);
  end_pool(pool);

  sigaltstack(NULL, &after);
  sigaction(SIGUSR2, NULL, &handler_after);
  pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
  assert_ptr_equal(after.ss_sp, memory);
  assert_int_equal(after.ss_flags & SS_DISABLE, 0);
  assert_true(handler_after.sa_handler == never);
  assert_int_equal(sigismember(&mask_after, SIGUSR1), 1);
  assert_int_equal(sigismember(&mask_after, SIGUSR2), 0);
  mine.ss_flags = SS_DISABLE;
  sigaltstack(&mine, NULL);
  sigemptyset(&mask);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  signal(SIGUSR2, SIG_DFL);
}

struct maker {
  struct cb_pool *pool;
  int made;
};

static void *make_many(void *opaque)
{
  struct maker *maker = opaque;
  for (int i = 0; i < 50; i++) {
    bool done = false;
    struct cb_coroutine *coroutine =
        cb_coroutine_create(maker->pool, set_true, &done, NULL);
    if (coroutine && cb_coroutine_enter(coroutine) == CB_TERMINATE && done)
      maker->made++;
  }
  return NULL;
}

static void two_threads_create_at_once(void **state)
{
  struct cb_pool *pool = new_pool(*state, "none", NULL);
  struct maker makers[2] = {{.pool = pool}, {.pool = pool}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, make_many, &makers[i]),
                     0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(makers[i].made, 50);
  }
  assert_int_equal(stats_of(pool).fresh, 100);
  assert_int_equal(stats_of(pool).deleted, 100);
  end_pool(pool);
}

/* ---- registers ---- */

/* Enough live values that some stand in every callee-saved register. */
__attribute__((noinline)) static uint64_t churn(uint64_t seed, int rounds)
{
  uint64_t a = seed, b = seed * 3, c = seed ^ 5, d = seed + 7, e = ~seed;
  double x = (double)seed, y = x + 0.5, z = x * 2;
  for (int i = 0; i < rounds; i++) {
    a += b ^ e;
    b = (b << 7 | b >> 57) + c;
    c ^= d + (uint64_t)i;
    d += a;
    e = e * 5 + 1;
    x += y * 0.25;
    y = y * 0.5 + z;
    z = x - y;
    if (seed & 1)
      cb_coroutine_yield();
  }
  return a ^ b ^ c ^ d ^ e ^ (uint64_t)(int64_t)(x + y + z);
}

struct sum {
  uint64_t seed, value;
};

static void churn_and_yield(void *opaque)
{
  struct sum *sum = opaque;
  sum->value = churn(sum->seed, 20);
}

/* Two coroutines take turns with each other and with this; each computes what
 * it computes alone. */
static void registers_survive(void **state)
{
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  struct sum one = {.seed = 101}, two = {.seed = 203};
  struct cb_coroutine *first = create(pool, churn_and_yield, &one);
  struct cb_coroutine *second = create(pool, churn_and_yield, &two);
  uint64_t before = churn(1000, 20), between = 0;
  for (int i = 0; i < 20; i++) {
    assert_int_equal(cb_coroutine_enter(first), CB_YIELD);
    between = churn(1000, 20);
    assert_int_equal(cb_coroutine_enter(second), CB_YIELD);
  }
  cb_coroutine_enter(first);
  cb_coroutine_enter(second);
  assert_true(before == between);

  struct sum alone = {.seed = 101};
  struct cb_coroutine *third = create(pool, churn_and_yield, &alone);
  while (cb_coroutine_enter(third) == CB_YIELD)
    ;
  assert_true(alone.value == one.value);
  assert_true(one.value != two.value);
  end_pool(pool);
}

/* ---- several back ends at once ---- */

struct tower {
  struct cb_pool *pools[16];
  int height, floors, down;
};

static void climb(void *opaque)
{
  struct tower *tower = opaque;
  if (tower->height < tower->floors) {
    struct cb_pool *pool = tower->pools[tower->height++];
    struct cb_coroutine *next = cb_coroutine_create(pool, climb, tower, NULL);
    if (next && cb_coroutine_enter(next) == CB_YIELD &&
        cb_coroutine_enter(next) == CB_TERMINATE)
      tower->down++;
  }
  cb_coroutine_yield();
}

/* Each back end within each other, from this one's coroutine on. */
static void back_ends_nest_in_each_other(void **state)
{
  struct tower tower = {0};
  for (int turn = 0; turn < 2; turn++)
    for (size_t i = 0; real_backend(i); i++)
      tower.pools[tower.floors++] =
          new_pool(real_backend(i), "batch_spare", NULL);
  struct cb_pool *pool = new_pool(*state, "batch_spare", NULL);
  struct cb_coroutine *coroutine = create(pool, climb, &tower);
  assert_int_equal(cb_coroutine_enter(coroutine), CB_YIELD);
  assert_int_equal(cb_coroutine_enter(coroutine), CB_TERMINATE);
  assert_int_equal(tower.down, tower.floors);
  end_pool(pool);
  for (int i = 0; i < tower.floors; i++)
    end_pool(tower.pools[i]);
}

int main(void)
{
  alarm(300);
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_dangling_access),
      cmocka_unit_test(lifecycle),
      cmocka_unit_test(yield),
      cmocka_unit_test(nesting),
      cmocka_unit_test(self),
      cmocka_unit_test(entered),
      cmocka_unit_test(in_coroutine),
      cmocka_unit_test(order),
      cmocka_unit_test(misuse_is_a_status),
      cmocka_unit_test(a_caller_is_entered_already),
      cmocka_unit_test(a_suspended_one_can_be_destroyed),
      cmocka_unit_test(a_coroutine_changes_threads),
      cmocka_unit_test(rounding),
      cmocka_unit_test(signals_are_kept),
      cmocka_unit_test(two_threads_create_at_once),
      cmocka_unit_test(registers_survive),
      cmocka_unit_test(back_ends_nest_in_each_other)};
  return run_on_kinds("coroutine", &cb_backend_family, NULL, 0, tests,
                      sizeof tests / sizeof tests[0]);
}
