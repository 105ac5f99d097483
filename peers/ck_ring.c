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
#include <errno.h>
#include <stdlib.h>
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

static uint64_t peer_free_count(struct cb_ring *ring)
{
  return cb_ring_fits(ring) - peer_count(ring);
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
  CB_RING_INLINE uint64_t peer_##NAME##_free_count(struct cb_ring *ring)       \
  {                                                                            \
    return peer_free_count(ring);                                              \
  }                                                                            \
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
  uint64_t size = (uint64_t)cb_spec_integer(spec, "size");
  if (size & (size - 1)) {
    cb_fail(error, -EINVAL,
            "option 'size': ck_ring takes powers of two from 2 on, got %llu",
            (unsigned long long)size);
    return NULL;
  }
  size_t bytes = sizeof(struct peer) + size * sizeof(ck_ring_buffer_t);
  bytes = (bytes + 255) / 128 * 128;
  struct peer *peer = aligned_alloc(128, bytes);
  if (!peer) {
    cb_fail(error, -ENOMEM, "out of memory for a ring of %llu slots",
            (unsigned long long)size);
    return NULL;
  }
  memset(peer, 0, bytes);
  ck_ring_init(&peer->ck, (unsigned)size);
  const struct variant *variant = variants;
  while (strcmp(variant->sync, cb_spec_string(spec, "sync")) != 0)
    variant++;
  peer->ring.ops = &variant->ops;
  peer->ring.loops = &variant->loops;
  peer->ring.limits = (struct cb_ring_limits){.producers = variant->producers,
                                              .consumers = variant->consumers,
                                              .zero_allowed = true};
  peer->ring.capacity = size - 1;
  return &peer->ring;
}

static void destroy(struct cb_ring *ring)
{
  free(ring);
}

static const struct cb_option options[] = {
    {.name = "size",
     .type = CB_INTEGER,
     .preset = "1024",
     .min = 2,
     .max = 1 << 24,
     .help = "slots, a power of two, one of which stays free"},
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
    .destroy = destroy,
    .ops = {CB_RING_OPS_BURST(peer_mpmc)},
    .loops = {CB_RING_LOOPS(peer_mpmc)},
};
