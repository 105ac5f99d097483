/*
 * order.h - the memory orders that a loop can be instantiated with.
 *
 *  acqrel  C11 acquire and release: what the code needs, and no more
 *  seqcst  every access sequentially consistent, C11's default
 *  fence   relaxed accesses and full fences around them, as code did before
 *          C11 had the finer words
 *
 * Functions that take an order are inlined with a constant. ThreadSanitizer
 * does not understand fences: under it `fence` is carried out as `seqcst`,
 * which orders at least as much.
 */
#ifndef CB_BASE_ORDER_H
#define CB_BASE_ORDER_H

#include "base/cpu.h"

#include <stdatomic.h>

enum cb_order { CB_ORDER_ACQREL, CB_ORDER_SEQCST, CB_ORDER_FENCE };
enum { CB_ORDERS = CB_ORDER_FENCE + 1 };

CB_INLINE memory_order cb_order_acquire(enum cb_order order)
{
  if (order == CB_ORDER_ACQREL)
    return memory_order_acquire;
  return order == CB_ORDER_FENCE && !CB_TSAN ? memory_order_relaxed
                                             : memory_order_seq_cst;
}

CB_INLINE memory_order cb_order_release(enum cb_order order)
{
  if (order == CB_ORDER_ACQREL)
    return memory_order_release;
  return order == CB_ORDER_FENCE && !CB_TSAN ? memory_order_relaxed
                                             : memory_order_seq_cst;
}

/* Of a read-modify-write that both publishes and receives. */
CB_INLINE memory_order cb_order_both(enum cb_order order)
{
  if (order == CB_ORDER_ACQREL)
    return memory_order_acq_rel;
  return order == CB_ORDER_FENCE && !CB_TSAN ? memory_order_relaxed
                                             : memory_order_seq_cst;
}

/* Stands after what receives and before what publishes. */
CB_INLINE void cb_order_fence(enum cb_order order)
{
#if CB_TSAN
  (void)order;
#else
  if (order == CB_ORDER_FENCE)
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

#endif
