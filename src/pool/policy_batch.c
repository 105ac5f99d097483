/*
 * policy_batch.c - QEMU's pool of 2024 (util/qemu-coroutine.c in 10.0).
 *
 * A thread has up to two batches of up to `batch` coroutines; the first is the
 * one it takes from and puts to. A first batch that is full goes to the global
 * store when there is a second behind it; one that becomes empty is unlinked
 * and its header freed, and the next coroutine to end allocates one again. A
 * thread that ends deletes what it has.
 *
 * The global store is bounded by size and by what vm.max_map_count allows for
 * stacks of two mappings each.
 */
#include "pool/batch.h"

#include "pool/kinds.h"

#include <stdio.h>

/* Mappings that the rest of the process may need, as in the original. */
enum { MAPPINGS_LEFT = 5000 };

struct own {
  /* The header of the thread's list, NULL for no batch, and the batch behind
   * it. Its first and count are only right while it is not the first. */
  struct batch *open, *behind;
};

static struct own *own_of(struct pool_local *local)
{
  return (struct own *)(void *)local->own;
}

/* With a batch open, its last coroutine is not taken without asking, because
 * then the header is freed; without one, nothing is put without asking. */
static void set_open(struct pool *pool, struct pool_local *local,
                     struct batch *batch)
{
  own_of(local)->open = batch;
  local->base.low = batch ? 1 : 0;
  local->base.high = batch ? store_of(pool)->batch : 0;
}

static void set_behind(struct pool_local *local, struct batch *batch)
{
  own_of(local)->behind = batch;
  cb_set(&local->aside, batch ? batch->count : 0);
}

static void open_batch(struct pool *pool, struct pool_local *local,
                       struct batch *batch)
{
  set_open(pool, local, batch);
  local->base.first = batch->first;
  cb_set(&local->base.count, batch->count);
}

/* The first batch is empty: unlinked, its header freed. */
static void close_empty(struct pool *pool, struct pool_local *local)
{
  struct own *own = own_of(local);
  struct batch *next = own->behind;
  free(own->open);
  set_open(pool, local, NULL);
  if (next) {
    set_behind(local, NULL);
    open_batch(pool, local, next);
  }
}

static struct cb_coroutine *get(struct pool *pool, struct pool_local *local)
{
  if (!own_of(local)->open) {
    struct batch *batch = cb_batch_fetch(store_of(pool));
    if (!batch)
      return NULL;
    cb_count_one(&local->slow.taken_global);
    open_batch(pool, local, batch);
  }
  struct cb_coroutine *coroutine = local_pop(local);
  if (local->base.count == 0)
    close_empty(pool, local);
  return coroutine;
}

/* The first batch is full: behind, or away when that place is taken. */
static void close_full(struct pool *pool, struct pool_local *local)
{
  struct own *own = own_of(local);
  struct batch *full = own->open;
  full->count = local->base.count;
  full->first = local_take_all(local);
  set_open(pool, local, NULL);
  if (!own->behind) {
    set_behind(local, full);
  } else if (!cb_batch_offer(store_of(pool), full)) {
    cb_pool_discard_list(pool, full->first);
    free(full);
  }
}

static bool put(struct pool *pool, struct pool_local *local,
                struct cb_coroutine *coroutine)
{
  if (own_of(local)->open)
    close_full(pool, local);
  struct batch *batch = malloc(sizeof *batch);
  if (!batch)
    return false;
  batch->first = NULL;
  batch->count = 0;
  set_open(pool, local, batch);
  local_push(local, coroutine);
  return true;
}

static void join(struct pool *pool, struct pool_local *local)
{
  set_open(pool, local, NULL);
}

static void leave(struct pool *pool, struct pool_local *local)
{
  struct own *own = own_of(local);
  cb_pool_discard_list(pool, local_take_all(local));
  free(own->open);
  if (own->behind)
    cb_pool_discard_list(pool, own->behind->first);
  free(own->behind);
}

/* No limit where it cannot be read. */
static uint64_t limit_of_mappings(void)
{
  unsigned long long limit = 0;
  FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
  bool known = file && fscanf(file, "%llu", &limit) == 1;
  if (file)
    fclose(file);
  if (!known)
    return UINT64_MAX;
  return limit > MAPPINGS_LEFT ? (limit - MAPPINGS_LEFT) / 2 : 0;
}

static int create(struct pool *pool, const struct cb_spec *spec,
                  struct cb_error *error)
{
  struct batch_store *store = store_of(pool);
  uint64_t limit = limit_of_mappings();
  (void)error;
  cb_batch_store_init(store, spec);
  if (store->size > limit)
    store->size = limit;
  return 0;
}

static const struct cb_option options[] = {BATCH_OPTIONS("128"),
                                           {.name = NULL}};

POOL_WAYS(get, put)

const struct policy cb_pool_batch = {
    .kind.name = "batch",
    .kind.summary = "QEMU 2024: batches in each thread and in a shared store",
    .kind.options = options,
    .own_size = sizeof(struct batch_store),
    .local_size = sizeof(struct own),
    .create = create,
    .destroy = cb_batch_store_destroy,
    POOL_OPS,
    .drain = cb_batch_drain,
    .shared = cb_batch_count};
