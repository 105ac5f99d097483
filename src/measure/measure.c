/*
 * measure.c - several workloads in turn, in rounds, within a budget.
 *
 * Set-up, calibration, rounds, proofs, tear-down: in this order for all
 * variants together. A round is a canary (both sentinels) and one batch of each
 * variant, in the order of a Latin square; nothing but the batch lies between
 * two readings of the counter. The budget is looked at before each batch; the
 * round it cuts short is thrown away, so that all variants have the same
 * rounds. A variant that was never reached falls back on the last batch of its
 * calibration.
 */
#include "config.h"

#include "base/sentinel.h"
#include "base/ticks.h"
#include "base/topology.h"
#include "measure/calibrate.h"
#include "measure/causes.h"
#include "measure/order.h"
#include "measure/runner.h"
#include "measure/watchdog.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double default_seconds = 1;
static const double batch_seconds = 100e-6;
static const double crew_batch_seconds = 1e-3;
/* Several time slices: in a shorter batch threads that share a CPU either had
 * it or lost it, and which of the two says nothing about their work. */
static const double crowd_batch_seconds = 25e-3;
static const double least_batch_seconds = 20e-6;
static const double most_shared_seconds = 1e-3;
static const double progress_every = 0.1;
static const double late_seconds = 0.05;

/* 10 us each on a CPU of 3 GHz; the lesser of two, for one may be preempted. */
enum { CANARY_CHAIN = 16384, CANARY_THROUGHPUT = 49152 };

enum { ROUNDS_MOST = 1000000 };

/* The whole of one call of cb_measure. */
struct run {
  const struct cb_variant *variants;
  size_t count;
  struct cb_measure_options options; /* with defaults filled in */
  struct cb_measurement *measurement;
  struct cb_runner *runners;
  struct cb_order order;
  size_t *turn;              /* the order of this round */
  struct cb_sample *samples; /* of this round, by variant */
  struct cb_watchdog watchdog;
  struct cb_throttle throttle;
  struct cb_affinity affinity;
  double start, deadline, shown;
};

/* ---- arguments ----------------------------------------------------------- */

static int check_variants(const struct cb_variant *variants, size_t count,
                          struct cb_error *error)
{
  if (count == 0)
    return cb_fail(error, -EINVAL, "there is nothing to measure");
  for (size_t i = 0; i < count; i++) {
    const struct cb_workload *work = variants[i].workload;
    if (!work || work->role_count == 0)
      return cb_fail(error, -EINVAL, "variant %zu has no workload", i);
    for (size_t j = 0; j < i; j++)
      if (variants[j].workload == work)
        return cb_fail(error, -EINVAL, "variants %zu and %zu share a workload",
                       j, i);
  }
  return 0;
}

static int check_options(struct cb_measure_options *options,
                         struct cb_error *error)
{
  if (options->seconds < 0 || options->seconds > 1e6 ||
      options->seconds != options->seconds)
    return cb_fail(error, -EINVAL,
                   "time: %g seconds is out of range [0, 1000000]",
                   options->seconds);
  if (options->rounds > ROUNDS_MOST)
    return cb_fail(error, -EINVAL, "rounds: %llu is out of range [1, %d]",
                   (unsigned long long)options->rounds, ROUNDS_MOST);
  if (options->batch_seconds < 0 || options->batch_seconds > 10)
    return cb_fail(error, -EINVAL,
                   "a batch of %g seconds is out of range [0, 10]",
                   options->batch_seconds);
  if (options->seconds == 0)
    options->seconds = default_seconds;
  if (options->seed == 0) {
    uint64_t state = cb_ticks_begin();
    /* 53 bits, so that a double in some format cannot spoil it. */
    options->seed = (cb_random(&state) >> 11) | 1;
  }
  return 0;
}

static struct cb_batch_limits batch_limits(const struct run *run)
{
  double hz = cb_clock()->hz;
  double single = run->options.batch_seconds, crew = single, crowd = single;
  if (single <= 0) {
    single = batch_seconds;
    crew = crew_batch_seconds;
    crowd = crowd_batch_seconds;
  }
  /* Twenty rounds must fit, or batches get shorter: down to the least. */
  double whole = run->options.seconds / (double)run->count;
  double share = whole / 20;
  /* Of the clock, whichever is worse: what a pair costs, or one tick. */
  double least = 1000 * fmax(cb_clock()->cost, 1) / hz;
  least = least > least_batch_seconds ? least : least_batch_seconds;
  single = single < share / 2 ? single : share / 2;
  single = single > least ? single : least;
  crew = crew < share ? crew : share;
  crew = crew > least ? crew : least;
  /* Of those two. */
  crowd = fmin(crowd, fmax(crew, whole / 2));
  double most = share < most_shared_seconds ? share : most_shared_seconds;
  most = most > single ? most : single;
  return (struct cb_batch_limits){.target = single * hz,
                                  .crew = crew * hz,
                                  .crowd = crowd * hz,
                                  .least = least * hz,
                                  .most = most * hz,
                                  .patience = (whole / 8 + 2e-3) * hz};
}

/* ---- steps --------------------------------------------------------------- */

static bool told_to_stop(const struct run *run)
{
  const struct cb_control *control = run->options.control;
  return control && atomic_load_explicit(&control->stop, memory_order_relaxed);
}

/* Is it time to end? Says why in the measurement. */
static bool over(struct run *run)
{
  struct cb_measurement *measurement = run->measurement;
  if (measurement->stopped_by)
    return true;
  if (told_to_stop(run))
    measurement->stopped_by = "signal";
  else if (cb_seconds() >= run->deadline)
    measurement->stopped_by = "time";
  else if (run->options.rounds > 0 &&
           measurement->rounds >= run->options.rounds)
    measurement->stopped_by = "rounds";
  return measurement->stopped_by != NULL;
}

static void show(struct run *run, const char *phase, const char *variant)
{
  double now = cb_seconds();
  if (!run->options.progress || now - run->shown < progress_every)
    return;
  run->shown = now;
  struct cb_progress progress = {.phase = phase,
                                 .variant = variant,
                                 .round = run->measurement->rounds,
                                 .elapsed = now - run->start,
                                 .seconds = run->options.seconds};
  run->options.progress(run->options.data, &progress);
}

/* A variant's turn, or nobody's. */
static void turn_to(struct run *run, size_t variant)
{
  if (run->options.working)
    run->options.working(run->options.data, variant);
}

static void prolong(struct run *run, double seconds)
{
  run->deadline += seconds;
  cb_watchdog_extend(&run->watchdog, seconds);
}

/* In an order drawn by the seed: who comes first has other addresses than who
 * comes second, which can be worth several per cent, and must not be the same
 * one in every process. */
static void draw_order(struct run *run)
{
  uint64_t state = ~run->options.seed;
  for (size_t i = 0; i < run->count; i++)
    run->turn[i] = i;
  cb_shuffle(run->turn, run->count, &state);
}

static void set_up(struct run *run)
{
  double guarding = 0;
  draw_order(run);
  for (size_t i = 0; i < run->count && !told_to_stop(run); i++) {
    size_t next = run->turn[i];
    show(run, "setup", run->variants[next].name);
    turn_to(run, next);
    cb_runner_open(&run->runners[next], &run->variants[next],
                   &run->measurement->results[next]);
    guarding += run->runners[next].guarding;
  }
  prolong(run, fmin(guarding, run->options.guard_seconds));
}

/* A batch that its workload's own limit has ended is the row's affair: the
 * others get the lost time back. The user, or the end of the run's patience,
 * can come before that limit. */
static void capped(struct run *run, struct cb_runner *runner, double after)
{
  const struct cb_workload *work = runner->work;
  struct cb_error why = {0, ""};
  char end[64] = "stopped by a signal";
  if (work->check)
    work->check(work->state, runner->total, &why);
  if (after >= work->batch_cap)
    snprintf(end, sizeof end, "a batch took more than %g s", work->batch_cap);
  else if (!told_to_stop(run))
    snprintf(end, sizeof end, "the time was up %.3g s into a batch", after);
  prolong(run, after);
  cb_runner_fail(runner, CB_FAIL, -ETIMEDOUT, "%s%s%s", why.text,
                 why.text[0] ? ": " : "", end);
}

/* After a batch that the watchdog had to end there is no time left. What came
 * back when told to stop may know what it waited for. */
static void bitten(struct run *run, struct cb_runner *runner)
{
  const struct cb_workload *work = runner->work;
  double after = cb_seconds() - run->watchdog.since;
  struct cb_error why = {0, ""};
  if (work->batch_cap > 0 && run->watchdog.stage == 1 && !runner->escaped) {
    capped(run, runner, after);
    return;
  }
  run->measurement->stopped_by = "watchdog";
  run->measurement->damaged |= runner->escaped;
  if (runner->escaped && work->blame)
    work->blame(work->state, &why);
  else if (!runner->escaped && work->check)
    work->check(work->state, runner->total, &why);
  cb_runner_fail(runner, CB_FAIL, -ETIMEDOUT,
                 "'%s' did not return; the watchdog ended it after %.3g s%s%s",
                 runner->variant->name ? runner->variant->name
                                       : runner->work->operation,
                 after, why.text[0] ? ": " : "", why.text);
}

/* A process that was held up may take a little longer, so that it does not end
 * without a sample; and with a given n it gives one batch in any case. */
static bool too_late(struct run *run, const struct cb_runner *runner)
{
  const char *by = run->measurement->stopped_by;
  if (told_to_stop(run) || (by && strcmp(by, "time") != 0))
    return true;
  return cb_seconds() > run->deadline + late_seconds && runner->variant->n == 0;
}

static void calibrate(struct run *run)
{
  struct cb_batch_limits limits = batch_limits(run);
  for (size_t i = 0; i < run->count; i++) {
    struct cb_runner *runner = &run->runners[i];
    if (!runner->ready || too_late(run, runner))
      continue;
    show(run, "calibration", run->variants[i].name);
    turn_to(run, i);
    if (cb_calibrate(runner, &limits, &run->watchdog) == -ETIMEDOUT)
      bitten(run, runner);
  }
  cb_share_batches(run->runners, run->count, &limits);
  for (size_t i = 0; i < run->count; i++)
    if (run->runners[i].ready) {
      turn_to(run, i);
      cb_runner_mark(&run->runners[i]);
    }
}

static uint32_t canary_ticks(void (*sing)(void))
{
  uint64_t least = UINT32_MAX;
  for (int i = 0; i < 2; i++) {
    uint64_t start = cb_ticks_begin();
    sing();
    uint64_t ticks = cb_ticks_end() - start;
    least = ticks < least ? ticks : least;
  }
  return (uint32_t)least;
}

static void sing_chain(void)
{
  cb_sentinel_chain(1, 1, CANARY_CHAIN);
}

static void sing_throughput(void)
{
  uint64_t lanes[CB_SENTINEL_LANES] = {0};
  cb_sentinel_throughput(lanes, 1, CANARY_THROUGHPUT);
}

static bool in_the_race(const struct cb_runner *runner)
{
  return runner->ready && runner->n > 0 && runner->result->status == CB_OK;
}

static bool run_one(struct run *run, struct cb_runner *runner,
                    struct cb_sample *sample)
{
  turn_to(run, (size_t)(runner - run->runners));
  cb_watchdog_enter(&run->watchdog, runner);
  int status = cb_runner_batch(runner, runner->n, sample);
  if (cb_watchdog_leave(&run->watchdog)) {
    bitten(run, runner);
    return false;
  }
  return status == 0;
}

/* The kept samples are those of a whole round, so they wait until it is. */
static bool run_round(struct run *run)
{
  uint32_t canary[2] = {canary_ticks(sing_chain),
                        canary_ticks(sing_throughput)};
  cb_order_next(&run->order, run->turn);
  for (size_t i = 0; i < run->count; i++) {
    struct cb_runner *runner = &run->runners[run->turn[i]];
    struct cb_sample *sample = &run->samples[run->turn[i]];
    *sample = (struct cb_sample){.fork = run->options.fork,
                                 .round = (uint32_t)run->measurement->rounds,
                                 .canary = {canary[0], canary[1]}};
    if (!in_the_race(runner))
      continue;
    if (over(run) || !run_one(run, runner, sample))
      return run->measurement->stopped_by == NULL;
  }
  uint32_t throttled = cb_throttle_check(&run->throttle);
  for (size_t i = 0; i < run->count; i++) {
    run->samples[i].causes |= throttled;
    if (in_the_race(&run->runners[i]) && run->samples[i].n > 0)
      cb_runner_keep(&run->runners[i], &run->samples[i]);
  }
  run->measurement->rounds++;
  return true;
}

/* ---- the end ------------------------------------------------------------- */

/* The budget ended in the first round: what there is of it counts, else the
 * last batch of the calibration. */
static void salvage(struct run *run)
{
  for (size_t i = 0; i < run->count; i++) {
    struct cb_runner *runner = &run->runners[i];
    struct cb_sample *sample = &run->samples[i];
    if (!in_the_race(runner) || runner->result->sample_count > 0)
      continue;
    if (sample->n == 0) {
      *sample = runner->probe;
      sample->fork = run->options.fork;
    }
    if (sample->n > 0)
      cb_runner_keep(runner, sample);
    run->measurement->rounds = 1;
  }
}

/* Where roles do not wait for each other, one may find nothing left to do. */
static void judge_idle(struct cb_runner *runner)
{
  uint64_t others = runner->total - runner->until_mark - runner->since_mark;
  if (others == 0)
    cb_runner_fail(runner, CB_FAIL, -ENODATA, "it did not do one operation");
  else
    cb_runner_fail(runner, CB_FAIL, -ENODATA,
                   "'%s' found nothing to do in %llu batch%s, while the other "
                   "threads did %llu operations",
                   runner->work->roles[0].name,
                   (unsigned long long)runner->idle,
                   runner->idle == 1 ? "" : "es", (unsigned long long)others);
}

static void judge(struct run *run, struct cb_runner *runner)
{
  const struct cb_result *result = runner->result;
  const char *by = run->measurement->stopped_by;
  bool signal = strcmp(by, "signal") == 0;
  if (result->status != CB_OK)
    return;
  if (runner->n == 0)
    cb_runner_fail(runner, CB_PARTIAL, -ETIME,
                   signal ? "stopped by a signal before its first batch"
                          : "the time was up before its first batch");
  else if (strcmp(by, "watchdog") == 0)
    cb_runner_fail(runner, CB_PARTIAL, -EINTR,
                   "another row did not return and ended the run");
  else if (result->sample_count == 0)
    judge_idle(runner);
  else if (signal)
    cb_runner_fail(runner, CB_PARTIAL, -EINTR, "stopped by a signal");
}

/* The last that was set up is the first to go, so that what rows share is left
 * as the first of them found it. */
static void finish(struct run *run)
{
  if (run->measurement->rounds == 0 && !run->measurement->damaged)
    salvage(run);
  draw_order(run);
  for (size_t left = run->count; left-- > 0;) {
    size_t i = run->turn[left];
    struct cb_runner *runner = &run->runners[i];
    turn_to(run, i);
    if (runner->work)
      cb_runner_close(runner);
    else
      runner->result = &run->measurement->results[i];
    judge(run, runner);
    cb_classify(runner->result->samples, runner->result->sample_count);
  }
  turn_to(run, run->count);
  run->measurement->elapsed = cb_seconds() - run->start;
}

static bool anyone_left(const struct run *run)
{
  for (size_t i = 0; i < run->count; i++)
    if (in_the_race(&run->runners[i]))
      return true;
  return false;
}

static void measure(struct run *run)
{
  set_up(run);
  calibrate(run);
  run->measurement->ready = cb_seconds() - run->start;
  while (!over(run)) {
    if (!anyone_left(run)) {
      run->measurement->stopped_by = "error";
      break;
    }
    if (!run_round(run))
      break;
    show(run, "rounds", NULL);
  }
  finish(run);
}

/* ---- memory -------------------------------------------------------------- */

void cb_measurement_destroy(struct cb_measurement *measurement)
{
  if (!measurement)
    return;
  for (size_t i = 0; i < measurement->result_count; i++) {
    free(measurement->results[i].samples);
    free(measurement->results[i].roles);
    free(measurement->results[i].latency);
  }
  free(measurement->results);
  free(measurement);
}

static struct cb_measurement *create_measurement(size_t count, uint64_t seed)
{
  struct cb_measurement *measurement = calloc(1, sizeof *measurement);
  if (!measurement)
    return NULL;
  measurement->results = calloc(count, sizeof *measurement->results);
  if (!measurement->results) {
    free(measurement);
    return NULL;
  }
  measurement->result_count = count;
  measurement->seed = seed;
  return measurement;
}

static int open_run(struct run *run, struct cb_error *error)
{
  size_t count = run->count;
  run->measurement = create_measurement(count, run->options.seed);
  run->runners = calloc(count, sizeof *run->runners);
  run->turn = calloc(count, sizeof *run->turn);
  run->samples = calloc(count, sizeof *run->samples);
  if (!run->measurement || !run->runners || !run->turn || !run->samples ||
      cb_order_open(&run->order, count, run->options.seed) < 0)
    return cb_fail(error, -ENOMEM, "out of memory for %zu variants", count);

  run->start = cb_seconds();
  run->deadline = run->start + run->options.seconds;
  int status = cb_affinity_save(&run->affinity);
  if (status < 0)
    return cb_fail(error, status, "cannot read the CPUs of this thread: %s",
                   strerror(-status));
  /* Asked for now, when the thread still has all its CPUs. */
  cb_cpus_allowed(NULL, 0);
  status = cb_watchdog_start(&run->watchdog, &run->options, run->deadline);
  if (status < 0)
    return cb_fail(error, status, "cannot start the watchdog: %s",
                   strerror(-status));
  return 0;
}

static void close_run(struct run *run)
{
  cb_order_close(&run->order);
  free(run->samples);
  free(run->turn);
  free(run->runners);
}

struct cb_measurement *cb_measure(const struct cb_variant *variants,
                                  size_t count,
                                  const struct cb_measure_options *options,
                                  struct cb_error *error)
{
  struct run run = {.variants = variants, .count = count};
  if (options)
    run.options = *options;
  if (check_variants(variants, count, error) < 0 ||
      check_options(&run.options, error) < 0)
    return NULL;
  if (open_run(&run, error) < 0) {
    cb_measurement_destroy(run.measurement);
    close_run(&run);
    return NULL;
  }
  cb_throttle_open(&run.throttle);
  measure(&run);
  cb_throttle_close(&run.throttle);
  cb_watchdog_stop(&run.watchdog);
  cb_affinity_restore(&run.affinity);
  close_run(&run);
  return run.measurement;
}
