#include "pool/batch.h"

void cb_batch_store_init(struct batch_store *store, const struct cb_spec *spec)
{
  pthread_mutex_init(&store->mutex, NULL);
  store->size = (uint64_t)cb_spec_integer(spec, "size");
  store->batch = (uint32_t)cb_spec_integer(spec, "batch");
}

void cb_batch_store_destroy(struct pool *pool)
{
  pthread_mutex_destroy(&store_of(pool)->mutex);
}

bool cb_batch_offer(struct batch_store *store, struct batch *batch)
{
  pthread_mutex_lock(&store->mutex);
  uint64_t count = atomic_load_explicit(&store->count, memory_order_relaxed);
  bool room = count < store->size;
  if (room) {
    batch->next = store->batches;
    store->batches = batch;
    atomic_store_explicit(&store->count, count + batch->count,
                          memory_order_relaxed);
  }
  pthread_mutex_unlock(&store->mutex);
  return room;
}

/* The mutex is held. */
static struct batch *unlink_first(struct batch_store *store)
{
  struct batch *batch = store->batches;
  store->batches = batch->next;
  atomic_fetch_sub_explicit(&store->count, batch->count, memory_order_relaxed);
  return batch;
}

struct batch *cb_batch_fetch(struct batch_store *store)
{
  pthread_mutex_lock(&store->mutex);
  struct batch *batch = store->batches ? unlink_first(store) : NULL;
  pthread_mutex_unlock(&store->mutex);
  return batch;
}

/* One coroutine more on the list. The mutex is held. */
static struct cb_coroutine *drain_one(struct batch_store *store,
                                      struct cb_coroutine *list)
{
  struct batch *batch = store->batches;
  struct cb_coroutine *coroutine = batch->first;
  batch->first = coroutine->next;
  batch->count--;
  atomic_fetch_sub_explicit(&store->count, 1, memory_order_relaxed);
  if (batch->count == 0)
    free(unlink_first(store));
  coroutine->next = list;
  return coroutine;
}

struct cb_coroutine *cb_batch_drain(struct pool *pool, uint64_t n)
{
  struct batch_store *store = store_of(pool);
  struct cb_coroutine *list = NULL;
  pthread_mutex_lock(&store->mutex);
  for (; n && store->batches; n--)
    list = drain_one(store, list);
  pthread_mutex_unlock(&store->mutex);
  return list;
}

uint64_t cb_batch_count(struct pool *pool)
{
  return atomic_load_explicit(&store_of(pool)->count, memory_order_relaxed);
}
