/*
 * ring_indexed.h - all of a ring but how an element goes in and out: for kinds
 * that keep their elements in a power of two of slots, with one index of the
 * next slot to be filled and one of the next to be emptied; C11.
 *
 * Write the two operations as inline functions of struct cb_ring_indexed, say
 * RING, include this file again, and put the rest into the kind's struct:
 *
 *   #include <cbench/ring_indexed.h>
 *
 *   CB_RING_INLINE bool mine_enqueue(struct cb_ring_indexed *, uint64_t value)
 *   CB_RING_INLINE bool mine_dequeue(struct cb_ring_indexed *, uint64_t *value)
 *
 *   #define RING mine
 *   #include <cbench/ring_indexed.h>
 *
 *   ... = {.kind.name = "mine", ..., CB_RING_INDEXED(mine)};
 *
 * The kind takes `size` and `start` (the number of its first element, so that
 * a test sees the indexes wrap), counts, and moves many elements one by one.
 * The loops are those of ring_loops.h.
 */
#ifndef CB_RING_INDEXED_H
#define CB_RING_INDEXED_H

#include "ring_loops.h"

#ifdef __cplusplus
#error "cbench/ring_indexed.h is C11; from C++ take cbench/ring_loops.h"
#endif

/* Each side's index, and the slots, in lines of their own: two of 64 bytes,
 * because x86 fetches lines in pairs. */
struct cb_ring_indexed {
  struct cb_ring ring;
  uint64_t mask;                       /* slots - 1; slot index & mask */
  _Alignas(128) _Atomic uint64_t tail; /* next to be filled; only grows */
  _Alignas(128) _Atomic uint64_t head; /* next to be emptied; only grows */
  _Alignas(128) uint64_t slots[];
};

/* Members of the kind's struct. */
#define CB_RING_INDEXED(NAME)                                                  \
  .kind.options = NAME##_options, .create = NAME##_create,                     \
  .ops = {CB_RING_OPS_BURST(NAME)}, .loops = {CB_RING_LOOPS(NAME)}

#endif /* CB_RING_INDEXED_H */

#ifdef RING
#define RING_(word) CB_RING_JOIN(RING, word)

/* For any thread: the head, read first, is never ahead of the tail, but the
 * other side may have gone on meanwhile. */
static inline uint64_t RING_(count)(struct cb_ring *ring)
{
  struct cb_ring_indexed *indexed = (struct cb_ring_indexed *)ring;
  uint64_t head = atomic_load_explicit(&indexed->head, memory_order_acquire);
  uint64_t tail = atomic_load_explicit(&indexed->tail, memory_order_acquire);
  return tail - head <= indexed->mask ? tail - head : indexed->mask + 1;
}

CB_RING_SAY(CB_RING_FREE_COUNT, RING)

static struct cb_ring *RING_(create)(const struct cb_spec *spec,
                                     struct cb_error *error)
{
  int64_t size = cb_spec_integer(spec, "size");
  uint64_t start = (uint64_t)cb_spec_integer(spec, "start");
  if (cb_ring_power_of_two(cb_spec_kind(spec)->name, size, 1, NULL, error) < 0)
    return NULL;
  struct cb_ring_indexed *indexed = (struct cb_ring_indexed *)cb_ring_allocate(
      sizeof *indexed, (uint64_t)size, sizeof indexed->slots[0], error);
  if (!indexed)
    return NULL;
  indexed->mask = (uint64_t)size - 1;
  atomic_init(&indexed->ring.capacity, (uint64_t)size);
  atomic_init(&indexed->head, start);
  atomic_init(&indexed->tail, start);
  return &indexed->ring;
}

static const struct cb_option RING_(options)[] = {
    CB_RING_OPTION_SIZE(1, CB_RING_SLOTS_MAX,
                        "elements that fit, a power of two"),
    CB_RING_OPTION_START(CB_RING_START_64),
    {.name = NULL}};

#undef RING_
#define RING_TYPE struct cb_ring_indexed
#include "ring_loops.h"
#endif
