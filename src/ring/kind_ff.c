/*
 * kind_ff.c - one producer, one consumer, the flag is in the slot; ours, after
 * FastForward (Giacomoni, Moseley and Vachharajani, 2008).
 *
 * A slot that holds 0 is empty, so 0 is no element. There are no shared
 * indexes: a hand-over moves one line, the data's own, where index rings move
 * the index line too, and several lines can be on their way at once. Each
 * side's place lives in its cursor.
 *
 * Orders: slots are atomics, since both sides look at them before they own
 * them. The producer stores with release what the consumer loads with acquire
 * (whatever the element points at comes along), and the consumer's 0 is a
 * release too, so that its read of the element precedes the next one's store.
 * Slots fill and empty in order: when the last of n slots is free (or full),
 * so are those before it, and one acquire covers them all.
 */
#include "ring/ring.h"

struct ff_ring {
  struct cb_ring ring;
  _Alignas(CB_APART) uint64_t tail; /* the producer's place between loops */
  _Alignas(CB_APART) uint64_t head; /* the consumer's */
  _Alignas(CB_APART) _Atomic uint64_t slots[];
};

typedef _Atomic uint64_t ff_slot;

struct ff_producer {
  struct ff_ring *ring;
  ff_slot *slot; /* the next one to fill */
  ff_slot *end;
};

struct ff_consumer {
  struct ff_ring *ring;
  ff_slot *slot; /* the next one to empty */
  ff_slot *end;
};

CB_RING_INLINE struct ff_producer ff_producer_begin(struct cb_ring *ring)
{
  struct ff_ring *ff = (struct ff_ring *)ring;
  struct ff_producer at = {ff, ff->slots + ff->tail,
                           ff->slots + cb_ring_fits(ring)};
  return at;
}

CB_RING_INLINE void ff_producer_end(struct ff_producer *at)
{
  at->ring->tail = (uint64_t)(at->slot - at->ring->slots);
}

CB_RING_INLINE struct ff_consumer ff_consumer_begin(struct cb_ring *ring)
{
  struct ff_ring *ff = (struct ff_ring *)ring;
  struct ff_consumer at = {ff, ff->slots + ff->head,
                           ff->slots + cb_ring_fits(ring)};
  return at;
}

CB_RING_INLINE void ff_consumer_end(struct ff_consumer *at)
{
  at->ring->head = (uint64_t)(at->slot - at->ring->slots);
}

CB_RING_INLINE uint64_t ff_look(ff_slot *slot)
{
  return atomic_load_explicit(slot, memory_order_acquire);
}

CB_RING_INLINE void ff_set(ff_slot *slot, uint64_t value)
{
  atomic_store_explicit(slot, value, memory_order_release);
}

CB_RING_INLINE ff_slot *ff_next(struct ff_ring *ff, ff_slot *slot, ff_slot *end)
{
  if (CB_RING_RARELY(++slot == end)) {
    CB_RING_BRANCH();
    slot = ff->slots;
  }
  return slot;
}

/* Are the n slots from this one on all filled (or all free)? */
CB_RING_INLINE bool ff_all(struct ff_ring *ff, ff_slot *slot, uint32_t n,
                           bool filled)
{
  uint64_t size = cb_ring_fits(&ff->ring);
  if (n == 0 || n > size)
    return n == 0;
  uint64_t last = (uint64_t)(slot - ff->slots) + n - 1;
  return (ff_look(&ff->slots[last % size]) != 0) == filled;
}

CB_RING_INLINE bool ff_enqueue(struct ff_producer *at, uint64_t value)
{
  if (CB_RING_RARELY(ff_look(at->slot) != 0))
    return false;
  ff_set(at->slot, value);
  at->slot = ff_next(at->ring, at->slot, at->end);
  return true;
}

CB_RING_INLINE bool ff_dequeue(struct ff_consumer *at, uint64_t *value)
{
  uint64_t found = ff_look(at->slot);
  if (CB_RING_RARELY(!found))
    return false;
  ff_set(at->slot, 0);
  at->slot = ff_next(at->ring, at->slot, at->end);
  *value = found;
  return true;
}

static uint64_t ff_count(struct cb_ring *ring)
{
  struct ff_ring *ff = (struct ff_ring *)ring;
  uint64_t count = 0;
  for (uint64_t i = 0; i < cb_ring_fits(ring); i++)
    count += atomic_load_explicit(&ff->slots[i], memory_order_relaxed) != 0;
  return count;
}

CB_RING_FREE_COUNT(ff)

CB_RING_INLINE uint32_t ff_enqueue_n(struct ff_producer *at,
                                     const uint64_t *values, uint32_t n,
                                     enum cb_ring_mode mode, uint32_t *room)
{
  uint32_t done = 0;
  if (mode == CB_RING_BURST || ff_all(at->ring, at->slot, n, false))
    while (done < n && ff_enqueue(at, values[done]))
      done++;
  if (room)
    *room = (uint32_t)ff_free_count(&at->ring->ring);
  return done;
}

CB_RING_INLINE uint32_t ff_dequeue_n(struct ff_consumer *at, uint64_t *values,
                                     uint32_t n, enum cb_ring_mode mode,
                                     uint32_t *left)
{
  uint32_t done = 0;
  if (mode == CB_RING_BURST || ff_all(at->ring, at->slot, n, true))
    while (done < n && ff_dequeue(at, &values[done]))
      done++;
  if (left)
    *left = (uint32_t)ff_count(&at->ring->ring);
  return done;
}

static struct cb_ring *ff_create(const struct cb_spec *spec,
                                 struct cb_error *error)
{
  uint64_t size = (uint64_t)cb_spec_integer(spec, "size");
  struct ff_ring *ff =
      cb_ring_allocate(sizeof *ff, size, sizeof ff->slots[0], error);
  if (!ff)
    return NULL;
  atomic_init(&ff->ring.capacity, size);
  return &ff->ring;
}

#define RING ff
#include "ring/ring_loops.h"

static const struct cb_option ff_options[] = {
    CB_RING_OPTION_SIZE(1, CB_RING_SLOTS_MAX, "elements that fit, any number"),
    {.name = NULL}};

const struct cb_ring_kind cb_ring_ff = {
    .kind.name = "ff",
    .kind.summary = "one producer, one consumer; a slot is its own flag, no "
                    "shared index",
    .kind.options = ff_options,
    .limits = {.producers = 1, .consumers = 1},
    .create = ff_create,
    .ops = {CB_RING_OPS(ff)},
    .loops = {CB_RING_LOOPS(ff)},
};
