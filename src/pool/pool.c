/*
 * pool.c - a pool but for its policy.
 *
 * Counters are exact when nobody uses the pool: a thread counts what it takes
 * and puts in its own part, by plain stores that others may read, and its sums
 * outlive it. Idle coroutines are counted where they are kept, so that
 * fresh == deleted + live + idle is a statement, not a definition.
 */
#include "pool/pool.h"

#include "base/memory.h"
#include "coroutine/kinds.h"
#include "pool/kinds.h"

#include <stdlib.h>

static _Atomic uint64_t last_id;

static struct pool *pool_of(struct cb_pool *base)
{
  return (struct pool *)(void *)base;
}

/* ---- making and deleting; a system call beside, an atomic is nothing ---- */

static void count_made(struct pool *pool)
{
  uint64_t existing =
      1 + atomic_fetch_add_explicit(&pool->existing, 1, memory_order_relaxed);
  uint64_t peak = atomic_load_explicit(&pool->peak, memory_order_relaxed);
  while (existing > peak && !atomic_compare_exchange_weak_explicit(
                                &pool->peak, &peak, existing,
                                memory_order_relaxed, memory_order_relaxed))
    ;
}

static struct cb_coroutine *make_one(struct pool *pool, struct cb_error *error)
{
  uint64_t index =
      atomic_fetch_add_explicit(&pool->fresh, 1, memory_order_relaxed);
  struct cb_coroutine *coroutine =
      cb_coroutine_make(&pool->recipe, (unsigned)index, error);
  if (!coroutine) {
    atomic_fetch_sub_explicit(&pool->fresh, 1, memory_order_relaxed);
    return NULL;
  }
  coroutine->pool = &pool->base;
  count_made(pool);
  return coroutine;
}

void cb_pool_discard(struct pool *pool, struct cb_coroutine *coroutine)
{
  cb_coroutine_unmake(coroutine);
  atomic_fetch_add_explicit(&pool->deleted, 1, memory_order_relaxed);
  atomic_fetch_sub_explicit(&pool->existing, 1, memory_order_relaxed);
}

size_t cb_pool_discard_list(struct pool *pool, struct cb_coroutine *first)
{
  size_t count = 0;
  for (; first; count++) {
    struct cb_coroutine *next = first->next;
    cb_pool_discard(pool, first);
    first = next;
  }
  return count;
}

static struct cb_coroutine *make_past(struct cb_pool *base,
                                      struct cb_error *error)
{
  struct pool *pool = pool_of(base);
  struct cb_coroutine *coroutine = make_one(pool, error);
  if (coroutine)
    atomic_fetch_add_explicit(&pool->taken_past, 1, memory_order_relaxed);
  return coroutine;
}

void cb_pool_past(struct pool *pool, struct cb_coroutine *coroutine)
{
  cb_pool_discard(pool, coroutine);
  atomic_fetch_add_explicit(&pool->put_past, 1, memory_order_relaxed);
}

static void destroy_past(struct cb_pool *base, struct cb_coroutine *coroutine)
{
  cb_pool_past(pool_of(base), coroutine);
}

/* ---- a thread's part ---- */

static void add_counts(struct pool_counts *sum, const struct pool_local *local)
{
  sum->taken += __atomic_load_n(&local->base.taken, __ATOMIC_RELAXED) +
                __atomic_load_n(&local->slow.taken, __ATOMIC_RELAXED);
  sum->taken_global +=
      __atomic_load_n(&local->slow.taken_global, __ATOMIC_RELAXED);
  sum->taken_fresh +=
      __atomic_load_n(&local->slow.taken_fresh, __ATOMIC_RELAXED);
  sum->put += __atomic_load_n(&local->base.put, __ATOMIC_RELAXED) +
              __atomic_load_n(&local->slow.put, __ATOMIC_RELAXED);
}

/* What it keeps goes to the others; cb_threads_lock is held. */
static void part(struct pool_local *local)
{
  struct pool *pool = local->pool;
  pool->policy->leave(pool, local);
  pthread_mutex_lock(&pool->mutex);
  add_counts(&pool->gone, local);
  struct pool_local **link = &pool->locals;
  while (*link != local)
    link = &(*link)->next;
  *link = local->next;
  pthread_mutex_unlock(&pool->mutex);
  free(local);
}

static void thread_leaves(struct cb_belonging *belonging)
{
  part((struct pool_local *)(void *)((char *)belonging -
                                     offsetof(struct pool_local, belonging)));
}

static struct pool_local *join(struct pool *pool, struct cb_error *error)
{
  struct pool_local *local =
      cb_memory_apart(sizeof *local + pool->policy->local_size);
  if (!local) {
    cb_fail(error, -ENOMEM, "out of memory");
    return NULL;
  }
  local->pool = pool;
  local->belonging.owner = pool->base.id;
  local->belonging.leave = thread_leaves;
  pool->policy->join(pool, local);
  pthread_mutex_lock(&pool->mutex);
  local->next = pool->locals;
  pool->locals = local;
  pthread_mutex_unlock(&pool->mutex);
  cb_thread_add(&local->belonging);
  return local;
}

struct pool_local *cb_pool_join(struct pool *pool, struct cb_error *error)
{
  struct cb_here *here = cb_here();
  if (cb_thread_begin(error) < 0)
    return NULL;
  struct cb_belonging *belonging = cb_thread_find(pool->base.id);
  struct pool_local *local =
      belonging ? (struct pool_local *)(void *)((char *)belonging -
                                                offsetof(struct pool_local,
                                                         belonging))
                : join(pool, error);
  if (local) {
    here->pool_id = pool->base.id;
    here->local = &local->base;
  }
  return local;
}

struct cb_coroutine *cb_pool_fresh(struct pool *pool, struct pool_local *local,
                                   struct cb_error *error)
{
  struct cb_coroutine *coroutine = make_one(pool, error);
  if (coroutine)
    cb_count_one(&local->slow.taken_fresh);
  return coroutine;
}

/* ---- the public functions ---- */

static struct cb_pool *create(const struct cb_spec *policy_spec,
                              const struct cb_spec *backend_spec,
                              const struct cb_stack_options *stack,
                              struct cb_error *error)
{
  const struct policy *policy =
      (const struct policy *)cb_spec_kind(policy_spec);
  struct pool *pool = cb_memory_apart(sizeof *pool + policy->own_size);
  if (!pool) {
    cb_fail(error, -ENOMEM, "out of memory");
    return NULL;
  }
  if (cb_recipe_init(&pool->recipe, backend_spec, stack, error) < 0 ||
      (policy->create && policy->create(pool, policy_spec, error) < 0)) {
    free(pool);
    return NULL;
  }
  pool->policy = policy;
  pool->base = (struct cb_pool){
      .id = 1 + atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed),
      .backend = pool->recipe.backend,
      .get = policy->take,
      .put = policy->give,
      .make = make_past,
      .destroy = destroy_past};
  pthread_mutex_init(&pool->mutex, NULL);
  return &pool->base;
}

struct cb_pool *cb_pool_create(const struct cb_pool_options *options,
                               struct cb_error *error)
{
  struct cb_spec *policy = NULL, *backend = NULL;
  struct cb_pool *pool = NULL;

  if (!options->policy)
    policy = cb_spec_create(&cb_pool_family, CB_POOL_PRESET, error);
  if (!options->backend)
    backend = cb_spec_create(&cb_backend_family, CB_BACKEND_PRESET, error);
  if ((policy || options->policy) && (backend || options->backend))
    pool = create(policy ? policy : options->policy,
                  backend ? backend : options->backend, &options->stack, error);
  cb_spec_destroy(policy);
  cb_spec_destroy(backend);
  return pool;
}

int cb_pool_destroy(struct cb_pool *base, struct cb_error *error)
{
  struct pool *pool = pool_of(base);
  struct cb_pool_stats stats;

  cb_pool_stats(base, &stats);
  if (stats.live)
    return cb_fail(error, -EBUSY, "%llu coroutine%s of the pool still live%s",
                   (unsigned long long)stats.live, stats.live == 1 ? "" : "s",
                   stats.live == 1 ? "s" : "");
  cb_threads_lock();
  while (pool->locals) {
    cb_thread_remove(&pool->locals->belonging);
    part(pool->locals);
  }
  cb_threads_unlock();
  cb_pool_discard_list(pool, pool->policy->drain(pool, UINT64_MAX));
  if (pool->policy->destroy)
    pool->policy->destroy(pool);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
  return 0;
}

int cb_pool_check_memory(uint64_t n, struct cb_error *error)
{
  enum { FEW = 20000, PAGE = 4096, GIB_SHIFT = 30 };
  if (n <= FEW)
    return 0;
  uint64_t available = cb_memory_available();
  if (n <= available / PAGE)
    return 0;
  return cb_fail(error, -ENOMEM,
                 "%llu coroutines use %.1f GiB of memory at least, and %.1f "
                 "are available",
                 (unsigned long long)n, (double)n * PAGE / (1u << GIB_SHIFT),
                 (double)available / (1u << GIB_SHIFT));
}

int cb_pool_prefill(struct cb_pool *base, size_t n, struct cb_error *error)
{
  struct pool *pool = pool_of(base);
  struct pool_local *local = local_here(pool, error);
  struct cb_coroutine *first = NULL, *next;
  int status = local ? cb_pool_check_memory(n, error) : -ENOMEM;

  for (; status == 0 && n; n--) {
    struct cb_coroutine *coroutine = make_one(pool, error);
    if (!coroutine) {
      status = -ENOMEM;
      break;
    }
    coroutine->next = first;
    first = coroutine;
  }
  for (; first; first = next) {
    next = first->next;
    if (!keep_by(pool->policy->put, pool, local, first))
      cb_pool_discard(pool, first);
  }
  return status;
}

/* Of what the thread can get, up to n. */
static size_t trim_local(struct pool *pool, struct pool_local *local, size_t n)
{
  size_t deleted = 0;
  uint64_t global = local->slow.taken_global;
  for (; deleted < n; deleted++) {
    struct cb_coroutine *coroutine = take_by(pool->policy->get, pool, local);
    if (!coroutine)
      break;
    cb_pool_discard(pool, coroutine);
  }
  /* Taken by nobody. */
  __atomic_store_n(&local->slow.taken_global, global, __ATOMIC_RELAXED);
  return deleted;
}

size_t cb_pool_trim(struct cb_pool *base, size_t keep_idle)
{
  struct pool *pool = pool_of(base);
  struct pool_local *local = local_here(pool, NULL);
  struct cb_pool_stats stats;
  size_t deleted = 0;

  cb_pool_stats(base, &stats);
  if (stats.idle <= keep_idle)
    return 0;
  size_t wanted = (size_t)stats.idle - keep_idle;
  if (local)
    deleted = trim_local(pool, local, wanted);
  if (deleted < wanted)
    deleted +=
        cb_pool_discard_list(pool, pool->policy->drain(pool, wanted - deleted));
  return deleted;
}

void cb_pool_stats(struct cb_pool *base, struct cb_pool_stats *stats)
{
  struct pool *pool = pool_of(base);
  uint64_t idle = pool->policy->shared(pool);

  pthread_mutex_lock(&pool->mutex);
  struct pool_counts sum = pool->gone;
  for (const struct pool_local *local = pool->locals; local;
       local = local->next) {
    add_counts(&sum, local);
    idle += __atomic_load_n(&local->base.count, __ATOMIC_RELAXED) +
            __atomic_load_n(&local->aside, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&pool->mutex);

  uint64_t taken =
      sum.taken + sum.taken_global + sum.taken_fresh +
      atomic_load_explicit(&pool->taken_past, memory_order_relaxed);
  uint64_t put =
      sum.put + atomic_load_explicit(&pool->put_past, memory_order_relaxed);
  *stats = (struct cb_pool_stats){
      .hits_local = sum.taken,
      .hits_global = sum.taken_global,
      .fresh = atomic_load_explicit(&pool->fresh, memory_order_relaxed),
      .deleted = atomic_load_explicit(&pool->deleted, memory_order_relaxed),
      .live = taken > put ? taken - put : 0,
      .idle = idle,
      .peak = atomic_load_explicit(&pool->peak, memory_order_relaxed)};
}

const struct cb_kind *cb_pool_policy(const struct cb_pool *base)
{
  return &((const struct pool *)(const void *)base)->policy->kind;
}

const struct cb_kind *cb_pool_backend(const struct cb_pool *base)
{
  return &base->backend->kind;
}

void cb_pool_stack(const struct cb_pool *base, struct cb_stack_options *stack)
{
  *stack = ((const struct pool *)(const void *)base)->recipe.stack;
}
