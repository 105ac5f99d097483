/*
 * headtail.h - the protocol of alf_queue and of rte_ring's first two modes: a
 * side claims places by moving its head, copies, and publishes by moving its
 * tail.
 *
 * Several threads of a side claim by compare-and-swap of head, and then each
 * waits until everybody before it has published. So a thread that loses its
 * CPU in between holds up all later ones: with more threads than CPUs two of
 * them can fall into lock step, each waiting for the other's time slice. The
 * ring's `wait` and the stop flag are for that.
 *
 * A place that is claimed and not yet published is full to producers and empty
 * to consumers: for that moment a refusal by either is no contradiction.
 *
 * Orders: head is read with acquire before the opposite tail, so that room is
 * never reckoned from a tail older than the claims that head shows; the
 * opposite tail with acquire; tail is stored with release. A turn is waited for
 * with acquire: what the threads before have stored is passed on by the next
 * release, the only one that the other side may see. (DPDK's source waits
 * relaxed, which C11 calls a race.) Indexes are 32-bit and wrap.
 */
#ifndef CB_RING_HEADTAIL_H
#define CB_RING_HEADTAIL_H

#include "ring/ring.h"

struct headtail {
  _Atomic uint32_t head; /* claimed up to here */
  _Atomic uint32_t tail; /* published up to here */
};

/* Where in the ring, how many, and what remains besides. */
struct claim {
  uint32_t place, n, rest;
};

/* What is granted of n from head on, where the opposite side has come to tail
 * and a producer may be `ahead` (its capacity) in front of it. A stale head
 * makes the room too large, never too small; the claim fails then anyway. */
CB_RING_INLINE struct claim claim_from(uint32_t head, uint32_t tail,
                                       uint32_t ahead, uint32_t n,
                                       enum cb_ring_mode mode)
{
  uint32_t room = ahead + tail - head;
  struct claim claim = {head, cb_ring_grant(n, room, mode), 0};
  claim.rest = room - claim.n;
  return claim;
}

/* Where the only thread of a side stands. The originals read it before the
 * opposite tail, and that alone makes a round trip 6 % shorter. */
CB_RING_INLINE uint32_t headtail_own(struct headtail *side)
{
  return atomic_load_explicit(&side->head, memory_order_relaxed);
}

/* By that thread, from there. */
CB_RING_INLINE struct claim headtail_claim_single(struct headtail *side,
                                                  uint32_t head,
                                                  uint32_t opposite_tail,
                                                  uint32_t ahead, uint32_t n,
                                                  enum cb_ring_mode mode)
{
  struct claim claim = claim_from(head, opposite_tail, ahead, n, mode);
  if (claim.n)
    atomic_store_explicit(&side->head, head + claim.n, memory_order_relaxed);
  return claim;
}

/* A step of a claim by one of several threads: false to try again with the
 * head that is now in *head. */
CB_RING_INLINE bool headtail_try_claim(struct headtail *side, uint32_t *head,
                                       struct claim claim)
{
  return !claim.n || atomic_compare_exchange_strong_explicit(
                         &side->head, head, claim.place + claim.n,
                         memory_order_release, memory_order_acquire);
}

/* False when told to stop; the places are lost then. */
CB_RING_INLINE bool headtail_publish(struct cb_ring *ring,
                                     struct headtail *side, bool several,
                                     struct claim claim)
{
  if (several && !cb_ring_await_turn(ring, &side->tail, claim.place))
    return false;
  atomic_store_explicit(&side->tail, claim.place + claim.n,
                        memory_order_release);
  return true;
}

/* The originals' way to copy: by fours, and around the end one by one. */
CB_RING_INLINE void headtail_copy(uint64_t *to, const uint64_t *from, size_t n)
{
  size_t i = 0;
  for (; i < (n & ~(size_t)3); i += 4) {
    to[i] = from[i];
    to[i + 1] = from[i + 1];
    to[i + 2] = from[i + 2];
    to[i + 3] = from[i + 3];
  }
  switch (n & 3) {
  case 3:
    to[i] = from[i];
    i++; /* fallthrough */
  case 2:
    to[i] = from[i];
    i++; /* fallthrough */
  case 1:
    to[i] = from[i];
  }
}

/* Where a side copies to or from. Size and mask are two numbers to the
 * compiler, as in the originals: even of one element it must ask whether that
 * goes around the end. */
struct headtail_slots {
  uint32_t size, mask;
};

CB_RING_INLINE void headtail_copy_in(const struct headtail_slots *shape,
                                     uint64_t *slots, uint32_t place,
                                     const uint64_t *values, uint32_t n)
{
  uint32_t at = place & shape->mask, i = 0;
  if (CB_RING_MOSTLY(at + n <= shape->size)) {
    headtail_copy(slots + at, values, n);
    return;
  }
  for (; at < shape->size; i++, at++)
    slots[at] = values[i];
  for (at = 0; i < n; i++, at++)
    slots[at] = values[i];
}

CB_RING_INLINE void headtail_copy_out(const struct headtail_slots *shape,
                                      const uint64_t *slots, uint32_t place,
                                      uint64_t *values, uint32_t n)
{
  uint32_t at = place & shape->mask, i = 0;
  if (CB_RING_MOSTLY(at + n <= shape->size)) {
    headtail_copy(values, slots + at, n);
    return;
  }
  for (; at < shape->size; i++, at++)
    values[i] = slots[at];
  for (at = 0; i < n; i++, at++)
    values[i] = slots[at];
}

#endif
