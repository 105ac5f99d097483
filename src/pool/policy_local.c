/*
 * policy_local.c - a list in each thread and nothing shared. Nothing can be
 * faster while coroutines end where they were created; when they do not, the
 * one thread creates all of them anew and the other deletes them.
 */
#include "pool/pool.h"

#include "pool/kinds.h"

struct own {
  uint32_t size;
};

static struct own *own_of(struct pool *pool)
{
  return (struct own *)(void *)pool->own;
}

static void join(struct pool *pool, struct pool_local *local)
{
  local->base.high = own_of(pool)->size;
}

/* Asked only when the thread's list is empty, and only when it is full. */
static struct cb_coroutine *get(struct pool *pool, struct pool_local *local)
{
  (void)pool;
  (void)local;
  return NULL;
}

static bool put(struct pool *pool, struct pool_local *local,
                struct cb_coroutine *coroutine)
{
  (void)pool;
  (void)local;
  (void)coroutine;
  return false;
}

static void leave(struct pool *pool, struct pool_local *local)
{
  cb_pool_discard_list(pool, local_take_all(local));
}

static struct cb_coroutine *drain(struct pool *pool, uint64_t n)
{
  (void)pool;
  (void)n;
  return NULL;
}

static uint64_t shared_count(struct pool *pool)
{
  (void)pool;
  return 0;
}

static int create(struct pool *pool, const struct cb_spec *spec,
                  struct cb_error *error)
{
  (void)error;
  own_of(pool)->size = (uint32_t)cb_spec_integer(spec, "size");
  return 0;
}

static const struct cb_option options[] = {
    {.name = "size",
     .type = CB_INTEGER,
     .preset = "64",
     .min = 1,
     .max = 10000000,
     .help = "most idle coroutines in each thread"},
    {.name = NULL}};

POOL_WAYS(get, put)

const struct policy cb_pool_local = {
    .kind.name = "local",
    .kind.summary = "a list in each thread, nothing shared",
    .kind.options = options,
    .own_size = sizeof(struct own),
    .create = create,
    POOL_OPS,
    .drain = drain,
    .shared = shared_count};
