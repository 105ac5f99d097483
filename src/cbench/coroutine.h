/* coroutine.h - coroutines, and the stacks they run on. */
#ifndef CBENCH_COROUTINE_H
#define CBENCH_COROUTINE_H

#include "cbench/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* A status of these functions in words, QEMU's where it has them. */
CB_API const char *cb_coroutine_message(int status);

#ifdef __cplusplus
}
#endif
#endif
