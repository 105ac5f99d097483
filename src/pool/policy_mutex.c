/*
 * policy_mutex.c - QEMU's pool before 2014: one list for all threads under one
 * lock, which every creation and every end take.
 */
#include "pool/pool.h"

#include "pool/kinds.h"

struct shared {
  pthread_mutex_t mutex;
  struct cb_coroutine *first;
  _Atomic uint64_t count; /* written under the mutex */
  uint64_t size;
};

static struct shared *shared_of(struct pool *pool)
{
  return (struct shared *)(void *)pool->own;
}

/* low and high stay 0: a thread keeps nothing. */
static void join_or_leave(struct pool *pool, struct pool_local *local)
{
  (void)pool;
  (void)local;
}

/* The mutex is held. */
static struct cb_coroutine *pop(struct shared *shared)
{
  struct cb_coroutine *coroutine = shared->first;
  if (coroutine) {
    shared->first = coroutine->next;
    atomic_store_explicit(
        &shared->count,
        atomic_load_explicit(&shared->count, memory_order_relaxed) - 1,
        memory_order_relaxed);
  }
  return coroutine;
}

static struct cb_coroutine *get(struct pool *pool, struct pool_local *local)
{
  struct shared *shared = shared_of(pool);
  pthread_mutex_lock(&shared->mutex);
  struct cb_coroutine *coroutine = pop(shared);
  pthread_mutex_unlock(&shared->mutex);
  if (coroutine)
    cb_count_one(&local->slow.taken_global);
  return coroutine;
}

static bool put(struct pool *pool, struct pool_local *local,
                struct cb_coroutine *coroutine)
{
  struct shared *shared = shared_of(pool);
  (void)local;
  pthread_mutex_lock(&shared->mutex);
  uint64_t count = atomic_load_explicit(&shared->count, memory_order_relaxed);
  bool room = count < shared->size;
  if (room) {
    coroutine->next = shared->first;
    shared->first = coroutine;
    atomic_store_explicit(&shared->count, count + 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&shared->mutex);
  return room;
}

static struct cb_coroutine *drain(struct pool *pool, uint64_t n)
{
  struct shared *shared = shared_of(pool);
  struct cb_coroutine *list = NULL, *coroutine;
  pthread_mutex_lock(&shared->mutex);
  for (; n && (coroutine = pop(shared)); n--) {
    coroutine->next = list;
    list = coroutine;
  }
  pthread_mutex_unlock(&shared->mutex);
  return list;
}

static uint64_t shared_count(struct pool *pool)
{
  return atomic_load_explicit(&shared_of(pool)->count, memory_order_relaxed);
}

static int create(struct pool *pool, const struct cb_spec *spec,
                  struct cb_error *error)
{
  struct shared *shared = shared_of(pool);
  (void)error;
  pthread_mutex_init(&shared->mutex, NULL);
  shared->size = (uint64_t)cb_spec_integer(spec, "size");
  return 0;
}

static void destroy(struct pool *pool)
{
  pthread_mutex_destroy(&shared_of(pool)->mutex);
}

static const struct cb_option options[] = {{.name = "size",
                                            .type = CB_INTEGER,
                                            .preset = "64",
                                            .min = 1,
                                            .max = 10000000,
                                            .help = "most idle coroutines"},
                                           {.name = NULL}};

POOL_WAYS(get, put)

const struct policy cb_pool_mutex = {
    .kind.name = "mutex",
    .kind.summary = "QEMU before 2014: one list for all threads, one lock",
    .kind.options = options,
    .own_size = sizeof(struct shared),
    .create = create,
    .destroy = destroy,
    .join = join_or_leave,
    .get = get,
    .put = put,
    .take = take,
    .give = give,
    .leave = join_or_leave,
    .drain = drain,
    .shared = shared_count};
