/* queue_boost.cc - boost::lockfree::spsc_queue of a size given at run time: an
 * index ring, whose array forms move many at once. */
#include "queues.h"

#include <boost/lockfree/spsc_queue.hpp>

using Queue = boost::lockfree::spsc_queue<uint64_t>;

PEER_OPERATIONS(spsc, Queue, queue.push(value), queue.pop(value),
                queue.read_available())

CB_RING_INLINE uint32_t spsc_enqueue_n(spsc_producer *at,
                                       const uint64_t *values, uint32_t n,
                                       cb_ring_mode, uint32_t *room)
{
  Queue &queue = at->ring->queue;
  uint32_t done = static_cast<uint32_t>(queue.push(values, n));
  if (room)
    *room = static_cast<uint32_t>(queue.write_available());
  return done;
}

CB_RING_INLINE uint32_t spsc_dequeue_n(spsc_consumer *at, uint64_t *values,
                                       uint32_t n, cb_ring_mode, uint32_t *left)
{
  Queue &queue = at->ring->queue;
  uint32_t done = static_cast<uint32_t>(queue.pop(values, n));
  if (left)
    *left = static_cast<uint32_t>(queue.read_available());
  return done;
}

#define RING spsc
#include <cbench/ring_loops.h>

static constexpr Variant variant = {
    {1, 1, true, false, false, false},
    {CB_RING_OPS_BURST(spsc)},
    {CB_RING_LOOPS(spsc)},
};

static cb_ring *create(const cb_spec *spec, cb_error *error)
{
  size_t size = static_cast<size_t>(cb_spec_integer(spec, "size"));
  cb_ring *ring = make_ring<Queue>(variant, error, size);
  if (ring)
    ring->capacity = size;
  return ring;
}

static const cb_option options[] = {{"size", CB_INTEGER, "1024", 1, 1 << 24,
                                     nullptr, nullptr,
                                     "elements that fit, any number"},
                                    {}};

const cb_ring_kind peer_boost_spsc = {
    {"boost_spsc", "the real boost::lockfree::spsc_queue", options, 0},
    variant.limits,
    variant.ops,
    variant.loops,
    create,
    destroy_ring<Queue>,
};
