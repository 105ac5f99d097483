/*
 * rings.h - what the ring workloads have in common: the ring, each thread's
 * share of the loop, and the proof.
 *
 * The proof: every element that was put in was taken out once, or is still
 * there. The loops of producers and of consumers keep sums of what they moved;
 * with what was put in beforehand and what is left at the end they must come
 * out even, in number and in sum.
 */
#ifndef CB_WORKLOAD_RINGS_H
#define CB_WORKLOAD_RINGS_H

#include "base/cpu.h"
#include "cbench.h"
#include "ring/ring.h"
#include "workload/kinds.h"
#include "workload/loans.h"

enum { RING_THREADS_MAX = 64 };
enum { RING_GIVES = 1, RING_TAKES = 2 };

/* One thread of a role. */
struct ring_lane {
  _Alignas(CB_APART) struct cb_ring_pass pass;
  uint64_t done, asked;
};

struct ring_work {
  _Alignas(CB_APART) struct cb_ring *ring;
  struct cb_ring *back;              /* of round trips, else NULL */
  const struct cb_ring_loops *loops; /* inlined, or through pointers */
  bool lent;                         /* the ring is somebody's */
  struct ring_loan loan;
  const struct cb_control *control;
  uint32_t burst;
  enum cb_wait wait;
  bool refill;      /* a batch leaves the ring as it may: see to it first */
  uint64_t prefill; /* elements in the ring before each batch */
  /* Put in and taken out by the measuring thread, between batches. */
  uint64_t in_count, in_sum, out_count, out_sum;
  struct cb_role roles[2];
  unsigned does[2];
  struct ring_lane *lanes; /* of the first role's threads, then the second's */
  struct cb_ring_values values __attribute__((aligned(64)));
};

/* What a ring workload is made of. */
struct ring_job {
  const char *operation;
  struct cb_role roles[2]; /* threads of the second are 0: there is one */
  unsigned does[2];        /* what elements they move; pong moves none */
  uint32_t producers, consumers;
  int64_t burst;
  enum cb_wait wait;
  bool by_pointer; /* call every operation through ring->ops */
  bool round_trip; /* needs a second ring */
  int64_t prefill; /* -1: half the capacity */
  uint64_t batch_n;
  double batch_cap;
  size_t (*counters)(void *state, struct cb_counter *counters, size_t capacity);
};

/* Makes the workload for the option `ring` of spec, or says what the ring
 * cannot do and which kinds can: -ENOTSUP. */
int cb_ring_workload(const struct ring_job *job, const struct cb_spec *spec,
                     struct cb_workload *workload, struct cb_error *error);

/* -ENOTSUP when the ring does not take so many threads, with the kinds that
 * do. */
int cb_ring_check_threads(const struct cb_ring *ring, uint32_t producers,
                          uint32_t consumers, struct cb_error *error);

/* The lane of a thread of role 0 or 1. */
CB_INLINE struct ring_lane *ring_lane(struct ring_work *work, unsigned role,
                                      unsigned thread)
{
  return &work->lanes[role * work->roles[0].threads + thread];
}

/* Books what a loop did of n. */
CB_INLINE uint64_t ring_done(struct ring_lane *lane, uint64_t done, uint64_t n)
{
  lane->done += done;
  lane->asked += n;
  return done;
}

/* n elements by a thread of the role: in, and out. */
CB_INLINE uint64_t ring_produce(struct ring_work *work, unsigned role,
                                unsigned thread, uint64_t n)
{
  struct ring_lane *lane = ring_lane(work, role, thread);
  return ring_done(lane, work->loops->produce(work->ring, &lane->pass, n), n);
}

CB_INLINE uint64_t ring_consume(struct ring_work *work, unsigned role,
                                unsigned thread, uint64_t n)
{
  struct ring_lane *lane = ring_lane(work, role, thread);
  return ring_done(lane, work->loops->consume(work->ring, &lane->pass, n), n);
}

/* A workload's counters: the same figure of both roles, by these names. */
size_t cb_ring_counters(struct ring_work *work, struct cb_counter *list,
                        size_t capacity, enum cb_counter_type type,
                        const char *const names[2],
                        double (*figure)(struct ring_work *work,
                                         unsigned role));

#define RING_OPTION_RING(kind_name)                                            \
  {                                                                            \
    .name = "ring", .type = CB_KIND, .preset = (kind_name),                    \
    .family = &cb_ring_family, .help = "the kind of ring"                      \
  }
#define RING_OPTION_BURST                                                      \
  {                                                                            \
    .name = "burst", .type = CB_INTEGER, .preset = "1", .min = 1,              \
    .max = CB_RING_BURST_MAX, .help = "elements moved at once"                 \
  }
#define RING_OPTION_THREADS(role)                                              \
  {                                                                            \
    .name = role "s", .type = CB_INTEGER, .preset = "1", .min = 1,             \
    .max = RING_THREADS_MAX, .help = "threads that are a " role                \
  }
/* Threads that wait for each other's time slices take thousands of times as
 * long as threads that run: whoever is still at it then is in a convoy. */
#define RING_OPTION_CAP                                                        \
  {                                                                            \
    .name = "cap", .type = CB_NUMBER, .preset = "5", .min = 0.01, .max = 3600, \
    .help = "seconds after which a batch is stopped and called a convoy"       \
  }
#define RING_OPTION_LOOP_WAIT                                                  \
  {                                                                            \
    .name = "wait", .type = CB_CHOICE, .preset = "auto",                       \
    .choices = "auto|spin|pause|yield",                                        \
    .help = "how at a full or empty ring; auto: pause, or yield if crowded"    \
  }

/* What that means for so many threads. */
enum cb_wait cb_ring_loop_wait(const struct cb_spec *spec, unsigned threads);

#endif
