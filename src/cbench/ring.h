/* ring.h - bounded queues. */
#ifndef CBENCH_RING_H
#define CBENCH_RING_H

#include "cbench/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A ring is a bounded queue of 64-bit elements: integers, or pointers cast to
 * them. As many threads may enqueue, and as many dequeue, at the same time as
 * its limits say; count, free_count and capacity may be asked by any thread at
 * any time. Everything else (create, destroy, drain) wants the ring alone,
 * unless it says otherwise. */

struct cb_ring;

/* How a thread waits: for a lock or for its turn inside a ring, and in the
 * loops for an element or a free slot. */
enum cb_wait {
  CB_WAIT_SPIN,  /* polls again at once */
  CB_WAIT_PAUSE, /* a pause between polls, several after a while */
  CB_WAIT_YIELD, /* pauses, then gives the CPU to another thread */
  CB_WAIT_NEVER  /* loops only: a full or an empty ring ends the loop */
};

/* Of many elements: as many as there is room for, or all or none. */
enum cb_ring_mode { CB_RING_BURST, CB_RING_BULK };

/* What a ring can do. */
struct cb_ring_limits {
  uint32_t producers; /* most threads that enqueue at once, 0 for no limit */
  uint32_t consumers; /* the same of those that dequeue */
  bool zero_allowed;  /* 0 (NULL) may be an element; else it is refused */
  bool late_visible;  /* what an operation that returned has put in (or has
                         freed) can stay out of sight of the other side behind
                         one that has not returned */
  bool lazy_free;     /* slots are given back in batches: free_count can be
                         less than capacity - count */
  bool forgets;       /* elements are not kept (the ring `nop`) */
};

/* Called with an element that a ring gives up. */
typedef void cb_ring_drop(void *context, uint64_t value);

/* The operations behind pointers, unchecked: never a 0 where it is refused.
 * What a kind cannot do is NULL. room and left may be NULL: free slots,
 * elements left after the operation, as that thread sees it. */
struct cb_ring_ops {
  bool (*enqueue)(struct cb_ring *ring, uint64_t value);
  bool (*dequeue)(struct cb_ring *ring, uint64_t *value);
  uint64_t (*count)(struct cb_ring *ring);
  uint64_t (*free_count)(struct cb_ring *ring);
  uint32_t (*enqueue_burst)(struct cb_ring *ring, const uint64_t *values,
                            uint32_t n, uint32_t *room);
  uint32_t (*dequeue_burst)(struct cb_ring *ring, uint64_t *values, uint32_t n,
                            uint32_t *left);
  uint32_t (*enqueue_bulk)(struct cb_ring *ring, const uint64_t *values,
                           uint32_t n, uint32_t *room);
  uint32_t (*dequeue_bulk)(struct cb_ring *ring, uint64_t *values, uint32_t n,
                           uint32_t *left);
  /* Two halves of an enqueue (room is claimed, then filled) and of a dequeue
   * (elements are copied, then released). 0 ends one without effect; false is
   * a finish of more than was started. */
  uint32_t (*enqueue_start)(struct cb_ring *ring, uint32_t n,
                            enum cb_ring_mode mode, uint32_t *room);
  bool (*enqueue_finish)(struct cb_ring *ring, const uint64_t *values,
                         uint32_t n);
  uint32_t (*dequeue_start)(struct cb_ring *ring, uint64_t *values, uint32_t n,
                            enum cb_ring_mode mode, uint32_t *left);
  bool (*dequeue_finish)(struct cb_ring *ring, uint32_t n);
  int (*resize)(struct cb_ring *ring, uint32_t size, cb_ring_drop *drop,
                void *context, struct cb_error *error);
  uint32_t (*unconsume)(struct cb_ring *ring, const uint64_t *values,
                        uint32_t n, cb_ring_drop *drop, void *context);
};

/* Largest burst of a loop, and the table of values that bursts are taken from:
 * element number s of a producer is value[s % CB_RING_TABLE], or s + 1 in
 * loops of single elements. */
#define CB_RING_BURST_MAX 256
#define CB_RING_TABLE 512
struct cb_ring_values {
  uint64_t value[CB_RING_TABLE + CB_RING_BURST_MAX]; /* the table and its head */
  uint64_t below[CB_RING_TABLE + 1]; /* sums of the first 0, 1, ... */
};

/* One thread's share of a loop, kept from batch to batch. */
struct cb_ring_pass {
  const struct cb_control *control; /* looked at whenever the loop waits */
  const struct cb_ring_values *values;
  uint32_t burst;    /* elements moved at once, 1 to CB_RING_BURST_MAX */
  enum cb_wait wait; /* when the ring is full or empty */
  uint64_t next;     /* number of the next element made */
  uint64_t given;    /* sum of the elements put in (pair: of bursts' ends) */
  uint64_t taken;    /* the same of those taken out */
  uint64_t polls;    /* that found the ring full or empty */
};

/* Whole measured loops over a kind's inlined operations. Each moves n elements
 * (round trips in the last two) and returns how many it did: fewer when told
 * to stop, or with CB_WAIT_NEVER at the first refusal. Loops of one ring may
 * run at the same time within its limits. */
struct cb_ring_loops {
  /* One thread: a burst in and out again. */
  uint64_t (*pair)(struct cb_ring *ring, struct cb_ring_pass *pass, uint64_t n);
  uint64_t (*produce)(struct cb_ring *ring, struct cb_ring_pass *pass,
                      uint64_t n);
  uint64_t (*consume)(struct cb_ring *ring, struct cb_ring_pass *pass,
                      uint64_t n);
  /* One element there and back: ping begins, pong returns it. */
  uint64_t (*ping)(struct cb_ring *there, struct cb_ring *back,
                   struct cb_ring_pass *pass, uint64_t n);
  uint64_t (*pong)(struct cb_ring *there, struct cb_ring *back,
                   struct cb_ring_pass *pass, uint64_t n);
};

/* A kind of the family "ring". ops, loops and limits are those of its rings,
 * unless create sets all three in the ring (a kind with variants). */
struct cb_ring_kind {
  struct cb_kind kind;
  struct cb_ring_limits limits;
  struct cb_ring_ops ops;
  struct cb_ring_loops loops;
  /* Returns a ring whose head is zero but for what create sets: capacity
   * always. */
  struct cb_ring *(*create)(const struct cb_spec *spec, struct cb_error *error);
  /* NULL: the ring is one piece of memory, for free(). */
  void (*destroy)(struct cb_ring *ring);
};

/* C++ sees the atomics of these structs as plain integers of the same size. */
#ifdef __cplusplus
typedef uint32_t cb_ring_atomic32;
typedef uint64_t cb_ring_atomic64;
#else
typedef _Atomic uint32_t cb_ring_atomic32;
typedef _Atomic uint64_t cb_ring_atomic64;
#endif

/* What every ring starts with; the rest is written only while the ring is
 * alone, the two atomics (relaxed) at any time. */
struct cb_ring {
  const struct cb_ring_kind *kind;
  const struct cb_ring_ops *ops;
  const struct cb_ring_loops *loops;
  const struct cb_control *control; /* ends waits inside the ring; or NULL */
  struct cb_ring_limits limits;
  enum cb_wait wait;
  cb_ring_atomic64 capacity; /* elements that really fit */
  /* Not 0 when control has ended a wait inside the ring: a place in the queue
   * is lost then, and the ring is good for nothing but destroy. */
  cb_ring_atomic32 broken;
};

/* For a kind's create. Zeroed memory for a ring with its slots behind it, apart
 * from anything else that a thread writes to; head is the size of what comes
 * before the slots. For free(); NULL with the sentence (-ENOMEM). Any thread. */
CB_API void *cb_ring_allocate(size_t head, uint64_t slots, size_t slot_size,
                              struct cb_error *error);
/* 0, or -EINVAL with a sentence that names the kind, unless size is a power of
 * two of at least smallest. advice, which may be NULL, ends the sentence. */
CB_API int cb_ring_power_of_two(const char *kind, int64_t size,
                                int64_t smallest, const char *advice,
                                struct cb_error *error);

/* A ring of the kind and options of spec. Errors: -EINVAL (the sentence names
 * the option and what the kind takes), -ENOMEM. */
CB_API struct cb_ring *cb_ring_create(const struct cb_spec *spec,
                                      struct cb_error *error);
/* Frees the ring; its elements are forgotten. NULL is allowed. */
CB_API void cb_ring_destroy(struct cb_ring *ring);
/* Dequeues everything, in order, into drop (NULL: nowhere); how many. The
 * caller is the only consumer. */
CB_API uint64_t cb_ring_drain(struct cb_ring *ring, cb_ring_drop *drop,
                              void *context);

/* Elements that fit. */
CB_API uint64_t cb_ring_capacity(const struct cb_ring *ring);
/* Elements inside, 0 to capacity; exact while nobody uses the ring. */
CB_API uint64_t cb_ring_count(struct cb_ring *ring);
/* Enqueues that would succeed now; exact while nobody uses the ring. */
CB_API uint64_t cb_ring_free_count(struct cb_ring *ring);

/* 1 when value was put in, 0 when the ring is full, -EINVAL for a 0 where the
 * kind cannot hold it. */
CB_API int cb_ring_enqueue(struct cb_ring *ring, uint64_t value,
                           struct cb_error *error);
/* 1 with the oldest element in value, 0 when the ring is empty. */
CB_API int cb_ring_dequeue(struct cb_ring *ring, uint64_t *value);

/* Many at once: bulk moves n or 0, burst moves as many as it can, 0 to n; that
 * number is the result. room, left (NULL is allowed): free slots and elements
 * left afterwards; not written when the wait for it was stopped. n above the
 * capacity is no error. -ENOTSUP where the kind cannot (the sentence names
 * those that can), -EINVAL for a 0 among values where the kind cannot hold it;
 * then nothing was moved. */
CB_API int64_t cb_ring_enqueue_bulk(struct cb_ring *ring,
                                    const uint64_t *values, size_t n,
                                    uint32_t *room, struct cb_error *error);
CB_API int64_t cb_ring_enqueue_burst(struct cb_ring *ring,
                                     const uint64_t *values, size_t n,
                                     uint32_t *room, struct cb_error *error);
CB_API int64_t cb_ring_dequeue_bulk(struct cb_ring *ring, uint64_t *values,
                                    size_t n, uint32_t *left,
                                    struct cb_error *error);
CB_API int64_t cb_ring_dequeue_burst(struct cb_ring *ring, uint64_t *values,
                                     size_t n, uint32_t *left,
                                     struct cb_error *error);

/* An enqueue or a dequeue in two halves, as DPDK's peek API: start claims room
 * for, or copies out, as many elements as the result says; finish with that
 * many or fewer ends it, the rest counts as not done. In between nobody else
 * of that side gets on. A start that gave 0 needs no finish. The same thread
 * must do both. Errors as above; -EINVAL for a finish beyond its start. */
CB_API int64_t cb_ring_enqueue_start(struct cb_ring *ring, size_t n,
                                     enum cb_ring_mode mode, uint32_t *room,
                                     struct cb_error *error);
CB_API int cb_ring_enqueue_finish(struct cb_ring *ring, const uint64_t *values,
                                  size_t n, struct cb_error *error);
CB_API int64_t cb_ring_dequeue_start(struct cb_ring *ring, uint64_t *values,
                                     size_t n, enum cb_ring_mode mode,
                                     uint32_t *left, struct cb_error *error);
CB_API int cb_ring_dequeue_finish(struct cb_ring *ring, size_t n,
                                  struct cb_error *error);

/* A new size, as Linux's ptr_ring_resize: the oldest elements stay, those that
 * do not fit go to drop in order. Others may use the ring meanwhile. Returns 0,
 * -ENOTSUP, -EINVAL (size) or -ENOMEM; nothing has changed then. */
CB_API int cb_ring_resize(struct cb_ring *ring, uint64_t size,
                          cb_ring_drop *drop, void *context,
                          struct cb_error *error);
/* Puts elements that were just dequeued back in front, as ptr_ring_unconsume;
 * what does not fit, the oldest of them, goes to drop, youngest first. Returns
 * how many went back, or a negative errno. */
CB_API int64_t cb_ring_unconsume(struct cb_ring *ring, const uint64_t *values,
                                 size_t n, cb_ring_drop *drop, void *context,
                                 struct cb_error *error);

/* The loops of `pair` with every operation called through ring->ops. */
CB_API extern const struct cb_ring_loops cb_ring_pointer_loops;

#ifdef __cplusplus
}
#endif
#endif
