/*
 * service_run.c - the workload `service_run`: what it costs to run a service on
 * an application lcore, as in DPDK's service_perf_autotest.
 *
 * The first lcore is what is measured: so many attempts, in the set's own loop,
 * instantiated for its lock, order and statistics. Contenders run the same
 * service, or each one of its own, for as long as the first is at work: were
 * theirs a fixed number, whoever is refused more cheaply would be through early
 * and leave the other alone.
 *
 * Where the service is not mt_safe an attempt may be refused. So there are two
 * things to count: with per = "attempt" an operation is an attempt of the first
 * lcore, and `success` says how many of them were runs; with per = "success" it
 * is a run, whichever lcore it was on, and its ticks are the time from one to
 * the next.
 */
#include "workload/kinds.h"
#include "workload/services.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "service/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTENDERS_MOST = 255 };

/* One application lcore, on the thread of its role. */
struct seat {
  _Alignas(CB_APART) struct cb_lcore *lcore;
  uint64_t id;
  struct cb_run_tally sum;
  uint64_t called; /* what its callbacks counted */
  /* Of a contender, in this batch: its runs so far; and how many of them there
   * were in the time of the first lcore's own. */
  _Atomic uint64_t published;
  uint64_t before, seen;
  uint64_t unseen; /* its other runs, of all batches */
};

struct state {
  struct cb_services *set;
  const struct cb_control *control;
  struct cb_service_handle *live;
  _Atomic bool interrupted; /* the live service's callback did not return */
  struct cb_service_subject subject;
  struct cb_role roles[2];
  unsigned seats;
  bool serialize, apart, per_success;
  char guards[80];
  uint64_t seen; /* runs of contenders during the batches of the first */
  /* The first lcore is through with its batch. Written once a batch, looked at
   * all the time. */
  _Alignas(CB_APART) _Atomic bool over;
  struct seat seat[];
};

/* ---- setting up */

static const struct cb_service_check *guard_of(const struct state *state)
{
  if (state->subject.mt_safe)
    return &cb_check_app_mt_safe;
  bool excludes = state->serialize && strcmp(state->subject.lock, "none") != 0;
  return excludes ? &cb_check_app_mt_unsafe : &cb_check_start_stop;
}

static int guard(void *opaque, struct cb_error *error)
{
  const struct state *state = opaque;
  return cb_service_guard(&state->subject, guard_of(state), error);
}

static int start_service(struct state *state, unsigned number,
                         struct cb_error *error)
{
  return cb_service_subject_add(&state->subject, state->set, number, true,
                                &state->seat[number].id, error);
}

static int make_set(struct state *state, struct cb_error *error)
{
  state->set =
      cb_services_create(state->subject.lock, state->subject.order, error);
  if (!state->set)
    return -ENOMEM;
  for (unsigned i = 0; i < state->seats; i++) {
    int status = 0;
    if (i == 0 || state->apart)
      status = start_service(state, i, error);
    else
      state->seat[i].id = state->seat[0].id;
    if (status < 0)
      return status;
  }
  return 0;
}

/* A live service is taken as it stands, and must be running. */
static int borrow_set(struct state *state, struct cb_error *error)
{
  struct cb_service_handle *live = state->live;
  char name[CB_SERVICE_NAME_SIZE];
  int status = cb_service_name(live->set, live->id, name, error);
  if (status < 0)
    return status;
  if (!cb_service_is_runnable(live->set, live->id))
    return cb_fail(error, -ENOEXEC, "the service '%s' is not running", name);
  state->set = live->set;
  for (unsigned i = 0; i < state->seats; i++)
    state->seat[i].id = live->id;
  return 0;
}

static void interrupt(void *opaque)
{
  struct state *state = opaque;
  if (!state->live || !state->live->interrupt)
    return;
  state->interrupted = true;
  state->live->interrupt(state->live, true);
}

static void teardown(void *opaque)
{
  struct state *state = opaque;
  if (state->interrupted)
    state->live->interrupt(state->live, false);
  state->interrupted = false;
  if (!state->live)
    cb_services_destroy(state->set, 0, NULL);
  state->set = NULL;
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  state->control = control;
  for (unsigned i = 0; i < state->seats; i++)
    state->seat[i] = (struct seat){.lcore = NULL};
  state->seen = 0;
  int status = state->live ? borrow_set(state, error) : make_set(state, error);
  if (status < 0)
    teardown(state);
  return status;
}

/* ---- running */

static int sit(struct state *state, struct seat *seat, struct cb_error *error)
{
  seat->lcore = state->live ? cb_lcore_attach_guest(state->set, error)
                            : cb_lcore_attach(state->set, error);
  return seat->lcore ? 0 : -ENOMEM;
}

static void rise(struct seat *seat)
{
  seat->called += cb_lcore_called(seat->lcore);
  cb_lcore_detach(seat->lcore, NULL);
  seat->lcore = NULL;
}

/* n attempts; how many were runs. */
static uint64_t run(const struct state *state, struct seat *seat, uint64_t n)
{
  struct cb_run_tally tally;
  cb_service_repeat(seat->lcore, seat->id, state->serialize, n, &tally);
  seat->sum.done += tally.done;
  seat->sum.busy += tally.busy;
  seat->sum.refused += tally.refused;
  seat->sum.idle += tally.idle;
  seat->sum.errors += tally.errors;
  return tally.done;
}

static int prepare(void *opaque, uint64_t n, struct cb_error *error)
{
  struct state *state = opaque;
  (void)n, (void)error;
  state->over = false;
  for (unsigned i = 1; i < state->seats; i++)
    state->seat[i].published = 0;
  return 0;
}

static int first_begin(void *opaque, unsigned thread, struct cb_error *error)
{
  struct state *state = opaque;
  return sit(state, &state->seat[thread], error);
}

static void first_end(void *opaque, unsigned thread)
{
  struct state *state = opaque;
  rise(&state->seat[thread]);
}

/* Runs of the contenders since this was called with begin. */
static uint64_t seen_now(struct state *state, bool begin)
{
  uint64_t sum = 0;
  for (unsigned i = 1; i < state->seats; i++) {
    struct seat *other = &state->seat[i];
    uint64_t done =
        atomic_load_explicit(&other->published, memory_order_relaxed);
    if (begin)
      other->before = done;
    other->seen = done - other->before;
    sum += other->seen;
  }
  return sum;
}

/* Goes on until all lcores together have had n runs. The next look is due when
 * they would be through if nobody were refused. */
static uint64_t run_until(struct state *state, struct seat *seat, uint64_t n)
{
  uint64_t sum = 0, own = 0;
  while (sum < n && !seat->sum.refused &&
         !atomic_load_explicit(&state->control->stop, memory_order_relaxed)) {
    own += run(state, seat, (n - sum + state->seats - 1) / state->seats);
    sum = own + seen_now(state, false);
  }
  return sum;
}

static uint64_t first_run(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  struct seat *seat = &state->seat[thread];
  seen_now(state, true);
  uint64_t operations = n;
  if (state->per_success)
    operations = run_until(state, seat, n);
  else
    run(state, seat, n);
  if (state->seats == 1)
    return operations;
  if (!state->per_success)
    state->seen += seen_now(state, false);
  atomic_store_explicit(&state->over, true, memory_order_release);
  return operations;
}

static int other_begin(void *opaque, unsigned thread, struct cb_error *error)
{
  return first_begin(opaque, thread + 1, error);
}

static void other_end(void *opaque, unsigned thread)
{
  first_end(opaque, thread + 1);
}

/* Tells what it has done often enough for the first to know it well, and seldom
 * enough for that to cost nothing. */
static uint64_t other_run(void *opaque, unsigned thread, uint64_t n)
{
  enum { OFTEN = 1024, MOST = 64 };
  struct state *state = opaque;
  struct seat *seat = &state->seat[thread + 1];
  uint64_t some = n / OFTEN < MOST ? n / OFTEN + 1 : MOST;
  uint64_t attempts = 0, done = 0;
  do {
    done += run(state, seat, some);
    attempts += some;
    atomic_store_explicit(&seat->published, done, memory_order_relaxed);
  } while (!atomic_load_explicit(&state->over, memory_order_acquire));
  if (!state->per_success)
    return attempts;
  seat->unseen += done - seat->seen;
  return 0; /* they are among the operations of the first */
}

/* ---- what came of it */

static struct cb_run_tally total(const struct state *state)
{
  struct cb_run_tally sum = {0};
  for (unsigned i = 0; i < state->seats; i++) {
    const struct cb_run_tally *tally = &state->seat[i].sum;
    sum.done += tally->done;
    sum.busy += tally->busy;
    sum.refused += tally->refused;
    sum.idle += tally->idle;
    sum.errors += tally->errors;
  }
  return sum;
}

/* Statistics of a set of our own agree with what the runs returned. */
static int check_stats(const struct state *state,
                       const struct cb_run_tally *sum, struct cb_error *error)
{
  uint64_t got[3] = {0, 0, 0};
  static const unsigned attrs[] = {CB_SERVICE_CALLS, CB_SERVICE_IDLE_CALLS,
                                   CB_SERVICE_ERROR_CALLS};
  for (unsigned i = 0; i < (state->apart ? state->seats : 1); i++)
    for (unsigned j = 0; j < 3; j++) {
      uint64_t value = 0;
      cb_service_attr_get(state->set, state->seat[i].id, attrs[j], &value,
                          NULL);
      got[j] += value;
    }
  if (got[0] != sum->done)
    return cb_service_differ(error, "calls in the statistics", got[0],
                             sum->done);
  if (got[1] != sum->idle)
    return cb_service_differ(error, "idle calls in the statistics", got[1],
                             sum->idle);
  if (got[2] != sum->errors)
    return cb_service_differ(error, "errors in the statistics", got[2],
                             sum->errors);
  return 0;
}

static uint64_t unseen(const struct state *state)
{
  uint64_t sum = 0;
  for (unsigned i = 1; i < state->seats; i++)
    sum += state->seat[i].unseen;
  return sum;
}

static void blame(void *opaque, struct cb_error *why)
{
  const struct state *state = opaque;
  for (unsigned i = 0; i < state->seats; i++)
    if (cb_service_blame(state->seat[i].lcore, why))
      return;
}

/* The callback came back, but not of itself. */
static int interrupted(const struct state *state, struct cb_error *error)
{
  char name[CB_SERVICE_NAME_SIZE] = "";
  cb_service_name(state->live->set, state->live->id, name, NULL);
  return cb_fail(error, -ETIMEDOUT,
                 "it was in the callback of the service '%s'", name);
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  const struct state *state = opaque;
  if (state->interrupted)
    return interrupted(state, error);
  struct cb_run_tally sum = total(state);
  uint64_t called = 0;
  for (unsigned i = 0; i < state->seats; i++)
    called += state->seat[i].called;
  if (sum.refused)
    return cb_fail(error, -ENOEXEC,
                   "%llu runs were refused: the service was not running",
                   (unsigned long long)sum.refused);
  uint64_t counted = sum.done + sum.busy;
  if (state->per_success)
    counted = sum.done - unseen(state);
  if (counted != operations)
    return cb_service_differ(error, "runs", counted, operations);
  if (!state->live && !state->subject.call.uncounted && called != sum.done)
    return cb_service_differ(error, "calls counted by the callback", called,
                             sum.done);
  if (state->live && state->live->flags & CB_KIND_INTERPRETER && sum.errors)
    return cb_fail(error, -EPROTO,
                   "%llu of %llu runs of the Lua callback raised an error or "
                   "returned one",
                   (unsigned long long)sum.errors,
                   (unsigned long long)operations);
  if (state->subject.mt_safe && sum.busy)
    return cb_service_differ(error, "refusals of an mt_safe service", sum.busy,
                             0);
  if (!state->live && state->subject.stats)
    return check_stats(state, &sum, error);
  return 0;
}

static double fairness(const struct state *state)
{
  double least = 1e300, most = 0;
  for (unsigned i = 0; i < state->seats; i++) {
    double done = (double)state->seat[i].sum.done;
    least = done < least ? done : least;
    most = done > most ? done : most;
  }
  return most > 0 ? least / most : 0;
}

static size_t counters(void *opaque, struct cb_counter *counter,
                       size_t capacity)
{
  const struct state *state = opaque;
  const struct cb_run_tally *first = &state->seat[0].sum;
  double done = (double)first->done, tries = done + (double)first->busy;
  size_t count = 0;
  if (capacity < 3)
    return 0;
  counter[count++] = state->per_success
                         ? (struct cb_counter){"success", CB_GAUGE,
                                               tries > 0 ? done / tries : 0}
                         : (struct cb_counter){"success", CB_SHARE, done};
  if (state->seats == 1)
    return count;
  /* Runs of all lcores in the time of one attempt of the first. */
  if (!state->per_success)
    counter[count++] =
        (struct cb_counter){"done", CB_SHARE, done + (double)state->seen};
  counter[count++] = (struct cb_counter){"fairness", CB_GAUGE, fairness(state)};
  return count;
}

/* ---- making it */

static void destroy(struct cb_workload *workload)
{
  struct state *state = workload->state;
  cb_call_release(&state->subject.call);
  free(state);
}

/* What may not be measured, or not without being asked for. */
static int permit(const struct state *state, bool allow_race,
                  struct cb_error *error)
{
  if (state->live && state->live->own_thread && state->seats > 1)
    return cb_fail(error, -ENOTSUP,
                   "option 'contenders': the service's callback is a Lua "
                   "function, which runs on the calling thread only");
  bool excludes = state->serialize && strcmp(state->subject.lock, "none") != 0;
  bool several =
      (state->seats > 1 && !state->apart) ||
      (state->live && cb_service_is_mapped(state->live->set, state->live->id));
  if (!state->subject.mt_safe && !excludes && several && !allow_race)
    return cb_fail(error, -EPERM,
                   "several lcores would be inside a service that is not "
                   "mt_safe: say allow_race = true to measure that");
  return 0;
}

static int take_live(struct state *state, struct cb_error *error)
{
  struct cb_service_handle *live = state->live;
  int mt_safe = cb_service_mt_safe(live->set, live->id, error);
  if (mt_safe < 0)
    return mt_safe;
  state->subject.mt_safe = mt_safe;
  if (state->apart)
    return cb_fail(error, -EINVAL,
                   "option 'apart': a live service is one, contenders cannot "
                   "have their own");
  state->subject.lock = cb_services_lock(live->set);
  snprintf(state->subject.order, sizeof state->subject.order, "%s",
           cb_services_order(live->set));
  return 0;
}

static int configure(struct state *state, const struct cb_spec *spec,
                     struct cb_error *error)
{
  const struct cb_spec *live = cb_spec_spec(spec, "service");
  state->serialize = cb_spec_boolean(spec, "serialize");
  state->apart = cb_spec_boolean(spec, "apart");
  state->per_success = strcmp(cb_spec_string(spec, "per"), "success") == 0;
  int status;
  if (live) {
    state->live = cb_spec_object(live);
    status = state->live ? take_live(state, error)
                         : cb_fail(error, -EINVAL,
                                   "option 'service': a live "
                                   "service is wanted");
  } else {
    status = cb_service_subject_make(&state->subject, spec, error);
  }
  if (status < 0)
    return status;
  cb_service_guards(&state->subject, guard_of(state), state->guards,
                    sizeof state->guards);
  return permit(state, cb_spec_boolean(spec, "allow_race"), error);
}

static const char *operation_of(const struct state *state)
{
  return state->per_success
             ? "one run of a service, on whichever of the lcores that want it"
             : "one run of a service on an application lcore (contended: one "
               "attempt)";
}

static struct state *new_state(unsigned seats)
{
  struct state *state =
      cb_memory_apart(sizeof *state + seats * sizeof(struct seat));
  if (!state)
    return NULL;
  state->seats = seats;
  state->roles[0] = (struct cb_role){.name = "lcore",
                                     .threads = 1,
                                     .run = first_run,
                                     .begin = first_begin,
                                     .end = first_end};
  state->roles[1] = (struct cb_role){.name = "contender",
                                     .threads = seats - 1,
                                     .run = other_run,
                                     .begin = other_begin,
                                     .end = other_end};
  return state;
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  struct state *state =
      new_state(1 + (unsigned)cb_spec_integer(spec, "contenders"));
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  *workload = (struct cb_workload){.guards = state->guards,
                                   .state = state,
                                   .roles = state->roles,
                                   .role_count = state->seats > 1 ? 2 : 1,
                                   .guard = guard,
                                   .setup = setup,
                                   .prepare = prepare,
                                   .check = check,
                                   .counters = counters,
                                   .teardown = teardown,
                                   .interrupt = interrupt,
                                   .blame = blame,
                                   .destroy = destroy};
  int status = configure(state, spec, error);
  if (status < 0) {
    destroy(workload);
    return status;
  }
  workload->operation = operation_of(state);
  if (state->live)
    workload->flags = state->live->flags;
  return status;
}

static const struct cb_option options[] = {
    {.name = "service",
     .type = CB_KIND,
     .family = &cb_service_family,
     .help = "a live service, left as it was found"},
    SERVICE_MT_SAFE_OPTION,
    {.name = "serialize",
     .type = CB_BOOLEAN,
     .preset = "true",
     .help = "take the lock where the service is not mt_safe"},
    SERVICE_OPTIONS,
    {.name = "contenders",
     .type = CB_INTEGER,
     .preset = "0",
     .min = 0,
     .max = CONTENDERS_MOST,
     .help = "lcores that run it at the same time"},
    {.name = "apart",
     .type = CB_BOOLEAN,
     .preset = "false",
     .help = "each contender has a service of its own"},
    {.name = "per",
     .type = CB_CHOICE,
     .preset = "attempt",
     .choices = "attempt|success",
     .help = "an operation is an attempt of one lcore, or a run of any"},
    {.name = "allow_race",
     .type = CB_BOOLEAN,
     .preset = "false",
     .help = "several inside what is not mt_safe, on purpose"},
    {.name = NULL}};

const struct cb_workload_kind cb_workload_service_run = {
    .kind.name = "service_run",
    .kind.summary = "run a service on an application lcore",
    .kind.options = options,
    .create = create};
