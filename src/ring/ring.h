/* ring.h - what the ring kinds of this folder share. */
#ifndef CB_RING_RING_H
#define CB_RING_RING_H

#include "base/cpu.h"
#include "base/lock_ttas.h"
#include "cbench.h"
#include "ring/ring_loops.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern const struct cb_family cb_ring_family;
extern const struct cb_ring_kind cb_ring_nop, cb_ring_mutex, cb_ring_spinlock,
    cb_ring_spsc, cb_ring_ff, cb_ring_ptr_ring, cb_ring_skb_array, cb_ring_alf,
    cb_ring_rte, cb_ring_ck, cb_ring_vyukov;

/* The option of kinds in which one thread can wait for another. */
#define RING_OPTION_WAIT                                                       \
  {                                                                            \
    .name = "wait", .type = CB_CHOICE, .preset = "pause",                      \
    .choices = "spin|pause|yield",                                             \
    .help = "how a thread waits for another one inside the ring"               \
  }

/* The smallest power of two that is not less than n. */
uint64_t cb_ring_round_up(uint64_t n);

/* The option `wait` of spec. */
enum cb_wait cb_ring_wait_of(const struct cb_spec *spec);

/* Has a thread been stopped while it waited inside? No wait in there would end
 * any more. */
CB_RING_INLINE bool cb_ring_is_broken(const struct cb_ring *ring)
{
  return atomic_load_explicit(&ring->broken, memory_order_relaxed) != 0;
}

/* Polls after which a thread that waits for another one of its side gives way.
 * Two on one CPU fall into lock step, each with a claim that the other waits
 * for: what an element takes then is these polls. In a loop that found the ring
 * full or empty the other side is at work, and patience pays. */
#define CB_RING_TURN_PATIENCE 8

/* cb_ring_wait for waits inside the ring. */
CB_RING_INLINE uint32_t cb_ring_turn_wait(const struct cb_ring *ring,
                                          uint32_t streak)
{
  if (ring->wait == CB_WAIT_YIELD && streak >= CB_RING_TURN_PATIENCE)
    streak = CB_RING_PATIENCE;
  return cb_ring_wait(ring->control, ring->wait, streak);
}

/* Waits go to functions of their own, so that the usual way through an
 * operation keeps its registers. */
CB_RING_APART bool cb_ring_await_long(struct cb_ring *ring,
                                      _Atomic uint32_t *word, uint32_t until)
{
  uint32_t streak = 0;
  do
    if (!(streak = cb_ring_turn_wait(ring, streak))) {
      atomic_store_explicit(&ring->broken, 1, memory_order_relaxed);
      return false;
    }
  while (atomic_load_explicit(word, memory_order_acquire) != until);
  return true;
}

/* Waits until word is `until`, or says false when told to stop. Acquire: what
 * the thread before published is passed on to whoever comes after. */
CB_RING_INLINE bool cb_ring_await_turn(struct cb_ring *ring,
                                       _Atomic uint32_t *word, uint32_t until)
{
  return CB_RING_MOSTLY(atomic_load_explicit(word, memory_order_acquire) ==
                        until) ||
         cb_ring_await_long(ring, word, until);
}

CB_RING_APART bool cb_ring_lock_long(const struct cb_ring *ring,
                                     struct cb_ttas *lock)
{
  uint32_t streak = 0;
  do
    if (!(streak = cb_ring_turn_wait(ring, streak)))
      return false;
  while (!cb_ttas_trylock(lock, NULL, CB_ORDER_ACQREL));
  return true;
}

/* A spin lock that waits as the ring does; false when told to stop, and then
 * nothing is held. */
CB_RING_INLINE bool cb_ring_lock(const struct cb_ring *ring,
                                 struct cb_ttas *lock)
{
  return CB_RING_MOSTLY(cb_ttas_trylock(lock, NULL, CB_ORDER_ACQREL)) ||
         cb_ring_lock_long(ring, lock);
}

CB_RING_INLINE void cb_ring_unlock(struct cb_ttas *lock)
{
  cb_ttas_unlock(lock, NULL, CB_ORDER_ACQREL);
}

/* Asks for a line for writing. Who will write to a line some elements later
 * asks for it now: it comes from the other CPU, and otherwise no more of them
 * are under way than instructions fit into the processor. */
CB_RING_INLINE void cb_ring_fetch(const void *line)
{
#if defined __x86_64__ || defined __i386__
  __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
  __builtin_prefetch(line, 1);
#endif
}

/* Two and four elements a move. Of four only in functions for processors that
 * have such registers: elsewhere compilers take them through memory. */
typedef uint64_t cb_ring_two
    __attribute__((vector_size(16), aligned(8), may_alias));
typedef uint64_t cb_ring_four
    __attribute__((vector_size(32), aligned(8), may_alias));

CB_RING_INLINE void cb_ring_copy4(uint64_t *to, const uint64_t *from, bool wide)
{
  if (wide) {
    *(cb_ring_four *)to = *(const cb_ring_four *)from;
  } else {
    *(cb_ring_two *)to = *(const cb_ring_two *)from;
    *(cb_ring_two *)(to + 2) = *(const cb_ring_two *)(from + 2);
  }
}

CB_RING_INLINE void cb_ring_copy16(uint64_t *to, const uint64_t *from,
                                   bool wide)
{
  cb_ring_copy4(to, from, wide);
  cb_ring_copy4(to + 4, from + 4, wide);
  cb_ring_copy4(to + 8, from + 8, wide);
  cb_ring_copy4(to + 12, from + 12, wide);
}

CB_RING_INLINE void cb_ring_copy_by(uint64_t *to, const uint64_t *from,
                                    uint32_t n, bool wide)
{
  for (uint32_t turns = n / 32; turns; turns--, to += 32, from += 32) {
    cb_ring_copy16(to, from, wide);
    cb_ring_copy16(to + 16, from + 16, wide);
  }
  if ((n & 31) == 0)
    return;
  if (n & 16) {
    cb_ring_copy16(to, from, wide);
    to += 16;
    from += 16;
  }
  if (n & 8) {
    cb_ring_copy4(to, from, wide);
    cb_ring_copy4(to + 4, from + 4, wide);
    to += 8;
    from += 8;
  }
  if ((n & 7) == 0)
    return;
  if (n & 4) {
    cb_ring_copy4(to, from, wide);
    to += 4;
    from += 4;
  }
  if (n & 2) {
    memcpy(to, from, 2 * sizeof *to);
    to += 2;
    from += 2;
  }
  if (n & 1)
    *to = *from;
}

CB_RING_INLINE void cb_ring_copy(uint64_t *to, const uint64_t *from, uint32_t n)
{
  cb_ring_copy_by(to, from, n, false);
}

/* The same into and out of a ring of mask + 1 slots from slot index on. Around
 * its end in two parts, out of the way of the usual case. */
CB_RING_APART void cb_ring_copy_in_around(uint64_t *slots, uint64_t mask,
                                          uint64_t at, const uint64_t *values,
                                          uint32_t n)
{
  uint32_t first = (uint32_t)(mask + 1 - at);
  memcpy(slots + at, values, first * sizeof *slots);
  memcpy(slots, values + first, (n - first) * sizeof *slots);
}

CB_RING_APART void cb_ring_copy_out_around(const uint64_t *slots, uint64_t mask,
                                           uint64_t at, uint64_t *values,
                                           uint32_t n)
{
  uint32_t first = (uint32_t)(mask + 1 - at);
  memcpy(values, slots + at, first * sizeof *slots);
  memcpy(values + first, slots, (n - first) * sizeof *slots);
}

CB_RING_INLINE void cb_ring_copy_in(uint64_t *slots, uint64_t mask,
                                    uint64_t index, const uint64_t *values,
                                    uint32_t n)
{
  uint64_t at = index & mask;
  if (at + n <= mask + 1)
    cb_ring_copy(slots + at, values, n);
  else
    cb_ring_copy_in_around(slots, mask, at, values, n);
}

CB_RING_INLINE void cb_ring_copy_out(const uint64_t *slots, uint64_t mask,
                                     uint64_t index, uint64_t *values,
                                     uint32_t n)
{
  uint64_t at = index & mask;
  if (at + n <= mask + 1)
    cb_ring_copy(values, slots + at, n);
  else
    cb_ring_copy_out_around(slots, mask, at, values, n);
}

/* What a claim of n gets when there is room for `room`. A branch on purpose: a
 * conditional move would make the copy wait for the other side's index, which
 * a predicted branch does not. */
CB_RING_INLINE uint32_t cb_ring_grant(uint32_t n, uint64_t room,
                                      enum cb_ring_mode mode)
{
  if (CB_RING_RARELY(n > room))
    return mode == CB_RING_BULK ? 0 : (uint32_t)room;
  return n;
}

#endif
