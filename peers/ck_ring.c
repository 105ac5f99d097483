/*
 * ck_ring.c - Concurrency Kit's ck_ring, inlined from its header: a power of
 * two of slots, one of which stays free; single elements only.
 *
 * Its capacity() counts the free slot too, so the figure here is one less. Its
 * producers wait for each other by spinning, for as long as it takes.
 */
#include "ck.h"

#include <cbench/plugin.h>
#include <cbench/ring_loops.h>

#include <ck_ring.h>
#include <string.h>

struct peer {
  struct cb_ring ring;
  _Alignas(128) ck_ring_t ck;
  _Alignas(128) ck_ring_buffer_t slots[];
};

static uint64_t peer_count(struct cb_ring *ring)
{
  struct peer *peer = (struct peer *)ring;
  unsigned count = ck_ring_size(&peer->ck);
  uint64_t fits = cb_ring_fits(ring);
  return count < fits ? count : fits;
}

/* Elements are pointers there. */
#define OPERATIONS(NAME)                                                       \
  CB_RING_PLAIN_CURSORS(peer_##NAME, struct peer)                              \
  CB_RING_INLINE bool peer_##NAME##_enqueue(struct peer_##NAME##_producer *at, \
                                            uint64_t value)                    \
  {                                                                            \
    struct peer *peer = at->ring;                                              \
    return ck_ring_enqueue_##NAME(&peer->ck, peer->slots,                      \
                                  (void *)(uintptr_t)value);                   \
  }                                                                            \
  CB_RING_INLINE bool peer_##NAME##_dequeue(struct peer_##NAME##_consumer *at, \
                                            uint64_t *value)                   \
  {                                                                            \
    struct peer *peer = at->ring;                                              \
    void *element;                                                             \
    if (!ck_ring_dequeue_##NAME(&peer->ck, peer->slots, &element))             \
      return false;                                                            \
    *value = (uintptr_t)element;                                               \
    return true;                                                               \
  }                                                                            \
  CB_RING_INLINE uint64_t peer_##NAME##_count(struct cb_ring *ring)            \
  {                                                                            \
    return peer_count(ring);                                                   \
  }                                                                            \
  CB_RING_FREE_COUNT(peer_##NAME)                                              \
  CB_RING_LOOPED(peer_##NAME)

OPERATIONS(spsc)
#define RING peer_spsc
#include <cbench/ring_loops.h>

OPERATIONS(spmc)
#define RING peer_spmc
#include <cbench/ring_loops.h>

OPERATIONS(mpsc)
#define RING peer_mpsc
#include <cbench/ring_loops.h>

OPERATIONS(mpmc)
#define RING peer_mpmc
#include <cbench/ring_loops.h>

/* The words that our imitation `ck` has for its option. */
static const struct variant {
  const char *sync;
  uint32_t producers, consumers;
  struct cb_ring_ops ops;
  struct cb_ring_loops loops;
} variants[] = {
    {"mp", 0, 0, {CB_RING_OPS_BURST(peer_mpmc)}, {CB_RING_LOOPS(peer_mpmc)}},
    {"sp", 1, 1, {CB_RING_OPS_BURST(peer_spsc)}, {CB_RING_LOOPS(peer_spsc)}},
    {"mp/sp", 0, 1, {CB_RING_OPS_BURST(peer_mpsc)}, {CB_RING_LOOPS(peer_mpsc)}},
    {"sp/mp", 1, 0, {CB_RING_OPS_BURST(peer_spmc)}, {CB_RING_LOOPS(peer_spmc)}},
};

static struct cb_ring *create(const struct cb_spec *spec,
                              struct cb_error *error)
{
  int64_t size = cb_spec_integer(spec, "size");
  if (cb_ring_power_of_two("ck_ring", size, 2, "one slot stays free", error) <
      0)
    return NULL;
  struct peer *peer = cb_ring_allocate(sizeof *peer, (uint64_t)size,
                                       sizeof peer->slots[0], error);
  if (!peer)
    return NULL;
  ck_ring_init(&peer->ck, (unsigned)size);
  const struct variant *variant = variants;
  while (strcmp(variant->sync, cb_spec_string(spec, "sync")) != 0)
    variant++;
  peer->ring.ops = &variant->ops;
  peer->ring.loops = &variant->loops;
  peer->ring.limits = (struct cb_ring_limits){.producers = variant->producers,
                                              .consumers = variant->consumers,
                                              .zero_allowed = true};
  peer->ring.capacity = (uint64_t)size - 1;
  return &peer->ring;
}

static const struct cb_option options[] = {
    CB_RING_OPTION_SIZE(2, CB_RING_SLOTS_MAX,
                        "slots, a power of two, one of which stays free"),
    {.name = "sync",
     .type = CB_CHOICE,
     .preset = "mp",
     .choices = "mp|sp|mp/sp|sp/mp",
     .help = "one (sp) or several (mp) on both sides, or producers/consumers"},
    {.name = NULL}};

const struct cb_ring_kind peer_ck_ring = {
    .kind.name = "ck_ring",
    .kind.summary = "the real ck_ring of Concurrency Kit",
    .kind.options = options,
    .limits = {.zero_allowed = true},
    .create = create,
    .ops = {CB_RING_OPS_BURST(peer_mpmc)},
    .loops = {CB_RING_LOOPS(peer_mpmc)},
};
