/*
 * coroutines.h - what the workloads of coroutines share: a pool, one struct
 * cb_coroutine_work for each thread, the proof. Each of them is then little
 * more than the choice of one of the back end's loops.
 */
#ifndef CB_WORKLOAD_COROUTINES_H
#define CB_WORKLOAD_COROUTINES_H

#include "workload/pools.h"

#include "coroutine/backend.h"

/* Sums of the threads' counts. */
struct coroutine_sums {
  uint64_t operations; /* that run reported */
  uint64_t entered, ended;
  uint64_t begun; /* coroutines made by begin */
};

typedef uint64_t cb_coroutine_loop(struct cb_coroutine_work *work, uint64_t n);

struct coroutine_job {
  const char *operation; /* what one operation is */
  size_t loop;           /* in struct cb_coroutine_loops, by COROUTINE_LOOP */
  cb_coroutine_loop *own_loop; /* instead, one that no back end need have */
  bool living;                 /* coroutines live between batches */
  bool pooled;                 /* has the option "pool"; counters are shown */
  bool prefills;               /* has the option "prefill" */
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
#define PREFILL_OPTION                                                         \
  {                                                                            \
    .name = "prefill", .type = CB_INTEGER, .preset = "0", .min = 0,            \
    .max = 1000000,                                                            \
    .help = "coroutines that each thread gives to the pool beforehand"         \
  }
#define COROUTINE_THREADS_OPTION                                               \
  THREADS_OPTION("threads that do this at once, each with its own coroutines")

#endif
