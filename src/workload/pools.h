/* pools.h - what the workloads that use a pool share: the pool named by their
 * options, its counters, its balance. */
#ifndef CB_WORKLOAD_POOLS_H
#define CB_WORKLOAD_POOLS_H

#include "cbench.h"

#include "coroutine/kinds.h"
#include "pool/kinds.h"

struct workload_pool {
  struct cb_pool *pool;
  bool lent;                   /* somebody's, to be left as it was */
  struct cb_pool_stats before; /* when it was set up */
};

/* The pool that the options backend, pool, stack_size, guard and colour name,
 * made or lent; without the option "pool" (has_policy) one that keeps nothing.
 * -EINVAL when a lent one is not as the other options say. */
int cb_workload_pool_init(struct workload_pool *self,
                          const struct cb_spec *spec, bool has_policy,
                          struct cb_error *error);
void cb_workload_pool_free(struct workload_pool *self);

void cb_workload_pool_setup(struct workload_pool *self);
/* Leaves as many idle coroutines as there were at setup. */
void cb_workload_pool_teardown(struct workload_pool *self);
/* Have as many ended as were created since setup, and is none lost? */
int cb_workload_pool_check(const struct workload_pool *self,
                           struct cb_error *error);
size_t cb_workload_pool_counters(const struct workload_pool *self,
                                 struct cb_counter *list, size_t capacity);

/* Options, to be listed in the kind. */
#define BACKEND_OPTION                                                         \
  {                                                                            \
    .name = "backend", .type = CB_KIND, .preset = CB_BACKEND_PRESET,           \
    .family = &cb_backend_family, .help = "how stacks are switched"            \
  }
#define POOL_OPTION                                                            \
  {                                                                            \
    .name = "pool", .type = CB_KIND, .preset = CB_POOL_PRESET,                 \
    .family = &cb_pool_family, .help = "what keeps coroutines that ended"      \
  }
#define THREADS_OPTION(text)                                                   \
  {                                                                            \
    .name = "threads", .type = CB_INTEGER, .preset = "1", .min = 1,            \
    .max = 1024, .help = text                                                  \
  }
#define STACK_OPTIONS                                                          \
  {.name = "stack_size",                                                       \
   .type = CB_INTEGER,                                                         \
   .preset = "65536",                                                          \
   .min = (double)CB_STACK_MIN,                                                \
   .max = (double)CB_STACK_MAX,                                                \
   .help = "bytes of a coroutine's stack, without its guard"},                 \
      {.name = "guard",                                                        \
       .type = CB_CHOICE,                                                      \
       .preset = "auto",                                                       \
       .choices = "auto|madvise|mprotect|none",                                \
       .help = "what makes running over a stack's end a fault"},               \
  {                                                                            \
    .name = "colour", .type = CB_BOOLEAN, .preset = "false",                   \
    .help = "start stacks at different offsets in their pages"                 \
  }

#endif
