/*
 * kind_spsc.c - one producer, one consumer; ours.
 *
 * Lamport's ring, with three things that make it fast. Each side keeps the
 * other's index as it last saw it and looks again only when the ring seems
 * full or empty, so that the index lines travel once a lap and not once an
 * element. A burst is copied by lines and published by one store. And a side's
 * own index lives in its cursor, that is in registers inside a loop: kept in
 * memory, each operation would wait for the store of the one before.
 *
 * A cursor goes along a stretch of slots in a row, up to where it must look at
 * the other side's index again or go around the end: one comparison covers
 * both. Inside a stretch the index needs no mask, since `base` is where slot 0
 * would be if the array had begun that many laps earlier.
 *
 * Orders: a slot is a plain object. The producer's release of tail makes the
 * elements visible to the consumer's acquire of it; the consumer's release of
 * head, which its reads of the slots precede, gives them back to the
 * producer's acquire. Indexes are 64-bit and never wrap.
 */
#include "ring/ring.h"

/* How far ahead a producer of single elements fetches lines, in slots. The
 * index line travels as well, and a store to the slot must not wait behind it.
 * There are as many slots behind the last. */
#define SPSC_AHEAD 96

struct spsc_ring {
  struct cb_ring ring;
  uint64_t mask;
  _Alignas(CB_APART) _Atomic uint64_t tail; /* first slot not yet published */
  uint64_t head_seen;                       /* by the producer */
  uint64_t tail_stop;                       /* its cursor's between loops */
  _Alignas(CB_APART) _Atomic uint64_t head; /* first slot not yet consumed */
  uint64_t head_stop;                       /* the consumer's */
  _Alignas(CB_APART) uint64_t slots[];
};

struct spsc_producer {
  struct spsc_ring *ring;
  uint64_t base; /* an address, of what may lie before the ring's memory */
  uint64_t tail;
  uint64_t stop; /* tail may come this far */
};

struct spsc_consumer {
  struct spsc_ring *ring;
  uint64_t base;
  uint64_t head;
  uint64_t stop;
  uint64_t lap; /* where the array ends */
};

CB_RING_INLINE uint64_t *spsc_slot(uint64_t base, uint64_t index)
{
  return (uint64_t *)(uintptr_t)(base + index * sizeof(uint64_t));
}

CB_RING_INLINE uint64_t spsc_base(struct spsc_ring *spsc, uint64_t index)
{
  return (uintptr_t)spsc->slots - (index & ~spsc->mask) * sizeof(uint64_t);
}

/* Where the lap ends that index is in. */
CB_RING_INLINE uint64_t spsc_lap(struct spsc_ring *spsc, uint64_t index)
{
  return (index | spsc->mask) + 1;
}

CB_RING_INLINE struct spsc_producer spsc_producer_begin(struct cb_ring *ring)
{
  struct spsc_ring *spsc = (struct spsc_ring *)ring;
  uint64_t tail = atomic_load_explicit(&spsc->tail, memory_order_relaxed);
  struct spsc_producer at = {.ring = spsc,
                             .base = spsc_base(spsc, tail),
                             .tail = tail,
                             .stop = spsc->tail_stop};
  return at;
}

CB_RING_INLINE void spsc_producer_end(struct spsc_producer *at)
{
  at->ring->tail_stop = at->stop;
}

CB_RING_INLINE struct spsc_consumer spsc_consumer_begin(struct cb_ring *ring)
{
  struct spsc_ring *spsc = (struct spsc_ring *)ring;
  uint64_t head = atomic_load_explicit(&spsc->head, memory_order_relaxed);
  struct spsc_consumer at = {.ring = spsc,
                             .base = spsc_base(spsc, head),
                             .head = head,
                             .stop = spsc->head_stop,
                             .lap = spsc_lap(spsc, head)};
  return at;
}

CB_RING_INLINE void spsc_consumer_end(struct spsc_consumer *at)
{
  at->ring->head_stop = at->stop;
}

/* Free slots, looked up afresh when the last look does not show `wanted`; the
 * cursor gets the stretch from here on. */
CB_RING_INLINE uint64_t spsc_room(struct spsc_producer *at, uint64_t wanted)
{
  struct spsc_ring *spsc = at->ring;
  uint64_t limit = spsc->head_seen + cb_ring_fits(&spsc->ring);
  uint64_t lap = spsc_lap(spsc, at->tail);
  if (limit - at->tail < wanted) {
    spsc->head_seen = atomic_load_explicit(&spsc->head, memory_order_acquire);
    limit = spsc->head_seen + cb_ring_fits(&spsc->ring);
  }
  at->base = spsc_base(spsc, at->tail);
  at->stop = limit < lap ? limit : lap;
  return limit - at->tail;
}

/* Elements that are there; always a fresh look. */
CB_RING_INLINE uint64_t spsc_left(struct spsc_consumer *at)
{
  struct spsc_ring *spsc = at->ring;
  uint64_t tail = atomic_load_explicit(&spsc->tail, memory_order_acquire);
  if (CB_RING_MOSTLY(tail <= at->lap)) {
    at->stop = tail;
  } else {
    at->base = spsc_base(spsc, at->head);
    at->lap = spsc_lap(spsc, at->head);
    at->stop = tail < at->lap ? tail : at->lap;
  }
  return tail - at->head;
}

CB_RING_INLINE bool spsc_enqueue(struct spsc_producer *at, uint64_t value)
{
  if (CB_RING_RARELY(at->tail == at->stop) && !spsc_room(at, 1))
    return false;
  cb_ring_fetch(spsc_slot(at->base, at->tail + SPSC_AHEAD));
  *spsc_slot(at->base, at->tail++) = value;
  atomic_store_explicit(&at->ring->tail, at->tail, memory_order_release);
  return true;
}

CB_RING_INLINE bool spsc_dequeue(struct spsc_consumer *at, uint64_t *value)
{
  /* As likely as not: in line, not out of the way. */
  if (CB_RING_MOSTLY(at->head == at->stop) && CB_RING_RARELY(!spsc_left(at)))
    return false;
  *value = *spsc_slot(at->base, at->head++);
  atomic_store_explicit(&at->ring->head, at->head, memory_order_release);
  return true;
}

/* n elements, for which there is room; around the end if need be. */
CB_RING_APART void spsc_put_around(struct spsc_ring *spsc, uint64_t tail,
                                   const uint64_t *values, uint32_t n)
{
  cb_ring_copy_in(spsc->slots, spsc->mask, tail, values, n);
  atomic_store_explicit(&spsc->tail, tail + n, memory_order_release);
}

CB_RING_APART void spsc_get_around(struct spsc_ring *spsc, uint64_t head,
                                   uint64_t *values, uint32_t n)
{
  cb_ring_copy_out(spsc->slots, spsc->mask, head, values, n);
  atomic_store_explicit(&spsc->head, head + n, memory_order_release);
}

CB_RING_INLINE uint32_t spsc_enqueue_by(struct spsc_producer *at,
                                        const uint64_t *values, uint32_t n,
                                        enum cb_ring_mode mode, uint32_t *room,
                                        bool wide)
{
  if (CB_RING_RARELY(at->stop - at->tail < n) || room) {
    /* An honest answer about the room wants a fresh look. */
    uint64_t free = spsc_room(at, room ? cb_ring_fits(&at->ring->ring) : n);
    uint32_t granted = cb_ring_grant(n, free, mode);
    if (room)
      *room = (uint32_t)(free - granted);
    if (at->stop - at->tail < n) {
      if (granted)
        spsc_put_around(at->ring, at->tail, values, granted);
      at->tail += granted;
      spsc_room(at, 0);
      return granted;
    }
  }
  cb_ring_copy_by(spsc_slot(at->base, at->tail), values, n, wide);
  at->tail += n;
  atomic_store_explicit(&at->ring->tail, at->tail, memory_order_release);
  return n;
}

CB_RING_INLINE uint32_t spsc_dequeue_by(struct spsc_consumer *at,
                                        uint64_t *values, uint32_t n,
                                        enum cb_ring_mode mode, uint32_t *left,
                                        bool wide)
{
  if (CB_RING_MOSTLY(at->stop - at->head < n) || left) {
    uint64_t there = spsc_left(at);
    if (left)
      *left = (uint32_t)(there - cb_ring_grant(n, there, mode));
    if (CB_RING_RARELY(at->stop - at->head < n)) {
      n = cb_ring_grant(n, there, mode);
      if (n)
        spsc_get_around(at->ring, at->head, values, n);
      at->head += n;
      at->base = spsc_base(at->ring, at->head);
      at->lap = spsc_lap(at->ring, at->head);
      at->stop = at->head;
      return n;
    }
  }
  cb_ring_copy_by(values, spsc_slot(at->base, at->head), n, wide);
  at->head += n;
  atomic_store_explicit(&at->ring->head, at->head, memory_order_release);
  return n;
}

/* Two reads at two moments: between them the other side may have gone on, so
 * the difference is clamped. */
static uint64_t spsc_count(struct cb_ring *ring)
{
  struct spsc_ring *spsc = (struct spsc_ring *)ring;
  uint64_t head = atomic_load_explicit(&spsc->head, memory_order_acquire);
  uint64_t tail = atomic_load_explicit(&spsc->tail, memory_order_acquire);
  return tail - head < cb_ring_fits(ring) ? tail - head : cb_ring_fits(ring);
}

CB_RING_FREE_COUNT(spsc)

/* NAME_enqueue_n and NAME_dequeue_n, by moves of 16 bytes or of 32. */
#define SPSC_BURSTS(NAME, wide)                                                \
  CB_RING_INLINE uint32_t NAME##_enqueue_n(                                    \
      struct spsc_producer *at, const uint64_t *values, uint32_t n,            \
      enum cb_ring_mode mode, uint32_t *room)                                  \
  {                                                                            \
    return spsc_enqueue_by(at, values, n, mode, room, wide);                   \
  }                                                                            \
                                                                               \
  CB_RING_INLINE uint32_t NAME##_dequeue_n(                                    \
      struct spsc_consumer *at, uint64_t *values, uint32_t n,                  \
      enum cb_ring_mode mode, uint32_t *left)                                  \
  {                                                                            \
    return spsc_dequeue_by(at, values, n, mode, left, wide);                   \
  }

SPSC_BURSTS(spsc, false)
#define RING spsc
#include "ring/ring_loops.h"

/* The same with copies of 32 bytes a move, for processors that have them. */
#ifdef __x86_64__
#define spsc_wide_producer spsc_producer
#define spsc_wide_producer_begin spsc_producer_begin
#define spsc_wide_producer_end spsc_producer_end
#define spsc_wide_consumer spsc_consumer
#define spsc_wide_consumer_begin spsc_consumer_begin
#define spsc_wide_consumer_end spsc_consumer_end
#define spsc_wide_enqueue spsc_enqueue
#define spsc_wide_dequeue spsc_dequeue
#define spsc_wide_count spsc_count
#define spsc_wide_free_count spsc_free_count

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))),                  \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
SPSC_BURSTS(spsc_wide, true)
#define RING spsc_wide
#include "ring/ring_loops.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

static void spsc_widen(struct cb_ring *ring)
{
  static const struct cb_ring_ops ops = {CB_RING_OPS(spsc_wide)};
  static const struct cb_ring_loops loops = {CB_RING_LOOPS(spsc_wide)};
  if (!__builtin_cpu_supports("avx2"))
    return;
  ring->ops = &ops;
  ring->loops = &loops;
  ring->limits = cb_ring_spsc.limits;
}
#else
static void spsc_widen(struct cb_ring *ring)
{
  (void)ring;
}
#endif

static struct cb_ring *spsc_create(const struct cb_spec *spec,
                                   struct cb_error *error)
{
  uint64_t size = (uint64_t)cb_spec_integer(spec, "size");
  uint64_t slots = cb_ring_round_up(size);
  struct spsc_ring *spsc = cb_ring_allocate(sizeof *spsc, slots + SPSC_AHEAD,
                                            sizeof spsc->slots[0], error);
  if (!spsc)
    return NULL;
  uint64_t start = (uint64_t)cb_spec_integer(spec, "start");
  atomic_init(&spsc->ring.capacity, size);
  spsc->mask = slots - 1;
  spsc->head_seen = spsc->tail_stop = spsc->head_stop = start;
  atomic_init(&spsc->head, start);
  atomic_init(&spsc->tail, start);
  if (cb_spec_boolean(spec, "wide"))
    spsc_widen(&spsc->ring);
  return &spsc->ring;
}

static const struct cb_option spsc_options[] = {
    CB_RING_OPTION_SIZE(1, CB_RING_SLOTS_MAX, "elements that fit, any number"),
    {.name = "wide",
     .type = CB_BOOLEAN,
     .preset = "true",
     .help = "copies bursts 32 bytes a move where the processor can"},
    CB_RING_OPTION_START(CB_RING_START_64),
    {.name = NULL}};

const struct cb_ring_kind cb_ring_spsc = {
    .kind.name = "spsc",
    .kind.summary = "one producer, one consumer; cached indexes, a burst is "
                    "published by one store",
    .kind.options = spsc_options,
    .limits = {.producers = 1, .consumers = 1, .zero_allowed = true},
    .create = spsc_create,
    .ops = {CB_RING_OPS(spsc)},
    .loops = {CB_RING_LOOPS(spsc)},
};
