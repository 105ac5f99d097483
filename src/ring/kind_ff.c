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
 *
 * Elements lie in a lower and an upper half in turn, so that neighbours do not
 * share a line: while the consumer clears one slot, the producer has the line
 * of the next to itself. Behind the last slot is one that is never free, so
 * that the producer asks whether the ring ends there only when a slot is not
 * free.
 *
 * A thread that waits for an element runs ahead of it in speculation, into its
 * answer: the line of its next slot can come while the element is on its way.
 * It also runs ahead after each poll that finds an old value in its own cache,
 * and then either the look or the store, whose line is fetched once its address
 * is known, would take the line from the other side, which polls there. So
 * whoever waited keeps both back for as long as it takes to see that a cached
 * line holds nothing new.
 */
#include "ring/ring.h"

/* How far ahead the consumer fetches lines, in slots of a half: nearly a line.
 * Otherwise it would ask for each line twice, for reading and then to clear it.
 * After a wait it is at the producer's heels and fetches nothing: it would take
 * away the line that the producer writes to. */
#define FF_AHEAD 6

typedef _Atomic uint64_t ff_slot;

struct ff_place {
  ff_slot *slot;
  ff_slot *after; /* the one after it */
};

struct ff_ring {
  struct cb_ring ring;
  ff_slot *upper; /* the first slot of the upper half */
  ff_slot *end;   /* the slot behind the last one, never free */
  _Alignas(CB_APART) struct ff_place tail; /* the producer's between loops */
  _Alignas(CB_APART) struct ff_place head; /* the consumer's */
  _Alignas(CB_APART) ff_slot lower[];
};

/* Slots from the first of the lower half to the first of the upper one: whole
 * lines, of which two or three hold nothing. Their number is odd, since slots a
 * multiple of 4096 bytes apart would look alike to the processor's store queue.
 */
static uint64_t ff_stride(uint64_t size)
{
  const uint64_t line = 64 / sizeof(ff_slot);
  return ((size / 2 / line + 3) | 1) * line;
}

CB_RING_INLINE uint64_t ff_look(ff_slot *slot)
{
  return atomic_load_explicit(slot, memory_order_acquire);
}

CB_RING_INLINE void ff_set(ff_slot *slot, uint64_t value)
{
  atomic_store_explicit(slot, value, memory_order_release);
}

/* The slot of element number `number`, and the number of a slot. */
CB_RING_INLINE ff_slot *ff_slot_of(struct ff_ring *ff, uint64_t number)
{
  return (number % 2 ? ff->upper : ff->lower) + number / 2;
}

CB_RING_INLINE uint64_t ff_number_of(struct ff_ring *ff, ff_slot *slot)
{
  return slot < ff->upper ? (uint64_t)(slot - ff->lower) * 2
                          : (uint64_t)(slot - ff->upper) * 2 + 1;
}

static uint64_t ff_count(struct cb_ring *ring)
{
  struct ff_ring *ff = (struct ff_ring *)ring;
  uint64_t count = 0;
  for (uint64_t i = 0; i < cb_ring_fits(ring); i++)
    count += atomic_load_explicit(ff_slot_of(ff, i), memory_order_relaxed) != 0;
  return count;
}

CB_RING_FREE_COUNT(ff)

/* ---- one side's place */

struct ff_producer {
  struct ff_ring *ring;
  struct ff_place place;
};

struct ff_consumer {
  struct ff_ring *ring;
  struct ff_place place;
  ff_slot *end;
};

CB_RING_INLINE struct ff_place ff_start(struct ff_ring *ff)
{
  struct ff_place start = {ff->lower, ff->upper};
  return start;
}

CB_RING_INLINE void ff_step(struct ff_place *place)
{
  ff_slot *next = place->slot + 1;
  place->slot = place->after;
  place->after = next;
}

CB_RING_INLINE struct ff_producer ff_producer_begin(struct cb_ring *ring)
{
  struct ff_ring *ff = (struct ff_ring *)ring;
  struct ff_producer at = {ff, ff->tail};
  return at;
}

CB_RING_INLINE void ff_producer_end(struct ff_producer *at)
{
  at->ring->tail = at->place;
}

CB_RING_INLINE struct ff_consumer ff_consumer_begin(struct cb_ring *ring)
{
  struct ff_ring *ff = (struct ff_ring *)ring;
  struct ff_consumer at = {ff, ff->head, ff->end};
  return at;
}

CB_RING_INLINE void ff_consumer_end(struct ff_consumer *at)
{
  at->ring->head = at->place;
}

/* ---- one by one */

CB_RING_INLINE bool ff_enqueue(struct ff_producer *at, uint64_t value)
{
  if (CB_RING_RARELY(ff_look(at->place.slot) != 0)) {
    struct ff_ring *ff = at->ring;
    if (at->place.slot != ff->end || ff_look(ff->lower) != 0)
      return false;
    CB_RING_BRANCH();
    at->place = ff_start(ff);
  }
  ff_set(at->place.slot, value);
  ff_step(&at->place);
  return true;
}

CB_RING_INLINE bool ff_take(struct ff_consumer *at, uint64_t *value, bool fetch)
{
  uint64_t found = ff_look(at->place.slot);
  if (CB_RING_RARELY(!found))
    return false;
  if (fetch)
    cb_ring_fetch((const void *)(at->place.slot + FF_AHEAD));
  ff_set(at->place.slot, 0);
  ff_step(&at->place);
  if (CB_RING_RARELY(at->place.slot == at->end)) {
    CB_RING_BRANCH();
    at->place = ff_start(at->ring);
  }
  *value = found;
  return true;
}

CB_RING_INLINE bool ff_dequeue(struct ff_consumer *at, uint64_t *value)
{
  return ff_take(at, value, true);
}

CB_RING_INLINE bool ff_dequeue_waited(struct ff_consumer *at, uint64_t *value)
{
  return ff_take(at, value, false);
}
#define RING_DEQUEUE_WAITED ff_dequeue_waited

#if defined __x86_64__ || defined __i386__
#define FF_THREE_CYCLES "imul $1, %0, %0\n\t"

/* Six cycles, since a load that hits tells after four what it found; then the
 * line is asked for, for writing, and the look comes after that. Elsewhere than
 * on x86 nothing is kept back. */
CB_RING_INLINE void ff_keep_back(struct ff_producer *at)
{
  __asm__ volatile(FF_THREE_CYCLES FF_THREE_CYCLES
                   "prefetchw (%0)\n\t" FF_THREE_CYCLES
                   : "+r"(at->place.slot));
}
#define RING_ANSWERS(at) ff_keep_back(at)
#endif

/* ---- many, one by one */

/* Are the n slots from this one on all filled (or all free)? */
CB_RING_INLINE bool ff_all(struct ff_ring *ff, ff_slot *slot, uint32_t n,
                           bool filled)
{
  uint64_t size = cb_ring_fits(&ff->ring);
  if (n == 0 || n > size)
    return n == 0;
  uint64_t last = ff_number_of(ff, slot) + n - 1;
  return (ff_look(ff_slot_of(ff, last % size)) != 0) == filled;
}

CB_RING_INLINE uint32_t ff_enqueue_n(struct ff_producer *at,
                                     const uint64_t *values, uint32_t n,
                                     enum cb_ring_mode mode, uint32_t *room)
{
  uint32_t done = 0;
  if (mode == CB_RING_BURST || ff_all(at->ring, at->place.slot, n, false))
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
  if (mode == CB_RING_BURST || ff_all(at->ring, at->place.slot, n, true))
    while (done < n && ff_dequeue(at, &values[done]))
      done++;
  if (left)
    *left = (uint32_t)ff_count(&at->ring->ring);
  return done;
}

#define RING ff
#include "ring/ring_loops.h"

static struct cb_ring *ff_create(const struct cb_spec *spec,
                                 struct cb_error *error)
{
  uint64_t size = (uint64_t)cb_spec_integer(spec, "size");
  uint64_t stride = ff_stride(size);
  struct ff_ring *ff = cb_ring_allocate(
      sizeof *ff, stride + size / 2 + 1 + FF_AHEAD, sizeof ff->lower[0], error);
  if (!ff)
    return NULL;
  atomic_init(&ff->ring.capacity, size);
  ff->upper = ff->lower + stride;
  ff->end = ff_slot_of(ff, size);
  atomic_init(ff->end, 1);
  ff->tail = ff->head = ff_start(ff);
  return &ff->ring;
}

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
