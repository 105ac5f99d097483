/*
 * mine.c - a ring of one's own beside those of cbench: Lamport's queue for one
 * producer and one consumer (1977), both indexes shared, nothing cached.
 *
 *   make && cbench ring_same_cpu --plugin ./mine.so ring=mine,spsc
 *
 * Write the operations as inline functions, include the template, fill in the
 * struct: the template makes whole loops of the operations, so that yours are
 * measured inlined, as the built-in rings are.
 */
#include <cbench/plugin.h>
#include <cbench/ring_loops.h>

#include <errno.h>
#include <stdlib.h>

struct mine {
  struct cb_ring ring; /* every ring starts with it */
  uint64_t mask;
  _Alignas(128) _Atomic uint64_t tail; /* next to be filled */
  _Alignas(128) _Atomic uint64_t head; /* next to be emptied */
  _Alignas(128) uint64_t slots[];
};

/* A cursor is what one side knows by itself; this ring keeps none. */
CB_RING_PLAIN_CURSORS(mine, struct mine)

CB_RING_INLINE bool mine_enqueue(struct mine_producer *at, uint64_t value)
{
  struct mine *mine = at->ring;
  uint64_t tail = atomic_load_explicit(&mine->tail, memory_order_relaxed);
  if (tail - atomic_load_explicit(&mine->head, memory_order_acquire) >
      mine->mask)
    return false;
  mine->slots[tail & mine->mask] = value;
  atomic_store_explicit(&mine->tail, tail + 1, memory_order_release);
  return true;
}

CB_RING_INLINE bool mine_dequeue(struct mine_consumer *at, uint64_t *value)
{
  struct mine *mine = at->ring;
  uint64_t head = atomic_load_explicit(&mine->head, memory_order_relaxed);
  if (atomic_load_explicit(&mine->tail, memory_order_acquire) == head)
    return false;
  *value = mine->slots[head & mine->mask];
  atomic_store_explicit(&mine->head, head + 1, memory_order_release);
  return true;
}

/* May be asked by any thread: the head, read first, is never ahead. */
static uint64_t mine_count(struct cb_ring *ring)
{
  struct mine *mine = (struct mine *)ring;
  uint64_t head = atomic_load_explicit(&mine->head, memory_order_acquire);
  uint64_t count =
      atomic_load_explicit(&mine->tail, memory_order_acquire) - head;
  return count <= mine->mask + 1 ? count : mine->mask + 1;
}

static uint64_t mine_free_count(struct cb_ring *ring)
{
  return ((struct mine *)ring)->mask + 1 - mine_count(ring);
}

/* Many at once, one by one. */
CB_RING_LOOPED(mine)

static struct cb_ring *mine_create(const struct cb_spec *spec,
                                   struct cb_error *error)
{
  uint64_t size = (uint64_t)cb_spec_integer(spec, "size");
  if (size & (size - 1)) {
    cb_fail(error, -EINVAL, "option 'size': %llu is no power of two",
            (unsigned long long)size);
    return NULL;
  }
  size_t bytes = sizeof(struct mine) + size * sizeof(uint64_t);
  struct mine *mine = aligned_alloc(128, (bytes + 127) / 128 * 128);
  if (!mine) {
    cb_fail(error, -ENOMEM, "out of memory");
    return NULL;
  }
  *mine = (struct mine){.mask = size - 1, .ring.capacity = size};
  return &mine->ring;
}

static void mine_destroy(struct cb_ring *ring)
{
  free(ring);
}

#define RING mine
#include <cbench/ring_loops.h>

static const struct cb_option options[] = {
    {.name = "size",
     .type = CB_INTEGER,
     .preset = "1024",
     .min = 1,
     .max = 1 << 24,
     .help = "elements that fit, a power of two"},
    {.name = NULL}};

static const struct cb_ring_kind mine = {
    .kind.name = "mine",
    .kind.summary = "Lamport's: one producer, one consumer, shared indexes",
    .kind.options = options,
    .limits = {.producers = 1, .consumers = 1, .zero_allowed = true},
    .create = mine_create,
    .destroy = mine_destroy,
    .ops = {CB_RING_OPS_BURST(mine)},
    .loops = {CB_RING_LOOPS(mine)},
};

CB_PLUGIN("mine", CB_PLUGIN_KIND(ring, mine));
