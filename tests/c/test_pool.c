/* What every pool policy owes: nothing is lost and nothing counted twice,
 * whoever creates, ends, and dies in between. */
#include "backends.h"

#include "base/cpu.h"
#include "pool/release.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static void nothing(void *opaque)
{
  (void)opaque;
}

static void yield_once(void *opaque)
{
  (void)opaque;
  cb_coroutine_yield();
}

static struct cb_pool *pool_of(const char *policy)
{
  struct cb_stack_options options = {.size = 16384};
  return new_pool(CB_BACKEND_PRESET, policy, &options);
}

static void assert_exact(struct cb_pool *pool)
{
  struct cb_pool_stats stats = stats_of(pool);
  assert_int_equal(stats.fresh, stats.deleted + stats.live + stats.idle);
}

/* ---- one thread ---- */

/* n alive at once, then all ended. */
static void burst(struct cb_pool *pool, size_t n)
{
  struct cb_coroutine **coroutines = calloc(n, sizeof *coroutines);
  assert_non_null(coroutines);
  uint64_t live = stats_of(pool).live;
  for (size_t i = 0; i < n; i++) {
    coroutines[i] = cb_coroutine_create(pool, yield_once, NULL, NULL);
    assert_non_null(coroutines[i]);
    assert_int_equal(cb_coroutine_enter(coroutines[i]), CB_YIELD);
  }
  assert_int_equal(stats_of(pool).live, live + n);
  assert_exact(pool);
  for (size_t i = 0; i < n; i++)
    assert_int_equal(cb_coroutine_enter(coroutines[i]), CB_TERMINATE);
  assert_int_equal(stats_of(pool).live, live);
  assert_exact(pool);
  free(coroutines);
}

/* Around what the policies keep by their presets: 64, 128, with a stash or a
 * second batch more. */
static void bursts_balance(void **state)
{
  static const size_t sizes[] = {1,   2,   63,  64,  65,  127, 128, 129,
                                 191, 192, 193, 255, 256, 257, 319, 320,
                                 321, 383, 384, 385, 511, 512, 513, 1000};
  struct cb_pool *pool = pool_of(*state);
  size_t sum = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    if (CB_TSAN && sizes[i] > 129)
      break;
    burst(pool, sizes[i]);
    sum += sizes[i];
    struct cb_pool_stats stats = stats_of(pool);
    assert_true(stats.peak >= sizes[i]);
    assert_int_equal(stats.hits_local + stats.hits_global + stats.fresh, sum);
  }
  end_pool(pool);
}

static void trim_leaves_what_is_asked(void **state)
{
  struct cb_pool *pool = pool_of(*state);
  burst(pool, 700);
  uint64_t idle = stats_of(pool).idle;
  size_t keep = idle < 100 ? (size_t)idle : 100;
  uint64_t hits = stats_of(pool).hits_local + stats_of(pool).hits_global;
  assert_int_equal(cb_pool_trim(pool, keep), idle - keep);
  assert_int_equal(stats_of(pool).idle, keep);
  assert_exact(pool);
  assert_int_equal(cb_pool_trim(pool, 0), keep);
  assert_int_equal(stats_of(pool).idle, 0);
  assert_int_equal(stats_of(pool).hits_local + stats_of(pool).hits_global,
                   hits);
  burst(pool, 10);
  end_pool(pool);
}

static void prefill_is_not_a_hit(void **state)
{
  struct cb_pool *pool = pool_of(*state);
  assert_int_equal(cb_pool_prefill(pool, 300, NULL), 0);
  struct cb_pool_stats stats = stats_of(pool);
  assert_int_equal(stats.fresh, 300);
  assert_int_equal(stats.live, 0);
  assert_int_equal(stats.hits_local + stats.hits_global, 0);
  assert_exact(pool);
  cb_coroutine_enter(cb_coroutine_create(pool, nothing, NULL, NULL));
  assert_exact(pool);
  end_pool(pool);
}

/* ---- threads ---- */

struct hand {
  struct cb_pool *pool;
  struct cb_coroutine *coroutines[600];
  size_t count;
};

static void *create_them(void *opaque)
{
  struct hand *hand = opaque;
  for (size_t i = 0; i < hand->count; i++) {
    hand->coroutines[i] =
        cb_coroutine_create(hand->pool, yield_once, NULL, NULL);
    cb_coroutine_enter(hand->coroutines[i]);
  }
  return NULL;
}

static void *end_them(void *opaque)
{
  struct hand *hand = opaque;
  for (size_t i = 0; i < hand->count; i++)
    cb_coroutine_enter(hand->coroutines[i]);
  return NULL;
}

static void on_a_thread(void *(*body)(void *), void *opaque)
{
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, body, opaque), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Threads that only create and threads that only end, dying each time. */
static void more_than_there_is_memory_for_is_refused(void **state)
{
  struct cb_error error;
  struct cb_pool *pool = pool_of(*state);
  assert_int_equal(cb_pool_prefill(pool, SIZE_MAX / 8192, &error), -ENOMEM);
  assert_non_null(strstr(error.text, " GiB of memory at least"));
  assert_int_equal(stats_of(pool).fresh, 0);
  end_pool(pool);
}

static void threads_that_die_lose_nothing(void **state)
{
  static const size_t sizes[] = {1, 64, 128, 200, 600};
  static struct hand hand;
  hand.pool = pool_of(*state);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    hand.count = sizes[i];
    on_a_thread(create_them, &hand);
    assert_int_equal(stats_of(hand.pool).live, hand.count);
    assert_exact(hand.pool);
    on_a_thread(end_them, &hand);
    assert_int_equal(stats_of(hand.pool).live, 0);
    assert_exact(hand.pool);
  }
  end_pool(hand.pool);
}

/* The creator is gone, but its coroutines are not. */
static void a_thread_dies_with_coroutines_alive(void **state)
{
  static struct hand hand;
  hand = (struct hand){.pool = pool_of(*state), .count = 200};
  on_a_thread(create_them, &hand);
  end_them(&hand);
  assert_int_equal(stats_of(hand.pool).live, 0);
  assert_exact(hand.pool);
  end_pool(hand.pool);
}

struct worker {
  struct cb_pool *pool;
  unsigned seed, failed;
  pthread_t thread;
};

static void *work(void *opaque)
{
  struct worker *worker = opaque;
  struct cb_coroutine *held[100] = {0};
  for (int i = 0; i < (CB_TSAN ? 100 : 500); i++) {
    unsigned at = (worker->seed = worker->seed * 1103515245u + 12345u) >> 16;
    struct cb_coroutine **place = &held[at % 100];
    if (*place && cb_coroutine_enter(*place) != CB_TERMINATE)
      worker->failed++;
    *place = cb_coroutine_create(worker->pool, yield_once, NULL, NULL);
    if (!*place || cb_coroutine_enter(*place) != CB_YIELD)
      worker->failed++;
  }
  for (int i = 0; i < 100; i++)
    if (held[i] && cb_coroutine_enter(held[i]) != CB_TERMINATE)
      worker->failed++;
  return NULL;
}

static void many_threads_at_once(void **state)
{
  enum { THREADS = 5 };
  struct worker workers[THREADS];
  struct cb_pool *pool = pool_of(*state);
  for (unsigned i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){.pool = pool, .seed = i + 1};
    assert_int_equal(
        pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (unsigned i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(workers[i].failed, 0);
  }
  assert_int_equal(stats_of(pool).live, 0);
  assert_exact(pool);
  end_pool(pool);
}

/* A thread alternates between pools; each keeps its own. */
static void pools_do_not_mix(void **state)
{
  struct cb_pool *one = pool_of(*state), *two = pool_of(*state);
  for (int i = 0; i < 100; i++) {
    struct cb_coroutine *a = cb_coroutine_create(one, nothing, NULL, NULL);
    struct cb_coroutine *b = cb_coroutine_create(two, nothing, NULL, NULL);
    assert_int_equal(cb_coroutine_enter(a), CB_TERMINATE);
    assert_int_equal(cb_coroutine_enter(b), CB_TERMINATE);
  }
  /* One is enough, but for those that take a list only when it is long. */
  assert_true(stats_of(one).peak <= 65);
  assert_exact(one);
  end_pool(one);
  /* A new pool may lie where the old one was. */
  struct cb_pool *three = pool_of(*state);
  burst(three, 3);
  assert_int_equal(stats_of(three).fresh >= 3, 1);
  end_pool(three);
  end_pool(two);
}

struct afterlife {
  struct cb_pool *pool;
  struct cb_error error;
  bool created;
};

static pthread_key_t late_key;

/* Runs again until the pool's own hook has run. */
static void use_it_late(void *opaque)
{
  struct afterlife *afterlife = opaque;
  static _Thread_local int round;
  if (++round < 3) {
    pthread_setspecific(late_key, opaque);
    return;
  }
  afterlife->created =
      cb_coroutine_create(afterlife->pool, nothing, NULL, &afterlife->error);
}

static void *end_late(void *opaque)
{
  struct afterlife *afterlife = opaque;
  pthread_setspecific(late_key, opaque);
  cb_coroutine_enter(cb_coroutine_create(afterlife->pool, nothing, NULL, NULL));
  return NULL;
}

static void a_thread_that_ends_is_refused(void **state)
{
  struct afterlife afterlife = {.pool = pool_of(*state)};
  assert_int_equal(pthread_key_create(&late_key, use_it_late), 0);
  on_a_thread(end_late, &afterlife);
  assert_false(afterlife.created);
  assert_int_equal(afterlife.error.code, -ESRCH);
  assert_string_equal(afterlife.error.text, "this thread is ending");
  pthread_key_delete(late_key);
  assert_exact(afterlife.pool);
  end_pool(afterlife.pool);
}

/* ---- capacity ---- */

/* Most coroutines a policy may keep when one thread used it, by its presets. */
static uint64_t most_idle(const char *policy)
{
  static const struct {
    const char *policy;
    uint64_t most;
  } limits[] = {{"none", 0},
                {"mutex", 64},
                {"local", 64},
                {"release", 128 + 128},
                {"release_stash", 128 + 128 + 64},
                {"batch", 128 + 127 + 2 * 128},
                {"batch_spare", 4096 + 127 + 2 * 128}};
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    if (strcmp(limits[i].policy, policy) == 0)
      return limits[i].most;
  fail_msg("what may '%s' keep?", policy);
  return 0;
}

/* Bytes of memory in use. */
static long resident_memory(void)
{
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

enum { STACKS = 10000 };

/* The stacks of coroutines, whether those live or not. */
struct seen {
  uintptr_t stacks[STACKS]; /* an address in each, ascending once sorted */
  size_t count;
};

static int compare_addresses(const void *a, const void *b)
{
  uintptr_t one = *(const uintptr_t *)a, other = *(const uintptr_t *)b;
  return (one > other) - (one < other);
}

static void see(struct seen *seen, const struct cb_coroutine *coroutine)
{
  uintptr_t top = (uintptr_t)cb_coroutine_stack(coroutine)->top;
  seen->stacks[seen->count++] = top - 1;
}

static void sort(struct seen *seen)
{
  qsort(seen->stacks, seen->count, sizeof seen->stacks[0], compare_addresses);
}

/* How many of them are mapped, by what the kernel says. */
static size_t count_mapped(const struct seen *seen)
{
  unsigned long from, to;
  size_t next = 0, mapped = 0;
  FILE *file = fopen("/proc/self/maps", "r");
  assert_non_null(file);
  while (fscanf(file, "%lx-%lx %*[^\n]", &from, &to) == 2) {
    while (next < seen->count && seen->stacks[next] < from)
      next++;
    for (; next < seen->count && seen->stacks[next] < to; next++)
      mapped++;
  }
  fclose(file);
  return mapped;
}

/* An emulator, or a sanitizer, puts mappings of its own where some were. */
static bool maps_can_be_read(void)
{
  return !SANITIZED && !getenv("CB_TEST_EMULATED");
}

/* After a great burst no more than that is kept; the process's mappings agree
 * with the counters; and trimming gives all of it back. */
static void a_burst_is_not_kept_for_ever(void **state)
{
  static struct seen seen;
  static struct cb_coroutine *coroutines[STACKS];
  size_t count = STACKS;
  /* A fibre of ThreadSanitizer's takes milliseconds. */
  if (CB_TSAN)
    count = strcmp(*state, "batch_spare") == 0 ? 4000 : 400;
  struct cb_stack_options options = {.size = 1 << 20};
  struct cb_pool *pool = new_pool(CB_BACKEND_PRESET, *state, &options);
  seen.count = 0;
  for (size_t i = 0; i < count; i++) {
    coroutines[i] = cb_coroutine_create(pool, yield_once, NULL, NULL);
    assert_non_null(coroutines[i]);
    see(&seen, coroutines[i]);
    assert_int_equal(cb_coroutine_enter(coroutines[i]), CB_YIELD);
  }
  sort(&seen);
  assert_int_equal(stats_of(pool).live, count);
  assert_exact(pool);
  if (maps_can_be_read())
    assert_int_equal(count_mapped(&seen), count);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(cb_coroutine_enter(coroutines[i]), CB_TERMINATE);
  assert_exact(pool);

  uint64_t idle = stats_of(pool).idle;
  assert_true(idle <= most_idle(*state));
  if (maps_can_be_read())
    assert_int_equal(count_mapped(&seen), idle);
  long resident = resident_memory();
  assert_int_equal(cb_pool_trim(pool, 0), idle);
  assert_int_equal(stats_of(pool).idle, 0);
  if (maps_can_be_read()) {
    assert_int_equal(count_mapped(&seen), 0);
    assert_true(resident - resident_memory() >=
                (long)idle * sysconf(_SC_PAGESIZE));
  }
  assert_exact(pool);
  end_pool(pool);
}

/* ---- threads that end after anything ---- */

enum { HANDS = 200, STEPS = 400, GENERATIONS = CB_TSAN ? 6 : 30 };

/* Coroutines that go from a thread that ended to the next. */
struct wanderer {
  struct cb_pool *pool;
  struct cb_coroutine *held[HANDS];
  size_t count;
  struct seen *seen;
  unsigned random;
};

static unsigned draw(struct wanderer *self, unsigned below)
{
  self->random = self->random * 1103515245u + 12345u;
  return (self->random >> 16) % below;
}

static void create_one(struct wanderer *self)
{
  uint64_t fresh = stats_of(self->pool).fresh;
  struct cb_coroutine *coroutine =
      cb_coroutine_create(self->pool, yield_once, NULL, NULL);
  assert_non_null(coroutine);
  if (stats_of(self->pool).fresh != fresh && self->seen->count < STACKS)
    see(self->seen, coroutine);
  assert_int_equal(cb_coroutine_enter(coroutine), CB_YIELD);
  self->held[self->count++] = coroutine;
}

static void end_one(struct wanderer *self)
{
  size_t at = draw(self, (unsigned)self->count);
  assert_int_equal(cb_coroutine_enter(self->held[at]), CB_TERMINATE);
  self->held[at] = self->held[--self->count];
}

/* Only creates, only ends, or both; then dies with what it has in hand. */
static void *wander(void *opaque)
{
  struct wanderer *self = opaque;
  unsigned creates = draw(self, 3) * 50; /* of 100 steps */
  for (unsigned steps = draw(self, STEPS); steps; steps--) {
    if (draw(self, 100) < creates && self->count < HANDS)
      create_one(self);
    else if (draw(self, 100) >= creates && self->count)
      end_one(self);
  }
  return NULL;
}

static void no_thread_loses_a_stack(void **state)
{
  static struct seen seen;
  unsigned seed = (unsigned)time(NULL);
  struct wanderer wanderer = {
      .pool = pool_of(*state), .seen = &seen, .random = seed};
  printf("# %s: seed %u\n", (const char *)*state, seed);
  seen.count = 0;
  for (int i = 0; i < GENERATIONS; i++) {
    on_a_thread(wander, &wanderer);
    assert_int_equal(stats_of(wanderer.pool).live, wanderer.count);
    assert_exact(wanderer.pool);
  }
  while (wanderer.count)
    end_one(&wanderer);
  assert_exact(wanderer.pool);
  sort(&seen);
  /* What dead threads kept is not out of reach. */
  uint64_t idle = stats_of(wanderer.pool).idle;
  assert_int_equal(cb_pool_trim(wanderer.pool, 0), idle);
  assert_int_equal(stats_of(wanderer.pool).idle, 0);
  end_pool(wanderer.pool);
  if (maps_can_be_read())
    assert_int_equal(count_mapped(&seen), 0);
}

/* ---- what is special to one ---- */

static struct cb_pool *spec_pool(const char *policy, const char *const *names,
                                 const int64_t *values, struct cb_error *error)
{
  struct cb_spec *spec = cb_spec_create(&cb_pool_family, policy, error);
  assert_non_null(spec);
  for (; *names; names++, values++)
    assert_int_equal(cb_spec_set_integer(spec, *names, *values, error), 0);
  struct cb_pool_options options = {.policy = spec, .stack.size = 16384};
  struct cb_pool *pool = cb_pool_create(&options, error);
  cb_spec_destroy(spec);
  return pool;
}

/* The size of the release list lies, by more every time, as when many threads
 * race. The thread goes on stashing all the same: its own number is set by a
 * take, not added to. */
static void an_inexact_size_never_stops_the_stash(void **state)
{
  (void)state;
  static const char *const names[] = {"size", "threshold", "stash", NULL};
  static const int64_t values[] = {8, 2, 4};
  struct cb_pool *pool = spec_pool("release_stash", names, values, NULL);
  struct release *release = release_of((struct pool *)(void *)pool);
  for (int round = 0; round < 100; round++) {
    /* 12 fit: 8 released, 4 stashed. Then all 8 and the stash are used up. */
    burst(pool, 12);
    assert_int_equal(stats_of(pool).idle, 12);
    atomic_fetch_add_explicit(&release->count, 3, memory_order_relaxed);
    burst(pool, 12);
    assert_exact(pool);
  }
  burst(pool, 12);
  assert_int_equal(stats_of(pool).idle, 12);
  end_pool(pool);
}

static void caps_must_agree(void **state)
{
  (void)state;
  static const char *const names[] = {"size", "threshold", NULL};
  static const int64_t values[] = {64, 64};
  struct cb_error error;
  assert_null(spec_pool("release", names, values, &error));
  assert_int_equal(error.code, -EINVAL);
  assert_string_equal(error.text,
                      "option 'threshold': 64 must be less than size = 64, or "
                      "nothing is ever taken back");
  assert_null(spec_pool("release_stash", names, values, &error));

  static const char *const policies[] = {
      "mutex", "local", "release", "release_stash", "batch", "batch_spare"};
  for (int i = 0; i < 6; i++) {
    struct cb_spec *spec = cb_spec_create(&cb_pool_family, policies[i], NULL);
    assert_int_equal(cb_spec_set_integer(spec, "size", 0, &error), -EINVAL);
    assert_string_equal(error.text,
                        "option 'size': 0 is out of range [1, 10000000]");
    assert_int_equal(cb_spec_set_integer(spec, "size", -1, &error), -EINVAL);
    assert_int_equal(cb_spec_set_integer(spec, "size", INT64_MAX, &error),
                     -EINVAL);
    cb_spec_destroy(spec);
  }

  static const struct {
    const char *policy, *option;
    int64_t least, most;
  } others[] = {{"release", "threshold", 0, 9999999},
                {"release_stash", "threshold", 0, 9999999},
                {"release_stash", "stash", 0, 10000000},
                {"batch", "batch", 1, 65536},
                {"batch_spare", "batch", 1, 65536}};
  for (int i = 0; i < 5; i++) {
    struct cb_spec *spec =
        cb_spec_create(&cb_pool_family, others[i].policy, NULL);
    const char *option = others[i].option;
    int64_t least = others[i].least, most = others[i].most;
    assert_int_equal(cb_spec_set_integer(spec, option, least, &error), 0);
    assert_int_equal(cb_spec_set_integer(spec, option, most, &error), 0);
    assert_int_equal(cb_spec_set_integer(spec, option, least - 1, &error),
                     -EINVAL);
    assert_non_null(strstr(error.text, "is out of range"));
    assert_int_equal(cb_spec_set_integer(spec, option, most + 1, &error),
                     -EINVAL);
    cb_spec_destroy(spec);
  }
}

/* Still alive: the pool stays as it was, and can be closed later. */
static void a_pool_with_life_in_it_is_not_closed(void **state)
{
  struct cb_error error;
  struct cb_pool *pool = pool_of(*state);
  struct cb_coroutine *one = cb_coroutine_create(pool, yield_once, NULL, NULL);
  cb_coroutine_enter(one);
  assert_int_equal(cb_pool_destroy(pool, &error), -EBUSY);
  assert_string_equal(error.text, "1 coroutine of the pool still lives");
  assert_int_equal(stats_of(pool).live, 1);
  assert_int_equal(cb_coroutine_enter(one), CB_TERMINATE);
  end_pool(pool);
}

/* One thread creates, another ends: which policies must create anew? */
static void handing_over_comes_back_but_for_local(void **state)
{
  static struct hand hand;
  hand = (struct hand){.pool = pool_of(*state), .count = 600};
  for (int i = 0; i < 10; i++) {
    create_them(&hand);
    on_a_thread(end_them, &hand);
  }
  uint64_t fresh = stats_of(hand.pool).fresh;
  if (strcmp(*state, "none") == 0 || strcmp(*state, "local") == 0)
    assert_int_equal(fresh, 6000);
  else
    assert_true(fresh < 6000);
  end_pool(hand.pool);
}

/* ---- refusals ---- */

static void comparisons_make_no_pool(void **state)
{
  (void)state;
  struct cb_error error;
  struct cb_spec *call = cb_spec_create(&cb_backend_family, "call", NULL);
  struct cb_pool_options options = {.backend = call};
  assert_null(cb_pool_create(&options, &error));
  assert_int_equal(error.code, -EINVAL);
  cb_spec_destroy(call);
  options = (struct cb_pool_options){.stack.size = 4095};
  assert_null(cb_pool_create(&options, &error));
  assert_string_equal(
      error.text,
      "option 'stack_size': 4095 is out of range [4096, 1073741824]");
}

int main(void)
{
  static const struct CMUnitTest plain[] = {
      cmocka_unit_test(comparisons_make_no_pool),
      cmocka_unit_test(caps_must_agree),
      cmocka_unit_test(an_inexact_size_never_stops_the_stash)};
  static const struct CMUnitTest on_each[] = {
      cmocka_unit_test(bursts_balance),
      cmocka_unit_test(trim_leaves_what_is_asked),
      cmocka_unit_test(prefill_is_not_a_hit),
      cmocka_unit_test(more_than_there_is_memory_for_is_refused),
      cmocka_unit_test(threads_that_die_lose_nothing),
      cmocka_unit_test(a_thread_dies_with_coroutines_alive),
      cmocka_unit_test(many_threads_at_once),
      cmocka_unit_test(pools_do_not_mix),
      cmocka_unit_test(a_burst_is_not_kept_for_ever),
      cmocka_unit_test(no_thread_loses_a_stack),
      cmocka_unit_test(handing_over_comes_back_but_for_local),
      cmocka_unit_test(a_thread_that_ends_is_refused),
      cmocka_unit_test(a_pool_with_life_in_it_is_not_closed)};
  alarm(300);
  return run_on_kinds("pool", &cb_pool_family, plain, 3, on_each, 13);
}
