/*
 * measure.h - a piece of work as measuring knows it, how it is measured, and
 * what the samples say.
 */
#ifndef CBENCH_MEASURE_H
#define CBENCH_MEASURE_H

#include "cbench/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* How often each value came, to within 1 %: opaque here. */
struct cb_histogram;

/* A piece of measurable work: all that measuring knows of it. Functions that
 * are NULL are skipped. setup, prepare, check, counters and teardown run on
 * the thread that measures, while no role runs. */
struct cb_workload {
  const char *operation; /* what one operation is, for people */
  /* Optional: functional checks, their names with spaces between, that guard
   * runs; there is no figure where one failed or was skipped. */
  const char *guards;
  void *state;
  const struct cb_role *roles; /* at least one */
  size_t role_count;
  unsigned flags;     /* CB_KIND_INTERPRETER */
  uint64_t batch_max; /* most operations in one batch, 0 for no limit */
  uint64_t batch_min; /* fewest, where they come in bundles, and a batch whose n
                       * is chosen here is a whole number of those, one bundle
                       * even where batch_max is less; 0 is 1 */
  /* How long a batch had better be, 0 for the usual. One that paces itself
   * wants longer ones, and shares its n with nobody. */
  double batch_seconds;
  /* Operations of each thread in every batch, where the work says so itself; 0:
   * as many as take long enough to be timed. */
  uint64_t batch_n;
  /* Seconds after which a batch is told to stop. When it then comes back, only
   * this row has failed, with the sentence of check. 0: the run's own patience,
   * whose end is the end of the run. */
  double batch_cap;
  int (*setup)(void *state, const struct cb_control *control,
               struct cb_error *error);
  /* Before every batch, untimed: n operations of each thread will follow. */
  int (*prepare)(void *state, uint64_t n, struct cb_error *error);
  /* The proof, after the last batch: operations is the sum that all run calls
   * since setup returned. A negative return fails the row with its sentence. */
  int (*check)(void *state, uint64_t operations, struct cb_error *error);
  size_t (*counters)(void *state, struct cb_counter *counters, size_t capacity);
  /* Adds how many ticks each operation took since setup or the last call. Of
   * a workload whose operations overlap, or wait: what one took is not what a
   * batch took divided by n. */
  void (*latency)(void *state, struct cb_histogram *into);
  void (*teardown)(void *state);
  /* Called on another thread while run runs, after stop was set: a loop that
   * does not look at stop may be told in another way. */
  void (*interrupt)(void *state);
  /* Frees state and whatever create allocated, setup done or not. */
  void (*destroy)(struct cb_workload *workload);
  /* Operations of each thread that go untimed before each batch: as many as
   * touch all that an operation may touch, so that what another variant left in
   * the caches is not counted. 0: one operation is soon at home. */
  uint64_t warmup;
  /* Runs the functional checks, before setup; a negative return fails the row
   * with its sentence. */
  int (*guard)(void *state, struct cb_error *error);
  /* Says in a sentence what a run was in that did not return and was left by
   * force. Everything may lie half changed and locks may be held. */
  void (*blame)(void *state, struct cb_error *why);
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
  bool guarded; /* it has functional checks, and they held */
  /* Ticks that operations took in timed rounds; NULL: the workload does not
   * say. */
  struct cb_histogram *latency;
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
  /* The functional checks of this very work have held, in another process that
   * ran this program: they are not run again. */
  bool guarded;
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
  /* 100 us; 1 ms where several threads work; 25 ms where they share a CPU. All
   * are less when few rounds would fit into the budget. */
  double batch_seconds;
  /* What functional checks take prolongs the budget, by so much at most (0). */
  double guard_seconds;
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
  /* Before functions of a variant are called, with its index, and with the
   * number of variants after the last: who shares that with another process
   * can tell later in which of them this one ended. */
  void (*working)(void *data, size_t variant);
};

struct cb_measurement {
  struct cb_result *results; /* as many as variants, in their order */
  size_t result_count;
  uint64_t seed;
  uint64_t rounds; /* complete ones */
  /* "rounds", "time", "signal", "watchdog", or "error" when no variant is left
   */
  const char *stopped_by;
  double ready;   /* seconds until the first round */
  double elapsed; /* seconds in all */
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

#ifdef __cplusplus
}
#endif
#endif
