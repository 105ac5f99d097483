/* policy_none.c - keeps nothing: every creation maps a stack, every end unmaps
 * it. */
#include "pool/pool.h"

#include "pool/kinds.h"

static void none_join(struct pool *pool, struct pool_local *local)
{
  (void)pool;
  (void)local; /* low and high are 0: the policy is always asked */
}

static struct cb_coroutine *none_get(struct pool *pool,
                                     struct pool_local *local)
{
  (void)pool;
  (void)local;
  return NULL;
}

static bool none_put(struct pool *pool, struct pool_local *local,
                     struct cb_coroutine *coroutine)
{
  (void)pool;
  (void)local;
  (void)coroutine;
  return false;
}

static struct cb_coroutine *none_drain(struct pool *pool, uint64_t n)
{
  (void)pool;
  (void)n;
  return NULL;
}

static uint64_t none_shared(struct pool *pool)
{
  (void)pool;
  return 0;
}

POOL_WAYS(none_get, none_put)

const struct policy cb_pool_none = {
    .kind.name = "none",
    .kind.summary = "no pool: every coroutine is made and deleted",
    .join = none_join,
    .get = none_get,
    .put = none_put,
    .take = take,
    .give = give,
    .leave = none_join,
    .drain = none_drain,
    .shared = none_shared};
