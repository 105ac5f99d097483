/*
 * policy_release.c - QEMU's pool of 2014 up to patch 6 of the series: release
 * list and threads' lists (release.h). Every end costs two atomic operations.
 */
#include "pool/release.h"

#include "pool/kinds.h"

/* high stays 0: what ends is always released. */
static void join(struct pool *pool, struct pool_local *local)
{
  (void)pool;
  (void)local;
}

static struct cb_coroutine *get(struct pool *pool, struct pool_local *local)
{
  uint64_t said;
  if (!cb_release_take(release_of(pool), local, &said) || !local->base.first)
    return NULL;
  cb_count_one(&local->slow.taken_global);
  return local_pop(local);
}

static bool put(struct pool *pool, struct pool_local *local,
                struct cb_coroutine *coroutine)
{
  (void)local;
  return release_push(release_of(pool), coroutine);
}

static void leave(struct pool *pool, struct pool_local *local)
{
  cb_pool_discard_list(pool, local_take_all(local));
}

static int create(struct pool *pool, const struct cb_spec *spec,
                  struct cb_error *error)
{
  return cb_release_init(release_of(pool), spec, error);
}

static const struct cb_option options[] = {RELEASE_OPTIONS, {.name = NULL}};

POOL_WAYS(get, put)

const struct policy cb_pool_release = {
    .kind.name = "release",
    .kind.summary = "QEMU 2014, patches 1-6: lock-free release list, a list in "
                    "each thread",
    .kind.options = options,
    .own_size = sizeof(struct release),
    .create = create,
    POOL_OPS,
    .drain = cb_release_drain,
    .shared = cb_release_count};
