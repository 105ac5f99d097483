/*
 * queues.h - what the files of the plug-in cxx_queues share: rings whose
 * inside is a C++ object.
 */
#ifndef PEER_QUEUES_H
#define PEER_QUEUES_H

#include <cbench/plugin.h>
#include <cbench/ring_loops.h>

#include <cerrno>
#include <new>

extern const cb_ring_kind peer_atomic_queue, peer_atomic_queue_fixed,
    peer_moodycamel_rwq, peer_moodycamel_cq, peer_boost_spsc;

/* A ring around a queue. */
template <class Queue> struct Peer {
  cb_ring ring;
  alignas(128) Queue queue;

  template <class... Arguments>
  explicit Peer(Arguments... arguments) : ring{}, queue(arguments...)
  {
  }
};

/* The queue in a ring. */
template <class Queue> static inline Queue &queue_of(cb_ring *ring)
{
  return reinterpret_cast<Peer<Queue> *>(ring)->queue;
}

/* What differs between the variants of a kind. */
struct Variant {
  cb_ring_limits limits;
  cb_ring_ops ops;
  cb_ring_loops loops;
};

/* Makes the queue of its arguments; capacity is left to be set. */
template <class Queue, class... Arguments>
static cb_ring *make_ring(const Variant &variant, cb_error *error,
                          Arguments... arguments)
{
  Peer<Queue> *peer = nullptr;
  try {
    peer = new Peer<Queue>(arguments...);
  } catch (const std::bad_alloc &) {
    cb_fail(error, -ENOMEM, "out of memory for a queue");
    return nullptr;
  }
  peer->ring.limits = variant.limits;
  peer->ring.ops = &variant.ops;
  peer->ring.loops = &variant.loops;
  return &peer->ring;
}

template <class Queue> static void destroy_ring(cb_ring *ring)
{
  delete reinterpret_cast<Peer<Queue> *>(ring);
}

/* For a queue that does not say how many fit: fills it and empties it. */
static inline uint64_t count_what_fits(cb_ring *ring)
{
  uint64_t count = 0, value;
  while (ring->ops->enqueue(ring, count + 1))
    count++;
  while (ring->ops->dequeue(ring, &value))
    ;
  return count;
}

/* The functions of a variant: NAME_enqueue and NAME_dequeue, given as
 * expressions of `queue` and `value`, and how many are inside. Many elements
 * are moved one by one. */
#define PEER_OPERATIONS(NAME, QUEUE, ENQUEUE, DEQUEUE, COUNT)                  \
  CB_RING_PLAIN_CURSORS(NAME, Peer<QUEUE>)                                     \
  CB_RING_INLINE bool NAME##_enqueue(NAME##_producer *at, uint64_t value)      \
  {                                                                            \
    QUEUE &queue = at->ring->queue;                                            \
    return ENQUEUE;                                                            \
  }                                                                            \
  CB_RING_INLINE bool NAME##_dequeue(NAME##_consumer *at, uint64_t *pointer)   \
  {                                                                            \
    QUEUE &queue = at->ring->queue;                                            \
    uint64_t &value = *pointer;                                                \
    return DEQUEUE;                                                            \
  }                                                                            \
  static uint64_t NAME##_count(cb_ring *ring)                                  \
  {                                                                            \
    QUEUE &queue = queue_of<QUEUE>(ring);                                      \
    uint64_t count = COUNT, fits = cb_ring_fits(ring);                         \
    return count < fits ? count : fits;                                        \
  }                                                                            \
  static uint64_t NAME##_free_count(cb_ring *ring)                             \
  {                                                                            \
    return cb_ring_fits(ring) - NAME##_count(ring);                            \
  }

#endif
