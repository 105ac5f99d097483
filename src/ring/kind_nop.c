/* kind_nop.c - a ring that keeps nothing: what the loops themselves cost.
 * Never full, never empty; a dequeue leaves the value as it is. */
#include "ring/ring.h"

struct nop_ring {
  struct cb_ring ring;
};

CB_RING_PLAIN_CURSORS(nop, struct nop_ring)

CB_RING_INLINE bool nop_enqueue(struct nop_producer *at, uint64_t value)
{
  (void)at;
  CB_RING_OPAQUE(value);
  return true;
}

CB_RING_INLINE bool nop_dequeue(struct nop_consumer *at, uint64_t *value)
{
  (void)at;
  CB_RING_OPAQUE(*value);
  return true;
}

static uint64_t nop_count(struct cb_ring *ring)
{
  (void)ring;
  return 0;
}

CB_RING_FREE_COUNT(nop)

CB_RING_INLINE uint32_t nop_enqueue_n(struct nop_producer *at,
                                      const uint64_t *values, uint32_t n,
                                      enum cb_ring_mode mode, uint32_t *room)
{
  (void)mode;
  CB_RING_OPAQUE(values);
  if (room)
    *room = (uint32_t)cb_ring_fits(&at->ring->ring);
  return n;
}

CB_RING_INLINE uint32_t nop_dequeue_n(struct nop_consumer *at, uint64_t *values,
                                      uint32_t n, enum cb_ring_mode mode,
                                      uint32_t *left)
{
  (void)at, (void)mode;
  CB_RING_OPAQUE(values);
  if (left)
    *left = 0;
  return n;
}

static struct cb_ring *nop_create(const struct cb_spec *spec,
                                  struct cb_error *error)
{
  struct nop_ring *nop = cb_ring_allocate(sizeof *nop, 0, 0, error);
  if (!nop)
    return NULL;
  atomic_init(&nop->ring.capacity, (uint64_t)cb_spec_integer(spec, "size"));
  return &nop->ring;
}

#define RING nop
#include "ring/ring_loops.h"

static const struct cb_option nop_options[] = {
    CB_RING_OPTION_SIZE(1, CB_RING_SLOTS_MAX, "what capacity() says"),
    {.name = NULL}};

const struct cb_ring_kind cb_ring_nop = {
    .kind.name = "nop",
    .kind.summary = "keeps nothing: the cost of the loop around a ring",
    .kind.options = nop_options,
    .limits = {.zero_allowed = true, .forgets = true},
    .create = nop_create,
    .ops = {CB_RING_OPS(nop)},
    .loops = {CB_RING_LOOPS(nop)},
};
