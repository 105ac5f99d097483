#include "config.h"

#include "measure/runner.h"

#include "base/memory.h"
#include "base/ticks.h"
#include "base/topology.h"
#include "measure/causes.h"
#include "measure/histogram.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cb_runner_fail(struct cb_runner *runner, enum cb_status status, int code,
                   const char *format, ...)
{
  struct cb_result *result = runner->result;
  if (result->status == CB_OK || result->status == CB_PARTIAL) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->reason.text, sizeof result->reason.text, format,
              arguments);
    va_end(arguments);
    result->reason.code = code;
    result->status = status;
  }
  return code;
}

/* What this machine cannot do is no fault of the row. */
static int refuse(struct cb_runner *runner, const struct cb_error *error)
{
  return cb_runner_fail(runner, error->code == -ENOTSUP ? CB_NA : CB_FAIL,
                        error->code, "%s", error->text);
}

/* ---- threads ------------------------------------------------------------- */

int cb_slot_begin(struct cb_slot *slot, void *state)
{
  const struct cb_role *role = slot->role;
  int status = 0;
  if (!cb_hardware_absent())
    cb_perf_open(&slot->perf, cb_perf_hardware);
  if (role->begin)
    status = role->begin(state, slot->thread, &slot->error);
  slot->begun = status >= 0;
  if (status < 0 && slot->error.code >= 0)
    cb_fail(&slot->error, status, "a thread of role '%s' could not begin: %s",
            role->name, strerror(-status));
  return status;
}

void cb_slot_end(struct cb_slot *slot, void *state)
{
  if (slot->begun && slot->role->end)
    slot->role->end(state, slot->thread);
  slot->begun = false;
  cb_perf_close(&slot->perf);
}

static void count_hardware(struct cb_slot *slot,
                           const struct cb_perf_counts *before)
{
  struct cb_perf_counts after;
  cb_perf_read(&slot->perf, &after);
  for (int i = 0; i < CB_HARDWARE_COUNT; i++)
    slot->counts.values[i] = after.values[i] - before->values[i];
}

static void warm_up(struct cb_slot *slot, void *state)
{
  slot->warmed = 0;
  if (slot->warmup == 0)
    return;
  cb_slot_time(slot, state, slot->warmup);
  slot->warmed = slot->operations;
}

void cb_slot_batch(struct cb_slot *slot, void *state, uint64_t n,
                   bool (*meet)(struct cb_crew *crew))
{
  struct cb_trace trace;
  struct cb_perf_counts counts;
  double hz = cb_clock()->hz;
  warm_up(slot, state);
  cb_perf_read(&slot->perf, &counts);
  cb_trace_start(&trace);
  /* Who waited long was switched away, but not in the batch. */
  if (meet && meet(slot->crew))
    cb_trace_start(&trace);
  if (slot->warmup == 0 || !slot->escaped) {
    cb_slot_time(slot, state, n);
  } else {
    slot->start = slot->stop;
    slot->operations = 0;
  }
  slot->causes = cb_trace_stop(&trace, hz, &slot->busy);
  count_hardware(slot, &counts);
}

static int choose_cpus(const struct cb_variant *variant, unsigned threads,
                       int *cpus, struct cb_error *error)
{
  if (variant->cpu_count == 0)
    return cb_cpus_place(variant->place, threads, cpus, error);
  int status = cb_cpus_check(variant->cpus, variant->cpu_count, error);
  for (unsigned i = 0; i < threads && status == 0; i++)
    cpus[i] = variant->cpus[i % variant->cpu_count];
  return status;
}

static int make_slots(struct cb_runner *runner, struct cb_error *error)
{
  const struct cb_workload *work = runner->work;
  unsigned threads = 0;
  for (size_t i = 0; i < work->role_count; i++)
    threads += work->roles[i].threads;
  if (threads == 0)
    return cb_fail(error, -EINVAL, "a workload needs a role with a thread");

  struct cb_result *result = runner->result;
  int *cpus = calloc(threads, sizeof *cpus);
  runner->slots = cb_memory_apart(threads * sizeof *runner->slots);
  result->roles = calloc(threads, sizeof *result->roles);
  if (!cpus || !runner->slots || !result->roles) {
    free(cpus);
    return cb_fail(error, -ENOMEM, "out of memory for %u threads", threads);
  }
  int status = choose_cpus(runner->variant, threads, cpus, error);
  for (size_t i = 0; i < work->role_count && status == 0; i++)
    for (unsigned j = 0; j < work->roles[i].threads; j++) {
      struct cb_slot *slot = &runner->slots[runner->threads];
      *slot = (struct cb_slot){
          .role = &work->roles[i], .thread = j, .cpu = cpus[runner->threads]};
      result->roles[runner->threads++] = (struct cb_role_result){
          .role = work->roles[i].name, .thread = j, .cpu = slot->cpu};
    }
  result->role_count = runner->threads;
  free(cpus);
  return status;
}

static int start(struct cb_runner *runner, struct cb_error *error)
{
  if (runner->threads > 1) {
    runner->crew =
        cb_crew_create(runner->slots, runner->threads, runner->work->state);
    if (!runner->crew)
      return cb_fail(error, -ENOMEM, "out of memory");
    return cb_crew_start(runner->crew, error);
  }
  struct cb_slot *slot = &runner->slots[0];
  slot->id = pthread_self();
  int status = cb_pin(slot->cpu, error);
  if (status == 0)
    status = cb_slot_begin(slot, runner->work->state);
  if (slot->error.code < 0 && error)
    *error = slot->error;
  return status;
}

static void stop(struct cb_runner *runner)
{
  if (runner->crew)
    cb_crew_stop(runner->crew);
  else if (runner->threads == 1)
    cb_slot_end(&runner->slots[0], runner->work->state);
  runner->crew = NULL;
}

/* ---- opening and closing ------------------------------------------------- */

/* Functional checks, and the time they take. */
static int pass_guard(struct cb_runner *runner, struct cb_error *error)
{
  const struct cb_workload *work = runner->work;
  int status = 0;
  if (!work->guard)
    return 0;
  if (!runner->variant->guarded) {
    double start = cb_seconds();
    status = work->guard(work->state, error);
    runner->guarding = cb_seconds() - start;
    if (status < 0 && error->code >= 0)
      cb_fail(error, status, "no figures: a functional check failed: %s",
              strerror(-status));
  }
  runner->result->guarded = status >= 0;
  return status;
}

static int set_up(struct cb_runner *runner, struct cb_error *error)
{
  struct cb_workload *work = runner->work;
  if (!work->setup)
    return 0;
  int status = work->setup(work->state, &runner->control, error);
  if (status < 0 && error->code >= 0)
    cb_fail(error, status, "set-up failed: %s", strerror(-status));
  return status;
}

int cb_runner_open(struct cb_runner *runner, const struct cb_variant *variant,
                   struct cb_result *result)
{
  struct cb_error error = {0, ""};
  *runner = (struct cb_runner){
      .variant = variant, .work = variant->workload, .result = result};
  if (make_slots(runner, &error) < 0 || pass_guard(runner, &error) < 0 ||
      set_up(runner, &error) < 0)
    return refuse(runner, &error);
  if (start(runner, &error) < 0) {
    stop(runner);
    if (runner->work->teardown)
      runner->work->teardown(runner->work->state);
    return refuse(runner, &error);
  }
  runner->ready = true;
  return 0;
}

static void prove(struct cb_runner *runner)
{
  struct cb_workload *work = runner->work;
  struct cb_error error = {0, ""};
  if (!work->check || runner->result->status == CB_FAIL)
    return;
  int status = work->check(work->state, runner->total, &error);
  if (status < 0 && error.code >= 0)
    cb_fail(&error, status, "its proof failed: %s", strerror(-status));
  if (status < 0)
    cb_runner_fail(runner, CB_FAIL, error.code, "%s", error.text);
  runner->result->checked = status >= 0;
}

static size_t read_counters(struct cb_runner *runner,
                            struct cb_counter *counters)
{
  struct cb_workload *work = runner->work;
  size_t count = 0;
  if (work->counters)
    count = work->counters(work->state, counters, CB_RESULT_COUNTERS);
  return count < CB_RESULT_COUNTERS ? count : CB_RESULT_COUNTERS;
}

/* What operations took since the last time; only that of timed rounds is kept,
 * and without memory none. */
static void take_latency(struct cb_runner *runner, bool keep)
{
  struct cb_workload *work = runner->work;
  if (!work->latency)
    return;
  struct cb_histogram *taken = malloc(sizeof *taken);
  if (!taken)
    return;
  cb_histogram_clear(taken);
  work->latency(work->state, taken);
  if (keep && taken->count)
    runner->result->latency = taken;
  else
    free(taken);
}

void cb_runner_mark(struct cb_runner *runner)
{
  runner->before_count = read_counters(runner, runner->before);
  runner->until_mark = runner->since_mark;
  runner->since_mark = 0;
  take_latency(runner, false);
}

/* Batches of a round that was not completed have been counted too. Where there
 * was no round, the figures are those of the calibration, and so are these. */
static void count(struct cb_runner *runner)
{
  struct cb_result *result = runner->result;
  bool rounds = runner->since_mark > 0;
  double operations =
      (double)(rounds ? runner->since_mark : runner->until_mark);
  result->counter_count = read_counters(runner, result->counters);
  for (size_t i = 0; i < result->counter_count; i++) {
    struct cb_counter *counter = &result->counters[i];
    if (rounds && counter->type != CB_GAUGE && i < runner->before_count)
      counter->value -= runner->before[i].value;
    if (counter->type == CB_SHARE)
      counter->value = operations > 0 ? counter->value / operations : 0;
  }
}

static void sum_up(struct cb_runner *runner)
{
  struct cb_result *result = runner->result;
  result->n = runner->n;
  result->overlap = 1;
  /* Until now a sum; of nothing it is not a number. */
  for (int i = 0; i < CB_HARDWARE_COUNT; i++)
    result->hardware[i] /= (double)result->operations;
  for (size_t i = 0; i < result->role_count; i++) {
    struct cb_role_result *role = &result->roles[i];
    /* Until now the ticks during which every thread ran. */
    role->overlap = role->ticks > 0 ? role->overlap / (double)role->ticks : 1;
    if (role->overlap < result->overlap)
      result->overlap = role->overlap;
  }
}

/* What was left by force may hold locks and lie half changed: its functions are
 * not called again. The threads themselves are back. */
static void abandon(struct cb_runner *runner)
{
  for (unsigned i = 0; i < runner->threads; i++)
    runner->slots[i].begun = false;
  stop(runner);
  sum_up(runner);
}

void cb_runner_close(struct cb_runner *runner)
{
  if (runner->escaped)
    abandon(runner);
  else if (runner->ready) {
    stop(runner);
    count(runner);
    take_latency(runner, true);
    sum_up(runner);
    prove(runner);
    if (runner->work->teardown)
      runner->work->teardown(runner->work->state);
  }
  free(runner->slots);
  runner->slots = NULL;
  runner->ready = false;
  for (int i = 0; i < CB_HARDWARE_COUNT && runner->result->operations == 0; i++)
    runner->result->hardware[i] = NAN;
}

/* ---- batches ------------------------------------------------------------- */

static int run_here(struct cb_runner *runner, uint64_t n)
{
  struct cb_slot *slot = &runner->slots[0];
  struct cb_error error;
  /* Pinned it is; only variants on other CPUs make it move. */
  if (sched_getcpu() != slot->cpu && cb_pin(slot->cpu, &error) < 0)
    return refuse(runner, &error);
  cb_slot_batch(slot, runner->work->state, n, NULL);
  return 0;
}

static void collect(struct cb_runner *runner, struct cb_sample *sample)
{
  uint64_t first = UINT64_MAX, last = 0;
  sample->n = sample->ticks = sample->causes = 0;
  for (unsigned i = 0; i < runner->threads; i++) {
    const struct cb_slot *slot = &runner->slots[i];
    if (slot->role == runner->slots[0].role) {
      sample->n += slot->operations;
      sample->ticks += slot->stop - slot->start;
    }
    sample->causes |= slot->causes;
    runner->total += slot->operations + slot->warmed;
    if (slot->role == runner->slots[0].role)
      runner->since_mark += slot->operations + slot->warmed;
    runner->escaped |= slot->escaped;
    first = slot->start < first ? slot->start : first;
    last = slot->stop > last ? slot->stop : last;
  }
  sample->wall = last - first;
  runner->idle += sample->n == 0;
}

/* Not before it is known what an operation costs, and not for long: where it
 * takes a millisecond, what is in the caches no longer matters. */
static void choose_warmup(struct cb_runner *runner)
{
  double most = cb_clock()->hz / 1000;
  uint64_t warmup = runner->work->warmup;
  bool worth = runner->cost > 0 && runner->cost * (double)warmup < most;
  for (unsigned i = 0; i < runner->threads; i++)
    runner->slots[i].warmup = worth ? warmup : 0;
}

/* The probe may have been held up; a batch that was quicker knows better. */
static void learn_cost(struct cb_runner *runner, uint64_t n,
                       const struct cb_sample *sample)
{
  double cost = cb_runner_worth(runner, sample) / (double)n;
  if (runner->cost > cost)
    runner->cost = cost;
}

int cb_runner_batch(struct cb_runner *runner, uint64_t n,
                    struct cb_sample *sample)
{
  struct cb_workload *work = runner->work;
  struct cb_error error = {0, ""};
  if (work->prepare) {
    int status = work->prepare(work->state, n, &error);
    if (status < 0 && error.code >= 0)
      cb_fail(&error, status, "a batch could not be prepared: %s",
              strerror(-status));
    if (status < 0)
      return refuse(runner, &error);
  }
  choose_warmup(runner);
  if (runner->crew)
    cb_crew_run(runner->crew, n);
  else if (run_here(runner, n) < 0)
    return runner->result->reason.code;
  collect(runner, sample);
  learn_cost(runner, n, sample);
  return 0;
}

double cb_runner_worth(const struct cb_runner *runner,
                       const struct cb_sample *sample)
{
  double wall = (double)sample->wall;
  bool taken = sample->causes & (CB_PREEMPTED | CB_STOLEN);
  /* Work that says how long its batch is keeps to the clock: it would have
   * waited through what others took of it. */
  bool timed = runner->work->batch_seconds > 0;
  return !runner->crew && !timed && taken ? fmin(wall, runner->slots[0].busy)
                                          : wall;
}

static void add_roles(struct cb_runner *runner)
{
  uint64_t last_start = 0, first_stop = UINT64_MAX;
  for (unsigned i = 0; i < runner->threads; i++) {
    const struct cb_slot *slot = &runner->slots[i];
    last_start = slot->start > last_start ? slot->start : last_start;
    first_stop = slot->stop < first_stop ? slot->stop : first_stop;
  }
  for (unsigned i = 0; i < runner->threads; i++) {
    const struct cb_slot *slot = &runner->slots[i];
    struct cb_role_result *role = &runner->result->roles[i];
    role->operations += slot->operations;
    role->ticks += slot->stop - slot->start;
    if (first_stop > last_start)
      role->overlap += (double)(first_stop - last_start);
    for (int j = 0; j < CB_HARDWARE_COUNT; j++)
      if (slot->role == runner->slots[0].role)
        runner->result->hardware[j] += slot->counts.values[j];
  }
}

int cb_runner_keep(struct cb_runner *runner, const struct cb_sample *sample)
{
  struct cb_result *result = runner->result;
  size_t count = result->sample_count;
  /* Full at 64, 128, 256, ... */
  if (count == 0 || (count >= 64 && (count & (count - 1)) == 0)) {
    size_t capacity = count ? 2 * count : 64;
    struct cb_sample *grown =
        realloc(result->samples, capacity * sizeof *grown);
    if (!grown)
      return cb_runner_fail(runner, CB_FAIL, -ENOMEM,
                            "out of memory for samples");
    result->samples = grown;
  }
  result->samples[result->sample_count++] = *sample;
  result->operations += sample->n;
  add_roles(runner);
  return 0;
}
