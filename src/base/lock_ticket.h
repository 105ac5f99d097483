/* lock_ticket.h - served in the order of arrival: take a ticket, wait until
 * its number is called. Fair, and so at the mercy of a waiter without a CPU. */
#ifndef CB_BASE_LOCK_TICKET_H
#define CB_BASE_LOCK_TICKET_H

#include "base/lock.h"

struct cb_ticket {
  _Atomic uint32_t next;    /* the ticket to be handed out */
  _Atomic uint32_t serving; /* the one whose holder is inside */
};

CB_INLINE void cb_ticket_init(struct cb_ticket *lock)
{
  atomic_init(&lock->next, 0);
  atomic_init(&lock->serving, 0);
}

CB_INLINE bool cb_ticket_trylock(struct cb_ticket *lock,
                                 struct cb_lock_node *node, enum cb_order order)
{
  (void)node;
  /* This load meets the release of unlock; the exchange only claims. If next
   * still equals an old serving, nobody has entered since that load. */
  uint32_t serving =
      atomic_load_explicit(&lock->serving, cb_order_acquire(order));
  bool taken = atomic_compare_exchange_strong_explicit(
      &lock->next, &serving, serving + 1, cb_order_acquire(order),
      memory_order_relaxed);
  cb_order_fence(order);
  return taken;
}

CB_INLINE void cb_ticket_lock(struct cb_ticket *lock, struct cb_lock_node *node,
                              enum cb_order order)
{
  (void)node;
  unsigned turns = 0;
  uint32_t ticket =
      atomic_fetch_add_explicit(&lock->next, 1, cb_order_acquire(order));
  while (atomic_load_explicit(&lock->serving, cb_order_acquire(order)) !=
         ticket)
    cb_lock_wait(&turns);
  cb_order_fence(order);
}

CB_INLINE void cb_ticket_unlock(struct cb_ticket *lock,
                                struct cb_lock_node *node, enum cb_order order)
{
  (void)node;
  /* Only the holder writes serving. */
  uint32_t serving = atomic_load_explicit(&lock->serving, memory_order_relaxed);
  cb_order_fence(order);
  atomic_store_explicit(&lock->serving, serving + 1, cb_order_release(order));
}

#endif
