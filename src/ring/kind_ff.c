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
 * In a plain ring neighbours share a line. Both sides write to it, and so both
 * fetch lines ahead (but a producer of bursts, whose stores to several lines
 * are under way as it is). Behind the last slot is one that is never free, so
 * that the producer asks whether the ring ends there only when a slot is not
 * free.
 *
 * A striped ring is for elements that are answered. Who waits for the answer in
 * another ring runs ahead of it in speculation and looks whether his next slot
 * is free, which brings that line while the answer is on its way. Neighbours
 * would spoil it: his next slot would share the line that the other side is
 * about to clear. And so would running ahead after each poll, those included
 * that find an old value in his own cache: either the look or the store, whose
 * line is fetched once its address is known, would take the line from the other
 * side, which polls there. FF_AFTER_MISS keeps both back for as long as it
 * takes to see that a cached line holds nothing new.
 */
#include "ring/ring.h"

#include <errno.h>

/* How far ahead lines are fetched, in slots: three lines. There are as many
 * behind the one that is never free. */
#define FF_AHEAD 24

struct ff_ring {
  struct cb_ring ring;
  _Alignas(CB_APART) uint64_t tail; /* the producer's slot between loops */
  _Alignas(CB_APART) uint64_t head; /* the consumer's */
  _Alignas(CB_APART) _Atomic uint64_t slots[]; /* and those behind the last */
};

typedef _Atomic uint64_t ff_slot;

CB_RING_INLINE uint64_t ff_look(ff_slot *slot)
{
  return atomic_load_explicit(slot, memory_order_acquire);
}

CB_RING_INLINE void ff_set(ff_slot *slot, uint64_t value)
{
  atomic_store_explicit(slot, value, memory_order_release);
}

CB_RING_INLINE ff_slot *ff_end(struct ff_ring *ff)
{
  return ff->slots + cb_ring_fits(&ff->ring);
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

/* ---- plain */

struct ff_producer {
  struct ff_ring *ring;
  ff_slot *slot; /* the next one to fill */
};

struct ff_consumer {
  struct ff_ring *ring;
  ff_slot *slot; /* the next one to empty */
  ff_slot *end;
};

CB_RING_INLINE struct ff_producer ff_producer_begin(struct cb_ring *ring)
{
  struct ff_ring *ff = (struct ff_ring *)ring;
  struct ff_producer at = {ff, ff->slots + ff->tail};
  return at;
}

CB_RING_INLINE void ff_producer_end(struct ff_producer *at)
{
  at->ring->tail = (uint64_t)(at->slot - at->ring->slots);
}

CB_RING_INLINE struct ff_consumer ff_consumer_begin(struct cb_ring *ring)
{
  struct ff_ring *ff = (struct ff_ring *)ring;
  struct ff_consumer at = {ff, ff->slots + ff->head, ff_end(ff)};
  return at;
}

CB_RING_INLINE void ff_consumer_end(struct ff_consumer *at)
{
  at->ring->head = (uint64_t)(at->slot - at->ring->slots);
}

CB_RING_INLINE bool ff_put(struct ff_producer *at, uint64_t value, bool fetch)
{
  ff_slot *slot = at->slot;
  if (CB_RING_RARELY(ff_look(slot) != 0)) {
    struct ff_ring *ff = at->ring;
    if (slot != ff_end(ff) || ff_look(ff->slots) != 0)
      return false;
    CB_RING_BRANCH();
    slot = ff->slots;
  }
  if (fetch)
    cb_ring_fetch((const void *)(slot + FF_AHEAD));
  ff_set(slot, value);
  at->slot = slot + 1;
  return true;
}

CB_RING_INLINE bool ff_enqueue(struct ff_producer *at, uint64_t value)
{
  return ff_put(at, value, true);
}

/* In a burst, where stores to several lines are under way as it is. */
CB_RING_INLINE bool ff_enqueue_next(struct ff_producer *at, uint64_t value)
{
  return ff_put(at, value, false);
}

CB_RING_INLINE bool ff_dequeue(struct ff_consumer *at, uint64_t *value)
{
  ff_slot *slot = at->slot;
  uint64_t found = ff_look(slot);
  if (CB_RING_RARELY(!found))
    return false;
  cb_ring_fetch((const void *)(slot + FF_AHEAD));
  ff_set(slot, 0);
  at->slot = slot + 1;
  if (CB_RING_RARELY(at->slot == at->end)) {
    CB_RING_BRANCH();
    at->slot = at->ring->slots;
  }
  *value = found;
  return true;
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

/* ---- striped: elements lie in one half and the other in turn */

#if defined __x86_64__ || defined __i386__
/* Six cycles for the address; a load that hits tells after four. On other
 * processors nothing is kept back. */
#define FF_AFTER_MISS(slot)                                                    \
  __asm__("imul $1, %0, %0\n\timul $1, %0, %0" : "+r"(slot))
#else
#define FF_AFTER_MISS(slot) ((void)0)
#endif

struct ff_striped {
  struct ff_ring *ring;
  ff_slot *slot;
  ff_slot *after; /* the one after it */
  ff_slot *end;
};

CB_RING_INLINE struct ff_striped ff_striped_begin(struct cb_ring *ring,
                                                  uint64_t place)
{
  struct ff_ring *ff = (struct ff_ring *)ring;
  ptrdiff_t half = (ptrdiff_t)(cb_ring_fits(ring) / 2);
  ff_slot *slot = ff->slots + place;
  struct ff_striped at = {.ring = ff,
                          .slot = slot,
                          .after = slot - ff->slots < half ? slot + half
                                                           : slot - half + 1,
                          .end = ff_end(ff)};
  return at;
}

CB_RING_INLINE void ff_striped_step(struct ff_striped *at)
{
  ff_slot *next = at->slot + 1;
  at->slot = at->after;
  at->after = next;
  if (CB_RING_RARELY(next == at->end)) {
    CB_RING_BRANCH();
    at->slot = at->ring->slots;
    at->after = at->slot + (at->end - at->slot) / 2;
  }
}

CB_RING_INLINE bool ff_striped_enqueue(struct ff_striped *at, uint64_t value)
{
  ff_slot *slot = at->slot;
  FF_AFTER_MISS(slot);
  if (CB_RING_RARELY(ff_look(slot) != 0))
    return false;
  ff_set(slot, value);
  ff_striped_step(at);
  return true;
}

CB_RING_INLINE bool ff_striped_dequeue(struct ff_striped *at, uint64_t *value)
{
  uint64_t found = ff_look(at->slot);
  if (CB_RING_RARELY(!found))
    return false;
  ff_set(at->slot, 0);
  ff_striped_step(at);
  *value = found;
  return true;
}

/* As ff_all. */
CB_RING_INLINE bool ff_striped_all(struct ff_ring *ff, ff_slot *slot,
                                   uint32_t n, bool filled)
{
  uint64_t size = cb_ring_fits(&ff->ring), half = size / 2;
  if (n == 0 || n > size)
    return n == 0;
  uint64_t place = (uint64_t)(slot - ff->slots);
  uint64_t number = place < half ? place * 2 : (place - half) * 2 + 1;
  uint64_t last = (number + n - 1) % size;
  return (ff_look(&ff->slots[last % 2 * half + last / 2]) != 0) == filled;
}

/* Both sides are alike. */
#define ff_striped_producer ff_striped
#define ff_striped_consumer ff_striped
#define ff_striped_enqueue_next ff_striped_enqueue
#define ff_striped_count ff_count
#define ff_striped_free_count ff_free_count

CB_RING_INLINE struct ff_striped ff_striped_producer_begin(struct cb_ring *ring)
{
  return ff_striped_begin(ring, ((struct ff_ring *)ring)->tail);
}

CB_RING_INLINE void ff_striped_producer_end(struct ff_striped *at)
{
  at->ring->tail = (uint64_t)(at->slot - at->ring->slots);
}

CB_RING_INLINE struct ff_striped ff_striped_consumer_begin(struct cb_ring *ring)
{
  return ff_striped_begin(ring, ((struct ff_ring *)ring)->head);
}

CB_RING_INLINE void ff_striped_consumer_end(struct ff_striped *at)
{
  at->ring->head = (uint64_t)(at->slot - at->ring->slots);
}

/* ---- many, one by one */

#define FF_MANY(NAME)                                                          \
  CB_RING_INLINE uint32_t NAME##_enqueue_n(                                    \
      struct NAME##_producer *at, const uint64_t *values, uint32_t n,          \
      enum cb_ring_mode mode, uint32_t *room)                                  \
  {                                                                            \
    uint32_t done = 0;                                                         \
    struct ff_ring *ff = at->ring;                                             \
    if (mode == CB_RING_BURST || NAME##_all(ff, at->slot, n, false))           \
      while (done < n && NAME##_enqueue_next(at, values[done]))                \
        done++;                                                                \
    if (room)                                                                  \
      *room = (uint32_t)ff_free_count(&ff->ring);                              \
    return done;                                                               \
  }                                                                            \
  CB_RING_INLINE uint32_t NAME##_dequeue_n(                                    \
      struct NAME##_consumer *at, uint64_t *values, uint32_t n,                \
      enum cb_ring_mode mode, uint32_t *left)                                  \
  {                                                                            \
    uint32_t done = 0;                                                         \
    struct ff_ring *ff = at->ring;                                             \
    if (mode == CB_RING_BURST || NAME##_all(ff, at->slot, n, true))            \
      while (done < n && NAME##_dequeue(at, &values[done]))                    \
        done++;                                                                \
    if (left)                                                                  \
      *left = (uint32_t)ff_count(&ff->ring);                                   \
    return done;                                                               \
  }

FF_MANY(ff)
#define RING ff
#include "ring/ring_loops.h"

FF_MANY(ff_striped)
#define RING ff_striped
#include "ring/ring_loops.h"

static const struct cb_ring_ops striped_ops = {CB_RING_OPS(ff_striped)};
static const struct cb_ring_loops striped_loops = {CB_RING_LOOPS(ff_striped)};

static struct cb_ring *ff_create(const struct cb_spec *spec,
                                 struct cb_error *error)
{
  uint64_t size = (uint64_t)cb_spec_integer(spec, "size");
  bool striped = cb_spec_boolean(spec, "striped");
  if (striped && size % 2 != 0) {
    cb_fail(error, -EINVAL,
            "option 'size': a striped ff takes even numbers, got %llu",
            (unsigned long long)size);
    return NULL;
  }
  struct ff_ring *ff = cb_ring_allocate(sizeof *ff, size + 1 + FF_AHEAD,
                                        sizeof ff->slots[0], error);
  if (!ff)
    return NULL;
  if (striped) {
    ff->ring.ops = &striped_ops;
    ff->ring.loops = &striped_loops;
    ff->ring.limits = cb_ring_ff.limits;
  }
  atomic_init(&ff->ring.capacity, size);
  atomic_init(&ff->slots[size], 1);
  return &ff->ring;
}

static const struct cb_option ff_options[] = {
    CB_RING_OPTION_SIZE(1, CB_RING_SLOTS_MAX, "elements that fit, any number"),
    {.name = "striped",
     .type = CB_BOOLEAN,
     .preset = "false",
     .help = "elements in both halves in turn: slower streams, shorter round "
             "trips"},
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
