/* lock_tas.h - test and set: one exchange takes the lock, or fails. Even a
 * refused attempt writes, and so takes the line away from the holder. */
#ifndef CB_BASE_LOCK_TAS_H
#define CB_BASE_LOCK_TAS_H

#include "base/lock.h"

struct cb_tas {
  _Atomic uint32_t held;
};

CB_INLINE void cb_tas_init(struct cb_tas *lock)
{
  atomic_init(&lock->held, 0);
}

CB_INLINE bool cb_tas_trylock(struct cb_tas *lock, struct cb_lock_node *node,
                              enum cb_order order)
{
  (void)node;
  uint32_t held =
      atomic_exchange_explicit(&lock->held, 1, cb_order_acquire(order));
  cb_order_fence(order);
  return !held;
}

CB_INLINE void cb_tas_lock(struct cb_tas *lock, struct cb_lock_node *node,
                           enum cb_order order)
{
  unsigned turns = 0;
  while (!cb_tas_trylock(lock, node, order))
    cb_lock_wait(&turns);
}

CB_INLINE void cb_tas_unlock(struct cb_tas *lock, struct cb_lock_node *node,
                             enum cb_order order)
{
  (void)node;
  cb_order_fence(order);
  atomic_store_explicit(&lock->held, 0, cb_order_release(order));
}

#endif
