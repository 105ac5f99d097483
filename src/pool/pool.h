/*
 * pool.h - what pool policies share.
 *
 * A policy decides where coroutines that ended are kept; pool.c does the rest:
 * making and deleting them, finding a thread's part of a pool, counting, and
 * giving a thread's part up when the thread ends. Every creation and every end
 * first tries the thread's own list, inlined in the loops (cb_take, cb_give);
 * only past the limits that the policy has set there is the policy asked.
 */
#ifndef CB_POOL_POOL_H
#define CB_POOL_POOL_H

#include "coroutine/make.h"
#include "coroutine/thread.h"

#include <pthread.h>
#include <stdatomic.h>

/* What a thread took and put the slow ways, and the fast ones, which are in
 * its cb_pool_local and are added here when it is gone. */
struct pool_counts {
  uint64_t taken, taken_global, taken_fresh, put;
};

/* A thread's part of a pool. Others read the counts and the two numbers of
 * idle coroutines (base.count, aside), so those are stored atomically. */
struct pool_local {
  _Alignas(64) struct cb_pool_local base;
  uint32_t aside; /* kept in own */
  struct pool_counts slow;
  struct pool *pool;
  struct pool_local *next; /* in pool->locals */
  struct cb_belonging belonging;
  _Alignas(16) unsigned char own[]; /* the policy's */
};

struct pool {
  struct cb_pool base;
  const struct policy *policy;
  struct cb_recipe recipe;
  pthread_mutex_t mutex; /* for locals and gone */
  struct pool_local *locals;
  struct pool_counts gone; /* of threads that ended */
  /* Of no thread: those made and deleted past the pool, and those that ended
   * on a thread that had given up its part. */
  _Alignas(64) _Atomic uint64_t taken_past, put_past;
  _Atomic uint64_t fresh, deleted, existing, peak;
  _Alignas(64) unsigned char own[]; /* the policy's */
};

/* A kind of the family "pool". */
struct policy {
  struct cb_kind kind;
  size_t own_size, local_size; /* of the policy's part of each struct */
  /* Reads the options into pool->own, which is zero. NULL: has none. */
  int (*create)(struct pool *pool, const struct cb_spec *spec,
                struct cb_error *error);
  void (*destroy)(struct pool *pool); /* empty by then */
  /* A thread begins; local->own is zero. */
  void (*join)(struct pool *pool, struct pool_local *local);
  /* One when the thread's list may not go lower, counted in taken_global when
   * it comes from what threads share; NULL: there is none. */
  struct cb_coroutine *(*get)(struct pool *pool, struct pool_local *local);
  /* Keeps one when the thread's list may not grow, or does not (false). */
  bool (*put)(struct pool *pool, struct pool_local *local,
              struct cb_coroutine *coroutine);
  /* get and put with all that is around them: POOL_WAYS. */
  struct cb_coroutine *(*take)(struct cb_pool *base, struct cb_error *error);
  void (*give)(struct cb_pool *base, struct cb_coroutine *coroutine);
  /* The thread ends: its part is shared or deleted. */
  void (*leave)(struct pool *pool, struct pool_local *local);
  /* Up to n of those that threads share, as a list; how many there are. Both
   * while other threads use the pool. */
  struct cb_coroutine *(*drain)(struct pool *pool, uint64_t n);
  uint64_t (*shared)(struct pool *pool);
};

/* The thread's list, without asking about limits. */
CB_HOT void local_push(struct pool_local *local, struct cb_coroutine *coroutine)
{
  cb_push(&local->base, coroutine);
}

CB_HOT struct cb_coroutine *local_pop(struct pool_local *local)
{
  return cb_pop(&local->base);
}

/* The thread's whole list, which is empty then. */
CB_HOT struct cb_coroutine *local_take_all(struct pool_local *local)
{
  struct cb_coroutine *first = local->base.first;
  local->base.first = NULL;
  cb_set(&local->base.count, 0);
  return first;
}

/* The calling thread's part, made when there is none. NULL: no memory, or the
 * thread is ending. */
struct pool_local *cb_pool_join(struct pool *pool, struct cb_error *error);
/* A new one, counted as taken by the thread; and the end of one past what any
 * thread keeps. */
struct cb_coroutine *cb_pool_fresh(struct pool *pool, struct pool_local *local,
                                   struct cb_error *error);
void cb_pool_past(struct pool *pool, struct cb_coroutine *coroutine);

/* Deletes coroutines that are nowhere any more; a list ends with NULL. The
 * second returns how many there were. */
void cb_pool_discard(struct pool *pool, struct cb_coroutine *coroutine);
size_t cb_pool_discard_list(struct pool *pool, struct cb_coroutine *first);

/* 0, or -ENOMEM with a sentence when so many coroutines are sure not to fit into
 * memory: that each touches a page of its stack is the least. Who asks for a few
 * is not kept waiting. */
int cb_pool_check_memory(uint64_t n, struct cb_error *error);

/* ---- the slow ways, right in every case ---- */

typedef struct cb_coroutine *pool_get(struct pool *pool,
                                      struct pool_local *local);
typedef bool pool_put(struct pool *pool, struct pool_local *local,
                      struct cb_coroutine *coroutine);

CB_HOT struct pool_local *local_here(struct pool *pool, struct cb_error *error)
{
  struct cb_here *here = cb_here();
  if (CB_LIKELY(here->pool_id == pool->base.id))
    return (struct pool_local *)(void *)here->local;
  return cb_pool_join(pool, error);
}

/* Out of the pool, or NULL. */
CB_HOT struct cb_coroutine *take_by(pool_get *get, struct pool *pool,
                                    struct pool_local *local)
{
  if (local->base.count > local->base.low)
    return local_pop(local);
  return get(pool, local);
}

CB_HOT bool keep_by(pool_put *put, struct pool *pool, struct pool_local *local,
                    struct cb_coroutine *coroutine)
{
  if (local->base.count >= local->base.high)
    return put(pool, local, coroutine);
  local_push(local, coroutine);
  return true;
}

CB_HOT struct cb_coroutine *take_or_make(pool_get *get, struct cb_pool *base,
                                         struct cb_error *error)
{
  struct pool *pool = (struct pool *)(void *)base;
  struct pool_local *local = local_here(pool, error);
  if (!local)
    return NULL;
  uint64_t global = local->slow.taken_global;
  struct cb_coroutine *coroutine = take_by(get, pool, local);
  if (!coroutine)
    return cb_pool_fresh(pool, local, error);
  if (local->slow.taken_global == global)
    cb_count_one(&local->slow.taken);
  return coroutine;
}

CB_HOT void keep_or_delete(pool_put *put, struct cb_pool *base,
                           struct cb_coroutine *coroutine)
{
  struct pool *pool = (struct pool *)(void *)base;
  struct pool_local *local = local_here(pool, NULL);
  if (!local) {
    cb_pool_past(pool, coroutine);
    return;
  }
  if (!keep_by(put, pool, local, coroutine))
    cb_pool_discard(pool, coroutine);
  cb_count_one(&local->slow.put);
}

/* A policy's take and give: its get and put compiled into one function each,
 * so that no policy is measured through more calls than another. */
#define POOL_WAYS(get, put)                                                    \
  static struct cb_coroutine *take(struct cb_pool *base,                       \
                                   struct cb_error *error)                     \
  {                                                                            \
    return take_or_make(get, base, error);                                     \
  }                                                                            \
                                                                               \
  static void give(struct cb_pool *base, struct cb_coroutine *coroutine)       \
  {                                                                            \
    keep_or_delete(put, base, coroutine);                                      \
  }

/* For a policy's struct: its functions of these names, and those ways. */
#define POOL_OPS                                                               \
  .join = join, .get = get, .put = put, .take = take, .give = give,            \
  .leave = leave

#endif
