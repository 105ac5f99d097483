#include "pool/release.h"

int cb_release_init(struct release *release, const struct cb_spec *spec,
                    struct cb_error *error)
{
  release->size = (uint64_t)cb_spec_integer(spec, "size");
  release->threshold = (uint64_t)cb_spec_integer(spec, "threshold");
  if (release->threshold >= release->size)
    return cb_fail(error, -EINVAL,
                   "option 'threshold': %llu must be less than size = %llu, or "
                   "nothing is ever taken back",
                   (unsigned long long)release->threshold,
                   (unsigned long long)release->size);
  return 0;
}

static struct cb_coroutine *take_all(struct release *release)
{
  return atomic_exchange_explicit(&release->first, NULL, memory_order_acquire);
}

static uint32_t length(const struct cb_coroutine *list)
{
  uint32_t count = 0;
  for (; list; list = list->next)
    count++;
  return count;
}

/* Puts a list that was taken back in front of what came since. */
static void put_back(struct release *release, struct cb_coroutine *list)
{
  struct cb_coroutine *last = list;
  if (!list)
    return;
  while (last->next)
    last = last->next;
  struct cb_coroutine *since = NULL;
  while (!atomic_compare_exchange_weak_explicit(&release->first, &since, list,
                                                memory_order_release,
                                                memory_order_relaxed))
    last->next = since;
}

bool cb_release_take(struct release *release, struct pool_local *local,
                     uint64_t *said)
{
  if (atomic_load_explicit(&release->count, memory_order_relaxed) <=
      release->threshold)
    return false;
  *said = atomic_exchange_explicit(&release->count, 0, memory_order_relaxed);
  local->base.first = take_all(release);
  cb_set(&local->base.count, length(local->base.first));
  return true;
}

struct cb_coroutine *cb_release_drain(struct pool *pool, uint64_t n)
{
  struct release *release = release_of(pool);
  struct cb_coroutine *list = NULL, *rest, *next;
  atomic_store_explicit(&release->count, 0, memory_order_relaxed);
  for (rest = take_all(release); rest && n; n--, rest = next) {
    next = rest->next;
    rest->next = list;
    list = rest;
  }
  uint32_t left = length(rest);
  put_back(release, rest);
  atomic_fetch_add_explicit(&release->count, left, memory_order_relaxed);
  return list;
}

uint64_t cb_release_count(struct pool *pool)
{
  struct release *release = release_of(pool);
  struct cb_coroutine *list = take_all(release);
  uint64_t count = length(list);
  put_back(release, list);
  return count;
}
