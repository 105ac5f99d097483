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
 * This is QEMU's design of 2024 (policy_batch.c) but for the headers of
 * batches. There a thread with less than one batch allocates and frees a
 * header every time its list goes from 0 to 1 and back, which a loop with one
 * coroutine does all the time. Here the open batch has no header, and each
 * thread keeps one spare for the batches that need one. And a thread that ends
 * leaves its coroutines to the others.
 */
#include "pool/batch.h"

#include "pool/kinds.h"

struct own {
  struct batch *aside; /* one full batch, or NULL */
  struct batch *spare; /* one unused header, or NULL */
};

static struct own *own_of(struct pool_local *local)
{
  return (struct own *)(void *)local->own;
}

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
  batch->count = local->base.count;
  batch->first = local_take_all(local);
  return batch;
}

/* The batch becomes the thread's list, which was empty. */
static void open_batch(struct pool_local *local, struct batch *batch)
{
  local->base.first = batch->first;
  cb_set(&local->base.count, batch->count);
  free_header(own_of(local), batch);
}

static void set_aside(struct pool_local *local, struct batch *batch)
{
  own_of(local)->aside = batch;
  cb_set(&local->aside, batch ? batch->count : 0);
}

static void offer_or_delete(struct pool *pool, struct own *own,
                            struct batch *batch)
{
  if (cb_batch_offer(store_of(pool), batch))
    return;
  cb_pool_discard_list(pool, batch->first);
  free_header(own, batch);
}

static void join(struct pool *pool, struct pool_local *local)
{
  local->base.high = store_of(pool)->batch;
}

static struct cb_coroutine *get(struct pool *pool, struct pool_local *local)
{
  struct batch *batch = own_of(local)->aside;
  if (batch) {
    set_aside(local, NULL);
  } else {
    batch = cb_batch_fetch(store_of(pool));
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
  if (own->aside)
    offer_or_delete(pool, own, full);
  else
    set_aside(local, full);
  local_push(local, coroutine);
  return true;
}

static void leave(struct pool *pool, struct pool_local *local)
{
  struct own *own = own_of(local);
  if (own->aside)
    offer_or_delete(pool, own, own->aside);
  set_aside(local, NULL);
  if (local->base.count) {
    struct batch *rest = close_batch(local);
    if (rest)
      offer_or_delete(pool, own, rest);
    else
      cb_pool_discard_list(pool, local_take_all(local));
  }
  free(own->spare);
}

static int create(struct pool *pool, const struct cb_spec *spec,
                  struct cb_error *error)
{
  (void)error;
  cb_batch_store_init(store_of(pool), spec);
  return 0;
}

static const struct cb_option options[] = {BATCH_OPTIONS("4096"),
                                           {.name = NULL}};

POOL_WAYS(get, put)

const struct policy cb_pool_batch_spare = {
    .kind.name = "batch_spare",
    .kind.summary = "batches in each thread and in a shared store, one spare "
                    "header in each thread",
    .kind.options = options,
    .own_size = sizeof(struct batch_store),
    .local_size = sizeof(struct own),
    .create = create,
    .destroy = cb_batch_store_destroy,
    POOL_OPS,
    .drain = cb_batch_drain,
    .shared = cb_batch_count};
