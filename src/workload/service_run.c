/*
 * service_run.c - the workload `service_run`: what it costs to run a service on
 * an application lcore, as in DPDK's service_perf_autotest.
 *
 * The first lcore is what is measured. Contenders run the same service at the
 * same time, or each one of its own; where the service is not mt_safe they may
 * be refused, so an operation is an attempt, and `success` says how many of
 * them were runs. The loop is the set's own, instantiated for its lock, order
 * and statistics.
 */
#include "workload/kinds.h"
#include "workload/services.h"

#include "base/cpu.h"
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
};

struct state {
  struct cb_services *set;
  const struct cb_service_handle *live;
  struct cb_call call;
  struct cb_role roles[2];
  unsigned seats;
  bool mt_safe, serialize, apart;
  enum cb_stats stats;
  const char *lock;
  char order[8];
  struct seat seat[];
};

/* ---- setting up */

static const struct cb_service_check *guard_of(const struct state *state)
{
  if (state->mt_safe)
    return &cb_check_app_mt_safe;
  bool excludes = state->serialize && strcmp(state->lock, "none") != 0;
  return excludes ? &cb_check_app_mt_unsafe : &cb_check_start_stop;
}

static int run_checks(const struct state *state, struct cb_error *error)
{
  int status =
      cb_service_check(guard_of(state), state->lock, state->order, error);
  if (status == 0 && state->stats)
    status =
        cb_service_check(&cb_check_attr_get, state->lock, state->order, error);
  return status;
}

static int start_service(struct state *state, unsigned number,
                         struct cb_error *error)
{
  char name[24];
  snprintf(name, sizeof name, "measured %u", number);
  const struct cb_service service = {.name = name,
                                     .call = state->call.call,
                                     .argument = state->call.argument,
                                     .mt_safe = state->mt_safe,
                                     .stats = state->stats};
  uint64_t *id = &state->seat[number].id;
  int status = cb_service_register(state->set, &service, id, error);
  if (status == 0)
    status = cb_service_component_set(state->set, *id, true, error);
  if (status == 0)
    status = cb_service_runstate_set(state->set, *id, true, error);
  return status;
}

static int make_set(struct state *state, struct cb_error *error)
{
  state->set = cb_services_create(state->lock, state->order, error);
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
  const struct cb_service_handle *live = state->live;
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

static void teardown(void *opaque)
{
  struct state *state = opaque;
  if (!state->live)
    cb_services_destroy(state->set, 0, NULL);
  state->set = NULL;
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  (void)control;
  for (unsigned i = 0; i < state->seats; i++)
    state->seat[i] = (struct seat){.lcore = NULL};
  int status = run_checks(state, error);
  if (status < 0)
    return status;
  status = state->live ? borrow_set(state, error) : make_set(state, error);
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

static uint64_t run(const struct state *state, struct seat *seat, uint64_t n)
{
  struct cb_run_tally tally;
  cb_service_repeat(seat->lcore, seat->id, state->serialize, n, &tally);
  seat->sum.done += tally.done;
  seat->sum.busy += tally.busy;
  seat->sum.refused += tally.refused;
  seat->sum.idle += tally.idle;
  seat->sum.errors += tally.errors;
  return n;
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

static uint64_t first_run(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  return run(state, &state->seat[thread], n);
}

static int other_begin(void *opaque, unsigned thread, struct cb_error *error)
{
  return first_begin(opaque, thread + 1, error);
}

static void other_end(void *opaque, unsigned thread)
{
  first_end(opaque, thread + 1);
}

static uint64_t other_run(void *opaque, unsigned thread, uint64_t n)
{
  return first_run(opaque, thread + 1, n);
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

static int differ(struct cb_error *error, const char *what, uint64_t got,
                  uint64_t wanted)
{
  return cb_fail(error, -EPROTO, "%s: %llu, not %llu", what,
                 (unsigned long long)got, (unsigned long long)wanted);
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
    return differ(error, "calls in the statistics", got[0], sum->done);
  if (got[1] != sum->idle)
    return differ(error, "idle calls in the statistics", got[1], sum->idle);
  if (got[2] != sum->errors)
    return differ(error, "errors in the statistics", got[2], sum->errors);
  return 0;
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  const struct state *state = opaque;
  struct cb_run_tally sum = total(state);
  uint64_t called = 0;
  for (unsigned i = 0; i < state->seats; i++)
    called += state->seat[i].called;
  if (sum.refused)
    return cb_fail(error, -ENOEXEC,
                   "%llu of %llu runs were refused: the service was not "
                   "running",
                   (unsigned long long)sum.refused,
                   (unsigned long long)operations);
  if (sum.done + sum.busy != operations)
    return differ(error, "runs", sum.done + sum.busy, operations);
  if (!state->live && !state->call.uncounted && called != sum.done)
    return differ(error, "calls counted by the callback", called, sum.done);
  if (state->live && state->live->flags & CB_KIND_INTERPRETER && sum.errors)
    return cb_fail(error, -EPROTO,
                   "%llu of %llu runs of the Lua callback raised an error or "
                   "returned one",
                   (unsigned long long)sum.errors,
                   (unsigned long long)operations);
  if (state->mt_safe && sum.busy)
    return differ(error, "refusals of an mt_safe service", sum.busy, 0);
  if (!state->live && state->stats)
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
  size_t count = state->seats > 1 ? 3 : 1;
  if (capacity < count)
    return 0;
  counter[0] =
      (struct cb_counter){"success", CB_SHARE, (double)state->seat[0].sum.done};
  if (count == 1)
    return count;
  /* Runs of all lcores for one attempt of the first. */
  counter[1] = (struct cb_counter){"done", CB_SHARE, (double)total(state).done};
  counter[2] = (struct cb_counter){"fairness", CB_GAUGE, fairness(state)};
  return count;
}

/* ---- making it */

static void destroy(struct cb_workload *workload)
{
  struct state *state = workload->state;
  cb_call_release(&state->call);
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
  bool excludes = state->serialize && strcmp(state->lock, "none") != 0;
  bool several =
      (state->seats > 1 && !state->apart) ||
      (state->live && cb_service_is_mapped(state->live->set, state->live->id));
  if (!state->mt_safe && !excludes && several && !allow_race)
    return cb_fail(error, -EPERM,
                   "several lcores would be inside a service that is not "
                   "mt_safe: say allow_race = true to measure that");
  return 0;
}

static int take_live(struct state *state, struct cb_error *error)
{
  const struct cb_service_handle *live = state->live;
  int mt_safe = cb_service_mt_safe(live->set, live->id, error);
  if (mt_safe < 0)
    return mt_safe;
  state->mt_safe = mt_safe;
  if (state->apart)
    return cb_fail(error, -EINVAL,
                   "option 'apart': a live service is one, contenders cannot "
                   "have their own");
  state->lock = cb_services_lock(live->set);
  snprintf(state->order, sizeof state->order, "%s",
           cb_services_order(live->set));
  return 0;
}

static int configure(struct state *state, const struct cb_spec *spec,
                     struct cb_error *error)
{
  const struct cb_spec *live = cb_spec_spec(spec, "service");
  state->serialize = cb_spec_boolean(spec, "serialize");
  state->apart = cb_spec_boolean(spec, "apart");
  state->stats = cb_stats_of(cb_spec_string(spec, "stats"));
  state->lock = cb_spec_kind(cb_spec_spec(spec, "lock"))->name;
  snprintf(state->order, sizeof state->order, "%s",
           cb_spec_string(spec, "order"));
  int status;
  if (live) {
    state->live = cb_spec_object(live);
    status = state->live ? take_live(state, error)
                         : cb_fail(error, -EINVAL,
                                   "option 'service': a live "
                                   "service is wanted");
  } else {
    state->mt_safe = cb_spec_boolean(spec, "mt_safe");
    status = cb_call_make(cb_spec_spec(spec, "call"), state->mt_safe,
                          &state->call, error);
  }
  if (status < 0)
    return status;
  return permit(state, cb_spec_boolean(spec, "allow_race"), error);
}

static struct state *new_state(unsigned seats)
{
  struct state *state = aligned_alloc(
      _Alignof(struct seat), sizeof *state + seats * sizeof(struct seat));
  if (!state)
    return NULL;
  memset(state, 0, sizeof *state);
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
  *workload = (struct cb_workload){
      .operation = state->seats > 1 ? "one attempt to run a service on an "
                                      "application lcore, contended"
                                    : "one run of a service on an application "
                                      "lcore",
      .state = state,
      .roles = state->roles,
      .role_count = state->seats > 1 ? 2 : 1,
      .setup = setup,
      .check = check,
      .counters = counters,
      .teardown = teardown,
      .destroy = destroy};
  int status = configure(state, spec, error);
  if (status < 0)
    destroy(workload);
  else if (state->live)
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
