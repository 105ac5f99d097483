/* pool.h - pools that keep coroutines which ended for the next to come. */
#ifndef CBENCH_POOL_H
#define CBENCH_POOL_H

#include "cbench/coroutine.h"

#ifdef __cplusplus
extern "C" {
#endif

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
 * thread; those that it has no room for are deleted again. -ENOMEM, and none
 * made, when there is not a page of memory for each. */
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

#ifdef __cplusplus
}
#endif
#endif
