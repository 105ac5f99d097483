/* lock_ttas.h - test, then test and set: a refused attempt only reads, so
 * that waiters share the line until it is worth an exchange. */
#ifndef CB_BASE_LOCK_TTAS_H
#define CB_BASE_LOCK_TTAS_H

#include "base/lock.h"

struct cb_ttas {
  _Atomic uint32_t held;
};

CB_INLINE void cb_ttas_init(struct cb_ttas *lock)
{
  atomic_init(&lock->held, 0);
}

CB_INLINE bool cb_ttas_trylock(struct cb_ttas *lock, struct cb_lock_node *node,
                               enum cb_order order)
{
  (void)node;
  if (atomic_load_explicit(&lock->held, memory_order_relaxed))
    return false;
  uint32_t held =
      atomic_exchange_explicit(&lock->held, 1, cb_order_acquire(order));
  cb_order_fence(order);
  return !held;
}

CB_INLINE void cb_ttas_lock(struct cb_ttas *lock, struct cb_lock_node *node,
                            enum cb_order order)
{
  unsigned turns = 0;
  while (!cb_ttas_trylock(lock, node, order))
    cb_lock_wait(&turns);
}

CB_INLINE void cb_ttas_unlock(struct cb_ttas *lock, struct cb_lock_node *node,
                              enum cb_order order)
{
  (void)node;
  cb_order_fence(order);
  atomic_store_explicit(&lock->held, 0, cb_order_release(order));
}

#endif
