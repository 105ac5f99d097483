/*
 * release.h - QEMU's pool of 2014, for the policies release and release_stash.
 *
 * Coroutines that end go to a release list that all threads share: a push by
 * compare-and-swap, then an atomic increment of its size. A thread creates from
 * a list of its own; when that is empty and the release list holds more than
 * `threshold`, it takes the whole release list by an exchange. So a pop is
 * never contended, and there is no ABA, because nobody pops one from a shared
 * list.
 *
 * The size is a heuristic: it is exchanged apart from the list and checked
 * before the push, so it can be out of step by as many as there are threads.
 * Where an exact number is needed here, for counters, the list is counted when
 * it is taken, which the original does not do.
 *
 * In the original the hook that frees a thread's list was registered only when
 * the thread took the release list, so what a thread kept without ever taking
 * (which the stash makes possible) leaked at its end. Here every thread that
 * uses the pool gives up what it keeps.
 */
#ifndef CB_POOL_RELEASE_H
#define CB_POOL_RELEASE_H

#include "pool/pool.h"

/* First in the policy's part of a pool. */
struct release {
  struct cb_coroutine *_Atomic first;
  _Atomic uint64_t count; /* the heuristic size */
  uint64_t size;          /* where count stops growing */
  uint64_t threshold;     /* more than so many are taken over */
};

CB_HOT struct release *release_of(struct pool *pool)
{
  return (struct release *)(void *)pool->own;
}

/* Reads size and threshold. -EINVAL when the threshold cannot be passed. */
int cb_release_init(struct release *release, const struct cb_spec *spec,
                    struct cb_error *error);

/* False when the list is full. */
CB_HOT bool release_push(struct release *release,
                         struct cb_coroutine *coroutine)
{
  if (atomic_load_explicit(&release->count, memory_order_relaxed) >=
      release->size)
    return false;
  coroutine->next = atomic_load_explicit(&release->first, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(
      &release->first, &coroutine->next, coroutine, memory_order_release,
      memory_order_relaxed))
    ;
  atomic_fetch_add_explicit(&release->count, 1, memory_order_relaxed);
  return true;
}

/* The whole list into the thread's empty one, if the size says that it is
 * worth it; *said is that size then. */
bool cb_release_take(struct release *release, struct pool_local *local,
                     uint64_t *said);

/* The policies' drain and shared. */
struct cb_coroutine *cb_release_drain(struct pool *pool, uint64_t n);
uint64_t cb_release_count(struct pool *pool);

#define RELEASE_OPTIONS                                                        \
  {.name = "size",                                                             \
   .type = CB_INTEGER,                                                         \
   .preset = "128",                                                            \
   .min = 1,                                                                   \
   .max = 10000000,                                                            \
   .help = "idle coroutines at which the release list is full"},               \
  {                                                                            \
    .name = "threshold", .type = CB_INTEGER, .preset = "64", .min = 0,         \
    .max = 9999999,                                                            \
    .help = "a thread takes the release list when it holds more"               \
  }

#endif
