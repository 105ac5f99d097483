/*
 * cbench.h - the whole C API of libcbench.
 *
 * What a primitive costs, in ticks, on this machine. The sections follow the
 * floors of the library: errors, kinds and options, ticks, coroutines, pools,
 * rings, services, workloads and measuring. A section uses only those above it.
 *
 * Conventions that hold everywhere:
 *  - A function that can fail returns 0 or a negative errno, or NULL; it takes
 *    a `struct cb_error *` last, which may be NULL, and leaves one sentence in
 *    it. The library never prints, exits or aborts.
 *  - Sizes are in bytes, times in ticks unless a name says otherwise, counts
 *    are 64-bit.
 *  - An object belongs to whoever created it. Two threads may use two objects
 *    at once; a section says when two threads may use one.
 */
#ifndef CBENCH_H
#define CBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define CB_API __attribute__((visibility("default")))
#define CB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CB_API
#define CB_PRINTF(text, first)
#endif

/* ---- errors -------------------------------------------------------------- */

/* Why a call failed: a negative errno and one sentence without a full stop. */
struct cb_error {
  int code;
  char text[244];
};

/* Fills error (NULL is allowed) and returns code, so that a failing function
 * can say `return cb_fail(error, -EINVAL, "...")`. */
CB_API int cb_fail(struct cb_error *error, int code, const char *format, ...)
    CB_PRINTF(3, 4);

/* The version of the library, as "0.1.0". */
CB_API const char *cb_version(void);

/* ---- kinds and their options --------------------------------------------- */

/* What an option's value is. */
enum cb_type {
  CB_INTEGER, /* whole number within [min, max] */
  CB_NUMBER,  /* finite number within [min, max] */
  CB_BOOLEAN,
  CB_STRING,
  CB_CHOICE, /* one of the words in choices, "spin|pause|yield" */
  CB_KIND    /* a kind of another family, with its own options */
};

/* One option of a kind: what is checked, shown by help and completed. A list
 * of options ends with one whose name is NULL. */
struct cb_option {
  const char *name;
  enum cb_type type;
  const char *preset;             /* default, written as a script would */
  double min, max;                /* of CB_INTEGER and CB_NUMBER, inclusive */
  const char *choices;            /* of CB_CHOICE, separated by '|' */
  const struct cb_family *family; /* of CB_KIND */
  const char *help;               /* one line, with the unit */
};

enum cb_kind_flags {
  CB_KIND_COMPARISON = 1, /* a row to compare with; nothing is created on it */
  CB_KIND_INTERPRETER = 2 /* figures contain a Lua interpreter */
};

/* What every kind of every family starts with (its member is named `kind`). */
struct cb_kind {
  const char *name; /* an identifier */
  const char *summary;
  const struct cb_option *options;
  unsigned flags; /* enum cb_kind_flags */
};

/* A family of kinds: "backend", "pool", "ring", "lock", "workload". */
struct cb_family {
  const char *name;
  const struct cb_kind *const *kinds; /* built in, ends with NULL */
  size_t size;                        /* of a kind's whole struct */
};

/* All families, ends with NULL. */
CB_API const struct cb_family *const *cb_families(void);
/* NULL when there is none of that name. */
CB_API const struct cb_family *cb_family_find(const char *name);
/* The kinds of a family in table order, built in first, then those added; NULL
 * past the last. */
CB_API const struct cb_kind *cb_kind_at(const struct cb_family *family,
                                        size_t index);
/* Adds a kind that lives as long as the process (of a plug-in, of a host).
 * -EEXIST when the family has one of that name. Any thread. */
CB_API int cb_kind_add(const struct cb_family *family,
                       const struct cb_kind *kind, struct cb_error *error);
/* The kind of that name, NULL with a sentence that suggests the nearest. */
CB_API const struct cb_kind *cb_kind_find(const struct cb_family *family,
                                          const char *name,
                                          struct cb_error *error);

/* A kind with a value for each of its options: what a script writes as "spsc"
 * or { "spsc", size = 64 }. Made with every option at its default. Not shared
 * between threads while it is changed. */
struct cb_spec;

CB_API struct cb_spec *cb_spec_create(const struct cb_family *family,
                                      const char *kind, struct cb_error *error);
CB_API void cb_spec_destroy(struct cb_spec *spec);
CB_API const struct cb_kind *cb_spec_kind(const struct cb_spec *spec);

/* The setters check type and range; -EINVAL names option, value and range (or
 * the nearest option), -ENOENT an unknown option or kind. */
CB_API int cb_spec_set_integer(struct cb_spec *spec, const char *option,
                               int64_t value, struct cb_error *error);
CB_API int cb_spec_set_number(struct cb_spec *spec, const char *option,
                              double value, struct cb_error *error);
CB_API int cb_spec_set_boolean(struct cb_spec *spec, const char *option,
                               bool value, struct cb_error *error);
/* Also sets a choice, and a kind by name with its defaults. */
CB_API int cb_spec_set_string(struct cb_spec *spec, const char *option,
                              const char *value, struct cb_error *error);
/* Takes over the child, also when it fails. */
CB_API int cb_spec_set_spec(struct cb_spec *spec, const char *option,
                            struct cb_spec *child, struct cb_error *error);
/* Lends a living object (a ring, a pool) in place of one made afresh; it must
 * outlive the spec. The kind in the spec stays the object's kind. */
CB_API void cb_spec_lend(struct cb_spec *spec, void *object);

/* The getters want the name of an option of the right type; anything else is
 * a fault of the caller (asserted). */
CB_API int64_t cb_spec_integer(const struct cb_spec *spec, const char *option);
CB_API double cb_spec_number(const struct cb_spec *spec, const char *option);
CB_API bool cb_spec_boolean(const struct cb_spec *spec, const char *option);
CB_API const char *cb_spec_string(const struct cb_spec *spec,
                                  const char *option);
CB_API const struct cb_spec *cb_spec_spec(const struct cb_spec *spec,
                                          const char *option);
/* The object lent, or NULL. */
CB_API void *cb_spec_object(const struct cb_spec *spec);

/* ---- locks --------------------------------------------------------------- */

struct cb_control;

/* Bytes for a lock of any kind, aligned to a line of 64 bytes, and for a
 * caller's place in a lock's queue, aligned to a pointer. A place lives from
 * lock to unlock, belongs to one lock at a time and needs no initialising. */
#define CB_LOCK_SIZE 64
#define CB_LOCK_NODE_SIZE 32

/* A kind of the family "lock": a mutual exclusion that spins, and yields its
 * CPU while it waits long. lock points at CB_LOCK_SIZE bytes, node at
 * CB_LOCK_NODE_SIZE. Taking a lock twice on one thread never returns. */
struct cb_lock_kind {
  struct cb_kind kind;
  unsigned threads; /* most that may use one lock at once, 0 for no limit */
  void (*init)(void *lock);
  bool (*trylock)(void *lock, void *node);
  void (*lock)(void *lock, void *node);
  void (*unlock)(void *lock, void *node);
  /* n times lock and unlock with nothing in between. */
  void (*pairs)(void *lock, uint64_t n);
  /* The same, adding 1 to counter inside, until n are done (the result) or
   * control says stop. */
  uint64_t (*counted)(void *lock, uint64_t n, uint64_t *counter,
                      const struct cb_control *control);
};

/* ---- ticks and CPUs ------------------------------------------------------ */

/* The counter that times everything. A tick is one step of it (of the TSC on
 * x86-64, of the generic timer on aarch64), never a cycle of the core. */
struct cb_clock {
  const char *source; /* "tsc", "cntvct" or "clock_gettime" */
  const char
      *basis;  /* how hz is known: "kernel", "register", "measured", "unit" */
  double hz;   /* ticks per second */
  double cost; /* ticks of one begin and end around nothing */
};

/* The same for the whole process. The first call may take 1 ms, where the
 * frequency must be measured. Any thread. */
CB_API const struct cb_clock *cb_clock(void);
/* Reads the counter, in order with the instructions before it. */
CB_API uint64_t cb_now(void);

/* CPUs that this process may use, ascending, by the numbers of the system.
 * Stores at most capacity of them and returns how many there are. Read once, by
 * the first call of any function here, so that a pinned thread sees them all.
 */
CB_API size_t cb_cpus_allowed(int *cpus, size_t capacity);
/* -EINVAL names the first that is not among the allowed. */
CB_API int cb_cpus_check(const int *cpus, size_t count, struct cb_error *error);
/* CPUs for threads that shall stand to each other as place says:
 *   same     all on one CPU            smt      on the threads of one core
 *   cache    on cores of one cache     package  on packages in turn
 *   spread   as far apart as can be; more threads than CPUs share them
 * NULL is spread. Fills cpus[threads]. -EINVAL: no such place; -ENOTSUP: the
 * machine (or a build without hwloc) does not have it. The first call that
 * needs the topology takes 3 to 120 ms. */
CB_API int cb_cpus_place(const char *place, unsigned threads, int *cpus,
                         struct cb_error *error);

/* ---- machine and build --------------------------------------------------- */

/* One thing that is known of the machine ("machine"), of this library
 * ("build") or of the moment ("state"). */
struct cb_fact {
  const char *group;
  const char *name;
  const char *text; /* NULL: a number */
  double number;    /* NaN: not known */
};

/* What there is to say about where figures were measured. Reads only, and never
 * fails for a file that is not there. Machine and build have a fact
 * "fingerprint": absolute figures of two machines are comparable when theirs
 * are equal. With topology also counts cores, caches and packages, which
 * takes up to 120 ms; NULL with -ENOMEM. */
struct cb_machine;
CB_API struct cb_machine *cb_machine_read(bool topology,
                                          struct cb_error *error);
/* Lives as long as the description; ends with a NULL name. */
CB_API const struct cb_fact *cb_machine_facts(const struct cb_machine *machine);
CB_API void cb_machine_destroy(struct cb_machine *machine);
/* ---- stacks -------------------------------------------------------------- */

/* What stands below a stack, so that running over its end is a fault. */
enum cb_guard {
  CB_GUARD_AUTO,     /* madvise where the kernel has it, else mprotect */
  CB_GUARD_MADVISE,  /* MADV_GUARD_INSTALL, Linux 6.13: costs no mapping */
  CB_GUARD_MPROTECT, /* a second mapping for each stack */
  CB_GUARD_NONE
};

/* "auto", "madvise", "mprotect", "none". */
CB_API const char *cb_guard_name(enum cb_guard guard);

/* Bytes a stack may have, and has when nothing else is said. */
#define CB_STACK_MIN ((size_t)4 << 10)
#define CB_STACK_MAX ((size_t)1 << 30)
#define CB_STACK_PRESET ((size_t)64 << 10)

struct cb_stack_options {
  size_t size;         /* in bytes, rounded up to pages; 0: CB_STACK_PRESET */
  enum cb_guard guard; /* any but auto is an error where it is not there */
  /* Start the stacks of a pool at different offsets within a page, so that
   * they do not all compete for the same sets of the first-level cache. */
  bool colour;
};

/* A mapped stack. */
struct cb_stack {
  void *base;          /* of the mapping, with the guard, if any, first */
  size_t mapped;       /* bytes of the mapping */
  char *low, *top;     /* usable: low <= address < top, top aligned to 16 */
  enum cb_guard guard; /* the one it really has */
};

/* Maps a stack; memory is taken as pages are touched. index chooses the
 * colour. -EINVAL names a size out of range; -ENOMEM says what was exhausted,
 * and names vm.max_map_count; -ENOTSUP: the kernel lacks that guard. */
CB_API int cb_stack_map(struct cb_stack *stack,
                        const struct cb_stack_options *options, unsigned index,
                        struct cb_error *error);
CB_API void cb_stack_unmap(struct cb_stack *stack);

/* The deepest use of the stack so far, in bytes from top: down to the lowest
 * word that is not zero. Bytes written as zero below it cannot be told from
 * untouched ones. The stack must not be running. */
CB_API size_t cb_stack_high_water(const struct cb_stack *stack);

/* Gives the memory of all whole pages below keep (an address in the stack)
 * back to the system; the mapping stays. */
CB_API void cb_stack_trim(const struct cb_stack *stack, const void *keep);

/* ---- coroutines ---------------------------------------------------------- */

/* Stackful coroutines with the semantics of QEMU's (util/qemu-coroutine.c): a
 * coroutine is entered, runs on its own stack until it yields to whoever
 * entered it, may be entered again, and ends by returning from its entry. What
 * QEMU answers by abort() is a status here.
 *
 * A coroutine may be entered on another thread than before, by one thread at a
 * time. Code that yields must then not keep addresses of thread-local data
 * across the yield. The signal mask belongs to the thread. */
struct cb_coroutine;
struct cb_backend;
struct cb_pool;

typedef void cb_entry(void *opaque);

/* What the enterer learns, as in QEMU's CoroutineAction. */
enum cb_action { CB_YIELD = 1, CB_TERMINATE = 2 };

/* A coroutine out of the pool (which fixes back end and stack), or a new one.
 * It does not run yet. NULL: out of memory or of mappings, or the thread is
 * ending. */
CB_API struct cb_coroutine *cb_coroutine_create(struct cb_pool *pool,
                                                cb_entry *entry, void *opaque,
                                                struct cb_error *error);

/* The two halves of cb_coroutine_enter: the switch itself, and giving a
 * coroutine that ended back to its pool. They are apart so that the function
 * that switches ends in a jump: the processor's return predictor would miss a
 * `ret` after a change of stacks. */
CB_API int cb_coroutine_switch(struct cb_coroutine *coroutine);
CB_API void cb_coroutine_release(struct cb_coroutine *coroutine);

/* Runs the coroutine until it yields (CB_YIELD) or ends (CB_TERMINATE; then it
 * belongs to the pool again and the pointer is stale). -EBUSY: it is entered
 * already, "Co-routine re-entered recursively". -ESRCH: it has ended. -ENOMEM:
 * no memory for the thread's first use of coroutines. After an error nothing
 * has changed. */
static inline int cb_coroutine_enter(struct cb_coroutine *coroutine)
{
  int action = cb_coroutine_switch(coroutine);
  if (action == CB_TERMINATE)
    cb_coroutine_release(coroutine);
  return action;
}

/* Back to whoever entered the running coroutine; returns 0 when it is entered
 * again. -EPERM: no coroutine runs, "Co-routine is yielding to no one". */
CB_API int cb_coroutine_yield(void);

/* The running coroutine; outside of coroutines one that stands for the thread
 * (its leader), which can be compared but not entered. NULL: out of memory. */
CB_API struct cb_coroutine *cb_coroutine_self(void);
CB_API bool cb_in_coroutine(void);
/* Is it running, or waiting for one that it entered? */
CB_API bool cb_coroutine_entered(const struct cb_coroutine *coroutine);

/* Ends a coroutine that is not entered, wherever it stands: its stack is freed
 * and no code of it runs. -EBUSY when it is entered. */
CB_API int cb_coroutine_destroy(struct cb_coroutine *coroutine);

/* Its stack; NULL for the leader of a thread. */
CB_API const struct cb_stack *
cb_coroutine_stack(const struct cb_coroutine *coroutine);

/* A status of this section in words, QEMU's where it has them. */
CB_API const char *cb_coroutine_message(int status);

/* ---- pools --------------------------------------------------------------- */

/* A pool keeps coroutines that ended, stack and context ready, for the next to
 * be created. All its coroutines have one back end and one kind of stack. Any
 * thread may use it; what a thread keeps goes back when the thread ends. */
struct cb_pool_options {
  const struct cb_spec *policy;  /* of family "pool"; NULL: the default */
  const struct cb_spec *backend; /* of family "backend"; NULL: the best here */
  struct cb_stack_options stack;
};

struct cb_pool_stats {
  uint64_t hits_local, hits_global; /* created out of the pool */
  uint64_t fresh;                   /* really created, prefill included */
  uint64_t deleted;                 /* really deleted */
  uint64_t live;                    /* handed out and not yet back */
  uint64_t idle;                    /* kept: fresh == deleted + live + idle */
  uint64_t peak;                    /* most there were at once, live and idle */
};

/* The options are read, not kept. -EINVAL: a comparison kind of back end, or a
 * stack out of range. -ENOTSUP: the back end cannot run here, with why. */
CB_API struct cb_pool *cb_pool_create(const struct cb_pool_options *options,
                                      struct cb_error *error);
/* -EBUSY while coroutines of it live; no other thread may be using it. */
CB_API int cb_pool_destroy(struct cb_pool *pool, struct cb_error *error);

/* Creates n coroutines and gives them to the pool, as if n had ended on this
 * thread; those that it has no room for are deleted again. */
CB_API int cb_pool_prefill(struct cb_pool *pool, size_t n,
                           struct cb_error *error);
/* Deletes what the pool and the calling thread keep until `keep` idle ones are
 * left; returns how many it deleted. What other threads keep stays. */
CB_API size_t cb_pool_trim(struct cb_pool *pool, size_t keep);

/* Exact while no other thread uses the pool. */
CB_API void cb_pool_stats(struct cb_pool *pool, struct cb_pool_stats *stats);
CB_API const struct cb_kind *cb_pool_policy(const struct cb_pool *pool);
CB_API const struct cb_kind *cb_pool_backend(const struct cb_pool *pool);
/* The stacks it makes, with the size and the guard that they really have. */
CB_API void cb_pool_stack(const struct cb_pool *pool,
                          struct cb_stack_options *stack);
/* ---- rings ---------------------------------------------------------------
 *
 * A ring is a bounded queue of 64-bit elements: integers, or pointers cast to
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
 * element number s of a producer is value[s % CB_RING_BURST_MAX], or s + 1 in
 * loops of single elements. */
#define CB_RING_BURST_MAX 256
struct cb_ring_values {
  uint64_t value[2 * CB_RING_BURST_MAX]; /* the table, twice; none is 0 */
  uint64_t below[CB_RING_BURST_MAX + 1]; /* sums of the first 0, 1, ... */
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

/* ---- services ------------------------------------------------------------
 *
 * Services and the lcores that run them, with the semantics of DPDK's
 * rte_service (22.11 and 26.07): the same calls, checked in the same order,
 * with the same codes. A set is an object; two sets share nothing.
 *
 * A service is a callback with a name. It is called while its component is
 * ready (cb_service_component_set) and the application wants it
 * (cb_service_runstate_set), by the service lcores it is mapped to, and by
 * application lcores through cb_service_run. An lcore is a thread: a service
 * lcore has one of its own, an application lcore is the thread that attached.
 *
 * Beyond the original: a callback's result reaches the caller, quiescence is
 * exact for application lcores too, statistics count every thread, a name is
 * registered once, and a handle that went stale is told from its successor.
 *
 * Any thread may make a control call, a callback included; cb_service_run and
 * its relatives belong to the thread of the lcore they are given. */
struct cb_services;
struct cb_lcore;

/* 0 for work done, -EAGAIN when there was none, anything else for an error;
 * statistics tell the three apart. lcore is where it runs. */
typedef int (*cb_service_call)(void *argument, struct cb_lcore *lcore);

/* What each run records: nothing; calls by result; also ticks, by two readings
 * of the counter; also ticks, by one reading that ends this call and begins
 * the next (right where calls follow each other, as on a service lcore). */
enum cb_stats { CB_STATS_OFF, CB_STATS_COUNT, CB_STATS_TIME, CB_STATS_CHAIN };

#define CB_SERVICE_NAME_SIZE 64 /* with the final zero */

struct cb_service {
  const char *name; /* copied */
  cb_service_call call;
  void *argument;
  bool mt_safe; /* two lcores may be inside at once */
  enum cb_stats stats;
  /* Optional: called with argument once the service is gone and no callback
   * of it runs; by whoever made the control call that noticed. */
  void (*release)(void *argument);
};

/* lock names a kind of the family "lock" (NULL: ttas), taken around the calls
 * of services that are not mt_safe; order the memory order of the run path:
 * "acqrel" (NULL), "seqcst" or "fence". */
CB_API struct cb_services *cb_services_create(const char *lock,
                                              const char *order,
                                              struct cb_error *error);
/* Stops every lcore, waits up to so many seconds for their callbacks, releases
 * everything, application lcores included. -ETIMEDOUT names the service that
 * did not return, and the lcore: the set lives on, stopped, and can be
 * destroyed later. -EBUSY when an application lcore is inside a callback. */
CB_API int cb_services_destroy(struct cb_services *set, double seconds,
                               struct cb_error *error);
/* How the set knows that a service is at rest: "membarrier", or "fence" where
 * the kernel has none or the memory order makes it superfluous. */
CB_API const char *cb_services_quiescence(const struct cb_services *set);

/* Registers, stopped, under the lowest free number; *id (may be NULL) becomes
 * its handle: the number and, in the upper half, how often that number was
 * used before. -EINVAL without callback or with a name that is empty or too
 * long, -EEXIST, -ENOSPC (4096 services), -ENOMEM. */
CB_API int cb_service_register(struct cb_services *set,
                               const struct cb_service *service, uint64_t *id,
                               struct cb_error *error);
/* -EINVAL for an unknown or stale handle (as in every call below), -EBUSY with
 * nothing changed while a callback of it runs. From inside that callback: 0,
 * the handle is stale at once, the rest happens when the callback is back. */
CB_API int cb_service_unregister(struct cb_services *set, uint64_t id,
                                 struct cb_error *error);
CB_API unsigned cb_service_count(struct cb_services *set);
/* -EINVAL without name or id, -ENODEV. */
CB_API int cb_service_by_name(struct cb_services *set, const char *name,
                              uint64_t *id, struct cb_error *error);
/* Copies the name. */
CB_API int cb_service_name(struct cb_services *set, uint64_t id,
                           char name[CB_SERVICE_NAME_SIZE],
                           struct cb_error *error);
/* 1 or 0. */
CB_API int cb_service_mt_safe(struct cb_services *set, uint64_t id,
                              struct cb_error *error);

CB_API int cb_service_component_set(struct cb_services *set, uint64_t id,
                                    bool ready, struct cb_error *error);
CB_API int cb_service_runstate_set(struct cb_services *set, uint64_t id,
                                   bool run, struct cb_error *error);
/* 1 when both states are set and, unless that check is off, the service is
 * mapped to a service lcore. */
CB_API int cb_service_runstate_get(struct cb_services *set, uint64_t id,
                                   struct cb_error *error);
CB_API int cb_service_mapped_check_set(struct cb_services *set, uint64_t id,
                                       bool check, struct cb_error *error);
/* 1 while a callback of it runs on any lcore. Exact: after a stop, an unmap or
 * an unregister has returned, and this has been 0 once, it stays 0. */
CB_API int cb_service_active(struct cb_services *set, uint64_t id,
                             struct cb_error *error);
/* Waits until it is not active; 0 at once for one that is unregistered and
 * gone. -ETIMEDOUT names service and lcore, -EDEADLK from inside the callback
 * that it would wait for. */
CB_API int cb_service_quiesce(struct cb_services *set, uint64_t id,
                              double seconds, struct cb_error *error);

/* Statistics from now on. What was counted stays. */
CB_API int cb_service_stats_set(struct cb_services *set, uint64_t id,
                                enum cb_stats stats, struct cb_error *error);
/* Sums over all lcores since registration or reset. Ticks are those of calls
 * that had work. The longest call is known in the modes that take time; a
 * reset may miss one that is just ending. */
enum cb_service_attr {
  CB_SERVICE_TICKS,
  CB_SERVICE_CALLS,
  CB_SERVICE_IDLE_CALLS,
  CB_SERVICE_ERROR_CALLS,
  CB_SERVICE_LONGEST
};
CB_API int cb_service_attr_get(struct cb_services *set, uint64_t id,
                               unsigned attr, uint64_t *value,
                               struct cb_error *error);
CB_API int cb_service_attr_reset_all(struct cb_services *set, uint64_t id,
                                     struct cb_error *error);

/* -EINVAL also for a number that is no service lcore's. */
CB_API int cb_service_map_set(struct cb_services *set, uint64_t id,
                              unsigned lcore, bool map, struct cb_error *error);
CB_API int cb_service_map_get(struct cb_services *set, uint64_t id,
                              unsigned lcore, struct cb_error *error);

/* Makes lcore number (0 to 1023) a service lcore with a thread pinned to cpu,
 * a floating one, or none of its own (cb_lcore_passes). -EINVAL out of range,
 * -EALREADY, then -EINVAL for a CPU that this process may not use. */
#define CB_LCORE_ANYWHERE (-1)
#define CB_LCORE_CALLER (-2)
CB_API int cb_lcore_add(struct cb_services *set, unsigned number, int cpu,
                        struct cb_error *error);
/* -EBUSY while it runs. */
CB_API int cb_lcore_del(struct cb_services *set, unsigned number,
                        struct cb_error *error);
/* -EALREADY; -EBUSY while it has not yet come back from an earlier run. */
CB_API int cb_lcore_start(struct cb_services *set, unsigned number,
                          struct cb_error *error);
/* Asks it to stop after this pass: see cb_lcore_active and cb_lcore_join.
 * -EALREADY, also for a number that is no service lcore's; -EBUSY when it is
 * the only lcore of a service that may run. */
CB_API int cb_lcore_stop(struct cb_services *set, unsigned number,
                         struct cb_error *error);
/* 1 from start until it has left its loop. */
CB_API int cb_lcore_active(struct cb_services *set, unsigned number,
                           struct cb_error *error);
/* Waits until it is not active. -ETIMEDOUT names the service that it is in,
 * -EBUSY when nobody has stopped it, -EDEADLK on the lcore itself. */
CB_API int cb_lcore_join(struct cb_services *set, unsigned number,
                         double seconds, struct cb_error *error);
CB_API unsigned cb_lcore_count(struct cb_services *set);
/* The numbers, ascending: their count, or -ENOMEM when that exceeds size, or
 * -EINVAL without numbers. */
CB_API int cb_lcore_list(struct cb_services *set, unsigned *numbers,
                         size_t size);
/* Services mapped to it. -EINVAL out of range, -ENOTSUP for one that is no
 * service lcore (so in the two calls below). */
CB_API int cb_lcore_count_services(struct cb_services *set, unsigned number,
                                   struct cb_error *error);
enum cb_lcore_attr { CB_LCORE_LOOPS, CB_LCORE_TICKS };
CB_API int cb_lcore_attr_get(struct cb_services *set, unsigned number,
                             unsigned attr, uint64_t *value,
                             struct cb_error *error);
CB_API int cb_lcore_attr_reset_all(struct cb_services *set, unsigned number,
                                   struct cb_error *error);
/* Unmaps everything, stops and deletes every service lcore. */
CB_API int cb_lcore_reset_all(struct cb_services *set);
/* Starts all service lcores, maps the services to them in turn and runs them.
 * -ENOTSUP when there is no service lcore. */
CB_API int cb_services_start_with_defaults(struct cb_services *set,
                                           struct cb_error *error);

/* What rte_service_dump prints, with ticks: one service, or all of them and
 * the lcores (CB_SERVICE_ALL). Writes at most size bytes with the final zero;
 * *length (may be NULL) is what it takes. */
#define CB_SERVICE_ALL UINT64_MAX
CB_API int cb_service_dump(struct cb_services *set, uint64_t id, char *text,
                           size_t size, size_t *length, struct cb_error *error);

/* Makes the calling thread an application lcore of the set, until it detaches
 * (-EBUSY from inside a callback). A thread may be one of several sets. */
CB_API struct cb_lcore *cb_lcore_attach(struct cb_services *set,
                                        struct cb_error *error);
CB_API int cb_lcore_detach(struct cb_lcore *lcore, struct cb_error *error);

/* Calls the service once, on this lcore. -EINVAL; -ENOEXEC when it may not
 * run; -EBUSY when it is not mt_safe, serialize is set and another lcore is
 * inside. Else 0, and *result (may be NULL) is the callback's own result. An
 * unserialised run of a service that is not mt_safe excludes nobody. */
CB_API int cb_service_run(struct cb_lcore *lcore, uint64_t id, bool serialize,
                          int *result);
/* n such runs in one loop, counted by outcome. */
struct cb_run_tally {
  uint64_t done, busy, refused; /* refused: -EINVAL and -ENOEXEC */
  uint64_t idle, errors;        /* of those done: -EAGAIN; other than 0 */
};
CB_API void cb_service_repeat(struct cb_lcore *lcore, uint64_t id,
                              bool serialize, uint64_t n,
                              struct cb_run_tally *tally);
/* Up to n passes of a service lcore that was added with CB_LCORE_CALLER, on
 * the calling thread: ends early when it is stopped. The passes done. */
CB_API uint64_t cb_lcore_passes(struct cb_services *set, unsigned number,
                                uint64_t n);

/* For callbacks: the number of the service lcore, -1 on an application lcore;
 * and a pointer of the callbacks' own by lcore, released when the lcore goes,
 * on its own thread where it has one. One that is replaced is not released. */
CB_API int cb_lcore_number(const struct cb_lcore *lcore);
CB_API void *cb_lcore_local(const struct cb_lcore *lcore);
CB_API void cb_lcore_local_set(struct cb_lcore *lcore, void *local,
                               void (*release)(void *local));

/* A callback with its argument, made from a spec; argument is freed by release
 * where there is one. */
struct cb_call {
  cb_service_call call;
  void *argument;
  void (*release)(void *argument);
  bool mt_safe;  /* may serve a service that is mt_safe */
  bool uncounted; /* does not count its runs, as the built-in ones do */
};

/* A kind of the family "call". create gets a call that is all zero. */
struct cb_call_kind {
  struct cb_kind kind;
  int (*create)(const struct cb_spec *spec, struct cb_call *call,
                struct cb_error *error);
};

/* A service that lives elsewhere, as the only kind, "live", of the family
 * "service" lends it (cb_spec_lend) to the workload `service_run`. */
struct cb_service_handle {
  struct cb_services *set;
  uint64_t id;
  unsigned flags; /* CB_KIND_INTERPRETER */
  bool own_thread; /* its callback may run on the calling thread only */
};

/* ---- workloads ----------------------------------------------------------- */

/* One role of a workload: `threads` threads that each call run. run does n
 * operations, with nothing of the harness inside, and returns how many it
 * really did: fewer when it had to stop (ring full, stop flag). thread counts
 * from 0 within the role. */
struct cb_role {
  const char *name;
  unsigned threads;
  uint64_t (*run)(void *state, unsigned thread, uint64_t n);
  /* Optional: called on the role's thread before its first batch and after its
   * last, untimed. */
  int (*begin)(void *state, unsigned thread, struct cb_error *error);
  void (*end)(void *state, unsigned thread);
};

enum cb_counter_type {
  CB_COUNT, /* grows for ever: reported as the growth during timed rounds */
  CB_SHARE, /* grows for ever: reported as growth per operation, a fraction */
  CB_GAUGE  /* reported as it stands after the last round */
};

struct cb_counter {
  const char *name; /* a constant */
  enum cb_counter_type type;
  double value;
};

/* What measuring tells a workload, for loops that could wait for ever: they
 * look at stop (relaxed) whenever they had to wait. */
struct cb_control {
#ifdef __cplusplus
  uint32_t stop;
#else
  _Atomic uint32_t stop;
#endif
};

/* A piece of measurable work: all that measuring knows of it. Functions that
 * are NULL are skipped. setup, prepare, check, counters and teardown run on
 * the thread that measures, while no role runs. */
struct cb_workload {
  const char *operation; /* what one operation is, for people */
  void *state;
  const struct cb_role *roles; /* at least one */
  size_t role_count;
  unsigned flags;     /* CB_KIND_INTERPRETER */
  uint64_t batch_max; /* most operations in one batch, 0 for no limit */
  int (*setup)(void *state, const struct cb_control *control,
               struct cb_error *error);
  /* Before every batch, untimed: n operations of each thread will follow. */
  int (*prepare)(void *state, uint64_t n, struct cb_error *error);
  /* The proof, after the last batch: operations is the sum that all run calls
   * since setup returned. A negative return fails the row with its sentence. */
  int (*check)(void *state, uint64_t operations, struct cb_error *error);
  size_t (*counters)(void *state, struct cb_counter *counters, size_t capacity);
  void (*teardown)(void *state);
  /* Called on another thread while run runs, after stop was set: a loop that
   * does not look at stop may be told in another way. */
  void (*interrupt)(void *state);
  /* Frees state and whatever create allocated, setup done or not. */
  void (*destroy)(struct cb_workload *workload);
};

/* A kind of the family "workload". create checks what single options cannot
 * (combinations) and allocates; it starts nothing. */
struct cb_workload_kind {
  struct cb_kind kind;
  int (*create)(const struct cb_spec *spec, struct cb_workload *workload,
                struct cb_error *error);
};

/* ---- measuring ----------------------------------------------------------- */

/*
 * cb_measure runs several workloads in turn, in many short batches, and keeps
 * every batch as a sample. What samples mean is left to pure functions
 * (cb_classify, cb_estimate, cb_compare), which take the samples of any number
 * of processes at once: concatenate the arrays, having given each process its
 * own `fork`.
 */

/* Why a batch may have been disturbed; a set of bits. */
enum cb_cause {
  CB_PREEMPTED = 1, /* an involuntary switch */
  CB_MIGRATED = 2,  /* ended on another CPU */
  CB_STOLEN = 4,    /* > 2 % of the time lost without a switch */
  CB_THROTTLED = 8, /* the control group ran out of quota */
  CB_HOST_SLOW = 16 /* the canary of the round was > 5 % slow */
};
enum { CB_CAUSE_COUNT = 5 };

/* The name of bit `index`: "preempted", "migrated", "stolen", "throttled",
 * "host-slow"; NULL from CB_CAUSE_COUNT on. */
CB_API const char *cb_cause_name(unsigned index);

/* One batch. Where there are several roles, n and ticks are those of the first:
 * ticks / n is what one operation took on the thread that did it. */
struct cb_sample {
  uint32_t fork;      /* which process */
  uint32_t round;     /* from 0 in each process */
  uint64_t n;         /* operations really done */
  uint64_t ticks;     /* summed over the first role's threads */
  uint64_t wall;      /* from the first start to the last stop of any thread */
  uint32_t causes;    /* enum cb_cause */
  uint32_t canary[2]; /* ticks of the round's chain and throughput sentinel */
};

enum cb_status {
  CB_OK,
  CB_FAIL,    /* refused to start, or its proof failed: there are no figures */
  CB_PARTIAL, /* stopped before its time */
  CB_NA       /* this machine or build cannot do it */
};

/* "ok", "fail", "partial", "n/a". */
CB_API const char *cb_status_name(enum cb_status status);

/* What a processor counts itself, where it lets us. */
enum cb_hardware {
  CB_CYCLES, /* of the core, in user mode */
  CB_INSTRUCTIONS,
  CB_CACHE_MISSES,
  CB_BRANCH_MISSES
};
enum { CB_HARDWARE_COUNT = 4 };

/* "cycles", "instructions", "cache_misses", "branch_misses"; NULL beyond. */
CB_API const char *cb_hardware_name(unsigned index);
/* Why there are no hardware counters, as a sentence; NULL when there are. */
CB_API const char *cb_hardware_absent(void);
/* Whether this one is there, where some are. */
CB_API bool cb_hardware_counted(unsigned index);

/* One thread of one role, over all timed rounds. */
struct cb_role_result {
  const char *role; /* the workload's string */
  unsigned thread;  /* within the role */
  int cpu;
  uint64_t operations;
  uint64_t ticks;
  double overlap; /* share of its ticks during which every thread ran */
};

enum { CB_RESULT_COUNTERS = 24 };

/* What one variant gave in this process. */
struct cb_result {
  enum cb_status status;
  struct cb_error reason; /* unless ok */
  uint64_t n;             /* operations asked of each thread in a batch */
  bool own_n;             /* n is not shared with the other variants: a note */
  struct cb_sample *samples;
  size_t sample_count;
  struct cb_role_result *roles; /* one for each thread */
  size_t role_count;
  uint64_t operations; /* of the first role, in all timed rounds */
  double overlap;      /* the least of the roles' */
  /* Types as the workload gave them; a share is already divided. */
  struct cb_counter counters[CB_RESULT_COUNTERS];
  size_t counter_count;
  bool checked; /* the workload has a proof, and it held */
  /* Per operation of the first role, by enum cb_hardware; NaN: not known. */
  double hardware[CB_HARDWARE_COUNT];
};

/* A workload to be measured, and where. It stays the caller's. */
struct cb_variant {
  const char *name; /* for messages */
  struct cb_workload *workload;
  const int *cpus; /* in the order of the roles' threads; reused when fewer */
  size_t cpu_count;
  const char *place; /* without cpus; as in cb_cpus_place */
  uint64_t n;        /* operations in a batch, 0: calibrate */
};

struct cb_progress {
  const char *phase;   /* "setup", "calibration", "rounds" */
  const char *variant; /* in setup and calibration */
  uint64_t round;
  double elapsed, seconds; /* seconds gone, of the budget */
};

/* Everything that is 0 has a default. */
struct cb_measure_options {
  double seconds;       /* budget, set-up and calibration included (1) */
  uint64_t rounds;      /* at most 1,000,000 (no limit but time) */
  uint64_t seed;        /* of the order of variants (from the clock) */
  uint32_t fork;        /* written into every sample */
  double batch_seconds; /* 100 us; 1 ms where several threads work */
  double
      grace; /* seconds after the budget until the watchdog ends a body (5) */
  const struct cb_control *control; /* set stop, and the round is the last */
  /* Between rounds, ten times a second at most. */
  void (*progress)(void *data, const struct cb_progress *progress);
  /* The watchdog could not end the body: called on a thread of its own with
   * the name of the variant. It may end the process; when it returns, the
   * body is left by force. */
  void (*hung)(void *data, const char *variant);
  void *data;
};

struct cb_measurement {
  struct cb_result *results; /* as many as variants, in their order */
  size_t result_count;
  uint64_t seed;
  uint64_t rounds; /* complete ones */
  /* "rounds", "time", "signal", "watchdog", or "error" when no variant is left
   */
  const char *stopped_by;
  double elapsed; /* seconds */
  /* A body was left by force: what it held is leaked, and a process that
   * measures should end soon. */
  bool damaged;
};

/* Measures the variants interleaved: in each round one batch of each, in the
 * order of a Latin square that is drawn anew when it is used up. A variant with
 * one thread runs on the calling thread, which is pinned meanwhile; others have
 * threads of their own. The first failure of a variant is kept in its result
 * and the others go on. NULL when the arguments are wrong (-EINVAL) or memory
 * is short. Of several calls at once each is right, and all disturbed. */
CB_API struct cb_measurement *
cb_measure(const struct cb_variant *variants, size_t count,
           const struct cb_measure_options *options, struct cb_error *error);
CB_API void cb_measurement_destroy(struct cb_measurement *measurement);

/* Marks CB_HOST_SLOW afresh, against the best canary among the samples; with
 * the samples of all processes it is the best of the whole run. */
CB_API void cb_classify(struct cb_sample *samples, size_t count);

enum cb_noise { CB_NOISE_OK, CB_NOISE_NOISY, CB_NOISE_VOID };

/* "ok", "noisy", "void". */
CB_API const char *cb_noise_name(enum cb_noise noise);

/* Ticks per operation, and how far to trust them. */
struct cb_estimate {
  size_t rounds;         /* samples that count */
  double fast, typical;  /* 10th percentile and median of clean rounds */
  double p90, min, max;  /* of all rounds */
  double per_second;     /* operations of all threads together, median */
  bool below_resolution; /* batches too short to be told from nothing */
  bool feels_mode;       /* slower when the canary is */
  enum cb_noise noise;   /* void: the fast mode, which it feels, was not seen */
  double disturbed;      /* share of rounds with a cause */
  double shares[CB_CAUSE_COUNT];
};

/* With no sample at all every figure is NaN. A clean round has no cause;
 * CB_HOST_SLOW is one only for an operation that feels the mode. -ENOMEM. */
CB_API int cb_estimate(const struct cb_sample *samples, size_t count,
                       struct cb_estimate *estimate);

enum cb_verdict { CB_UNRESOLVED, CB_SAME, CB_FASTER, CB_SLOWER };

/* "unresolved", "same", "faster", "slower". */
CB_API const char *cb_verdict_name(enum cb_verdict verdict);

struct cb_compare_options {
  double min_effect; /* smallest that counts, as a fraction (0: 0.02) */
  unsigned rows;     /* verdicts that share a table (0: 1) */
};

/* How many times as long a takes as b. */
struct cb_comparison {
  double ratio; /* median of the processes' medians of paired rounds */
  double low, high, level; /* the interval; NaN with fewer than 3 processes */
  enum cb_verdict verdict;
  const char *reason; /* why unresolved: "one process", ...; else NULL */
  unsigned forks;
  double spread;   /* standard deviation of the processes' log ratios, or NaN */
  double farthest; /* the process farthest from ratio, as a multiple of it */
  uint32_t farthest_fork;
  bool rogue; /* it lies more than 2 % away */
};

/* Compares the samples of two variants, paired by fork and round. faster and
 * slower want the whole interval beyond min_effect, same wants it inside, and
 * three processes at least. -ENOMEM. */
CB_API int cb_compare(const struct cb_sample *a, size_t a_count,
                      const struct cb_sample *b, size_t b_count,
                      const struct cb_compare_options *options,
                      struct cb_comparison *comparison);

/* What measuring itself costs and can tell, here and now, in one process. */
struct cb_selftest {
  double clock_cost;   /* ticks of one begin and end around nothing */
  double empty_batch;  /* ticks of a batch that does nothing */
  double turn;         /* ticks of one turn of an empty loop */
  double harness;      /* seconds that all this adds to an operation of 1 ns */
  double around;       /* CPU seconds spent for a batch outside of it */
  double same_ratio;   /* a chain of adds against itself: 1 */
  double double_ratio; /* against one of twice the length: 2 */
  double canary_best[2], canary_typical[2]; /* ticks; chain, throughput */
  uint64_t rounds;
};

/* Measures for options->seconds. 0, or the first row's error. */
CB_API int cb_selftest_run(const struct cb_measure_options *options,
                           struct cb_selftest *selftest,
                           struct cb_error *error);

/* ---- plug-ins ------------------------------------------------------------ */

/* A kind that a plug-in brought. */
struct cb_plugin_entry {
  const struct cb_family *family;
  const struct cb_kind *kind;
};

/* A plug-in that is loaded; all of it lives as long as the process. */
struct cb_plugin_info {
  const char *path;   /* absolute */
  const char *prefix; /* of the names of its kinds, or NULL */
  const char *name;   /* what it calls itself */
  const struct cb_plugin_entry *entries;
  size_t count;
};

/* Loads the shared object at path, written as cbench/plugin.h says, and adds
 * its kinds to their families, as prefix_name unless prefix is NULL. Loading
 * the same again with the same prefix changes nothing; with another prefix its
 * kinds are there under both. Never unloaded. NULL with -ENOENT or -EACCES: no
 * such file; -ENOEXEC: it cannot be loaded, is no plug-in, or was built for
 * another ABI; -EBUSY: another copy of this library has it; -EEXIST: a name is
 * taken; -EINVAL: prefix is no identifier. Any thread. */
CB_API const struct cb_plugin_info *
cb_plugin_load(const char *path, const char *prefix, struct cb_error *error);
/* In the order of loading; NULL past the last. */
CB_API const struct cb_plugin_info *cb_plugin_at(size_t index);

#ifdef __cplusplus
}
#endif
#endif
