/*
 * lock.h - what the spin locks have in common.
 *
 * A lock kind NAME is a struct cb_NAME and four inline functions,
 *
 *   cb_NAME_init(lock)                     free
 *   cb_NAME_trylock(lock, node, order)     false when it is held
 *   cb_NAME_lock(lock, node, order)        waits
 *   cb_NAME_unlock(lock, node, order)
 *
 * in lock_NAME.h, so that loops can be instantiated for each kind. node is the
 * caller's place in a queue (struct cb_lock_node, only `mcs` uses it; the
 * others take NULL) and must live from lock to unlock. order is a constant.
 *
 * A waiter pauses, and gives its CPU away now and then: the holder may be a
 * thread that waits for this very CPU.
 */
#ifndef CB_BASE_LOCK_H
#define CB_BASE_LOCK_H

#include "base/order.h"
#include "cbench.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A caller's place in a lock's queue; see lock_mcs.h. */
struct cb_lock_node {
  _Atomic(struct cb_lock_node *) next;
  _Atomic uint32_t waiting;
};

/* The same with room for a plug-in's idea of it. */
union cb_lock_place {
  struct cb_lock_node node;
  unsigned char room[CB_LOCK_NODE_SIZE];
};

/* Pauses before a waiter yields: some 5 microseconds, an unlock's travel to
 * another CPU many times over and a time slice hardly at all. */
#define CB_LOCK_PAUSES 256

/* One turn of a wait; turns starts at 0. */
CB_INLINE void cb_lock_wait(unsigned *turns)
{
  if (++*turns % CB_LOCK_PAUSES)
    cb_cpu_pause();
  else
    sched_yield();
}

#endif
