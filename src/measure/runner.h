/*
 * runner.h - one variant while it is measured: its threads, its batches.
 *
 * A workload with one thread in all runs on the thread that measures; any other
 * has a crew of pinned threads that sleep between batches.
 */
#ifndef CB_MEASURE_RUNNER_H
#define CB_MEASURE_RUNNER_H

#include "base/cpu.h"
#include "cbench.h"
#include "measure/perf.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

/* Where a thread goes when the watchdog throws it out of a body. Armed only
 * while the body runs. */
struct cb_escape {
  sigjmp_buf jump;
  atomic_bool armed;
};

struct cb_crew;

/* One thread of one role. The fields below the line are its own while a batch
 * runs and the measuring thread's in between. */
struct cb_slot {
  _Alignas(CB_APART) const struct cb_role *role;
  unsigned thread;
  int cpu;
  pthread_t id;
  struct cb_crew *crew;
  struct cb_escape escape;
  uint64_t warmup; /* operations to do before the batch, untimed */
  /* ---- */
  uint64_t warmed; /* those done */
  bool begun, escaped;
  uint64_t start, stop, operations;
  uint32_t causes;
  double busy;         /* ticks of the batch that the thread had a CPU */
  struct cb_perf perf; /* open from begin to end */
  struct cb_perf_counts counts; /* of the batch */
  struct cb_error error;
};

struct cb_runner {
  const struct cb_variant *variant;
  struct cb_workload *work;
  struct cb_result *result;
  struct cb_control control;
  struct cb_slot *slots;
  unsigned threads;
  struct cb_crew *crew;   /* NULL: the measuring thread does it */
  bool ready;             /* set up, threads begun */
  bool escaped;           /* a body was left by force */
  double guarding;        /* seconds that its functional checks took */
  uint64_t n;             /* operations of each thread in a batch */
  double cost;            /* ticks of one operation, the least seen */
  uint64_t total;         /* operations of all threads since set-up */
  uint64_t since_mark;    /* the first role's since the counters were read,
                             those that were not timed too */
  uint64_t until_mark;    /* and before that */
  uint64_t idle;          /* batches in which the first role did nothing */
  struct cb_sample probe; /* the last batch of the calibration */
  struct cb_counter before[CB_RESULT_COUNTERS]; /* counters, ahead of round 0 */
  size_t before_count;
};

/* Has its functional checks run, unless they have held already, sets the
 * workload up and starts its threads. A negative return says that the
 * variant is out; its result has the reason. */
int cb_runner_open(struct cb_runner *runner, const struct cb_variant *variant,
                   struct cb_result *result);
/* Ends the threads; with a runner that is ready, proves and tears down. */
void cb_runner_close(struct cb_runner *runner);

/* One batch: n operations on each thread. Fills n, ticks, wall and causes of
 * the sample, and adds to nothing but runner->total. */
int cb_runner_batch(struct cb_runner *runner, uint64_t n,
                    struct cb_sample *sample);
/* The ticks of the batch just run, without what others took of them; where
 * several threads work, or work keeps to the clock, simply its wall time. */
double cb_runner_worth(const struct cb_runner *runner,
                       const struct cb_sample *sample);
/* Adds the batch just run to the result. -ENOMEM. */
int cb_runner_keep(struct cb_runner *runner, const struct cb_sample *sample);
/* Notes the counters as they stand before the first timed round. */
void cb_runner_mark(struct cb_runner *runner);

/* Puts the variant out of the race, with a sentence. Returns code. */
int cb_runner_fail(struct cb_runner *runner, enum cb_status status, int code,
                   const char *format, ...) CB_PRINTF(4, 5);

/* Runs the body of a slot between two readings of the counter (watchdog.c). */
void cb_slot_time(struct cb_slot *slot, void *state, uint64_t n);
/* One batch on the thread of the slot, with everything that is asked before
 * and after. meet, where it is not NULL, waits for the other threads and says
 * whether that took long. */
void cb_slot_batch(struct cb_slot *slot, void *state, uint64_t n,
                   bool (*meet)(struct cb_crew *crew));
/* Calls the role's begin, leaving a failure in the slot; and its end. */
int cb_slot_begin(struct cb_slot *slot, void *state);
void cb_slot_end(struct cb_slot *slot, void *state);

/* The crew (crew.c). cb_crew_start pins every thread and calls the roles'
 * begin; when it fails, cb_crew_stop must still be called. */
struct cb_crew *cb_crew_create(struct cb_slot *slots, unsigned threads,
                               void *state);
int cb_crew_start(struct cb_crew *crew, struct cb_error *error);
void cb_crew_run(struct cb_crew *crew, uint64_t n);
void cb_crew_stop(struct cb_crew *crew);

#endif
