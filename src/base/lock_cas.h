/* lock_cas.h - compare and swap from free to held, without looking first. */
#ifndef CB_BASE_LOCK_CAS_H
#define CB_BASE_LOCK_CAS_H

#include "base/lock.h"

struct cb_cas {
  _Atomic uint32_t held;
};

CB_INLINE void cb_cas_init(struct cb_cas *lock)
{
  atomic_init(&lock->held, 0);
}

CB_INLINE bool cb_cas_trylock(struct cb_cas *lock, struct cb_lock_node *node,
                              enum cb_order order)
{
  (void)node;
  uint32_t free = 0;
  bool taken = atomic_compare_exchange_strong_explicit(
      &lock->held, &free, 1, cb_order_acquire(order), memory_order_relaxed);
  cb_order_fence(order);
  return taken;
}

CB_INLINE void cb_cas_lock(struct cb_cas *lock, struct cb_lock_node *node,
                           enum cb_order order)
{
  unsigned turns = 0;
  while (!cb_cas_trylock(lock, node, order))
    cb_lock_wait(&turns);
}

CB_INLINE void cb_cas_unlock(struct cb_cas *lock, struct cb_lock_node *node,
                             enum cb_order order)
{
  (void)node;
  cb_order_fence(order);
  atomic_store_explicit(&lock->held, 0, cb_order_release(order));
}

#endif
