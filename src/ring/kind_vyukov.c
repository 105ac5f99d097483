/*
 * kind_vyukov.c - any number of producers and consumers, after Dmitry Vyukov's
 * bounded queue: each slot carries the number of the turn it is in. Ours adds
 * claims of many at once.
 *
 * Slot i starts at turn i. A producer may fill it when its turn equals the
 * producer's position, and sets it to position + 1; a consumer may empty it
 * then, and sets it to the turn it has next lap. A thread that loses its CPU
 * between its claim and its slot holds up that slot alone: nobody waits for a
 * turn, and there is no lock step. The price is a late view: what was enqueued
 * later stays out of sight until that slot is done.
 *
 * A claim of many looks at the turns one after another from its position on
 * and swaps the position once by as many as it found ready. A ready slot stays
 * ready: only whoever moves the position past it may touch it.
 *
 * Orders: the turn is loaded with acquire and stored with release, and carries
 * the plain value with it; the position only claims, relaxed. Positions are
 * 64-bit and never wrap. The smallest ring has two slots: with one, "free" of
 * this lap and "filled" of the last would be the same number.
 */
#include "ring/ring.h"

#include <string.h>

struct vyukov_slot {
  _Atomic uint64_t turn;
  uint64_t value;
};

struct vyukov_ring {
  struct cb_ring ring;
  uint64_t mask;
  _Alignas(CB_APART) _Atomic uint64_t tail; /* the next producer's position */
  _Alignas(CB_APART) _Atomic uint64_t head; /* the next consumer's */
  _Alignas(CB_APART) struct vyukov_slot slots[];
};

CB_RING_INLINE struct vyukov_slot *vyukov_slot(struct vyukov_ring *vyukov,
                                               uint64_t position)
{
  return &vyukov->slots[position & vyukov->mask];
}

/* How far the slot is from the turn: 0 it is there, negative not yet, positive
 * somebody else has had it. */
CB_RING_INLINE int64_t vyukov_lag(struct vyukov_slot *slot, uint64_t turn)
{
  return (int64_t)(atomic_load_explicit(&slot->turn, memory_order_acquire) -
                   turn);
}

/* Claims one slot; NULL when it is not ready. Producers want its turn to be
 * the position, consumers one `ahead`. The slot is found before the swap: a
 * locked instruction lets nothing behind it begin early. */
CB_RING_INLINE struct vyukov_slot *vyukov_claim(struct vyukov_ring *vyukov,
                                                _Atomic uint64_t *position,
                                                uint64_t ahead, uint64_t *place)
{
  uint64_t at = atomic_load_explicit(position, memory_order_relaxed);
  for (;;) {
    struct vyukov_slot *slot = vyukov_slot(vyukov, at);
    int64_t lag = vyukov_lag(slot, at + ahead);
    if (CB_RING_RARELY(lag < 0))
      return NULL;
    if (CB_RING_RARELY(lag > 0)) {
      /* The position is old. */
      at = atomic_load_explicit(position, memory_order_relaxed);
      continue;
    }
    *place = at;
    if (CB_RING_MOSTLY(atomic_compare_exchange_strong_explicit(
            position, &at, at + 1, memory_order_relaxed, memory_order_relaxed)))
      return slot;
  }
}

/* Slots in a row from position on before the array ends, n at most. */
CB_RING_INLINE uint32_t vyukov_straight(struct vyukov_ring *vyukov,
                                        uint64_t position, uint32_t n)
{
  uint64_t left = vyukov->mask + 1 - (position & vyukov->mask);
  return n < left ? n : (uint32_t)left;
}

CB_RING_INLINE bool vyukov_is(struct vyukov_slot *slot, uint64_t turn)
{
  return atomic_load_explicit(&slot->turn, memory_order_acquire) == turn;
}

/* How many of n slots in a row are ready: all those before the first that is
 * not. A function of its own: in line wherever it is wanted, so many branches
 * are predicted well or badly by where they happen to lie. */
CB_RING_APART uint32_t vyukov_ready_row(struct vyukov_slot *slot, uint64_t turn,
                                        uint32_t n)
{
  uint32_t i = 0;
  for (; n - i >= 4; i += 4, slot += 4, turn += 4)
    if (!vyukov_is(&slot[0], turn) || !vyukov_is(&slot[1], turn + 1) ||
        !vyukov_is(&slot[2], turn + 2) || !vyukov_is(&slot[3], turn + 3))
      break;
  for (; i < n && vyukov_is(slot, turn); i++, slot++)
    turn++;
  return i;
}

/* Slots from position on that are ready, n at most, which the ring has. */
CB_RING_INLINE uint32_t vyukov_ready(struct vyukov_ring *vyukov,
                                     uint64_t position, uint64_t ahead,
                                     uint32_t n)
{
  uint32_t row = vyukov_straight(vyukov, position, n);
  uint32_t ready =
      vyukov_ready_row(vyukov_slot(vyukov, position), position + ahead, row);
  if (CB_RING_RARELY(row < n) && ready == row)
    ready += vyukov_ready_row(vyukov->slots, position + ahead + row, n - row);
  return ready;
}

/* Claims up to n slots in a row (bulk: n or none) and says how many. */
CB_RING_INLINE uint32_t vyukov_claim_n(struct vyukov_ring *vyukov,
                                       _Atomic uint64_t *position,
                                       uint64_t ahead, uint32_t n,
                                       enum cb_ring_mode mode, uint64_t *place)
{
  uint64_t at = atomic_load_explicit(position, memory_order_relaxed);
  uint32_t most = n <= vyukov->mask ? n : (uint32_t)vyukov->mask + 1;
  for (;;) {
    uint32_t ready = vyukov_ready(vyukov, at, ahead, most);
    if (CB_RING_RARELY(ready < n)) {
      uint64_t now = atomic_load_explicit(position, memory_order_relaxed);
      if (now != at) { /* others have had them */
        at = now;
        continue;
      }
      if (ready == 0 || mode == CB_RING_BULK)
        return 0;
    }
    *place = at;
    if (CB_RING_MOSTLY(atomic_compare_exchange_strong_explicit(
            position, &at, at + ready, memory_order_relaxed,
            memory_order_relaxed)))
      return ready;
  }
}

CB_RING_INLINE void vyukov_fill(struct vyukov_slot *slot, uint64_t place,
                                uint64_t value)
{
  slot->value = value;
  atomic_store_explicit(&slot->turn, place + 1, memory_order_release);
}

/* Leaves the slot to the next lap. */
CB_RING_INLINE uint64_t vyukov_empty(struct vyukov_slot *slot, uint64_t next)
{
  uint64_t value = slot->value;
  atomic_store_explicit(&slot->turn, next, memory_order_release);
  return value;
}

CB_RING_INLINE void vyukov_fill_row(struct vyukov_slot *slot, uint64_t place,
                                    const uint64_t *values, uint32_t n)
{
  for (; n >= 4; n -= 4, slot += 4, place += 4, values += 4) {
    vyukov_fill(&slot[0], place, values[0]);
    vyukov_fill(&slot[1], place + 1, values[1]);
    vyukov_fill(&slot[2], place + 2, values[2]);
    vyukov_fill(&slot[3], place + 3, values[3]);
  }
  for (; n > 0; n--)
    vyukov_fill(slot++, place++, *values++);
}

CB_RING_INLINE void vyukov_empty_row(struct vyukov_slot *slot, uint64_t next,
                                     uint64_t *values, uint32_t n)
{
  for (; n >= 4; n -= 4, slot += 4, next += 4, values += 4) {
    values[0] = vyukov_empty(&slot[0], next);
    values[1] = vyukov_empty(&slot[1], next + 1);
    values[2] = vyukov_empty(&slot[2], next + 2);
    values[3] = vyukov_empty(&slot[3], next + 3);
  }
  for (; n > 0; n--)
    *values++ = vyukov_empty(slot++, next++);
}

CB_RING_INLINE bool vyukov_put(struct vyukov_ring *vyukov, uint64_t value)
{
  uint64_t place;
  struct vyukov_slot *slot = vyukov_claim(vyukov, &vyukov->tail, 0, &place);
  if (CB_RING_RARELY(!slot))
    return false;
  vyukov_fill(slot, place, value);
  return true;
}

CB_RING_INLINE bool vyukov_get(struct vyukov_ring *vyukov, uint64_t *value)
{
  uint64_t place;
  struct vyukov_slot *slot = vyukov_claim(vyukov, &vyukov->head, 1, &place);
  if (CB_RING_RARELY(!slot))
    return false;
  *value = vyukov_empty(slot, place + vyukov->mask + 1);
  return true;
}

/* Between the two reads others may go on: clamped. */
static uint64_t vyukov_count(struct cb_ring *ring)
{
  struct vyukov_ring *vyukov = (struct vyukov_ring *)ring;
  uint64_t head = atomic_load_explicit(&vyukov->head, memory_order_acquire);
  uint64_t tail = atomic_load_explicit(&vyukov->tail, memory_order_acquire);
  uint64_t count = tail - head;
  if ((int64_t)count < 0)
    return 0;
  return count < cb_ring_fits(ring) ? count : cb_ring_fits(ring);
}

CB_RING_FREE_COUNT(vyukov)

#define VYUKOV_VARIANT(NAME)                                                   \
  CB_RING_PLAIN_CURSORS(NAME, struct vyukov_ring)                              \
  CB_RING_INLINE bool NAME##_enqueue(struct NAME##_producer *at,               \
                                     uint64_t value)                           \
  {                                                                            \
    return vyukov_put(at->ring, value);                                        \
  }                                                                            \
  CB_RING_INLINE bool NAME##_dequeue(struct NAME##_consumer *at,               \
                                     uint64_t *value)                          \
  {                                                                            \
    return vyukov_get(at->ring, value);                                        \
  }                                                                            \
  CB_RING_INLINE uint64_t NAME##_count(struct cb_ring *ring)                   \
  {                                                                            \
    return vyukov_count(ring);                                                 \
  }                                                                            \
  CB_RING_INLINE uint64_t NAME##_free_count(struct cb_ring *ring)              \
  {                                                                            \
    return vyukov_free_count(ring);                                            \
  }

VYUKOV_VARIANT(vyukov_bulk)

CB_RING_INLINE uint32_t vyukov_bulk_enqueue_n(struct vyukov_bulk_producer *at,
                                              const uint64_t *values,
                                              uint32_t n,
                                              enum cb_ring_mode mode,
                                              uint32_t *room)
{
  struct vyukov_ring *vyukov = at->ring;
  uint64_t place = 0;
  n = vyukov_claim_n(vyukov, &vyukov->tail, 0, n, mode, &place);
  uint32_t row = vyukov_straight(vyukov, place, n);
  vyukov_fill_row(vyukov_slot(vyukov, place), place, values, row);
  if (CB_RING_RARELY(row < n))
    vyukov_fill_row(vyukov->slots, place + row, values + row, n - row);
  if (room)
    *room = (uint32_t)vyukov_free_count(&vyukov->ring);
  return n;
}

CB_RING_INLINE uint32_t vyukov_bulk_dequeue_n(struct vyukov_bulk_consumer *at,
                                              uint64_t *values, uint32_t n,
                                              enum cb_ring_mode mode,
                                              uint32_t *left)
{
  struct vyukov_ring *vyukov = at->ring;
  uint64_t place = 0;
  n = vyukov_claim_n(vyukov, &vyukov->head, 1, n, mode, &place);
  uint64_t next = place + vyukov->mask + 1;
  uint32_t row = vyukov_straight(vyukov, place, n);
  vyukov_empty_row(vyukov_slot(vyukov, place), next, values, row);
  if (CB_RING_RARELY(row < n))
    vyukov_empty_row(vyukov->slots, next + row, values + row, n - row);
  if (left)
    *left = (uint32_t)vyukov_count(&vyukov->ring);
  return n;
}

#define RING vyukov_bulk
#include "ring/ring_loops.h"

VYUKOV_VARIANT(vyukov_single)
CB_RING_LOOPED(vyukov_single)
#define RING vyukov_single
#include "ring/ring_loops.h"

static const struct cb_ring_ops single_ops = {CB_RING_OPS_BURST(vyukov_single)};
static const struct cb_ring_loops single_loops = {CB_RING_LOOPS(vyukov_single)};

static struct cb_ring *vyukov_create(const struct cb_spec *spec,
                                     struct cb_error *error)
{
  int64_t size = cb_spec_integer(spec, "size");
  if (cb_ring_power_of_two("vyukov", size, 2, "ptr_ring takes any size",
                           error) < 0)
    return NULL;
  struct vyukov_ring *vyukov = cb_ring_allocate(sizeof *vyukov, (uint64_t)size,
                                                sizeof vyukov->slots[0], error);
  if (!vyukov)
    return NULL;
  if (strcmp(cb_spec_string(spec, "claim"), "single") == 0) {
    vyukov->ring.ops = &single_ops;
    vyukov->ring.loops = &single_loops;
    vyukov->ring.limits = cb_ring_vyukov.limits;
  }
  vyukov->mask = (uint64_t)size - 1;
  atomic_init(&vyukov->ring.capacity, (uint64_t)size);

  uint64_t start = (uint64_t)cb_spec_integer(spec, "start");
  for (uint64_t i = 0; i < (uint64_t)size; i++)
    atomic_init(&vyukov_slot(vyukov, start + i)->turn, start + i);
  atomic_init(&vyukov->head, start);
  atomic_init(&vyukov->tail, start);
  return &vyukov->ring;
}

static const struct cb_option vyukov_options[] = {
    CB_RING_OPTION_SIZE(2, CB_RING_SLOTS_MAX,
                        "elements that fit, a power of two"),
    {.name = "claim",
     .type = CB_CHOICE,
     .preset = "bulk",
     .choices = "bulk|single",
     .help = "many elements are claimed at once, or one by one"},
    CB_RING_OPTION_START(CB_RING_START_64),
    {.name = NULL}};

const struct cb_ring_kind cb_ring_vyukov = {
    .kind.name = "vyukov",
    .kind.summary = "any number on each side; a turn in each slot, nobody "
                    "waits for another's",
    .kind.options = vyukov_options,
    .limits = {.zero_allowed = true, .late_visible = true},
    .create = vyukov_create,
    .ops = {CB_RING_OPS(vyukov_bulk)},
    .loops = {CB_RING_LOOPS(vyukov_bulk)},
};
