/*
 * lock_mcs.h - a queue of waiters, each spinning on a node of its own
 * (Mellor-Crummey and Scott, 1991). Fair; a release touches one waiter's line
 * only.
 */
#ifndef CB_BASE_LOCK_MCS_H
#define CB_BASE_LOCK_MCS_H

#include "base/lock.h"

struct cb_mcs {
  _Atomic(struct cb_lock_node *) tail; /* the last in the queue, or NULL */
};

CB_INLINE void cb_mcs_init(struct cb_mcs *lock)
{
  atomic_init(&lock->tail, NULL);
}

CB_INLINE bool cb_mcs_trylock(struct cb_mcs *lock, struct cb_lock_node *node,
                              enum cb_order order)
{
  struct cb_lock_node *nobody = NULL;
  /* Released with the tail: a successor writes to next. */
  atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
  cb_order_fence(order);
  bool taken = atomic_compare_exchange_strong_explicit(
      &lock->tail, &nobody, node, cb_order_both(order), memory_order_relaxed);
  cb_order_fence(order);
  return taken;
}

CB_INLINE void cb_mcs_lock(struct cb_mcs *lock, struct cb_lock_node *node,
                           enum cb_order order)
{
  unsigned turns = 0;
  atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
  atomic_store_explicit(&node->waiting, 1, memory_order_relaxed);
  cb_order_fence(order);
  struct cb_lock_node *before =
      atomic_exchange_explicit(&lock->tail, node, cb_order_both(order));
  if (before) {
    cb_order_fence(order);
    atomic_store_explicit(&before->next, node, cb_order_release(order));
    while (atomic_load_explicit(&node->waiting, cb_order_acquire(order)))
      cb_lock_wait(&turns);
  }
  cb_order_fence(order);
}

CB_INLINE void cb_mcs_unlock(struct cb_mcs *lock, struct cb_lock_node *node,
                             enum cb_order order)
{
  unsigned turns = 0;
  struct cb_lock_node *self = node;
  struct cb_lock_node *next =
      atomic_load_explicit(&node->next, cb_order_acquire(order));
  cb_order_fence(order);
  if (!next) {
    if (atomic_compare_exchange_strong_explicit(&lock->tail, &self, NULL,
                                                cb_order_release(order),
                                                memory_order_relaxed))
      return;
    /* Somebody is in the queue already and about to say who. */
    while (!(next = atomic_load_explicit(&node->next, cb_order_acquire(order))))
      cb_lock_wait(&turns);
    cb_order_fence(order);
  }
  atomic_store_explicit(&next->waiting, 0, cb_order_release(order));
}

#endif
