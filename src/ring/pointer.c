/* pointer.c - the loops once more, with each operation called through the
 * ring's pointers: what a caller pays who does not know the kind. */
#include "ring/ring.h"

CB_RING_PLAIN_CURSORS(pointer, struct cb_ring)

CB_RING_INLINE bool pointer_enqueue(struct pointer_producer *at, uint64_t value)
{
  return at->ring->ops->enqueue(at->ring, value);
}

CB_RING_INLINE bool pointer_dequeue(struct pointer_consumer *at,
                                    uint64_t *value)
{
  return at->ring->ops->dequeue(at->ring, value);
}

/* A kind has burst or bulk or both. */
CB_RING_INLINE uint32_t pointer_enqueue_n(struct pointer_producer *at,
                                          const uint64_t *values, uint32_t n,
                                          enum cb_ring_mode mode,
                                          uint32_t *room)
{
  const struct cb_ring_ops *ops = at->ring->ops;
  return (mode == CB_RING_BURST && ops->enqueue_burst
              ? ops->enqueue_burst
              : ops->enqueue_bulk)(at->ring, values, n, room);
}

CB_RING_INLINE uint32_t pointer_dequeue_n(struct pointer_consumer *at,
                                          uint64_t *values, uint32_t n,
                                          enum cb_ring_mode mode,
                                          uint32_t *left)
{
  const struct cb_ring_ops *ops = at->ring->ops;
  return (mode == CB_RING_BURST && ops->dequeue_burst
              ? ops->dequeue_burst
              : ops->dequeue_bulk)(at->ring, values, n, left);
}

#define RING pointer
#include "ring/ring_loops.h"

const struct cb_ring_loops cb_ring_pointer_loops = {CB_RING_LOOPS(pointer)};
