/* mine.c - a ring of one's own beside those of cbench: Lamport's queue (1977),
 * one producer, one consumer, both indexes shared, nothing cached.
 *
 *   make && cbench ring_same_cpu --plugin ./mine.so ring=mine,spsc
 */
#include <cbench/plugin.h>
#include <cbench/ring_indexed.h>

CB_RING_INLINE bool mine_enqueue(struct cb_ring_indexed *mine, uint64_t value)
{
  uint64_t tail = atomic_load_explicit(&mine->tail, memory_order_relaxed);
  if (tail - atomic_load_explicit(&mine->head, memory_order_acquire) >
      mine->mask)
    return false;
  mine->slots[tail & mine->mask] = value;
  atomic_store_explicit(&mine->tail, tail + 1, memory_order_release);
  return true;
}

CB_RING_INLINE bool mine_dequeue(struct cb_ring_indexed *mine, uint64_t *value)
{
  uint64_t head = atomic_load_explicit(&mine->head, memory_order_relaxed);
  if (atomic_load_explicit(&mine->tail, memory_order_acquire) == head)
    return false;
  *value = mine->slots[head & mine->mask];
  atomic_store_explicit(&mine->head, head + 1, memory_order_release);
  return true;
}

#define RING mine
#include <cbench/ring_indexed.h>

static const struct cb_ring_kind mine = {
    .kind.name = "mine",
    .kind.summary = "Lamport's: one producer, one consumer, shared indexes",
    .limits = {.producers = 1, .consumers = 1, .zero_allowed = true},
    CB_RING_INDEXED(mine),
};

CB_PLUGIN("mine", CB_PLUGIN_KIND(ring, mine));
