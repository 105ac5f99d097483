/* kind_mutex.c - an array under one pthread mutex: what a ring costs without
 * any thought. A waiter sleeps, so more threads than CPUs are no trouble. */
#include "ring/fifo.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct mutex_ring {
  struct cb_ring ring;
  _Alignas(CB_APART) pthread_mutex_t mutex;
  struct fifo fifo;
  _Alignas(CB_APART) uint64_t slots[];
};

CB_RING_PLAIN_CURSORS(mutex, struct mutex_ring)

CB_RING_INLINE bool mutex_enqueue(struct mutex_producer *at, uint64_t value)
{
  pthread_mutex_lock(&at->ring->mutex);
  bool done = fifo_put(&at->ring->fifo, value);
  pthread_mutex_unlock(&at->ring->mutex);
  return done;
}

CB_RING_INLINE bool mutex_dequeue(struct mutex_consumer *at, uint64_t *value)
{
  pthread_mutex_lock(&at->ring->mutex);
  bool done = fifo_get(&at->ring->fifo, value);
  pthread_mutex_unlock(&at->ring->mutex);
  return done;
}

CB_RING_INLINE uint32_t mutex_enqueue_n(struct mutex_producer *at,
                                        const uint64_t *values, uint32_t n,
                                        enum cb_ring_mode mode, uint32_t *room)
{
  pthread_mutex_lock(&at->ring->mutex);
  n = fifo_put_n(&at->ring->fifo, values, n, mode, room);
  pthread_mutex_unlock(&at->ring->mutex);
  return n;
}

CB_RING_INLINE uint32_t mutex_dequeue_n(struct mutex_consumer *at,
                                        uint64_t *values, uint32_t n,
                                        enum cb_ring_mode mode, uint32_t *left)
{
  pthread_mutex_lock(&at->ring->mutex);
  n = fifo_get_n(&at->ring->fifo, values, n, mode, left);
  pthread_mutex_unlock(&at->ring->mutex);
  return n;
}

static uint64_t mutex_count(struct cb_ring *ring)
{
  struct mutex_ring *mutex = (struct mutex_ring *)ring;
  pthread_mutex_lock(&mutex->mutex);
  uint64_t count = mutex->fifo.tail - mutex->fifo.head;
  pthread_mutex_unlock(&mutex->mutex);
  return count;
}

CB_RING_FREE_COUNT(mutex)

static struct cb_ring *mutex_create(const struct cb_spec *spec,
                                    struct cb_error *error)
{
  uint64_t size = (uint64_t)cb_spec_integer(spec, "size");
  uint64_t slots = cb_ring_round_up(size);
  struct mutex_ring *mutex =
      cb_ring_allocate(sizeof *mutex, slots, sizeof mutex->slots[0], error);
  if (!mutex)
    return NULL;
  if (pthread_mutex_init(&mutex->mutex, NULL) != 0) {
    cb_fail(error, -EAGAIN, "no mutex could be made");
    free(mutex);
    return NULL;
  }
  atomic_init(&mutex->ring.capacity, size);
  mutex->fifo =
      (struct fifo){.mask = slots - 1, .capacity = size, .slots = mutex->slots};
  return &mutex->ring;
}

static void mutex_destroy(struct cb_ring *ring)
{
  pthread_mutex_destroy(&((struct mutex_ring *)ring)->mutex);
  free(ring);
}

#define RING mutex
#include "ring/ring_loops.h"

static const struct cb_option mutex_options[] = {
    CB_RING_OPTION_SIZE(1, CB_RING_SLOTS_MAX, "elements that fit, any number"),
    {.name = NULL}};

const struct cb_ring_kind cb_ring_mutex = {
    .kind.name = "mutex",
    .kind.summary = "an array under one mutex, to compare with",
    .kind.options = mutex_options,
    .limits = {.zero_allowed = true},
    .create = mutex_create,
    .destroy = mutex_destroy,
    .ops = {CB_RING_OPS(mutex)},
    .loops = {CB_RING_LOOPS(mutex)},
};
