/*
 * policy_release_stash.c - QEMU's pool of 2014 with patch 7, and of 2022 with
 * other numbers: when the release list (release.h) is full, a thread keeps what
 * ends, up to `stash`. Then neither creating nor ending needs an atomic
 * operation.
 *
 * A thread knows how many it keeps by a number that is *set*, when it takes the
 * release list, to the heuristic size of that list. Adding it instead would let
 * the error of that size accumulate, until a thread whose list is empty thinks
 * it is full and stashes nothing (found in the review of the patch). Here the
 * thread's exact count is kept too, so that number is that count plus the error
 * of the last take.
 */
#include "pool/release.h"

#include "pool/kinds.h"

struct shared {
  struct release release;
  int64_t stash;
};

struct own {
  int64_t error; /* of the size that the last take was told */
};

static struct own *own_of(struct pool_local *local)
{
  return (struct own *)(void *)local->own;
}

/* high stays 0: whether the release list is full must be seen each time. */
static void join(struct pool *pool, struct pool_local *local)
{
  (void)pool;
  (void)local;
}

static struct cb_coroutine *get(struct pool *pool, struct pool_local *local)
{
  uint64_t said;
  if (!cb_release_take(release_of(pool), local, &said))
    return NULL;
  own_of(local)->error = (int64_t)said - (int64_t)local->base.count;
  if (!local->base.first) /* another thread was faster */
    return NULL;
  cb_count_one(&local->slow.taken_global);
  return local_pop(local);
}

static bool put(struct pool *pool, struct pool_local *local,
                struct cb_coroutine *coroutine)
{
  struct shared *shared = (struct shared *)(void *)pool->own;
  if (release_push(&shared->release, coroutine))
    return true;
  if ((int64_t)local->base.count + own_of(local)->error >= shared->stash)
    return false;
  local_push(local, coroutine);
  return true;
}

static void leave(struct pool *pool, struct pool_local *local)
{
  cb_pool_discard_list(pool, local_take_all(local));
}

static int create(struct pool *pool, const struct cb_spec *spec,
                  struct cb_error *error)
{
  struct shared *shared = (struct shared *)(void *)pool->own;
  shared->stash = cb_spec_integer(spec, "stash");
  return cb_release_init(&shared->release, spec, error);
}

static const struct cb_option options[] = {
    RELEASE_OPTIONS,
    {.name = "stash",
     .type = CB_INTEGER,
     .preset = "64",
     .min = 0,
     .max = 10000000,
     .help = "idle coroutines a thread keeps when the release list is full"},
    {.name = NULL}};

POOL_WAYS(get, put)

const struct policy cb_pool_release_stash = {
    .kind.name = "release_stash",
    .kind.summary = "QEMU 2014, patches 1-7: and a stash in each thread when "
                    "the release list is full",
    .kind.options = options,
    .own_size = sizeof(struct shared),
    .local_size = sizeof(struct own),
    .create = create,
    POOL_OPS,
    .drain = cb_release_drain,
    .shared = cb_release_count};
