/* kind_spinlock.c - an array under one spin lock, to compare with. */
#include "ring/fifo.h"

struct spinlock_ring {
  struct cb_ring ring;
  _Alignas(CB_APART) struct cb_ttas lock;
  struct fifo fifo;
  _Alignas(CB_APART) uint64_t slots[];
};

CB_RING_PLAIN_CURSORS(spinlock, struct spinlock_ring)

CB_RING_INLINE bool spinlock_enqueue(struct spinlock_producer *at,
                                     uint64_t value)
{
  if (!cb_ring_lock(&at->ring->ring, &at->ring->lock))
    return false;
  bool done = fifo_put(&at->ring->fifo, value);
  cb_ring_unlock(&at->ring->lock);
  return done;
}

CB_RING_INLINE bool spinlock_dequeue(struct spinlock_consumer *at,
                                     uint64_t *value)
{
  if (!cb_ring_lock(&at->ring->ring, &at->ring->lock))
    return false;
  bool done = fifo_get(&at->ring->fifo, value);
  cb_ring_unlock(&at->ring->lock);
  return done;
}

CB_RING_INLINE uint32_t spinlock_enqueue_n(struct spinlock_producer *at,
                                           const uint64_t *values, uint32_t n,
                                           enum cb_ring_mode mode,
                                           uint32_t *room)
{
  if (!cb_ring_lock(&at->ring->ring, &at->ring->lock))
    return 0;
  n = fifo_put_n(&at->ring->fifo, values, n, mode, room);
  cb_ring_unlock(&at->ring->lock);
  return n;
}

CB_RING_INLINE uint32_t spinlock_dequeue_n(struct spinlock_consumer *at,
                                           uint64_t *values, uint32_t n,
                                           enum cb_ring_mode mode,
                                           uint32_t *left)
{
  if (!cb_ring_lock(&at->ring->ring, &at->ring->lock))
    return 0;
  n = fifo_get_n(&at->ring->fifo, values, n, mode, left);
  cb_ring_unlock(&at->ring->lock);
  return n;
}

static uint64_t spinlock_count(struct cb_ring *ring)
{
  struct spinlock_ring *spinlock = (struct spinlock_ring *)ring;
  if (!cb_ring_lock(ring, &spinlock->lock))
    return 0;
  uint64_t count = spinlock->fifo.tail - spinlock->fifo.head;
  cb_ring_unlock(&spinlock->lock);
  return count;
}

CB_RING_FREE_COUNT(spinlock)

static struct cb_ring *spinlock_create(const struct cb_spec *spec,
                                       struct cb_error *error)
{
  uint64_t size = (uint64_t)cb_spec_integer(spec, "size");
  uint64_t slots = cb_ring_round_up(size);
  struct spinlock_ring *spinlock = cb_ring_allocate(
      sizeof *spinlock, slots, sizeof spinlock->slots[0], error);
  if (!spinlock)
    return NULL;
  cb_ttas_init(&spinlock->lock);
  atomic_init(&spinlock->ring.capacity, size);
  spinlock->ring.wait = cb_ring_wait_of(spec);
  spinlock->fifo = (struct fifo){
      .mask = slots - 1, .capacity = size, .slots = spinlock->slots};
  return &spinlock->ring;
}

#define RING spinlock
#include "ring/ring_loops.h"

static const struct cb_option spinlock_options[] = {
    CB_RING_OPTION_SIZE(1, CB_RING_SLOTS_MAX, "elements that fit, any number"),
    RING_OPTION_WAIT,
    {.name = NULL}};

const struct cb_ring_kind cb_ring_spinlock = {
    .kind.name = "spinlock",
    .kind.summary = "an array under one spin lock, to compare with",
    .kind.options = spinlock_options,
    .limits = {.zero_allowed = true},
    .create = spinlock_create,
    .ops = {CB_RING_OPS(spinlock)},
    .loops = {CB_RING_LOOPS(spinlock)},
};
