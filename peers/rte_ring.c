/*
 * rte_ring.c - DPDK's rte_ring, inlined from its headers, in each of its modes.
 * A ring made by rte_ring_init in memory of ours needs no EAL.
 *
 * The functions called are those of one mode. Only of the pairs of modes that
 * are seldom used they are rte_ring_enqueue_burst and the like, which look the
 * mode up in the ring first and are dearer; our imitation does the same.
 */
#include "dpdk.h"

#include <cbench/plugin.h>
#include <cbench/ring_loops.h>

#include <rte_ring.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct peer {
  struct cb_ring ring;
  _Alignas(128) struct rte_ring rte; /* its slots come behind it */
};

static uint64_t peer_count(struct cb_ring *ring)
{
  return rte_ring_count(&((struct peer *)ring)->rte);
}

static uint64_t peer_free_count(struct cb_ring *ring)
{
  return rte_ring_free_count(&((struct peer *)ring)->rte);
}

/* Elements of 8 bytes, by the functions rte_ring_INenqueue... and
 * rte_ring_OUTdequeue... */
#define OPERATIONS(NAME, IN, OUT)                                              \
  CB_RING_PLAIN_CURSORS(NAME, struct peer)                                     \
  CB_RING_INLINE bool NAME##_enqueue(struct NAME##_producer *at,               \
                                     uint64_t value)                           \
  {                                                                            \
    return rte_ring_##IN##enqueue_bulk_elem(&at->ring->rte, &value,            \
                                            sizeof value, 1, NULL) != 0;       \
  }                                                                            \
  CB_RING_INLINE bool NAME##_dequeue(struct NAME##_consumer *at,               \
                                     uint64_t *value)                          \
  {                                                                            \
    return rte_ring_##OUT##dequeue_bulk_elem(&at->ring->rte, value,            \
                                             sizeof *value, 1, NULL) != 0;     \
  }                                                                            \
  CB_RING_INLINE uint32_t NAME##_enqueue_n(                                    \
      struct NAME##_producer *at, const uint64_t *values, uint32_t n,          \
      enum cb_ring_mode mode, uint32_t *room)                                  \
  {                                                                            \
    struct rte_ring *rte = &at->ring->rte;                                     \
    if (mode == CB_RING_BULK)                                                  \
      return rte_ring_##IN##enqueue_bulk_elem(rte, values, sizeof *values, n,  \
                                              room);                           \
    return rte_ring_##IN##enqueue_burst_elem(rte, values, sizeof *values, n,   \
                                             room);                            \
  }                                                                            \
  CB_RING_INLINE uint32_t NAME##_dequeue_n(                                    \
      struct NAME##_consumer *at, uint64_t *values, uint32_t n,                \
      enum cb_ring_mode mode, uint32_t *left)                                  \
  {                                                                            \
    struct rte_ring *rte = &at->ring->rte;                                     \
    if (mode == CB_RING_BULK)                                                  \
      return rte_ring_##OUT##dequeue_bulk_elem(rte, values, sizeof *values, n, \
                                               left);                          \
    return rte_ring_##OUT##dequeue_burst_elem(rte, values, sizeof *values, n,  \
                                              left);                           \
  }                                                                            \
  CB_RING_INLINE uint64_t NAME##_count(struct cb_ring *ring)                   \
  {                                                                            \
    return peer_count(ring);                                                   \
  }                                                                            \
  CB_RING_INLINE uint64_t NAME##_free_count(struct cb_ring *ring)              \
  {                                                                            \
    return peer_free_count(ring);                                              \
  }

OPERATIONS(st, sp_, sc_)
#define RING st
#include <cbench/ring_loops.h>

OPERATIONS(mt, mp_, mc_)
#define RING mt
#include <cbench/ring_loops.h>

OPERATIONS(rts, mp_rts_, mc_rts_)
#define RING rts
#include <cbench/ring_loops.h>

OPERATIONS(hts, mp_hts_, mc_hts_)
#define RING hts
#include <cbench/ring_loops.h>

OPERATIONS(st_mt, sp_, mc_)
#define RING st_mt
#include <cbench/ring_loops.h>

OPERATIONS(mt_st, mp_, sc_)
#define RING mt_st
#include <cbench/ring_loops.h>

OPERATIONS(any, , )
#define RING any
#include <cbench/ring_loops.h>

/* What each mode is, of a producer and of a consumer. */
enum {
  IN_st = RING_F_SP_ENQ,
  IN_mt = 0,
  IN_rts = RING_F_MP_RTS_ENQ,
  IN_hts = RING_F_MP_HTS_ENQ,
  OUT_st = RING_F_SC_DEQ,
  OUT_mt = 0,
  OUT_rts = RING_F_MC_RTS_DEQ,
  OUT_hts = RING_F_MC_HTS_DEQ
};

#define VARIANT(SYNC, IN, OUT, NAME)                                           \
  {                                                                            \
    SYNC, IN_##IN | OUT_##OUT, {CB_RING_OPS(NAME)},                            \
    {                                                                          \
      CB_RING_LOOPS(NAME)                                                      \
    }                                                                          \
  }
#define MIXED(IN, OUT, NAME) VARIANT(#IN "/" #OUT, IN, OUT, NAME)

/* The words that our imitation `rte` has for its option. */
static const struct variant {
  const char *sync;
  unsigned flags;
  struct cb_ring_ops ops;
  struct cb_ring_loops loops;
} variants[] = {
    VARIANT("mt", mt, mt, mt),     VARIANT("st", st, st, st),
    VARIANT("rts", rts, rts, rts), VARIANT("hts", hts, hts, hts),
    MIXED(st, mt, st_mt),          MIXED(st, rts, any),
    MIXED(st, hts, any),           MIXED(mt, st, mt_st),
    MIXED(mt, rts, any),           MIXED(mt, hts, any),
    MIXED(rts, st, any),           MIXED(rts, mt, any),
    MIXED(rts, hts, any),          MIXED(hts, st, any),
    MIXED(hts, mt, any),           MIXED(hts, rts, any),
};

static struct peer *allocate(uint32_t slots, struct cb_error *error)
{
  if (!rte_is_power_of_2(slots)) { /* or it would say so on stderr */
    cb_fail(error, -EINVAL,
            "option 'size': rte_ring takes powers of two, got %u (or "
            "exact = true)",
            slots);
    return NULL;
  }
  size_t head = offsetof(struct peer, rte) + sizeof(struct rte_ring);
  return cb_ring_allocate(head, slots, sizeof(uint64_t), error);
}

static struct cb_ring *create(const struct cb_spec *spec,
                              struct cb_error *error)
{
  uint32_t size = (uint32_t)cb_spec_integer(spec, "size");
  bool exact = cb_spec_boolean(spec, "exact");
  const struct variant *variant = variants;
  while (strcmp(variant->sync, cb_spec_string(spec, "sync")) != 0)
    variant++;
  struct peer *peer = allocate(exact ? rte_align32pow2(size + 1) : size, error);
  if (!peer)
    return NULL;
  int status = rte_ring_init(&peer->rte, "cbench", size,
                             variant->flags | (exact ? RING_F_EXACT_SZ : 0));
  if (status < 0) {
    cb_fail(error, status, "rte_ring_init refuses a ring of %u: %s", size,
            strerror(-status));
    free(peer);
    return NULL;
  }
  peer->ring.ops = &variant->ops;
  peer->ring.loops = &variant->loops;
  peer->ring.limits = (struct cb_ring_limits){
      .producers = (variant->flags & IN_st) != 0,
      .consumers = (variant->flags & OUT_st) != 0,
      .zero_allowed = true,
      .late_visible = (variant->flags & (IN_rts | OUT_rts)) != 0};
  peer->ring.capacity = rte_ring_get_capacity(&peer->rte);
  return &peer->ring;
}

static const struct cb_option options[] = {
    CB_RING_OPTION_SIZE(1, CB_RING_SLOTS_MAX,
                        "slots, a power of two, one of which stays free"),
    {.name = "exact",
     .type = CB_BOOLEAN,
     .preset = "false",
     .help = "size is the number of elements that fit, and any number"},
    {.name = "sync",
     .type = CB_CHOICE,
     .preset = "mt",
     .choices = "st|mt|rts|hts|st/mt|st/rts|st/hts|mt/st|mt/rts|mt/hts|rts/st|"
                "rts/mt|rts/hts|hts/st|hts/mt|hts/rts",
     .help = "the mode of both sides, or producers/consumers"},
    {.name = NULL}};

const struct cb_ring_kind peer_rte_ring = {
    .kind.name = "rte_ring",
    .kind.summary = "the real rte_ring of DPDK",
    .kind.options = options,
    .limits = {.zero_allowed = true},
    .create = create,
    .ops = {CB_RING_OPS(mt)},
    .loops = {CB_RING_LOOPS(mt)},
};
