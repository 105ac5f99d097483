/*
 * kind_alf.c - after alf_queue (Jesper Dangaard Brouer and Hannes Frederic
 * Sowa, 2014): an array, and for each side a head that is claimed and a tail
 * that is published. Enqueues move all or none, dequeues what there is.
 *
 * The protocol and its orders are in headtail.h.
 */
#include "ring/headtail.h"

#include <string.h>

struct alf_ring {
  struct cb_ring ring;
  struct headtail_slots shape;
  _Alignas(CB_APART) struct headtail producer;
  _Alignas(CB_APART) struct headtail consumer;
  _Alignas(CB_APART) uint64_t slots[];
};

CB_RING_INLINE struct claim alf_claim(struct headtail *side,
                                      struct headtail *opposite, uint32_t ahead,
                                      bool several, uint32_t n,
                                      enum cb_ring_mode mode)
{
  if (!several) {
    uint32_t own = headtail_own(side);
    return headtail_claim_single(
        side, own, atomic_load_explicit(&opposite->tail, memory_order_acquire),
        ahead, n, mode);
  }
  uint32_t head = atomic_load_explicit(&side->head, memory_order_acquire);
  struct claim claim;
  do
    claim = claim_from(
        head, atomic_load_explicit(&opposite->tail, memory_order_acquire),
        ahead, n, mode);
  while (!headtail_try_claim(side, &head, claim));
  return claim;
}

CB_RING_INLINE uint32_t alf_put(struct alf_ring *alf, bool several,
                                const uint64_t *values, uint32_t n,
                                uint32_t *room)
{
  struct claim claim = alf_claim(&alf->producer, &alf->consumer,
                                 alf->shape.size, several, n, CB_RING_BULK);
  if (room)
    *room = claim.rest;
  if (!claim.n)
    return 0;
  headtail_copy_in(&alf->shape, alf->slots, claim.place, values, claim.n);
  return headtail_publish(&alf->ring, &alf->producer, several, claim) ? claim.n
                                                                      : 0;
}

CB_RING_INLINE uint32_t alf_get(struct alf_ring *alf, bool several,
                                uint64_t *values, uint32_t n, uint32_t *left)
{
  struct claim claim =
      alf_claim(&alf->consumer, &alf->producer, 0, several, n, CB_RING_BURST);
  if (left)
    *left = claim.rest;
  if (!claim.n)
    return 0;
  headtail_copy_out(&alf->shape, alf->slots, claim.place, values, claim.n);
  return headtail_publish(&alf->ring, &alf->consumer, several, claim) ? claim.n
                                                                      : 0;
}

/* The producer's tail may have gone on since the consumer's was read, so the
 * difference is clamped. */
static uint64_t alf_count(struct cb_ring *ring)
{
  struct alf_ring *alf = (struct alf_ring *)ring;
  uint32_t head =
      atomic_load_explicit(&alf->consumer.tail, memory_order_acquire);
  uint32_t tail =
      atomic_load_explicit(&alf->producer.tail, memory_order_acquire);
  return tail - head < alf->shape.size ? tail - head : alf->shape.size;
}

CB_RING_FREE_COUNT(alf)

/* The four combinations: name, several producers, several consumers. */
#define ALF_VARIANT(NAME, MP, MC)                                              \
  CB_RING_PLAIN_CURSORS(NAME, struct alf_ring)                                 \
  CB_RING_INLINE bool NAME##_enqueue(struct NAME##_producer *at,               \
                                     uint64_t value)                           \
  {                                                                            \
    return alf_put(at->ring, MP, &value, 1, NULL);                             \
  }                                                                            \
  CB_RING_INLINE bool NAME##_dequeue(struct NAME##_consumer *at,               \
                                     uint64_t *value)                          \
  {                                                                            \
    return alf_get(at->ring, MC, value, 1, NULL);                              \
  }                                                                            \
  CB_RING_INLINE uint32_t NAME##_enqueue_n(                                    \
      struct NAME##_producer *at, const uint64_t *values, uint32_t n,          \
      enum cb_ring_mode mode, uint32_t *room)                                  \
  {                                                                            \
    (void)mode;                                                                \
    return alf_put(at->ring, MP, values, n, room);                             \
  }                                                                            \
  CB_RING_INLINE uint32_t NAME##_dequeue_n(                                    \
      struct NAME##_consumer *at, uint64_t *values, uint32_t n,                \
      enum cb_ring_mode mode, uint32_t *left)                                  \
  {                                                                            \
    (void)mode;                                                                \
    return alf_get(at->ring, MC, values, n, left);                             \
  }

/* Bulk in and burst out are all that the original has. */
#define ALF_OPS(NAME)                                                          \
  {                                                                            \
    .enqueue = NAME##_op_enqueue, .dequeue = NAME##_op_dequeue,                \
    .count = alf_count, .free_count = alf_free_count,                          \
    .enqueue_bulk = NAME##_op_enqueue_bulk,                                    \
    .dequeue_burst = NAME##_op_dequeue_burst                                   \
  }

ALF_VARIANT(alf_mpmc, true, true)
#define RING alf_mpmc
#include "ring/ring_loops.h"

ALF_VARIANT(alf_spsc, false, false)
#define RING alf_spsc
#include "ring/ring_loops.h"

ALF_VARIANT(alf_mpsc, true, false)
#define RING alf_mpsc
#include "ring/ring_loops.h"

ALF_VARIANT(alf_spmc, false, true)
#define RING alf_spmc
#include "ring/ring_loops.h"

static const struct alf_variant {
  const char *sync;
  uint32_t producers, consumers;
  struct cb_ring_ops ops;
  struct cb_ring_loops loops;
} variants[] = {
    {"mp", 0, 0, ALF_OPS(alf_mpmc), {CB_RING_LOOPS(alf_mpmc)}},
    {"sp", 1, 1, ALF_OPS(alf_spsc), {CB_RING_LOOPS(alf_spsc)}},
    {"mp/sp", 0, 1, ALF_OPS(alf_mpsc), {CB_RING_LOOPS(alf_mpsc)}},
    {"sp/mp", 1, 0, ALF_OPS(alf_spmc), {CB_RING_LOOPS(alf_spmc)}},
};

static const struct alf_variant *alf_variant_of(const struct cb_spec *spec)
{
  const struct alf_variant *variant = variants;
  while (strcmp(variant->sync, cb_spec_string(spec, "sync")) != 0)
    variant++;
  return variant;
}

static struct cb_ring *alf_create(const struct cb_spec *spec,
                                  struct cb_error *error)
{
  int64_t size = cb_spec_integer(spec, "size");
  if (cb_ring_power_of_two("alf", size, 1, "up to 65536", error) < 0)
    return NULL;
  struct alf_ring *alf = cb_ring_allocate(sizeof *alf, (uint64_t)size,
                                          sizeof alf->slots[0], error);
  if (!alf)
    return NULL;
  const struct alf_variant *variant = alf_variant_of(spec);
  alf->ring.ops = &variant->ops;
  alf->ring.loops = &variant->loops;
  alf->ring.limits = (struct cb_ring_limits){.producers = variant->producers,
                                             .consumers = variant->consumers,
                                             .zero_allowed = true};
  alf->ring.wait = cb_ring_wait_of(spec);
  atomic_init(&alf->ring.capacity, (uint64_t)size);
  alf->shape = (struct headtail_slots){(uint32_t)size, (uint32_t)size - 1};

  uint32_t start = (uint32_t)cb_spec_integer(spec, "start");
  atomic_init(&alf->producer.head, start);
  atomic_init(&alf->producer.tail, start);
  atomic_init(&alf->consumer.head, start);
  atomic_init(&alf->consumer.tail, start);
  return &alf->ring;
}

static const struct cb_option alf_options[] = {
    CB_RING_OPTION_SIZE(1, 65536, "elements that fit, a power of two"),
    {.name = "sync",
     .type = CB_CHOICE,
     .preset = "mp",
     .choices = "mp|sp|mp/sp|sp/mp",
     .help = "one (sp) or several (mp) on both sides, or producers/consumers"},
    RING_OPTION_WAIT,
    CB_RING_OPTION_START(CB_RING_START_32),
    {.name = NULL}};

const struct cb_ring_kind cb_ring_alf = {
    .kind.name = "alf",
    .kind.summary = "alf_queue: claim, copy, publish in turn; all or none in, "
                    "what there is out",
    .kind.options = alf_options,
    .limits = {.zero_allowed = true},
    .create = alf_create,
    .ops = ALF_OPS(alf_mpmc),
    .loops = {CB_RING_LOOPS(alf_mpmc)},
};
