/*
 * queue_atomic.cc - Maxim Egorushkin's atomic_queue: a flag in the slot, as in
 * our `ff` and `vyukov`, and tickets.
 *
 * `push` takes a ticket and waits at its slot, without looking at anything
 * else; `try` looks first. A waiting push cannot be told to stop or that the
 * queue is full, so single operations (Lua, via = "pointer") always try; in the
 * loops, where as much comes out as went in, both forms are measured.
 *
 * The queue of fixed size is compiled for it, with its slots in plain order
 * (MINIMIZE_CONTENTION off): the fastest public one for two threads. The other
 * one takes any size from 64 on and shuffles them.
 */
#include "queues.h"

#include <atomic_queue/atomic_queue.h>

#include <cstring>

namespace aq = atomic_queue;
using Several = aq::AtomicQueueB<uint64_t>;
using Single =
    aq::AtomicQueueB<uint64_t, std::allocator<uint64_t>, 0, true, false, true>;
template <unsigned size, bool spsc>
using Fixed = aq::AtomicQueue<uint64_t, size, 0, false, true, false, spsc>;
/* Both forms over one queue. */
#define FORMS(NAME, QUEUE)                                                     \
  PEER_OPERATIONS(NAME##_try, QUEUE, queue.try_push(value),                    \
                  queue.try_pop(value), queue.was_size())                      \
  PEER_OPERATIONS(NAME##_push, QUEUE, (queue.push(value), true),               \
                  (value = queue.pop(), true), queue.was_size())               \
  CB_RING_LOOPED(NAME##_try)                                                   \
  CB_RING_LOOPED(NAME##_push)

FORMS(several, Several)
#define RING several_try
#include <cbench/ring_loops.h>
#define RING several_push
#include <cbench/ring_loops.h>

FORMS(single, Single)
#define RING single_try
#include <cbench/ring_loops.h>
#define RING single_push
#include <cbench/ring_loops.h>

#define FIXED(NAME, SIZE, SPSC)                                                \
  using NAME##_queue = Fixed<SIZE, SPSC>;                                      \
  FORMS(NAME, NAME##_queue)

FIXED(several64, 64, false)
#define RING several64_try
#include <cbench/ring_loops.h>
#define RING several64_push
#include <cbench/ring_loops.h>

FIXED(single64, 64, true)
#define RING single64_try
#include <cbench/ring_loops.h>
#define RING single64_push
#include <cbench/ring_loops.h>

FIXED(several1024, 1024, false)
#define RING several1024_try
#include <cbench/ring_loops.h>
#define RING several1024_push
#include <cbench/ring_loops.h>

FIXED(single1024, 1024, true)
#define RING single1024_try
#include <cbench/ring_loops.h>
#define RING single1024_push
#include <cbench/ring_loops.h>

FIXED(several65536, 65536, false)
#define RING several65536_try
#include <cbench/ring_loops.h>
#define RING several65536_push
#include <cbench/ring_loops.h>

FIXED(single65536, 65536, true)
#define RING single65536_try
#include <cbench/ring_loops.h>
#define RING single65536_push
#include <cbench/ring_loops.h>

/* 0 is what an empty slot holds. */
#define VARIANT(NAME, FORM, THREADS)                                           \
  {                                                                            \
    {THREADS, THREADS, false, true, false, false},                             \
        {CB_RING_OPS_BURST(NAME##_try)}, {CB_RING_LOOPS(NAME##_##FORM)},       \
  }
#define VARIANTS(NAME, THREADS)                                                \
  {                                                                            \
    VARIANT(NAME, try, THREADS), VARIANT(NAME, push, THREADS)                  \
  }

static constexpr Variant several_variants[] = VARIANTS(several, 0);
static constexpr Variant single_variants[] = VARIANTS(single, 1);

static bool is_single(const cb_spec *spec)
{
  return std::strcmp(cb_spec_string(spec, "sync"), "sp") == 0;
}

/* Of a pair of variants. */
static int form_of(const cb_spec *spec)
{
  return std::strcmp(cb_spec_string(spec, "form"), "push") == 0;
}

static cb_ring *with_capacity(cb_ring *ring, unsigned capacity)
{
  if (ring)
    ring->capacity = capacity;
  return ring;
}

static cb_ring *create(const cb_spec *spec, cb_error *error)
{
  unsigned size = static_cast<unsigned>(cb_spec_integer(spec, "size"));
  int form = form_of(spec);
  if (is_single(spec)) {
    cb_ring *ring = make_ring<Single>(single_variants[form], error, size);
    return with_capacity(ring, ring ? queue_of<Single>(ring).capacity() : 0);
  }
  cb_ring *ring = make_ring<Several>(several_variants[form], error, size);
  return with_capacity(ring, ring ? queue_of<Several>(ring).capacity() : 0);
}

static void destroy(cb_ring *ring)
{
  if (ring->limits.producers == 1)
    destroy_ring<Single>(ring);
  else
    destroy_ring<Several>(ring);
}

/* One size of the queue that is compiled for its size. */
struct FixedRow {
  unsigned size;
  bool single;
  Variant variants[2];
  cb_ring *(*make)(const Variant &variant, cb_error *error);
  void (*destroy)(cb_ring *ring);
};

#define ROW(NAME, SIZE, THREADS)                                               \
  {                                                                            \
    SIZE, THREADS == 1, VARIANTS(NAME, THREADS), make_ring<NAME##_queue>,      \
        destroy_ring<NAME##_queue>                                             \
  }

static constexpr FixedRow rows[] = {
    ROW(several64, 64, 0),       ROW(single64, 64, 1),
    ROW(several1024, 1024, 0),   ROW(single1024, 1024, 1),
    ROW(several65536, 65536, 0), ROW(single65536, 65536, 1),
};

static const FixedRow *find_row(bool single, uint64_t size)
{
  const FixedRow *row = rows;
  while (row->single != single || row->size < size)
    row++;
  return row;
}

static cb_ring *create_fixed(const cb_spec *spec, cb_error *error)
{
  const FixedRow *row = find_row(
      is_single(spec), static_cast<uint64_t>(cb_spec_integer(spec, "size")));
  return with_capacity(row->make(row->variants[form_of(spec)], error),
                       row->size);
}

static void destroy_fixed(cb_ring *ring)
{
  find_row(ring->limits.producers == 1, ring->capacity)->destroy(ring);
}

#define SYNC                                                                   \
  {                                                                            \
    "sync", CB_CHOICE, "mp", 0, 0, "mp|sp", nullptr,                           \
        "one (sp) or several (mp) threads on each side"                        \
  }
#define FORM                                                                   \
  {                                                                            \
    "form", CB_CHOICE, "push", 0, 0, "push|try", nullptr,                      \
        "in loops: take a ticket and wait, or try"                             \
  }

static const cb_option options[] = {
    {"size", CB_INTEGER, "1024", 1, 1 << 24, nullptr, nullptr,
     "elements that fit, rounded up to a power of two of at least 64"},
    SYNC,
    FORM,
    {}};

static const cb_option fixed_options[] = {
    {"size", CB_INTEGER, "1024", 1, 65536, nullptr, nullptr,
     "elements that fit, rounded up to 64, 1024 or 65536"},
    SYNC,
    FORM,
    {}};

const cb_ring_kind peer_atomic_queue = {
    {"atomic_queue", "the real atomic_queue, sized at run time", options, 0},
    several_variants[0].limits,
    several_variants[0].ops,
    several_variants[1].loops,
    create,
    destroy,
};

const cb_ring_kind peer_atomic_queue_fixed = {
    {"atomic_queue_fixed", "the real atomic_queue, compiled for its size",
     fixed_options, 0},
    several_variants[0].limits,
    rows[2].variants[0].ops,
    rows[2].variants[1].loops,
    create_fixed,
    destroy_fixed,
};
