/*
 * kind_ptr_ring.c - after Linux's ptr_ring (include/linux/ptr_ring.h): an array
 * of pointers in which NULL means a free slot, a spin lock for each side, any
 * size, resize and unconsume. skb_array is the same ring, of packets.
 *
 * Consumed slots are given back in batches of two cache lines, in reverse
 * order, so that the line which the producer looks at next is written last:
 * the two sides write to one line less often. The price is that a full ring
 * takes sixteen dequeues before an enqueue succeeds. Small rings (less than
 * two batches) give slots back one by one.
 *
 * NULL wedges the original for good: produce accepts it, and the consumer then
 * waits for ever at a slot that looks free. Here it is refused above.
 *
 * Orders: each side is ordered by its lock, the two sides by the slots. The
 * element is stored with release and loaded with acquire; the NULL is stored
 * with release, so that the read of the element precedes it, and tested with
 * acquire. Where both locks are wanted the consumer's is taken first. Indexes
 * are written by one side and ordered by its lock; they are atomics (relaxed)
 * for those who count without it.
 */
#include "ring/ring.h"

#include <errno.h>
#include <stdlib.h>

typedef _Atomic uint64_t slot;

/* Slots given back at once: two lines of pointers. */
#define BATCH (2 * 64 / sizeof(slot))

struct ptr_ring {
  struct cb_ring ring;
  _Alignas(CB_APART) _Atomic uint32_t producer;
  struct cb_ttas producer_lock;
  _Alignas(CB_APART) _Atomic uint32_t head; /* next to consume */
  _Atomic uint32_t tail; /* first consumed and not given back */
  struct cb_ttas consumer_lock;
  _Alignas(CB_APART) uint32_t size; /* changed under both locks */
  uint32_t batch;
  slot *queue;
};

CB_RING_PLAIN_CURSORS(ptr_ring, struct ptr_ring)
CB_RING_PLAIN_CURSORS(ptr_bare, struct ptr_ring)

CB_RING_INLINE uint64_t slot_look(slot *queue, uint32_t index)
{
  return atomic_load_explicit(&queue[index], memory_order_acquire);
}

CB_RING_INLINE void slot_set(slot *queue, uint32_t index, uint64_t value)
{
  atomic_store_explicit(&queue[index], value, memory_order_release);
}

CB_RING_INLINE uint32_t get(_Atomic uint32_t *index)
{
  return atomic_load_explicit(index, memory_order_relaxed);
}

CB_RING_INLINE void set(_Atomic uint32_t *index, uint32_t value)
{
  atomic_store_explicit(index, value, memory_order_relaxed);
}

CB_RING_INLINE bool produce(struct ptr_ring *ptr, uint64_t value)
{
  uint32_t index = get(&ptr->producer);
  if (slot_look(ptr->queue, index))
    return false;
  slot_set(ptr->queue, index, value);
  set(&ptr->producer, index + 1 < ptr->size ? index + 1 : 0);
  return true;
}

/* Gives the slots from tail up to end back, the last one first. */
CB_RING_INLINE void give_back(struct ptr_ring *ptr, uint32_t tail, uint32_t end)
{
  for (uint32_t i = end; i-- > tail;)
    slot_set(ptr->queue, i, 0);
}

CB_RING_INLINE bool consume(struct ptr_ring *ptr, uint64_t *value)
{
  uint32_t head = get(&ptr->head);
  uint64_t found = slot_look(ptr->queue, head);
  if (!found)
    return false;
  *value = found;
  uint32_t tail = get(&ptr->tail);
  if (++head - tail >= ptr->batch || head >= ptr->size) {
    give_back(ptr, tail, head);
    if (head >= ptr->size)
      head = 0;
    set(&ptr->tail, head);
  }
  set(&ptr->head, head);
  return true;
}

CB_RING_INLINE bool ptr_ring_enqueue(struct ptr_ring_producer *at,
                                     uint64_t value)
{
  if (!cb_ring_lock(&at->ring->ring, &at->ring->producer_lock))
    return false;
  bool done = produce(at->ring, value);
  cb_ring_unlock(&at->ring->producer_lock);
  return done;
}

CB_RING_INLINE bool ptr_ring_dequeue(struct ptr_ring_consumer *at,
                                     uint64_t *value)
{
  if (!cb_ring_lock(&at->ring->ring, &at->ring->consumer_lock))
    return false;
  bool done = consume(at->ring, value);
  cb_ring_unlock(&at->ring->consumer_lock);
  return done;
}

CB_RING_INLINE bool ptr_bare_enqueue(struct ptr_bare_producer *at,
                                     uint64_t value)
{
  return produce(at->ring, value);
}

CB_RING_INLINE bool ptr_bare_dequeue(struct ptr_bare_consumer *at,
                                     uint64_t *value)
{
  return consume(at->ring, value);
}

static bool lock_both(struct ptr_ring *ptr)
{
  if (!cb_ring_lock(&ptr->ring, &ptr->consumer_lock))
    return false;
  if (cb_ring_lock(&ptr->ring, &ptr->producer_lock))
    return true;
  cb_ring_unlock(&ptr->consumer_lock);
  return false;
}

static void unlock_both(struct ptr_ring *ptr)
{
  cb_ring_unlock(&ptr->producer_lock);
  cb_ring_unlock(&ptr->consumer_lock);
}

/* Slots from one index to another, around the end; from an index to itself it
 * is all of them or none. */
static uint64_t distance(struct ptr_ring *ptr, uint32_t from, uint32_t to,
                         bool all)
{
  if (from == to)
    return all ? ptr->size : 0;
  return to > from ? to - from : ptr->size - from + to;
}

static uint64_t ptr_bare_count(struct cb_ring *ring)
{
  struct ptr_ring *ptr = (struct ptr_ring *)ring;
  uint32_t head = get(&ptr->head);
  bool full = slot_look(ptr->queue, head) != 0;
  return distance(ptr, head, get(&ptr->producer), full);
}

static uint64_t ptr_bare_free_count(struct cb_ring *ring)
{
  struct ptr_ring *ptr = (struct ptr_ring *)ring;
  uint32_t producer = get(&ptr->producer);
  bool empty = slot_look(ptr->queue, producer) == 0;
  return distance(ptr, producer, get(&ptr->tail), empty);
}

/* With the locks: a resize may take the queue away. */
static uint64_t ptr_ring_count(struct cb_ring *ring)
{
  if (!lock_both((struct ptr_ring *)ring))
    return 0;
  uint64_t count = ptr_bare_count(ring);
  unlock_both((struct ptr_ring *)ring);
  return count;
}

static uint64_t ptr_ring_free_count(struct cb_ring *ring)
{
  if (!lock_both((struct ptr_ring *)ring))
    return 0;
  uint64_t count = ptr_bare_free_count(ring);
  unlock_both((struct ptr_ring *)ring);
  return count;
}

/* There is no batched produce in the original, so elements go in one by one;
 * consume_batched takes the lock once. */
CB_RING_INLINE uint32_t ptr_ring_enqueue_n(struct ptr_ring_producer *at,
                                           const uint64_t *values, uint32_t n,
                                           enum cb_ring_mode mode,
                                           uint32_t *room)
{
  uint32_t done = 0;
  (void)mode;
  while (done < n && ptr_ring_enqueue(at, values[done]))
    done++;
  if (room)
    *room = (uint32_t)ptr_ring_free_count(&at->ring->ring);
  return done;
}

CB_RING_INLINE uint32_t ptr_ring_dequeue_n(struct ptr_ring_consumer *at,
                                           uint64_t *values, uint32_t n,
                                           enum cb_ring_mode mode,
                                           uint32_t *left)
{
  uint32_t done = 0;
  (void)mode;
  if (!cb_ring_lock(&at->ring->ring, &at->ring->consumer_lock))
    return 0;
  while (done < n && consume(at->ring, &values[done]))
    done++;
  cb_ring_unlock(&at->ring->consumer_lock);
  if (left)
    *left = (uint32_t)ptr_ring_count(&at->ring->ring);
  return done;
}

CB_RING_LOOPED(ptr_bare)

/* ---- creating, resizing, putting back ---- */

static slot *new_queue(uint64_t size, struct cb_error *error)
{
  slot *queue = calloc(size, sizeof *queue);
  if (!queue)
    cb_fail(error, -ENOMEM, "out of memory for a ring of %llu slots",
            (unsigned long long)size);
  return queue;
}

static void set_size(struct ptr_ring *ptr, uint32_t size)
{
  ptr->size = size;
  ptr->batch = BATCH > size / 2 ? 1 : BATCH;
  atomic_store_explicit(&ptr->ring.capacity, size, memory_order_relaxed);
}

static int ptr_ring_resize(struct cb_ring *ring, uint32_t size,
                           cb_ring_drop *drop, void *context,
                           struct cb_error *error)
{
  struct ptr_ring *ptr = (struct ptr_ring *)ring;
  slot *queue = new_queue(size, error);
  if (!queue)
    return -ENOMEM;
  if (!lock_both(ptr)) {
    free(queue);
    return cb_fail(error, -EINTR, "stopped while waiting for the ring's locks");
  }

  uint32_t kept = 0;
  for (uint64_t value; consume(ptr, &value);)
    if (kept < size)
      slot_set(queue, kept++, value);
    else if (drop)
      drop(context, value);
  slot *old = ptr->queue;
  ptr->queue = queue;
  set(&ptr->head, 0);
  set(&ptr->tail, 0);
  set(&ptr->producer, kept < size ? kept : 0);
  set_size(ptr, size);
  unlock_both(ptr);
  free(old);
  return 0;
}

static uint32_t ptr_ring_unconsume(struct cb_ring *ring, const uint64_t *values,
                                   uint32_t n, cb_ring_drop *drop,
                                   void *context)
{
  struct ptr_ring *ptr = (struct ptr_ring *)ring;
  uint32_t left = n;
  if (!lock_both(ptr))
    return 0;
  uint32_t head = get(&ptr->head);
  /* So that a slot that is not NULL is one with an element in it. */
  give_back(ptr, get(&ptr->tail), head);
  while (left) {
    uint32_t before = (head ? head : ptr->size) - 1;
    if (slot_look(ptr->queue, before))
      break;
    slot_set(ptr->queue, before, values[--left]);
    head = before;
  }
  set(&ptr->head, head);
  set(&ptr->tail, head);
  unlock_both(ptr);
  for (uint32_t i = left; drop && i--;)
    drop(context, values[i]);
  return n - left;
}

static void ptr_ring_destroy(struct cb_ring *ring)
{
  free(((struct ptr_ring *)ring)->queue);
  free(ring);
}

#define RING ptr_ring
#include "ring/ring_loops.h"
#define RING ptr_bare
#include "ring/ring_loops.h"

static const struct cb_ring_ops bare_ops = {CB_RING_OPS_BURST(ptr_bare),
                                            .resize = ptr_ring_resize,
                                            .unconsume = ptr_ring_unconsume};
static const struct cb_ring_loops bare_loops = {CB_RING_LOOPS(ptr_bare)};

static struct cb_ring *ptr_ring_create(const struct cb_spec *spec,
                                       struct cb_error *error)
{
  uint64_t size = (uint64_t)cb_spec_integer(spec, "size");
  struct ptr_ring *ptr = cb_ring_allocate(sizeof *ptr, 0, 0, error);
  if (!ptr)
    return NULL;
  ptr->queue = new_queue(size, error);
  if (!ptr->queue) {
    free(ptr);
    return NULL;
  }
  cb_ttas_init(&ptr->producer_lock);
  cb_ttas_init(&ptr->consumer_lock);
  set_size(ptr, (uint32_t)size);
  ptr->ring.wait = cb_ring_wait_of(spec);
  if (!cb_spec_boolean(spec, "locked")) {
    ptr->ring.ops = &bare_ops;
    ptr->ring.loops = &bare_loops;
    ptr->ring.limits = (struct cb_ring_limits){
        .producers = 1, .consumers = 1, .lazy_free = true};
  }
  return &ptr->ring;
}

static const struct cb_option ptr_ring_options[] = {
    CB_RING_OPTION_SIZE(1, CB_RING_SLOTS_MAX, "elements that fit, any number"),
    {.name = "locked",
     .type = CB_BOOLEAN,
     .preset = "true",
     .help = "false: without the locks, for one producer and one consumer"},
    RING_OPTION_WAIT,
    {.name = NULL}};

const struct cb_ring_kind cb_ring_ptr_ring = {
    .kind.name = "ptr_ring",
    .kind.summary = "Linux's: NULL is a free slot, a lock a side, slots are "
                    "given back in batches",
    .kind.options = ptr_ring_options,
    .limits = {.lazy_free = true},
    .create = ptr_ring_create,
    .destroy = ptr_ring_destroy,
    .ops = {CB_RING_OPS_BURST(ptr_ring), .resize = ptr_ring_resize,
            .unconsume = ptr_ring_unconsume},
    .loops = {CB_RING_LOOPS(ptr_ring)},
};

const struct cb_ring_kind cb_ring_skb_array = {
    .kind.name = "skb_array",
    .kind.summary = "Linux's ring of packets: ptr_ring under its other name",
    .kind.options = ptr_ring_options,
    .limits = {.lazy_free = true},
    .create = ptr_ring_create,
    .destroy = ptr_ring_destroy,
    .ops = {CB_RING_OPS_BURST(ptr_ring), .resize = ptr_ring_resize,
            .unconsume = ptr_ring_unconsume},
    .loops = {CB_RING_LOOPS(ptr_ring)},
};
