/* fifo.h - the plain queue inside the rings that are kept by a lock. */
#ifndef CB_RING_FIFO_H
#define CB_RING_FIFO_H

#include "ring/ring.h"

struct fifo {
  uint64_t mask, capacity;
  uint64_t head, tail; /* free running; tail - head elements */
  uint64_t *slots;
};

CB_RING_INLINE bool fifo_put(struct fifo *fifo, uint64_t value)
{
  if (fifo->tail - fifo->head == fifo->capacity)
    return false;
  fifo->slots[fifo->tail++ & fifo->mask] = value;
  return true;
}

CB_RING_INLINE bool fifo_get(struct fifo *fifo, uint64_t *value)
{
  if (fifo->tail == fifo->head)
    return false;
  *value = fifo->slots[fifo->head++ & fifo->mask];
  return true;
}

CB_RING_INLINE uint32_t fifo_put_n(struct fifo *fifo, const uint64_t *values,
                                   uint32_t n, enum cb_ring_mode mode,
                                   uint32_t *room)
{
  uint64_t most = fifo->capacity - (fifo->tail - fifo->head);
  n = cb_ring_grant(n, most, mode);
  cb_ring_copy_in(fifo->slots, fifo->mask, fifo->tail, values, n);
  fifo->tail += n;
  if (room)
    *room = (uint32_t)(most - n);
  return n;
}

CB_RING_INLINE uint32_t fifo_get_n(struct fifo *fifo, uint64_t *values,
                                   uint32_t n, enum cb_ring_mode mode,
                                   uint32_t *left)
{
  uint64_t most = fifo->tail - fifo->head;
  n = cb_ring_grant(n, most, mode);
  cb_ring_copy_out(fifo->slots, fifo->mask, fifo->head, values, n);
  fifo->head += n;
  if (left)
    *left = (uint32_t)(most - n);
  return n;
}

#endif
