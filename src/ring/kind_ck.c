/*
 * kind_ck.c - after Concurrency Kit's ck_ring: producers claim a place and
 * publish in turn, consumers copy first and claim afterwards. One element at a
 * time. As in the original one slot stays free.
 *
 * The optimistic dequeue reads a slot before it is sure of it; when the
 * compare-and-swap of the head fails somebody else has it, and what was read
 * may be anything. So the slots are atomics. A consumer that loses its CPU
 * holds up nobody; a producer between its claim and its turn holds up all
 * later ones (see headtail.h about lock step).
 *
 * Orders: a producer's store of the tail (release) makes its slot visible to
 * whoever loads the tail (acquire); it waits for its turn with acquire, so
 * that the stores before it are passed on. A consumer's swap of the head is a
 * release, so that its read of the slot precedes the reuse, which a producer
 * begins after loading the head with acquire. Indexes are 32-bit and wrap.
 */
#include "ring/ring.h"

#include <string.h>

struct ck_ring {
  struct cb_ring ring;
  uint32_t mask; /* also the capacity */
  _Alignas(CB_APART) _Atomic uint32_t head;
  _Alignas(CB_APART) _Atomic uint32_t tail; /* published up to here */
  _Atomic uint32_t claimed;                 /* by producers, mp only */
  _Alignas(CB_APART) _Atomic uint64_t slots[];
};

CB_RING_INLINE void ck_store(struct ck_ring *ck, uint32_t place, uint64_t value)
{
  atomic_store_explicit(&ck->slots[place & ck->mask], value,
                        memory_order_relaxed);
}

CB_RING_INLINE uint64_t ck_load(struct ck_ring *ck, uint32_t place)
{
  return atomic_load_explicit(&ck->slots[place & ck->mask],
                              memory_order_relaxed);
}

CB_RING_INLINE bool ck_full(struct ck_ring *ck, uint32_t place)
{
  return place - atomic_load_explicit(&ck->head, memory_order_acquire) >=
         ck->mask;
}

CB_RING_INLINE bool ck_put_single(struct ck_ring *ck, uint64_t value)
{
  uint32_t place = atomic_load_explicit(&ck->tail, memory_order_relaxed);
  if (ck_full(ck, place))
    return false;
  ck_store(ck, place, value);
  atomic_store_explicit(&ck->tail, place + 1, memory_order_release);
  return true;
}

/* A place that others have meanwhile claimed and even consumed looks full,
 * since the difference is negative; so full is believed only of the latest. */
CB_RING_INLINE bool ck_put_several(struct ck_ring *ck, uint64_t value)
{
  uint32_t place = atomic_load_explicit(&ck->claimed, memory_order_acquire);
  for (;;) {
    if (!ck_full(ck, place)) {
      if (atomic_compare_exchange_strong_explicit(
              &ck->claimed, &place, place + 1, memory_order_release,
              memory_order_acquire))
        break;
      continue;
    }
    uint32_t latest = atomic_load_explicit(&ck->claimed, memory_order_acquire);
    if (latest == place)
      return false;
    place = latest;
  }
  ck_store(ck, place, value);
  if (!cb_ring_await_turn(&ck->ring, &ck->tail, place))
    return false;
  atomic_store_explicit(&ck->tail, place + 1, memory_order_release);
  return true;
}

CB_RING_INLINE bool ck_get_single(struct ck_ring *ck, uint64_t *value)
{
  uint32_t head = atomic_load_explicit(&ck->head, memory_order_relaxed);
  if (atomic_load_explicit(&ck->tail, memory_order_acquire) == head)
    return false;
  *value = ck_load(ck, head);
  atomic_store_explicit(&ck->head, head + 1, memory_order_release);
  return true;
}

CB_RING_INLINE bool ck_get_several(struct ck_ring *ck, uint64_t *value)
{
  uint32_t head = atomic_load_explicit(&ck->head, memory_order_acquire);
  uint64_t found;
  do {
    if (atomic_load_explicit(&ck->tail, memory_order_acquire) == head)
      return false;
    found = ck_load(ck, head);
  } while (!atomic_compare_exchange_strong_explicit(
      &ck->head, &head, head + 1, memory_order_release, memory_order_acquire));
  *value = found;
  return true;
}

static uint64_t ck_count(struct cb_ring *ring)
{
  struct ck_ring *ck = (struct ck_ring *)ring;
  uint32_t head = atomic_load_explicit(&ck->head, memory_order_acquire);
  uint32_t tail = atomic_load_explicit(&ck->tail, memory_order_acquire);
  return tail - head < ck->mask ? tail - head : ck->mask;
}

CB_RING_FREE_COUNT(ck)

#define CK_VARIANT(NAME, PUT, GET)                                             \
  CB_RING_PLAIN_CURSORS(NAME, struct ck_ring)                                  \
  CB_RING_INLINE bool NAME##_enqueue(struct NAME##_producer *at,               \
                                     uint64_t value)                           \
  {                                                                            \
    return PUT(at->ring, value);                                               \
  }                                                                            \
  CB_RING_INLINE bool NAME##_dequeue(struct NAME##_consumer *at,               \
                                     uint64_t *value)                          \
  {                                                                            \
    return GET(at->ring, value);                                               \
  }                                                                            \
  CB_RING_INLINE uint64_t NAME##_count(struct cb_ring *ring)                   \
  {                                                                            \
    return ck_count(ring);                                                     \
  }                                                                            \
  CB_RING_INLINE uint64_t NAME##_free_count(struct cb_ring *ring)              \
  {                                                                            \
    return ck_free_count(ring);                                                \
  }                                                                            \
  CB_RING_LOOPED(NAME)

CK_VARIANT(ck_mpmc, ck_put_several, ck_get_several)
#define RING ck_mpmc
#include "ring/ring_loops.h"

CK_VARIANT(ck_spsc, ck_put_single, ck_get_single)
#define RING ck_spsc
#include "ring/ring_loops.h"

CK_VARIANT(ck_mpsc, ck_put_several, ck_get_single)
#define RING ck_mpsc
#include "ring/ring_loops.h"

CK_VARIANT(ck_spmc, ck_put_single, ck_get_several)
#define RING ck_spmc
#include "ring/ring_loops.h"

static const struct ck_variant {
  const char *sync;
  uint32_t producers, consumers;
  struct cb_ring_ops ops;
  struct cb_ring_loops loops;
} variants[] = {
    {"mp", 0, 0, {CB_RING_OPS_BURST(ck_mpmc)}, {CB_RING_LOOPS(ck_mpmc)}},
    {"sp", 1, 1, {CB_RING_OPS_BURST(ck_spsc)}, {CB_RING_LOOPS(ck_spsc)}},
    {"mp/sp", 0, 1, {CB_RING_OPS_BURST(ck_mpsc)}, {CB_RING_LOOPS(ck_mpsc)}},
    {"sp/mp", 1, 0, {CB_RING_OPS_BURST(ck_spmc)}, {CB_RING_LOOPS(ck_spmc)}},
};

static struct cb_ring *ck_create(const struct cb_spec *spec,
                                 struct cb_error *error)
{
  int64_t size = cb_spec_integer(spec, "size");
  if (cb_ring_power_of_two("ck", size, 2, "one slot stays free", error) < 0)
    return NULL;
  struct ck_ring *ck =
      cb_ring_allocate(sizeof *ck, (uint64_t)size, sizeof ck->slots[0], error);
  if (!ck)
    return NULL;
  const struct ck_variant *variant = variants;
  while (strcmp(variant->sync, cb_spec_string(spec, "sync")) != 0)
    variant++;
  ck->ring.ops = &variant->ops;
  ck->ring.loops = &variant->loops;
  ck->ring.limits = (struct cb_ring_limits){.producers = variant->producers,
                                            .consumers = variant->consumers,
                                            .zero_allowed = true};
  ck->ring.wait = cb_ring_wait_of(spec);
  ck->mask = (uint32_t)size - 1;
  atomic_init(&ck->ring.capacity, ck->mask);

  uint32_t start = (uint32_t)cb_spec_integer(spec, "start");
  atomic_init(&ck->head, start);
  atomic_init(&ck->tail, start);
  atomic_init(&ck->claimed, start);
  return &ck->ring;
}

static const struct cb_option ck_options[] = {
    CB_RING_OPTION_SIZE(2, CB_RING_SLOTS_MAX,
                        "slots, a power of two, one of which stays free"),
    {.name = "sync",
     .type = CB_CHOICE,
     .preset = "mp",
     .choices = "mp|sp|mp/sp|sp/mp",
     .help = "one (sp) or several (mp) on both sides, or producers/consumers"},
    RING_OPTION_WAIT,
    CB_RING_OPTION_START(CB_RING_START_32),
    {.name = NULL}};

const struct cb_ring_kind cb_ring_ck = {
    .kind.name = "ck",
    .kind.summary = "Concurrency Kit's ck_ring: consumers copy first and "
                    "claim afterwards",
    .kind.options = ck_options,
    .limits = {.zero_allowed = true},
    .create = ck_create,
    .ops = {CB_RING_OPS_BURST(ck_mpmc)},
    .loops = {CB_RING_LOOPS(ck_mpmc)},
};
