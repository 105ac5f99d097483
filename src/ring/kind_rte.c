/*
 * kind_rte.c - after DPDK's rte_ring (lib/ring): heads and tails as in
 * headtail.h, bulk and burst, and for each side one of four modes.
 *
 *  st   one thread
 *  mt   several; each waits until those before it have published
 *  rts  relaxed tail: a thread only counts itself done, and the last one of
 *       those under way moves the tail for all. Nobody waits for a turn, but
 *       a thread holds back when the head has run an eighth of the ring ahead.
 *       An element can stay hidden after its enqueue has returned.
 *  hts  head and tail in one word: a thread enters only when the one before
 *       has left, so that there is never a claim to wait behind
 *
 * An operation can be had in two halves (start, finish) in st and hts, where
 * one thread is inside at a time.
 *
 * Orders beyond headtail.h's: rts moves its head by compare-and-swap with
 * release and reads it with acquire, for the same reason; its tail word is read
 * with acquire and swapped with release, so that whoever moves the position has
 * seen the copies of all who counted before. hts reads its word with acquire
 * (the room must not be older) and stores it with release.
 */
#include "ring/headtail.h"

#include <errno.h>
#include <string.h>

enum rte_sync { ST, MT, RTS, HTS };

/* Only the words of the side's mode are in use. */
struct rte_side {
  struct headtail plain; /* st, mt */
  /* rts: position in the low half, in the high half how many operations have
   * begun (head) and have ended (tail). */
  _Atomic uint64_t rts_head, rts_tail;
  _Atomic uint64_t hts; /* head in the low half, tail in the high half */
  uint32_t ahead_max;   /* of rts, places that head may be beyond tail */
  enum rte_sync sync;
};

struct rte_ring {
  struct cb_ring ring;
  struct headtail_slots shape;
  uint32_t capacity;
  _Alignas(CB_APART) struct rte_side producer;
  _Alignas(CB_APART) struct rte_side consumer;
  _Alignas(CB_APART) uint64_t slots[];
};

CB_RING_INLINE uint32_t low(uint64_t word)
{
  return (uint32_t)word;
}

CB_RING_INLINE uint32_t high(uint64_t word)
{
  return (uint32_t)(word >> 32);
}

CB_RING_INLINE uint64_t pack(uint32_t low, uint32_t high)
{
  return (uint64_t)high << 32 | low;
}

/* How far the side has published. */
CB_RING_INLINE uint32_t rte_tail(struct rte_side *side, enum rte_sync sync)
{
  switch (sync) {
  case RTS:
    return low(atomic_load_explicit(&side->rts_tail, memory_order_acquire));
  case HTS:
    return high(atomic_load_explicit(&side->hts, memory_order_acquire));
  default:
    return atomic_load_explicit(&side->plain.tail, memory_order_acquire);
  }
}

/* ---- st ---- */

CB_RING_INLINE struct claim st_claim(struct rte_side *side,
                                     struct rte_side *opposite,
                                     enum rte_sync opposite_sync,
                                     uint32_t ahead, uint32_t n,
                                     enum cb_ring_mode mode)
{
  uint32_t head = headtail_own(&side->plain);
  return headtail_claim_single(
      &side->plain, head, rte_tail(opposite, opposite_sync), ahead, n, mode);
}

/* ---- mt ---- */

CB_RING_INLINE struct claim mt_claim(struct rte_side *side,
                                     struct rte_side *opposite,
                                     enum rte_sync opposite_sync,
                                     uint32_t ahead, uint32_t n,
                                     enum cb_ring_mode mode)
{
  uint32_t head = atomic_load_explicit(&side->plain.head, memory_order_acquire);
  struct claim claim;
  do
    claim = claim_from(head, rte_tail(opposite, opposite_sync), ahead, n, mode);
  while (!headtail_try_claim(&side->plain, &head, claim));
  return claim;
}

/* ---- rts ---- */

CB_RING_INLINE bool rts_too_far(struct rte_side *side, uint64_t head)
{
  uint64_t tail = atomic_load_explicit(&side->rts_tail, memory_order_acquire);
  return low(head) - low(tail) > side->ahead_max;
}

/* Holds back while the head is too far beyond the tail, and returns it then;
 * sets *stopped when told to stop. */
CB_RING_APART uint64_t rts_hold_back(struct cb_ring *ring,
                                     struct rte_side *side, bool *stopped)
{
  uint32_t streak = 0;
  uint64_t head;
  do {
    streak = cb_ring_turn_wait(ring, streak);
    head = atomic_load_explicit(&side->rts_head, memory_order_acquire);
    *stopped = streak == 0;
  } while (streak && rts_too_far(side, head));
  return head;
}

CB_RING_INLINE struct claim
rts_claim(struct cb_ring *ring, struct rte_side *side,
          struct rte_side *opposite, enum rte_sync opposite_sync,
          uint32_t ahead, uint32_t n, enum cb_ring_mode mode)
{
  uint64_t head = atomic_load_explicit(&side->rts_head, memory_order_acquire);
  struct claim claim;
  uint64_t next;
  do {
    if (CB_RING_RARELY(rts_too_far(side, head))) {
      bool stopped;
      head = rts_hold_back(ring, side, &stopped);
      if (stopped)
        return (struct claim){0, 0, 0};
    }
    claim = claim_from(low(head), rte_tail(opposite, opposite_sync), ahead, n,
                       mode);
    if (!claim.n)
      return claim;
    next = pack(low(head) + claim.n, high(head) + 1);
  } while (!atomic_compare_exchange_strong_explicit(&side->rts_head, &head,
                                                    next, memory_order_release,
                                                    memory_order_acquire));
  return claim;
}

CB_RING_INLINE void rts_publish(struct rte_side *side)
{
  uint64_t tail = atomic_load_explicit(&side->rts_tail, memory_order_acquire);
  uint64_t next;
  do {
    uint64_t head = atomic_load_explicit(&side->rts_head, memory_order_relaxed);
    bool last = high(tail) + 1 == high(head);
    next = pack(last ? low(head) : low(tail), high(tail) + 1);
  } while (!atomic_compare_exchange_strong_explicit(&side->rts_tail, &tail,
                                                    next, memory_order_release,
                                                    memory_order_acquire));
}

/* ---- hts ---- */

/* Waits until nobody is inside and returns the word then; one that shows
 * somebody inside when told to stop. */
CB_RING_APART uint64_t hts_await(struct cb_ring *ring, struct rte_side *side)
{
  uint32_t streak = 0;
  uint64_t word;
  do {
    streak = cb_ring_turn_wait(ring, streak);
    word = atomic_load_explicit(&side->hts, memory_order_acquire);
  } while (streak && low(word) != high(word));
  return word;
}

CB_RING_INLINE struct claim
hts_claim(struct cb_ring *ring, struct rte_side *side,
          struct rte_side *opposite, enum rte_sync opposite_sync,
          uint32_t ahead, uint32_t n, enum cb_ring_mode mode)
{
  uint64_t word = atomic_load_explicit(&side->hts, memory_order_acquire);
  struct claim claim;
  do {
    if (CB_RING_RARELY(low(word) != high(word))) {
      word = hts_await(ring, side);
      if (low(word) != high(word))
        return (struct claim){0, 0, 0};
    }
    claim = claim_from(low(word), rte_tail(opposite, opposite_sync), ahead, n,
                       mode);
    if (!claim.n)
      return claim;
  } while (!atomic_compare_exchange_strong_explicit(
      &side->hts, &word, pack(claim.place + claim.n, claim.place),
      memory_order_release, memory_order_acquire));
  return claim;
}

CB_RING_INLINE void hts_leave(struct rte_side *side, uint32_t position)
{
  atomic_store_explicit(&side->hts, pack(position, position),
                        memory_order_release);
}

/* ---- all modes ---- */

CB_RING_INLINE struct claim
rte_claim(struct cb_ring *ring, struct rte_side *side, enum rte_sync sync,
          struct rte_side *opposite, enum rte_sync opposite_sync,
          uint32_t ahead, uint32_t n, enum cb_ring_mode mode)
{
  switch (sync) {
  case MT:
    return mt_claim(side, opposite, opposite_sync, ahead, n, mode);
  case RTS:
    return rts_claim(ring, side, opposite, opposite_sync, ahead, n, mode);
  case HTS:
    return hts_claim(ring, side, opposite, opposite_sync, ahead, n, mode);
  default:
    return st_claim(side, opposite, opposite_sync, ahead, n, mode);
  }
}

CB_RING_INLINE bool rte_publish(struct cb_ring *ring, struct rte_side *side,
                                enum rte_sync sync, struct claim claim)
{
  switch (sync) {
  case RTS:
    rts_publish(side);
    return true;
  case HTS:
    hts_leave(side, claim.place + claim.n);
    return true;
  default:
    return headtail_publish(ring, &side->plain, sync == MT, claim);
  }
}

CB_RING_INLINE uint32_t rte_put(struct rte_ring *rte, enum rte_sync producer,
                                enum rte_sync consumer, const uint64_t *values,
                                uint32_t n, enum cb_ring_mode mode,
                                uint32_t *room)
{
  struct claim claim =
      rte_claim(&rte->ring, &rte->producer, producer, &rte->consumer, consumer,
                rte->capacity, n, mode);
  if (room)
    *room = claim.rest;
  if (!claim.n)
    return 0;
  headtail_copy_in(&rte->shape, rte->slots, claim.place, values, claim.n);
  return rte_publish(&rte->ring, &rte->producer, producer, claim) ? claim.n : 0;
}

CB_RING_INLINE uint32_t rte_get(struct rte_ring *rte, enum rte_sync producer,
                                enum rte_sync consumer, uint64_t *values,
                                uint32_t n, enum cb_ring_mode mode,
                                uint32_t *left)
{
  struct claim claim = rte_claim(&rte->ring, &rte->consumer, consumer,
                                 &rte->producer, producer, 0, n, mode);
  if (left)
    *left = claim.rest;
  if (!claim.n)
    return 0;
  headtail_copy_out(&rte->shape, rte->slots, claim.place, values, claim.n);
  return rte_publish(&rte->ring, &rte->consumer, consumer, claim) ? claim.n : 0;
}

/* Two reads at two moments, so the difference is clamped. */
static uint64_t rte_count(struct cb_ring *ring)
{
  struct rte_ring *rte = (struct rte_ring *)ring;
  uint32_t head = rte_tail(&rte->consumer, rte->consumer.sync);
  uint32_t tail = rte_tail(&rte->producer, rte->producer.sync);
  return tail - head < rte->capacity ? tail - head : rte->capacity;
}

CB_RING_FREE_COUNT(rte)

/* ---- in two halves: st and hts ---- */

static uint32_t rte_enqueue_start(struct cb_ring *ring, uint32_t n,
                                  enum cb_ring_mode mode, uint32_t *room)
{
  struct rte_ring *rte = (struct rte_ring *)ring;
  struct claim claim =
      rte_claim(ring, &rte->producer, rte->producer.sync, &rte->consumer,
                rte->consumer.sync, rte->capacity, n, mode);
  if (room)
    *room = claim.rest;
  return claim.n;
}

static uint32_t rte_dequeue_start(struct cb_ring *ring, uint64_t *values,
                                  uint32_t n, enum cb_ring_mode mode,
                                  uint32_t *left)
{
  struct rte_ring *rte = (struct rte_ring *)ring;
  struct claim claim =
      rte_claim(ring, &rte->consumer, rte->consumer.sync, &rte->producer,
                rte->producer.sync, 0, n, mode);
  if (left)
    *left = claim.rest;
  headtail_copy_out(&rte->shape, rte->slots, claim.place, values, claim.n);
  return claim.n;
}

/* Claimed and not published yet, from *place on. */
static uint32_t rte_begun(struct rte_side *side, uint32_t *place)
{
  uint32_t head;
  if (side->sync == HTS) {
    uint64_t word = atomic_load_explicit(&side->hts, memory_order_relaxed);
    head = low(word);
    *place = high(word);
  } else {
    head = atomic_load_explicit(&side->plain.head, memory_order_relaxed);
    *place = atomic_load_explicit(&side->plain.tail, memory_order_relaxed);
  }
  return head - *place;
}

static void rte_end(struct rte_side *side, uint32_t position)
{
  if (side->sync == HTS) {
    hts_leave(side, position);
    return;
  }
  atomic_store_explicit(&side->plain.head, position, memory_order_relaxed);
  atomic_store_explicit(&side->plain.tail, position, memory_order_release);
}

static bool rte_enqueue_finish(struct cb_ring *ring, const uint64_t *values,
                               uint32_t n)
{
  struct rte_ring *rte = (struct rte_ring *)ring;
  uint32_t place;
  if (n > rte_begun(&rte->producer, &place))
    return false;
  headtail_copy_in(&rte->shape, rte->slots, place, values, n);
  rte_end(&rte->producer, place + n);
  return true;
}

static bool rte_dequeue_finish(struct cb_ring *ring, uint32_t n)
{
  struct rte_ring *rte = (struct rte_ring *)ring;
  uint32_t place;
  if (n > rte_begun(&rte->consumer, &place))
    return false;
  rte_end(&rte->consumer, place + n);
  return true;
}

/* ---- the combinations of modes ---- */

/* Loops with the modes of both sides as constants; `rte_any` reads them from
 * the ring at each operation, as rte_ring_enqueue does. */
#define RTE_VARIANT(NAME, PRODUCER, CONSUMER)                                  \
  CB_RING_PLAIN_CURSORS(NAME, struct rte_ring)                                 \
  CB_RING_INLINE bool NAME##_enqueue(struct NAME##_producer *at,               \
                                     uint64_t value)                           \
  {                                                                            \
    return rte_put(at->ring, PRODUCER, CONSUMER, &value, 1, CB_RING_BULK,      \
                   NULL);                                                      \
  }                                                                            \
  CB_RING_INLINE bool NAME##_dequeue(struct NAME##_consumer *at,               \
                                     uint64_t *value)                          \
  {                                                                            \
    return rte_get(at->ring, PRODUCER, CONSUMER, value, 1, CB_RING_BULK,       \
                   NULL);                                                      \
  }                                                                            \
  CB_RING_INLINE uint32_t NAME##_enqueue_n(                                    \
      struct NAME##_producer *at, const uint64_t *values, uint32_t n,          \
      enum cb_ring_mode mode, uint32_t *room)                                  \
  {                                                                            \
    return rte_put(at->ring, PRODUCER, CONSUMER, values, n, mode, room);       \
  }                                                                            \
  CB_RING_INLINE uint32_t NAME##_dequeue_n(                                    \
      struct NAME##_consumer *at, uint64_t *values, uint32_t n,                \
      enum cb_ring_mode mode, uint32_t *left)                                  \
  {                                                                            \
    return rte_get(at->ring, PRODUCER, CONSUMER, values, n, mode, left);       \
  }                                                                            \
  CB_RING_INLINE uint64_t NAME##_count(struct cb_ring *ring)                   \
  {                                                                            \
    return rte_count(ring);                                                    \
  }                                                                            \
  CB_RING_INLINE uint64_t NAME##_free_count(struct cb_ring *ring)              \
  {                                                                            \
    return rte_free_count(ring);                                               \
  }

RTE_VARIANT(rte_st, ST, ST)
#define RING rte_st
#include "ring/ring_loops.h"

RTE_VARIANT(rte_mt, MT, MT)
#define RING rte_mt
#include "ring/ring_loops.h"

RTE_VARIANT(rte_mt_st, MT, ST)
#define RING rte_mt_st
#include "ring/ring_loops.h"

RTE_VARIANT(rte_st_mt, ST, MT)
#define RING rte_st_mt
#include "ring/ring_loops.h"

RTE_VARIANT(rte_rts, RTS, RTS)
#define RING rte_rts
#include "ring/ring_loops.h"

RTE_VARIANT(rte_hts, HTS, HTS)
#define RING rte_hts
#include "ring/ring_loops.h"

RTE_VARIANT(rte_any, at->ring->producer.sync, at->ring->consumer.sync)
#define RING rte_any
#include "ring/ring_loops.h"

/* Only st and hts can be had in halves. */
#define RTE_HALVES(SYNC, FUNCTION)                                             \
  ((SYNC) == ST || (SYNC) == HTS ? (FUNCTION) : NULL)
#define RTE_ROW(WORD, PRODUCER, CONSUMER, NAME)                                \
  {                                                                            \
    WORD, PRODUCER, CONSUMER,                                                  \
        {CB_RING_OPS(NAME),                                                    \
         .enqueue_start = RTE_HALVES(PRODUCER, rte_enqueue_start),             \
         .enqueue_finish = RTE_HALVES(PRODUCER, rte_enqueue_finish),           \
         .dequeue_start = RTE_HALVES(CONSUMER, rte_dequeue_start),             \
         .dequeue_finish = RTE_HALVES(CONSUMER, rte_dequeue_finish)},          \
    {                                                                          \
      CB_RING_LOOPS(NAME)                                                      \
    }                                                                          \
  }

static const struct rte_variant {
  const char *word;
  enum rte_sync producer, consumer;
  struct cb_ring_ops ops;
  struct cb_ring_loops loops;
} variants[] = {
    RTE_ROW("st", ST, ST, rte_st),
    RTE_ROW("mt", MT, MT, rte_mt),
    RTE_ROW("rts", RTS, RTS, rte_rts),
    RTE_ROW("hts", HTS, HTS, rte_hts),
    RTE_ROW("st/mt", ST, MT, rte_st_mt),
    RTE_ROW("st/rts", ST, RTS, rte_any),
    RTE_ROW("st/hts", ST, HTS, rte_any),
    RTE_ROW("mt/st", MT, ST, rte_mt_st),
    RTE_ROW("mt/rts", MT, RTS, rte_any),
    RTE_ROW("mt/hts", MT, HTS, rte_any),
    RTE_ROW("rts/st", RTS, ST, rte_any),
    RTE_ROW("rts/mt", RTS, MT, rte_any),
    RTE_ROW("rts/hts", RTS, HTS, rte_any),
    RTE_ROW("hts/st", HTS, ST, rte_any),
    RTE_ROW("hts/mt", HTS, MT, rte_any),
    RTE_ROW("hts/rts", HTS, RTS, rte_any),
};

static const struct rte_variant *rte_variant_of(const struct cb_spec *spec)
{
  const struct rte_variant *variant = variants;
  while (strcmp(variant->word, cb_spec_string(spec, "sync")) != 0)
    variant++;
  return variant;
}

/* ---- creating ---- */

static void rte_side_init(struct rte_side *side, enum rte_sync sync,
                          uint32_t capacity, uint32_t start)
{
  side->sync = sync;
  side->ahead_max = capacity / 8;
  atomic_init(&side->plain.head, start);
  atomic_init(&side->plain.tail, start);
  atomic_init(&side->rts_head, pack(start, 0));
  atomic_init(&side->rts_tail, pack(start, 0));
  atomic_init(&side->hts, pack(start, start));
}

/* One slot stays free, so that a full ring differs from an empty one in the
 * masked count of the original; exact makes room for it. */
static uint64_t rte_slots(const struct cb_spec *spec, struct cb_error *error)
{
  int64_t size = cb_spec_integer(spec, "size");
  if (cb_spec_boolean(spec, "exact"))
    return cb_ring_round_up((uint64_t)size + 1);
  if (cb_ring_power_of_two("rte", size, 2,
                           "one slot stays free; exact = true takes any size",
                           error) < 0)
    return 0;
  return (uint64_t)size;
}

static struct cb_ring *rte_create(const struct cb_spec *spec,
                                  struct cb_error *error)
{
  uint64_t slots = rte_slots(spec, error);
  if (!slots)
    return NULL;
  struct rte_ring *rte =
      cb_ring_allocate(sizeof *rte, slots, sizeof rte->slots[0], error);
  if (!rte)
    return NULL;
  const struct rte_variant *variant = rte_variant_of(spec);
  uint32_t start = (uint32_t)cb_spec_integer(spec, "start");
  rte->shape = (struct headtail_slots){(uint32_t)slots, (uint32_t)slots - 1};
  rte->capacity = cb_spec_boolean(spec, "exact")
                      ? (uint32_t)cb_spec_integer(spec, "size")
                      : rte->shape.mask;
  rte_side_init(&rte->producer, variant->producer, rte->capacity, start);
  rte_side_init(&rte->consumer, variant->consumer, rte->capacity, start);

  rte->ring.ops = &variant->ops;
  rte->ring.loops = &variant->loops;
  rte->ring.limits = (struct cb_ring_limits){
      .producers = variant->producer == ST,
      .consumers = variant->consumer == ST,
      .zero_allowed = true,
      .late_visible = variant->producer == RTS || variant->consumer == RTS};
  rte->ring.wait = cb_ring_wait_of(spec);
  atomic_init(&rte->ring.capacity, rte->capacity);
  return &rte->ring;
}

static const struct cb_option rte_options[] = {
    CB_RING_OPTION_SIZE(1, CB_RING_SLOTS_MAX,
                        "slots, a power of two, one of which stays free"),
    {.name = "exact",
     .type = CB_BOOLEAN,
     .preset = "false",
     .help = "size is the number of elements that fit, and any number"},
    {.name = "sync",
     .type = CB_CHOICE,
     .preset = "mt",
     .choices = "st|mt|rts|hts|st/mt|st/rts|st/hts|mt/st|mt/rts|mt/hts|rts/st|"
                "rts/mt|rts/hts|hts/st|hts/mt|hts/rts",
     .help = "the mode of both sides, or producers/consumers"},
    RING_OPTION_WAIT,
    CB_RING_OPTION_START(CB_RING_START_32),
    {.name = NULL}};

const struct cb_ring_kind cb_ring_rte = {
    .kind.name = "rte",
    .kind.summary = "DPDK's rte_ring: sides st, mt, rts or hts, bulk and burst",
    .kind.options = rte_options,
    .limits = {.zero_allowed = true},
    .create = rte_create,
    .ops = {CB_RING_OPS(rte_mt), .enqueue_start = rte_enqueue_start,
            .enqueue_finish = rte_enqueue_finish,
            .dequeue_start = rte_dequeue_start,
            .dequeue_finish = rte_dequeue_finish},
    .loops = {CB_RING_LOOPS(rte_mt)},
};
