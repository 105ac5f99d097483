/*
 * service_loops.h - the run path, instantiated.
 *
 * Include it with LOCK defined as a lock kind's NAME, after base/lock_NAME.h:
 * it leaves LOCK_variants, one struct variant for each memory order. Lock,
 * order and statistics mode are constants of every function below; nothing of
 * them is chosen while a service runs.
 *
 * The order of the run path's accesses:
 *
 *   1  word runnable?         else say why; a stopped service's caller never
 *                             shows up as active
 *   2  announce               a plain store (seq_cst where runs are fenced)
 *   3  word still runnable?   acquire: call and argument are this generation's
 *   4  lock, call, unlock
 *   5  leave                  release: whoever sees it may free the argument
 *
 * Between 2 and 3 stands nothing but the compiler: control makes up for it by
 * the barrier of quiesce.c between its own store and its own look.
 */
#include "base/ticks.h"
#include "service/service.h"

#include <errno.h>

#define LOOPS_PASTE_(a, b, c) a##b##c
#define LOOPS_PASTE(a, b, c) LOOPS_PASTE_(a, b, c)
#define LOCK_OP(name) LOOPS_PASTE(cb_, LOCK, _##name)
#define LIKELY(condition) __builtin_expect(!!(condition), 1)

/* Modes of a list whose services differ. */
enum { STATS_MIXED = CB_STATS_MODES };

/* Between an announcement and its confirmation. */
CB_INLINE void announced(enum cb_order order)
{
  atomic_signal_fence(memory_order_seq_cst);
  cb_order_fence(order);
}

/* Only the lcore writes its counters. */
CB_INLINE void add(_Atomic uint64_t *counter, uint64_t amount)
{
  atomic_store_explicit(
      counter, atomic_load_explicit(counter, memory_order_relaxed) + amount,
      memory_order_relaxed);
}

CB_INLINE void count_call(struct cell *cell, int result)
{
  add(&cell->calls, 1);
  if (result == -EAGAIN)
    add(&cell->idle, 1);
  else if (result)
    add(&cell->errors, 1);
}

CB_INLINE void count_ticks(struct cell *cell, int result, uint64_t ticks)
{
  if (result == -EAGAIN)
    return;
  add(&cell->ticks, ticks);
  if (ticks > atomic_load_explicit(&cell->longest, memory_order_relaxed))
    atomic_store_explicit(&cell->longest, ticks, memory_order_relaxed);
}

CB_INLINE int call(struct cb_lcore *lcore, struct service *service)
{
  return service->call(service->argument, lcore);
}

CB_INLINE int timed_call(struct cb_lcore *lcore, struct service *service,
                         struct cell *cell)
{
  uint64_t begin = cb_ticks_now();
  int result = call(lcore, service);
  count_ticks(cell, result, cb_ticks_now() - begin);
  count_call(cell, result);
  return result;
}

CB_INLINE int chained_call(struct cb_lcore *lcore, struct service *service,
                           struct cell *cell)
{
  uint64_t begin = lcore->last_tick ? lcore->last_tick : cb_ticks_now();
  int result = call(lcore, service);
  uint64_t end = cb_ticks_now();
  lcore->last_tick = end;
  count_ticks(cell, result, end - begin);
  count_call(cell, result);
  return result;
}

CB_INLINE int counted_call(struct cb_lcore *lcore, struct service *service,
                           struct cell *cell, unsigned stats)
{
  int result;
  if (stats == STATS_MIXED)
    stats = atomic_load_explicit(&service->stats, memory_order_relaxed);
  switch (stats) {
  case CB_STATS_TIME:
    return timed_call(lcore, service, cell);
  case CB_STATS_CHAIN:
    return chained_call(lcore, service, cell);
  case CB_STATS_COUNT:
    result = call(lcore, service);
    count_call(cell, result);
    return result;
  default:
    return call(lcore, service);
  }
}

/* The call itself, with the lock where there is one to take. */
CB_INLINE int enter(struct cb_lcore *lcore, struct service *service,
                    struct cell *cell, bool serialize, int *result,
                    enum cb_order order, unsigned stats)
{
  struct cb_lock_node node;
  bool locked = serialize && !service->mt_safe;
  if (locked && !LOCK_OP(trylock)((void *)service->lock, &node, order))
    return -EBUSY;
  *result = counted_call(lcore, service, cell, stats);
  if (locked)
    LOCK_OP(unlock)((void *)service->lock, &node, order);
  return 0;
}

/* Is the word still what it must be? What follows is ordered after. */
CB_INLINE bool confirmed(const _Atomic uint64_t *word, uint64_t wanted,
                         enum cb_order order)
{
  uint64_t value = atomic_load_explicit(word, cb_order_acquire(order));
  cb_order_fence(order);
  return LIKELY(value == wanted);
}

CB_INLINE int run_cell(struct cb_lcore *lcore, struct cell *cell, uint64_t id,
                       bool serialize, int *result, enum cb_order order,
                       unsigned stats)
{
  struct service *service = cell->service;
  uint64_t wanted = cb_service_wanted(id);
  if (!LIKELY(atomic_load_explicit(&service->word, memory_order_relaxed) ==
              wanted))
    return cb_service_refusal(service, id);

  uint32_t inside = atomic_load_explicit(&cell->inside, memory_order_relaxed);
  atomic_store_explicit(&cell->inside, inside + 1, cb_order_release(order));
  announced(order);
  int status =
      confirmed(&service->word, wanted, order)
          ? enter(lcore, service, cell, serialize, result, order, stats)
          : cb_service_refusal(service, id);
  cb_order_fence(order);
  atomic_store_explicit(&cell->inside, inside, cb_order_release(order));
  return status;
}

/* Runs that were done are those that were not refused, so the usual outcome
 * costs no counting. */
CB_INLINE void tally_run(struct cb_run_tally *tally, int status, int result)
{
  if (LIKELY(status == 0)) {
    if (LIKELY(!result))
      return;
    if (result == -EAGAIN)
      tally->idle++;
    else
      tally->errors++;
  } else if (status == -EBUSY) {
    tally->busy++;
  } else {
    tally->refused++;
  }
}

/* serialize is a constant here. */
CB_INLINE void repeat_one_way(struct cb_lcore *lcore, uint64_t id,
                              bool serialize, uint64_t n,
                              struct cb_run_tally *tally, enum cb_order order,
                              unsigned stats)
{
  struct cb_run_tally sum = {0};
  for (uint64_t left = n; left > 0; left--) {
    struct cell *cell = cb_service_cell(lcore, id);
    int result = 0;
    int status = LIKELY(cell) ? run_cell(lcore, cell, id, serialize, &result,
                                         order, stats)
                              : -EINVAL;
    tally_run(&sum, status, result);
  }
  sum.done = n - sum.busy - sum.refused;
  *tally = sum;
}

CB_INLINE void repeat(struct cb_lcore *lcore, uint64_t id, bool serialize,
                      uint64_t n, struct cb_run_tally *tally,
                      enum cb_order order, unsigned stats)
{
  if (serialize)
    repeat_one_way(lcore, id, true, n, tally, order, stats);
  else
    repeat_one_way(lcore, id, false, n, tally, order, stats);
}

/* Is the item's service runnable, and the item still in force? Control zeroes
 * wanted when it takes a service out of a list, as it clears a word. */
CB_INLINE bool runnable(const struct item *item, memory_order order)
{
  return LIKELY(atomic_load_explicit(&item->service->word, order) ==
                atomic_load_explicit(&item->wanted, order));
}

CB_INLINE void pass(struct cb_lcore *lcore, const struct list *list,
                    enum cb_order order, unsigned stats)
{
  const struct item *end = list->items + list->count;
  for (const struct item *item = list->items; item < end; item++) {
    int result;
    if (!runnable(item, memory_order_relaxed))
      continue;
    /* Also leaves the service before this one. */
    atomic_store_explicit(&lcore->current, item->service,
                          cb_order_release(order));
    announced(order);
    if (runnable(item, cb_order_acquire(order))) {
      cb_order_fence(order);
      enter(lcore, item->service, item->cell, true, &result, order, stats);
    }
    cb_order_fence(order);
  }
  atomic_store_explicit(&lcore->current, NULL, cb_order_release(order));
  add(&lcore->loops, 1);
}

CB_INLINE uint64_t spin(struct cb_lcore *lcore, const struct list *list,
                        uint64_t passes, enum cb_order order, unsigned stats)
{
  uint64_t done = 0;
  while (done < passes &&
         atomic_load_explicit(&lcore->list, memory_order_relaxed) == list &&
         atomic_load_explicit(&lcore->want, memory_order_relaxed) ==
             WANT_RUNNING) {
    pass(lcore, list, order, stats);
    done++;
  }
  return done;
}

#define INSTANTIATE_RUN(ORDER, STATS)                                          \
  static int run_##ORDER##_##STATS(struct cb_lcore *lcore, struct cell *cell,  \
                                   uint64_t id, bool serialize, int *result)   \
  {                                                                            \
    return run_cell(lcore, cell, id, serialize, result, ORDER, STATS);         \
  }                                                                            \
  static void repeat_##ORDER##_##STATS(struct cb_lcore *lcore, uint64_t id,    \
                                       bool serialize, uint64_t n,             \
                                       struct cb_run_tally *tally)             \
  {                                                                            \
    repeat(lcore, id, serialize, n, tally, ORDER, STATS);                      \
  }

#define INSTANTIATE_SPIN(ORDER, STATS)                                         \
  static uint64_t spin_##ORDER##_##STATS(                                      \
      struct cb_lcore *lcore, const struct list *list, uint64_t passes)        \
  {                                                                            \
    return spin(lcore, list, passes, ORDER, STATS);                            \
  }

#define INSTANTIATE(ORDER)                                                     \
  INSTANTIATE_RUN(ORDER, CB_STATS_OFF)                                         \
  INSTANTIATE_RUN(ORDER, CB_STATS_COUNT)                                       \
  INSTANTIATE_RUN(ORDER, CB_STATS_TIME)                                        \
  INSTANTIATE_RUN(ORDER, CB_STATS_CHAIN)                                       \
  INSTANTIATE_SPIN(ORDER, CB_STATS_OFF)                                        \
  INSTANTIATE_SPIN(ORDER, CB_STATS_COUNT)                                      \
  INSTANTIATE_SPIN(ORDER, CB_STATS_TIME)                                       \
  INSTANTIATE_SPIN(ORDER, CB_STATS_CHAIN)                                      \
  INSTANTIATE_SPIN(ORDER, STATS_MIXED)

INSTANTIATE(CB_ORDER_ACQREL)
INSTANTIATE(CB_ORDER_SEQCST)
INSTANTIATE(CB_ORDER_FENCE)

#define BY_MODE(NAME, ORDER)                                                   \
  NAME##_##ORDER##_##CB_STATS_OFF, NAME##_##ORDER##_##CB_STATS_COUNT,          \
      NAME##_##ORDER##_##CB_STATS_TIME, NAME##_##ORDER##_##CB_STATS_CHAIN
#define VARIANT(ORDER)                                                         \
  [ORDER] = {.run = {BY_MODE(run, ORDER)},                                     \
             .repeat = {BY_MODE(repeat, ORDER)},                               \
             .spin = {BY_MODE(spin, ORDER), spin_##ORDER##_STATS_MIXED}}

const struct variant LOOPS_PASTE(cb_service_, LOCK, _variants)[CB_ORDERS] = {
    VARIANT(CB_ORDER_ACQREL), VARIANT(CB_ORDER_SEQCST),
    VARIANT(CB_ORDER_FENCE)};
