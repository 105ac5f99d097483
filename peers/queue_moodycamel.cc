/*
 * queue_moodycamel.cc - Cameron Desrochers' ReaderWriterQueue (one producer,
 * one consumer) and ConcurrentQueue (several), never allocating: the try forms.
 *
 * Both keep elements in blocks that are given back whole, so how many fit
 * depends on where the ends stand; capacity is what fits into a new queue.
 *
 * The loops over ConcurrentQueue can use its tokens, as its author advises;
 * single operations do without. A producer with a token keeps the blocks that
 * it ever had, which without allocating starves the others: so there is one
 * then. The order holds for the elements of one producer.
 */
#include "queues.h"

#include <concurrentqueue/concurrentqueue.h>
#include <readerwriterqueue/readerwriterqueue.h>

/* ---- one producer, one consumer ---- */

using Rwq = moodycamel::ReaderWriterQueue<uint64_t>;

PEER_OPERATIONS(rwq, Rwq, queue.try_enqueue(value), queue.try_dequeue(value),
                queue.size_approx())
CB_RING_LOOPED(rwq)
#define RING rwq
#include <cbench/ring_loops.h>

/* Up to this size it is one block, and exact. */
static const size_t ONE_BLOCK = 1023;

static constexpr Variant rwq_variants[] = {
    {{1, 1, true, false, false, false},
     {CB_RING_OPS_BURST(rwq)},
     {CB_RING_LOOPS(rwq)}},
    {{1, 1, true, false, true, false},
     {CB_RING_OPS_BURST(rwq)},
     {CB_RING_LOOPS(rwq)}},
};

static cb_ring *create_rwq(const cb_spec *spec, cb_error *error)
{
  size_t size = static_cast<size_t>(cb_spec_integer(spec, "size"));
  cb_ring *ring = make_ring<Rwq>(rwq_variants[size > ONE_BLOCK], error, size);
  if (ring)
    ring->capacity = count_what_fits(ring);
  return ring;
}

/* ---- several of each ---- */

using Cq = moodycamel::ConcurrentQueue<uint64_t>;

PEER_OPERATIONS(cq, Cq, queue.try_enqueue(value), queue.try_dequeue(value),
                queue.size_approx())
CB_RING_LOOPED(cq)
#define RING cq
#include <cbench/ring_loops.h>

/* Tokens live as long as a loop. */
struct token_producer {
  Peer<Cq> *ring;
  moodycamel::ProducerToken token;
};
struct token_consumer {
  Peer<Cq> *ring;
  moodycamel::ConsumerToken token;
};

CB_RING_INLINE token_producer token_producer_begin(cb_ring *ring)
{
  return {reinterpret_cast<Peer<Cq> *>(ring),
          moodycamel::ProducerToken(queue_of<Cq>(ring))};
}

CB_RING_INLINE token_consumer token_consumer_begin(cb_ring *ring)
{
  return {reinterpret_cast<Peer<Cq> *>(ring),
          moodycamel::ConsumerToken(queue_of<Cq>(ring))};
}

CB_RING_INLINE void token_producer_end(token_producer *)
{
}

CB_RING_INLINE void token_consumer_end(token_consumer *)
{
}

CB_RING_INLINE bool token_enqueue(token_producer *at, uint64_t value)
{
  return at->ring->queue.try_enqueue(at->token, value);
}

CB_RING_INLINE bool token_dequeue(token_consumer *at, uint64_t *value)
{
  return at->ring->queue.try_dequeue(at->token, *value);
}

CB_RING_INLINE uint32_t token_enqueue_n(token_producer *at,
                                        const uint64_t *values, uint32_t n,
                                        cb_ring_mode, uint32_t *)
{
  return at->ring->queue.try_enqueue_bulk(at->token, values, n) ? n : 0;
}

CB_RING_INLINE uint32_t token_dequeue_n(token_consumer *at, uint64_t *values,
                                        uint32_t n, cb_ring_mode, uint32_t *)
{
  return static_cast<uint32_t>(
      at->ring->queue.try_dequeue_bulk(at->token, values, n));
}

#define RING token
#include <cbench/ring_loops.h>

static constexpr Variant cq_variants[] = {
    {{0, 0, true, true, true, false},
     {CB_RING_OPS_BURST(cq)},
     {CB_RING_LOOPS(cq)}},
    {{1, 0, true, true, true, false},
     {CB_RING_OPS_BURST(cq)},
     {CB_RING_LOOPS(token)}},
};

static cb_ring *create_cq(const cb_spec *spec, cb_error *error)
{
  size_t size = static_cast<size_t>(cb_spec_integer(spec, "size"));
  bool tokens = cb_spec_boolean(spec, "tokens");
  cb_ring *ring = make_ring<Cq>(cq_variants[tokens], error, size);
  if (ring)
    ring->capacity = count_what_fits(ring);
  return ring;
}

/* ---- the kinds ---- */

#define SIZE                                                                   \
  {                                                                            \
    "size", CB_INTEGER, "1024", 1, 1 << 24, nullptr, nullptr,                  \
        "elements that shall fit at least"                                     \
  }

static const cb_option rwq_options[] = {SIZE, {}};
static const cb_option cq_options[] = {
    SIZE,
    {"tokens", CB_BOOLEAN, "false", 0, 0, nullptr, nullptr,
     "in loops: each thread has a token; for one producer"},
    {}};

const cb_ring_kind peer_moodycamel_rwq = {
    {"moodycamel_rwq", "the real moodycamel::ReaderWriterQueue", rwq_options,
     0},
    rwq_variants[0].limits,
    rwq_variants[0].ops,
    rwq_variants[0].loops,
    create_rwq,
    destroy_ring<Rwq>,
};

const cb_ring_kind peer_moodycamel_cq = {
    {"moodycamel_cq", "the real moodycamel::ConcurrentQueue", cq_options, 0},
    cq_variants[0].limits,
    cq_variants[0].ops,
    cq_variants[0].loops,
    create_cq,
    destroy_ring<Cq>,
};
