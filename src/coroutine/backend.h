/*
 * backend.h - what the coroutine back ends share, installed as
 * cbench/backend.h for plug-ins that bring one of their own.
 *
 * A coroutine's caller is the whole of its state: CB_FRESH when it has been
 * given an entry that did not begin yet, NULL while it is suspended, whoever
 * entered it while it is entered, CB_ENDED once it has returned from its entry
 * and waits for the next one. So one comparison in enter refuses all that may
 * not be entered.
 *
 * The context that does not run is kept in the coroutine: while it is
 * suspended its own, while it is entered its enterer's. So back ends can be
 * nested in each other and a thread needs no context of its own.
 *
 * This is plain C11 that is C++ too, for plug-ins in that language.
 */
#ifndef CB_COROUTINE_BACKEND_H
#define CB_COROUTINE_BACKEND_H

#include "cbench.h"

#include <errno.h>

#define CB_HOT static inline __attribute__((always_inline))
/* For the functions that switch: they must end in a jump, see the template. */
#define CB_OUT_OF_LINE static __attribute__((noinline)) CB_NO_PROTECTOR
#define CB_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define CB_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#ifdef __has_attribute
#if __has_attribute(no_stack_protector)
#define CB_NO_PROTECTOR __attribute__((no_stack_protector))
#endif
#endif
#ifndef CB_NO_PROTECTOR
#define CB_NO_PROTECTOR
#endif

/* What sanitizers and Valgrind want to know about a coroutine. Always there,
 * so that a plug-in fits every build of its host. */
struct cb_marks {
  void *fiber, *outside_fiber;
  const void *outside_low;
  size_t outside_size;
  unsigned valgrind_id;
};

struct cb_coroutine {
  /* One cache line of what a switch touches. */
  void *sp;      /* of the context that does not run */
  void *pc;      /* back ends that keep both contexts here: its own, */
  void *from_sp; /* and its enterer's */
  struct cb_coroutine *caller;
  cb_entry *entry;
  void *opaque;
  union {
    struct cb_coroutine *next; /* idle: the one below it */
    void *from_pc;             /* entered, as from_sp */
  };
  struct cb_pool *pool;
  /* The rest. */
  const struct cb_backend *backend;
  struct cb_stack stack;
  struct cb_marks marks;
};

#define CB_FRESH ((struct cb_coroutine *)(uintptr_t)1)
#define CB_ENDED ((struct cb_coroutine *)(uintptr_t)2)

CB_HOT bool cb_may_enter(const struct cb_coroutine *coroutine)
{
  return (uintptr_t)coroutine->caller <= (uintptr_t)CB_FRESH;
}

CB_HOT bool cb_is_entered(const struct cb_coroutine *coroutine)
{
  return (uintptr_t)coroutine->caller > (uintptr_t)CB_ENDED;
}

/* What a thread knows, in thread-local storage. */
struct cb_here {
  struct cb_coroutine *current; /* NULL before the thread's first use */
  uint64_t pool_id;             /* the pool last used here, 0 for none, */
  struct cb_pool_local *local;  /* and what this thread keeps of it */
  struct cb_thread *thread;
};

/* ---- pools, as far as a loop sees them ---- */

/* The coroutines a thread keeps of a pool, last in first out. A policy says by
 * low and high down to and up to which count it need not be asked. Only the
 * thread itself writes here; counts are read by others, so they are stored
 * atomically (by builtins, which C++ has too). */
struct cb_pool_local {
  struct cb_coroutine *first;
  uint32_t count, low, high;
  uint64_t taken, put;
};

/* A pool's first member. */
struct cb_pool {
  uint64_t id; /* never used twice, so a stale cb_here.local is never taken */
  const struct cb_backend *backend;
  struct cb_coroutine *(*get)(struct cb_pool *pool, struct cb_error *error);
  void (*put)(struct cb_pool *pool, struct cb_coroutine *coroutine);
  /* A new one, and the end of one, past what the pool keeps. */
  struct cb_coroutine *(*make)(struct cb_pool *pool, struct cb_error *error);
  void (*destroy)(struct cb_pool *pool, struct cb_coroutine *coroutine);
};

CB_HOT void cb_set(uint32_t *counter, uint32_t value)
{
  __atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

CB_HOT void cb_count_one(uint64_t *counter)
{
  __atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

/* ---- back ends ---- */

/* What the whole loops of a back end work on; one for each thread. The proofs
 * are counted by the bodies of the coroutines. */
struct cb_coroutine_work {
  struct cb_pool *pool;
  uint64_t depth;                   /* nesting: coroutines in a nest */
  size_t bytes;                     /* stack: touched in a visit */
  struct cb_coroutine **coroutines; /* yield, stack: alive between batches */
  size_t count;                     /* of them */
  size_t next;                      /* of them, to be visited */
  bool stop;                        /* their bodies shall end */
  uint64_t level;                   /* of the nest that runs */
  uint64_t entered, ended;          /* bodies (yield, stack: passes) */
  void *data;                       /* a comparison's own */
  int status;                       /* negative: why a loop did less */
  struct cb_error error;
};

/* Items that go through coroutines, each in one of its own, as a stage of a
 * pipeline has them on one thread. `most` items at once have room. */
struct cb_coroutine_line {
  struct cb_pool *pool;
  uint64_t yields; /* times that an item waits */
  uint64_t depth;  /* coroutines of an item, nested in each other */
  size_t bytes;    /* of its stack that the innermost touches */
  uint64_t item;   /* of the coroutine that is about to begin */
  uint64_t level;  /* of its nest so far */
  /* Those that wait, first in first out: number i, head <= i < tail, is
   * waiting[i & mask]. */
  struct cb_coroutine **waiting;
  uint64_t mask, head, tail;
  uint64_t *done; /* items whose coroutine has ended, in that order */
  size_t done_count;
  uint64_t entered, ended; /* bodies */
  int status;              /* negative: why a loop did less */
  struct cb_error error;
};

/* Whole measured loops: each does n operations and returns how many it did.
 * begin and end stand around the batches of yield and stack. NULL: the back
 * end has no such operation. */
struct cb_coroutine_loops {
  int (*begin)(struct cb_coroutine_work *work);
  void (*end)(struct cb_coroutine_work *work);
  uint64_t (*yield)(struct cb_coroutine_work *work, uint64_t n);
  uint64_t (*lifecycle)(struct cb_coroutine_work *work, uint64_t n);
  uint64_t (*request)(struct cb_coroutine_work *work, uint64_t n);
  uint64_t (*nesting)(struct cb_coroutine_work *work, uint64_t n);
  uint64_t (*create)(struct cb_coroutine_work *work, uint64_t n);
  uint64_t (*stack)(struct cb_coroutine_work *work, uint64_t n);
  /* Begins a coroutine for each of n items, and enters the n that have waited
   * longest; what waits (again) is then at the tail. */
  uint32_t (*start)(struct cb_coroutine_line *line, const uint64_t *items,
                    uint32_t n);
  uint32_t (*resume)(struct cb_coroutine_line *line, uint32_t n);
};

/* A kind of the family "backend". Comparison kinds have only loops. */
struct cb_backend {
  struct cb_kind kind;
  size_t size;      /* of its coroutine: struct cb_coroutine and what follows */
  size_t stack_min; /* bytes it needs itself; smaller stacks are enlarged */
  /* Refuses what cannot run in this process; reads the options of the kind
   * into one number that prepare gets. NULL: always runs. */
  int (*configure)(const struct cb_spec *spec, int *setting,
                   struct cb_error *error);
  /* Makes the context of a coroutine whose stack is mapped and whose other
   * fields are set: it will wait in its trampoline for the first enter, unless
   * that enter can do without one. */
  int (*prepare)(struct cb_coroutine *coroutine, int setting,
                 struct cb_error *error);
  /* Single operations; enter does not release a coroutine that ended. */
  int (*enter)(struct cb_coroutine *coroutine);
  int (*yield)(void);
  const struct cb_coroutine_loops *loops;
};

#endif
