/*
 * batch.h - batches of coroutines and the store of them that threads share,
 * for the policies batch and batch_spare.
 */
#ifndef CB_POOL_BATCH_H
#define CB_POOL_BATCH_H

#include "pool/pool.h"

#include <stdlib.h>

struct batch {
  struct batch *next;
  struct cb_coroutine *first;
  uint32_t count;
};

/* First in the policy's part of a pool. */
struct batch_store {
  pthread_mutex_t mutex;
  struct batch *batches;
  _Atomic uint64_t count; /* of coroutines; written under the mutex */
  uint64_t size;          /* where count stops growing */
  uint32_t batch;         /* coroutines in a full one */
};

CB_HOT struct batch_store *store_of(struct pool *pool)
{
  return (struct batch_store *)(void *)pool->own;
}

/* Reads the options size and batch. */
void cb_batch_store_init(struct batch_store *store, const struct cb_spec *spec);
void cb_batch_store_destroy(struct pool *pool);

/* Takes the batch in, unless it is full; it may end up to one batch over its
 * size. */
bool cb_batch_offer(struct batch_store *store, struct batch *batch);
/* Any one, or NULL. */
struct batch *cb_batch_fetch(struct batch_store *store);

/* The policies' drain and shared. */
struct cb_coroutine *cb_batch_drain(struct pool *pool, uint64_t n);
uint64_t cb_batch_count(struct pool *pool);

#define BATCH_OPTIONS(size_preset)                                             \
  {.name = "size",                                                             \
   .type = CB_INTEGER,                                                         \
   .preset = size_preset,                                                      \
   .min = 1,                                                                   \
   .max = 10000000,                                                            \
   .help = "idle coroutines at which the store that threads share is full"},   \
  {                                                                            \
    .name = "batch", .type = CB_INTEGER, .preset = "128", .min = 1,            \
    .max = 65536,                                                              \
    .help = "coroutines that move between a thread and the store at once"      \
  }

#endif
