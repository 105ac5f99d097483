/*
 * policy_batch_spare.c - batches that move between threads as a whole, and no
 * allocation on the way.
 *
 * A thread fills an open batch, which is its list itself. When that is full it
 * is set aside, and when that place is taken too, it goes to the global store,
 * under a lock, once in `batch` ends; a thread that runs dry takes a whole
 * batch from there. So coroutines that are created on one thread and end on
 * another come back, for a 128th of a lock each.
 *
 * This is QEMU's design of 2024 (util/qemu-coroutine.c in 10.0) but for the
 * headers of batches. There a thread with less than one batch allocates and
 * frees a header every time its list goes from 0 to 1 and back, which a loop
 * with one coroutine does all the time. Here the open batch has no header, and
 * each thread keeps one spare for the batches that need one.
 */
#include "pool/pool.h"

#include "pool/kinds.h"

#include <stdlib.h>

struct batch {
  struct batch *next;
  struct cb_coroutine *first;
  uint32_t count;
};

struct shared {
  pthread_mutex_t mutex;
  struct batch *batches;
  _Atomic uint64_t count; /* of coroutines; written under the mutex */
  uint64_t size;          /* where count stops growing */
  uint32_t batch;
};

struct own {
  struct batch *aside; /* one full batch, or NULL */
  struct batch *spare; /* one unused header, or NULL */
};

static struct shared *shared_of(struct pool *pool)
{
  return (struct shared *)(void *)pool->own;
}

static struct own *own_of(struct pool_local *local)
{
  return (struct own *)(void *)local->own;
}

/* ---- headers ---- */

static void free_header(struct own *own, struct batch *batch)
{
  if (own->spare)
    free(batch);
  else
    own->spare = batch;
}

/* The thread's list, with a header; NULL without memory for one. */
static struct batch *close_batch(struct pool_local *local)
{
  struct own *own = own_of(local);
  struct batch *batch = own->spare ? own->spare : malloc(sizeof *batch);
  own->spare = NULL;
  if (!batch)
    return NULL;
  batch->first = local->base.first;
  batch->count = local->base.count;
  local->base.first = NULL;
  cb_set(&local->base.count, 0);
  return batch;
}

/* The batch becomes the thread's list, which was empty. */
static void open_batch(struct pool_local *local, struct batch *batch)
{
  local->base.first = batch->first;
  cb_set(&local->base.count, batch->count);
  free_header(own_of(local), batch);
}

/* ---- the global store ---- */

/* May end up to one batch over size, as the original. */
static bool offer(struct shared *shared, struct batch *batch)
{
  pthread_mutex_lock(&shared->mutex);
  uint64_t count = atomic_load_explicit(&shared->count, memory_order_relaxed);
  bool room = count < shared->size;
  if (room) {
    batch->next = shared->batches;
    shared->batches = batch;
    atomic_store_explicit(&shared->count, count + batch->count,
                          memory_order_relaxed);
  }
  pthread_mutex_unlock(&shared->mutex);
  return room;
}

static struct batch *fetch(struct shared *shared)
{
  pthread_mutex_lock(&shared->mutex);
  struct batch *batch = shared->batches;
  if (batch) {
    shared->batches = batch->next;
    atomic_fetch_sub_explicit(&shared->count, batch->count,
                              memory_order_relaxed);
  }
  pthread_mutex_unlock(&shared->mutex);
  return batch;
}

static void offer_or_delete(struct pool *pool, struct own *own,
                            struct batch *batch)
{
  if (offer(shared_of(pool), batch))
    return;
  cb_pool_discard_list(pool, batch->first);
  free_header(own, batch);
}

/* ---- the policy ---- */

static void join(struct pool *pool, struct pool_local *local)
{
  local->base.high = shared_of(pool)->batch;
}

static struct cb_coroutine *get(struct pool *pool, struct pool_local *local)
{
  struct own *own = own_of(local);
  struct batch *batch = own->aside;
  if (batch) {
    own->aside = NULL;
    cb_set(&local->aside, 0);
  } else {
    batch = fetch(shared_of(pool));
    if (!batch)
      return NULL;
    cb_count_one(&local->slow.taken_global);
  }
  open_batch(local, batch);
  return local_pop(local);
}

static bool put(struct pool *pool, struct pool_local *local,
                struct cb_coroutine *coroutine)
{
  struct own *own = own_of(local);
  struct batch *full = close_batch(local);
  if (!full)
    return false;
  if (own->aside) {
    offer_or_delete(pool, own, full);
  } else {
    own->aside = full;
    cb_set(&local->aside, full->count);
  }
  local_push(local, coroutine);
  return true;
}

static void leave(struct pool *pool, struct pool_local *local)
{
  struct own *own = own_of(local);
  if (own->aside)
    offer_or_delete(pool, own, own->aside);
  own->aside = NULL;
  cb_set(&local->aside, 0);
  if (local->base.count) {
    struct batch *rest = close_batch(local);
    if (rest)
      offer_or_delete(pool, own, rest);
    else
      cb_pool_discard_list(pool, local->base.first);
  }
  free(own->spare);
}

static struct cb_coroutine *drain(struct pool *pool)
{
  struct shared *shared = shared_of(pool);
  struct cb_coroutine *coroutine = NULL;
  pthread_mutex_lock(&shared->mutex);
  struct batch *batch = shared->batches;
  if (batch) {
    coroutine = batch->first;
    batch->first = coroutine->next;
    atomic_fetch_sub_explicit(&shared->count, 1, memory_order_relaxed);
    if (--batch->count == 0) {
      shared->batches = batch->next;
      free(batch);
    }
  }
  pthread_mutex_unlock(&shared->mutex);
  return coroutine;
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
  shared->batch = (uint32_t)cb_spec_integer(spec, "batch");
  return 0;
}

static void destroy(struct pool *pool)
{
  pthread_mutex_destroy(&shared_of(pool)->mutex);
}

static const struct cb_option options[] = {
    {.name = "size",
     .type = CB_INTEGER,
     .preset = "4096",
     .min = 1,
     .max = 10000000,
     .help = "idle coroutines at which the store that threads share is full"},
    {.name = "batch",
     .type = CB_INTEGER,
     .preset = "128",
     .min = 1,
     .max = 65536,
     .help = "coroutines that move between a thread and the store at once"},
    {.name = NULL}};

const struct policy cb_pool_batch_spare = {
    .kind.name = "batch_spare",
    .kind.summary = "batches in each thread and in a shared store, one spare "
                    "header in each thread",
    .kind.options = options,
    .own_size = sizeof(struct shared),
    .local_size = sizeof(struct own),
    .create = create,
    .destroy = destroy,
    .join = join,
    .get = get,
    .put = put,
    .leave = leave,
    .drain = drain,
    .shared = shared_count};
