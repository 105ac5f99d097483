/*
 * coroutines.h - what the workloads of coroutines and their pools share: the
 * options, a pool, one struct cb_coroutine_work for each thread, the proof.
 * Each of them is then little more than the choice of one of the back end's
 * loops.
 */
#ifndef CB_WORKLOAD_COROUTINES_H
#define CB_WORKLOAD_COROUTINES_H

#include "cbench.h"

#include "coroutine/coroutine.h"
#include "coroutine/kinds.h"
#include "pool/kinds.h"

/* Sums of the threads' counts. */
struct coroutine_sums {
  uint64_t operations; /* that run reported */
  uint64_t entered, ended;
  uint64_t begun; /* coroutines made by begin */
};

struct coroutine_job {
  const char *operation; /* what one operation is */
  size_t loop;           /* in struct cb_coroutine_loops, by COROUTINE_LOOP */
  bool living;           /* coroutines live between batches */
  bool pooled;           /* has the option "pool"; counters are shown */
  /* More options, into a thread's work; NULL: has none. */
  int (*configure)(const struct cb_spec *spec, const struct cb_backend *backend,
                   struct cb_coroutine_work *work, struct cb_error *error);
  /* Does what the bodies counted agree with the operations? */
  bool (*proof)(const struct coroutine_sums *sums);
};

#define COROUTINE_LOOP(name) offsetof(struct cb_coroutine_loops, name)

/* A workload kind's create. */
int cb_coroutine_workload(const struct coroutine_job *job,
                          const struct cb_spec *spec,
                          struct cb_workload *workload, struct cb_error *error);

/* Options, to be listed in the kind. */
#define COROUTINE_BACKEND_OPTION                                               \
  {                                                                            \
    .name = "backend", .type = CB_KIND, .preset = CB_BACKEND_PRESET,           \
    .family = &cb_backend_family, .help = "how stacks are switched"            \
  }
#define COROUTINE_POOL_OPTION                                                  \
  {                                                                            \
    .name = "pool", .type = CB_KIND, .preset = CB_POOL_PRESET,                 \
    .family = &cb_pool_family, .help = "what keeps coroutines that ended"      \
  }
#define COROUTINE_STACK_OPTIONS                                                \
  {.name = "threads",                                                          \
   .type = CB_INTEGER,                                                         \
   .preset = "1",                                                              \
   .min = 1,                                                                   \
   .max = 1024,                                                                \
   .help = "threads that do this at once, each with its own coroutines"},      \
      {.name = "stack_size",                                                   \
       .type = CB_INTEGER,                                                     \
       .preset = "65536",                                                      \
       .min = (double)CB_STACK_MIN,                                            \
       .max = (double)CB_STACK_MAX,                                            \
       .help = "bytes of a coroutine's stack, without its guard"},             \
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
