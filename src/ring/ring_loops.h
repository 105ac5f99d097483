/*
 * ring_loops.h - the measured loops of a ring kind, over its inlined
 * operations; C11 and C++.
 *
 * A ring pair costs some 3 ticks inlined and 16 through two pointers, so the
 * way an operation is reached is part of what is measured. A kind writes its
 * operations as inline functions, defines RING as its prefix and includes this
 * file; the loops and the functions behind pointers come out as static
 * functions, which CB_RING_LOOPS(prefix) and CB_RING_OPS(prefix) list for the
 * kind's struct. Included without RING it only gives the helpers below.
 *
 * The operations work on a cursor: what one side knows by itself (its index,
 * the other side's index as last seen). A loop holds its cursor in a local
 * struct, which the compiler keeps in registers, so that no operation waits
 * for the store of the one before. A kind NAME provides
 *
 *   struct NAME_producer, NAME_producer_begin(ring), NAME_producer_end(at)
 *   struct NAME_consumer, NAME_consumer_begin(ring), NAME_consumer_end(at)
 *   bool NAME_enqueue(at, value), NAME_dequeue(at, &value)
 *   uint32_t NAME_enqueue_n(at, values, n, mode, room)  any n, room may be NULL
 *   uint32_t NAME_dequeue_n(at, values, n, mode, left)
 *   uint64_t NAME_count(ring), NAME_free_count(ring)
 *
 * begin reads the cursor from the ring and end writes it back. A kind without
 * a cursor says CB_RING_PLAIN_CURSORS(NAME, type of the ring), one that moves
 * single elements CB_RING_LOOPED(NAME), one whose free slots are all those
 * that are not taken CB_RING_FREE_COUNT(NAME).
 *
 * A kind that has no cursor and moves single elements may define RING_TYPE too,
 * the type of its ring, and then provides no more than
 *
 *   bool NAME_enqueue(RING_TYPE *ring, value), NAME_dequeue(ring, &value)
 *   uint64_t NAME_count(struct cb_ring *ring), NAME_free_count(ring)
 *
 * Where it is also an array with two indexes, ring_indexed.h has the rest.
 *
 * A kind in which it matters that a thread had to wait for an element may
 * define two macros besides, which end with this file, as RING does:
 *
 *   RING_DEQUEUE_WAITED  the name of another NAME_dequeue, for the polls after
 *                        one that found nothing
 *   RING_ANSWERS(at)     of round trips: what is done at the cursor of the
 *                        producer that answers an element that was waited for
 *
 * A plug-in includes the installed copy, <cbench/ring_loops.h>; nothing here
 * refers to a symbol of the library.
 */
#ifndef CB_RING_LOOPS_H
#define CB_RING_LOOPS_H

#include "cbench.h"
#include "ring_wait.h"

CB_RING_INLINE uint64_t cb_ring_fits(const struct cb_ring *ring)
{
#ifdef __cplusplus
  return __atomic_load_n(&ring->capacity, __ATOMIC_RELAXED);
#else
  return atomic_load_explicit(&ring->capacity, memory_order_relaxed);
#endif
}

/* The sum of `count` elements from number first on, as loops of bursts and as
 * loops of single elements make them. */
CB_RING_INLINE uint64_t cb_ring_sum(const struct cb_ring_values *values,
                                    uint64_t first, uint64_t count)
{
  uint64_t last = first + count;
  return (last / CB_RING_TABLE - first / CB_RING_TABLE) *
             values->below[CB_RING_TABLE] +
         values->below[last % CB_RING_TABLE] -
         values->below[first % CB_RING_TABLE];
}

CB_RING_INLINE uint64_t cb_ring_series(uint64_t first, uint64_t count)
{
  /* One of the two factors is even. */
  uint64_t pairs =
      count % 2 ? (count - 1) / 2 * count : count / 2 * (count - 1);
  return count * (first + 1) + pairs;
}

/* The sum of both ends of `count` bursts in a row, `part` long, the first of
 * which begins with element number first. The table repeats, and so do they. */
CB_RING_INLINE uint64_t cb_ring_ends(const struct cb_ring_values *values,
                                     uint64_t first, uint64_t part,
                                     uint64_t count)
{
  uint64_t period = CB_RING_TABLE / (part & (~part + 1));
  uint64_t rest = count % period, all = 0, some = 0;
  for (uint64_t i = 0; i < (count < period ? count : period); i++) {
    if (i == rest)
      some = all;
    const uint64_t *burst = values->value + (first + i * part) % CB_RING_TABLE;
    all += burst[0] + burst[part - 1];
  }
  return count < period ? all : count / period * all + some;
}

/* Cursors of a kind whose operations need no more than the ring. */
#define CB_RING_PLAIN_CURSORS(NAME, TYPE)                                      \
  struct NAME##_producer {                                                     \
    TYPE *ring;                                                                \
  };                                                                           \
  struct NAME##_consumer {                                                     \
    TYPE *ring;                                                                \
  };                                                                           \
  CB_RING_INLINE struct NAME##_producer NAME##_producer_begin(                 \
      struct cb_ring *ring)                                                    \
  {                                                                            \
    struct NAME##_producer at = {(TYPE *)ring};                                \
    return at;                                                                 \
  }                                                                            \
  CB_RING_INLINE struct NAME##_consumer NAME##_consumer_begin(                 \
      struct cb_ring *ring)                                                    \
  {                                                                            \
    struct NAME##_consumer at = {(TYPE *)ring};                                \
    return at;                                                                 \
  }                                                                            \
  CB_RING_INLINE void NAME##_producer_end(struct NAME##_producer *at)          \
  {                                                                            \
    (void)at;                                                                  \
  }                                                                            \
  CB_RING_INLINE void NAME##_consumer_end(struct NAME##_consumer *at)          \
  {                                                                            \
    (void)at;                                                                  \
  }

/* Many elements one by one, for a kind that cannot claim them at once. */
#define CB_RING_LOOPED(NAME)                                                   \
  CB_RING_LOOPED_BY(NAME, NAME##_enqueue, NAME##_dequeue)

#define CB_RING_LOOPED_BY(NAME, ENQUEUE, DEQUEUE)                              \
  CB_RING_INLINE uint32_t NAME##_enqueue_n(                                    \
      struct NAME##_producer *at, const uint64_t *values, uint32_t n,          \
      enum cb_ring_mode mode, uint32_t *room)                                  \
  {                                                                            \
    uint32_t done = 0;                                                         \
    (void)mode;                                                                \
    while (done < n && ENQUEUE(at, values[done]))                              \
      done++;                                                                  \
    if (room)                                                                  \
      *room = (uint32_t)NAME##_free_count((struct cb_ring *)at->ring);         \
    return done;                                                               \
  }                                                                            \
  CB_RING_INLINE uint32_t NAME##_dequeue_n(                                    \
      struct NAME##_consumer *at, uint64_t *values, uint32_t n,                \
      enum cb_ring_mode mode, uint32_t *left)                                  \
  {                                                                            \
    uint32_t done = 0;                                                         \
    (void)mode;                                                                \
    while (done < n && DEQUEUE(at, &values[done]))                             \
      done++;                                                                  \
    if (left)                                                                  \
      *left = (uint32_t)NAME##_count((struct cb_ring *)at->ring);              \
    return done;                                                               \
  }

/* Free slots of a kind in which every slot that is not taken is free. */
#define CB_RING_FREE_COUNT(NAME)                                               \
  static inline uint64_t NAME##_free_count(struct cb_ring *ring)               \
  {                                                                            \
    return cb_ring_fits(ring) - NAME##_count(ring);                            \
  }

/* Slots of the largest ring: 128 MiB of elements. */
#define CB_RING_SLOTS_MAX 16777216

#ifndef __cplusplus
/* Options that many kinds have. */
#define CB_RING_OPTION_SIZE(smallest, largest, text)                           \
  {                                                                            \
    .name = "size", .type = CB_INTEGER, .preset = "1024", .min = (smallest),   \
    .max = (largest), .help = text                                             \
  }
/* So that a test need not move four thousand million elements first. */
#define CB_RING_OPTION_START(largest)                                          \
  {                                                                            \
    .name = "start", .type = CB_INTEGER, .preset = "0", .min = 0,              \
    .max = (largest), .help = "the number that the first element gets"         \
  }
/* The largest that 32-bit indexes take, and that the option takes. */
#define CB_RING_START_32 4294967295.0
#define CB_RING_START_64 9007199254740992.0
#endif

#define CB_RING_LOOPS(NAME)                                                    \
  NAME##_loop_pair, NAME##_loop_produce, NAME##_loop_consume,                  \
      NAME##_loop_ping, NAME##_loop_pong

/* The first six members of struct cb_ring_ops, and the first eight of a kind
 * that moves all or none. Older C++ wants them in order and without names. */
#ifdef __cplusplus
#define CB_RING_OPS_BURST(NAME)                                                \
  NAME##_op_enqueue, NAME##_op_dequeue, NAME##_count, NAME##_free_count,       \
      NAME##_op_enqueue_burst, NAME##_op_dequeue_burst
#define CB_RING_OPS(NAME)                                                      \
  CB_RING_OPS_BURST(NAME), NAME##_op_enqueue_bulk, NAME##_op_dequeue_bulk
#else
#define CB_RING_OPS_BURST(NAME)                                                \
  .enqueue = NAME##_op_enqueue, .dequeue = NAME##_op_dequeue,                  \
  .count = NAME##_count, .free_count = NAME##_free_count,                      \
  .enqueue_burst = NAME##_op_enqueue_burst,                                    \
  .dequeue_burst = NAME##_op_dequeue_burst
#define CB_RING_OPS(NAME)                                                      \
  CB_RING_OPS_BURST(NAME), .enqueue_bulk = NAME##_op_enqueue_bulk,             \
                           .dequeue_bulk = NAME##_op_dequeue_bulk
#endif

#define CB_RING_JOIN_(a, b) a##_##b
#define CB_RING_JOIN(a, b) CB_RING_JOIN_(a, b)
/* A macro of the above with what its arguments stand for. */
#define CB_RING_SAY(MACRO, ...) MACRO(__VA_ARGS__)

#endif /* CB_RING_LOOPS_H */

#ifdef RING
#define RING_(word) CB_RING_JOIN(RING, word)

#ifdef RING_TYPE
CB_RING_SAY(CB_RING_PLAIN_CURSORS, RING, RING_TYPE)

CB_RING_INLINE bool RING_(enqueue_at)(struct RING_(producer) * at,
                                      uint64_t value)
{
  return RING_(enqueue)(at->ring, value);
}

CB_RING_INLINE bool RING_(dequeue_at)(struct RING_(consumer) * at,
                                      uint64_t *value)
{
  return RING_(dequeue)(at->ring, value);
}

#define RING_ENQUEUE RING_(enqueue_at)
#define RING_DEQUEUE RING_(dequeue_at)
CB_RING_SAY(CB_RING_LOOPED_BY, RING, RING_ENQUEUE, RING_DEQUEUE)
#else
#define RING_ENQUEUE RING_(enqueue)
#define RING_DEQUEUE RING_(dequeue)
#endif

#ifndef RING_DEQUEUE_WAITED
#define RING_DEQUEUE_WAITED RING_DEQUEUE
#endif
#ifndef RING_ANSWERS
#define RING_ANSWERS(at) ((void)0)
#endif

/* ---- behind pointers ---- */

static inline bool RING_(op_enqueue)(struct cb_ring *ring, uint64_t value)
{
  struct RING_(producer) at = RING_(producer_begin)(ring);
  bool done = RING_ENQUEUE(&at, value);
  RING_(producer_end)(&at);
  return done;
}

static inline bool RING_(op_dequeue)(struct cb_ring *ring, uint64_t *value)
{
  struct RING_(consumer) at = RING_(consumer_begin)(ring);
  bool done = RING_DEQUEUE(&at, value);
  RING_(consumer_end)(&at);
  return done;
}

CB_RING_INLINE uint32_t RING_(op_in)(struct cb_ring *ring,
                                     const uint64_t *values, uint32_t n,
                                     enum cb_ring_mode mode, uint32_t *room)
{
  struct RING_(producer) at = RING_(producer_begin)(ring);
  uint32_t done = RING_(enqueue_n)(&at, values, n, mode, room);
  RING_(producer_end)(&at);
  return done;
}

CB_RING_INLINE uint32_t RING_(op_out)(struct cb_ring *ring, uint64_t *values,
                                      uint32_t n, enum cb_ring_mode mode,
                                      uint32_t *left)
{
  struct RING_(consumer) at = RING_(consumer_begin)(ring);
  uint32_t done = RING_(dequeue_n)(&at, values, n, mode, left);
  RING_(consumer_end)(&at);
  return done;
}

static inline uint32_t RING_(op_enqueue_burst)(struct cb_ring *ring,
                                               const uint64_t *values,
                                               uint32_t n, uint32_t *room)
{
  return RING_(op_in)(ring, values, n, CB_RING_BURST, room);
}

static inline uint32_t RING_(op_dequeue_burst)(struct cb_ring *ring,
                                               uint64_t *values, uint32_t n,
                                               uint32_t *left)
{
  return RING_(op_out)(ring, values, n, CB_RING_BURST, left);
}

static inline uint32_t RING_(op_enqueue_bulk)(struct cb_ring *ring,
                                              const uint64_t *values,
                                              uint32_t n, uint32_t *room)
{
  return RING_(op_in)(ring, values, n, CB_RING_BULK, room);
}

static inline uint32_t RING_(op_dequeue_bulk)(struct cb_ring *ring,
                                              uint64_t *values, uint32_t n,
                                              uint32_t *left)
{
  return RING_(op_out)(ring, values, n, CB_RING_BULK, left);
}

/* ---- one thread, in and out ---- */

CB_RING_INLINE bool RING_(pair_of)(struct RING_(producer) * in,
                                   struct RING_(consumer) * out, uint64_t given,
                                   uint64_t *taken)
{
  uint64_t value = given;
  if (CB_RING_RARELY(!RING_ENQUEUE(in, given)) ||
      CB_RING_RARELY(!RING_DEQUEUE(out, &value)))
    return false;
  CB_RING_OPAQUE(value);
  *taken += value;
  return true;
}

/* Loops of single elements and of bursts are functions of their own, so that
 * neither has to share its registers with the other. Both do two a turn: the
 * loop is not what takes the time. */
CB_RING_APART uint64_t RING_(pair_single)(struct cb_ring *ring,
                                          struct cb_ring_pass *pass, uint64_t n)
{
  struct RING_(producer) in = RING_(producer_begin)(ring);
  struct RING_(consumer) out = RING_(consumer_begin)(ring);
  uint64_t first = pass->next, next = first + 1, end = next + n;
  uint64_t done, taken = 0;
  for (const uint64_t last = end - n % 2; next != last; next += 2) {
    if (CB_RING_RARELY(!RING_(pair_of)(&in, &out, next, &taken)))
      goto stop;
    if (CB_RING_RARELY(!RING_(pair_of)(&in, &out, next + 1, &taken))) {
      next++;
      goto stop;
    }
  }
  if (next != end && RING_(pair_of)(&in, &out, next, &taken))
    next++;
stop:
  RING_(producer_end)(&in);
  RING_(consumer_end)(&out);
  done = next - 1 - first;
  pass->next = first + done;
  pass->given += cb_ring_series(first, done);
  pass->taken += taken;
  return done;
}

/* One burst in and out. Returns whether all of it went through. */
CB_RING_INLINE bool RING_(pair_once)(struct RING_(producer) * in,
                                     struct RING_(consumer) * out,
                                     const uint64_t *source, uint64_t *buffer,
                                     uint32_t part)
{
  return CB_RING_MOSTLY(
             RING_(enqueue_n)(in, source, part, CB_RING_BURST, NULL) == part) &&
         CB_RING_MOSTLY(
             RING_(dequeue_n)(out, buffer, part, CB_RING_BURST, NULL) == part);
}

/* n elements, a whole number of bursts of `part`. */
CB_RING_APART uint64_t RING_(pair_bursts)(struct cb_ring *ring,
                                          struct cb_ring_pass *pass,
                                          uint64_t *buffer, uint32_t part,
                                          uint64_t n)
{
  struct RING_(producer) in = RING_(producer_begin)(ring);
  struct RING_(consumer) out = RING_(consumer_begin)(ring);
  const uint64_t *values = pass->values->value;
  const uint64_t *wrap = values + CB_RING_TABLE;
  const uint64_t *source = values + pass->next % CB_RING_TABLE;
  uint64_t left = n, taken = 0, also = 0;
  bool good = true;
  while (left && good) {
    /* As far as the table goes, the only test is whether that is all. */
    const uint64_t *start = source;
    const uint64_t *stop =
        left < (uint64_t)(wrap - start) ? start + left : wrap;
    const uint64_t *last = stop - part;
    while (source < last) {
      if (CB_RING_RARELY(!RING_(pair_once)(&in, &out, source, buffer, part))) {
        good = false;
        break;
      }
      taken += buffer[0] + buffer[part - 1];
      if (CB_RING_RARELY(
              !RING_(pair_once)(&in, &out, source + part, buffer, part))) {
        good = false;
        source += part;
        break;
      }
      also += buffer[0] + buffer[part - 1];
      source += 2 * part;
    }
    if (good && source < stop) {
      good = RING_(pair_once)(&in, &out, source, buffer, part);
      if (CB_RING_MOSTLY(good)) {
        taken += buffer[0] + buffer[part - 1];
        source += part;
      }
    }
    left -= (uint64_t)(source - start);
    if (source >= wrap)
      source -= CB_RING_TABLE;
  }
  RING_(producer_end)(&in);
  RING_(consumer_end)(&out);
  /* What was given is known without looking: not in the loop, then. */
  pass->given +=
      cb_ring_ends(pass->values, pass->next, part, (n - left) / part);
  pass->taken += taken + also;
  pass->next += n - left;
  return n - left;
}

/* Whole bursts, then what is left of n as one smaller burst. */
CB_RING_APART uint64_t RING_(pair_burst)(struct cb_ring *ring,
                                         struct cb_ring_pass *pass, uint64_t n)
{
  uint64_t buffer[CB_RING_BURST_MAX] __attribute__((aligned(64))) = {0};
  uint32_t burst = pass->burst, rest = (uint32_t)(n % burst);
  uint64_t whole = n - rest;
  uint64_t done = RING_(pair_bursts)(ring, pass, buffer, burst, whole);
  if (rest && done == whole)
    done += RING_(pair_bursts)(ring, pass, buffer, rest, rest);
  return done;
}

static uint64_t RING_(loop_pair)(struct cb_ring *ring,
                                 struct cb_ring_pass *pass, uint64_t n)
{
  return pass->burst == 1 ? RING_(pair_single)(ring, pass, n)
                          : RING_(pair_burst)(ring, pass, n);
}

/* ---- producers ---- */

/* Loops of single elements do two a turn here too. Of a ring whose elements lie
 * in two rows in turn, each of the two loads then has a row of its own, which
 * the processor's prefetcher can follow. */

/* One element in, however long that takes. Returns false when told to stop. */
CB_RING_INLINE bool RING_(produce_one)(struct RING_(producer) * in,
                                       struct cb_ring_pass *pass,
                                       uint64_t value)
{
  uint32_t streak = 0;
  while (CB_RING_RARELY(!RING_ENQUEUE(in, value)))
    if (!(streak = cb_ring_pass_wait(pass, streak)))
      return false;
  return true;
}

CB_RING_APART uint64_t RING_(produce_single)(struct cb_ring *ring,
                                             struct cb_ring_pass *pass,
                                             uint64_t n)
{
  struct RING_(producer) in = RING_(producer_begin)(ring);
  uint64_t first = pass->next, done = 0;
  for (const uint64_t even = n - n % 2; done != even; done += 2) {
    if (CB_RING_RARELY(!RING_(produce_one)(&in, pass, first + done + 1)))
      goto stop;
    if (CB_RING_RARELY(!RING_(produce_one)(&in, pass, first + done + 2))) {
      done++;
      goto stop;
    }
  }
  if (done != n && RING_(produce_one)(&in, pass, first + n))
    done++;
stop:
  RING_(producer_end)(&in);
  pass->next = first + done;
  pass->given += cb_ring_series(first, done);
  return done;
}

CB_RING_APART uint64_t RING_(produce_burst)(struct cb_ring *ring,
                                            struct cb_ring_pass *pass,
                                            uint64_t n)
{
  struct RING_(producer) in = RING_(producer_begin)(ring);
  const uint64_t *values = pass->values->value;
  uint64_t first = pass->next, burst = pass->burst;
  uint64_t done = 0;
  uint32_t moved;
  for (; done < n; done += moved) {
    uint32_t part = (uint32_t)(n - done < burst ? n - done : burst);
    const uint64_t *source = values + (first + done) % CB_RING_TABLE;
    uint32_t streak = 0;
    while (CB_RING_RARELY(
        !(moved = RING_(enqueue_n)(&in, source, part, CB_RING_BURST, NULL))))
      if (!(streak = cb_ring_pass_wait(pass, streak)))
        goto stop;
  }
stop:
  RING_(producer_end)(&in);
  pass->next = first + done;
  pass->given += cb_ring_sum(pass->values, first, done);
  return done;
}

static uint64_t RING_(loop_produce)(struct cb_ring *ring,
                                    struct cb_ring_pass *pass, uint64_t n)
{
  return pass->burst == 1 ? RING_(produce_single)(ring, pass, n)
                          : RING_(produce_burst)(ring, pass, n);
}

/* ---- consumers ---- */

CB_RING_INLINE bool RING_(consume_one)(struct RING_(consumer) * out,
                                       struct cb_ring_pass *pass,
                                       uint64_t *taken)
{
  uint64_t value = 0;
  if (CB_RING_RARELY(!RING_DEQUEUE(out, &value))) {
    uint32_t streak = 0;
    do
      if (!(streak = cb_ring_pass_wait(pass, streak)))
        return false;
    while (!RING_DEQUEUE_WAITED(out, &value));
  }
  CB_RING_OPAQUE(value);
  *taken += value;
  return true;
}

CB_RING_APART uint64_t RING_(consume_single)(struct cb_ring *ring,
                                             struct cb_ring_pass *pass,
                                             uint64_t n)
{
  struct RING_(consumer) out = RING_(consumer_begin)(ring);
  uint64_t done = 0, taken = 0;
  for (const uint64_t even = n - n % 2; done != even; done += 2) {
    if (CB_RING_RARELY(!RING_(consume_one)(&out, pass, &taken)))
      goto stop;
    if (CB_RING_RARELY(!RING_(consume_one)(&out, pass, &taken))) {
      done++;
      goto stop;
    }
  }
  if (done != n && RING_(consume_one)(&out, pass, &taken))
    done++;
stop:
  RING_(consumer_end)(&out);
  pass->taken += taken;
  return done;
}

CB_RING_APART uint64_t RING_(consume_burst)(struct cb_ring *ring,
                                            struct cb_ring_pass *pass,
                                            uint64_t n)
{
  struct RING_(consumer) out = RING_(consumer_begin)(ring);
  uint64_t array[CB_RING_BURST_MAX] __attribute__((aligned(64))) = {0};
  uint64_t *buffer = array;
  uint64_t burst = pass->burst;
  uint64_t done = 0, taken = 0;
  uint32_t moved;
  CB_RING_OPAQUE(buffer);
  for (; done < n; done += moved) {
    uint32_t part = (uint32_t)(n - done < burst ? n - done : burst);
    uint32_t streak = 0;
    while (CB_RING_RARELY(
        !(moved = RING_(dequeue_n)(&out, buffer, part, CB_RING_BURST, NULL))))
      if (!(streak = cb_ring_pass_wait(pass, streak)))
        goto stop;
    for (uint32_t i = 0; i < moved; i++)
      taken += buffer[i];
  }
stop:
  RING_(consumer_end)(&out);
  pass->taken += taken;
  return done;
}

static uint64_t RING_(loop_consume)(struct cb_ring *ring,
                                    struct cb_ring_pass *pass, uint64_t n)
{
  return pass->burst == 1 ? RING_(consume_single)(ring, pass, n)
                          : RING_(consume_burst)(ring, pass, n);
}

/* ---- there and back ---- */

static uint64_t RING_(loop_ping)(struct cb_ring *there, struct cb_ring *back,
                                 struct cb_ring_pass *pass, uint64_t n)
{
  struct RING_(producer) in = RING_(producer_begin)(there);
  struct RING_(consumer) out = RING_(consumer_begin)(back);
  uint64_t first = pass->next;
  uint64_t done, taken = 0;
  for (done = 0; done < n; done++) {
    uint64_t value = first + done + 1;
    uint32_t streak = 0;
    while (CB_RING_RARELY(!RING_ENQUEUE(&in, value)))
      if (!(streak = cb_ring_pass_look(pass, streak)))
        goto stop;
    if (CB_RING_RARELY(!RING_DEQUEUE(&out, &value))) {
      streak = 0;
      do
        if (!(streak = cb_ring_pass_look(pass, streak)))
          goto stop;
      while (!RING_DEQUEUE_WAITED(&out, &value));
      RING_ANSWERS(&in);
    }
    CB_RING_OPAQUE(value);
    taken += value;
  }
stop:
  RING_(producer_end)(&in);
  RING_(consumer_end)(&out);
  pass->next = first + done;
  pass->given += cb_ring_series(first, done);
  pass->taken += taken;
  return done;
}

static uint64_t RING_(loop_pong)(struct cb_ring *there, struct cb_ring *back,
                                 struct cb_ring_pass *pass, uint64_t n)
{
  struct RING_(producer) in = RING_(producer_begin)(back);
  struct RING_(consumer) out = RING_(consumer_begin)(there);
  uint64_t done;
  for (done = 0; done < n; done++) {
    uint64_t value = done;
    uint32_t streak = 0;
    if (CB_RING_RARELY(!RING_DEQUEUE(&out, &value))) {
      do
        if (!(streak = cb_ring_pass_look(pass, streak)))
          goto stop;
      while (!RING_DEQUEUE_WAITED(&out, &value));
      RING_ANSWERS(&in);
    }
    streak = 0;
    while (CB_RING_RARELY(!RING_ENQUEUE(&in, value)))
      if (!(streak = cb_ring_pass_look(pass, streak)))
        goto stop;
  }
stop:
  RING_(producer_end)(&in);
  RING_(consumer_end)(&out);
  return done;
}

#undef RING_ANSWERS
#undef RING_DEQUEUE_WAITED
#undef RING_ENQUEUE
#undef RING_DEQUEUE
#undef RING_TYPE
#undef RING_
#undef RING
#endif
