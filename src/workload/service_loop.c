/*
 * service_loop.c - the workload `service_loop`: one pass of a service lcore.
 *
 * So many services are mapped to the lcore, some of them running, the others
 * stopped. Their numbers are 0, 1, 2, ... or spread as far apart as 64 numbers
 * allow. The loop is the lcore's own, driven by the measured thread.
 */
#include "workload/kinds.h"
#include "workload/services.h"

#include "service/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LCORE = 0, SPREAD = 64 };

struct state {
  struct cb_services *set;
  struct cb_service_subject subject;
  struct cb_role role;
  unsigned services, running;
  bool sparse;
  char guards[80];
};

/* The number that service i of n gets. */
static unsigned number_of(const struct state *state, unsigned i)
{
  if (!state->sparse || state->services >= SPREAD || i == 0)
    return i;
  return i * (SPREAD - 1) / (state->services - 1);
}

static int add_service(struct state *state, unsigned number, bool map, bool run,
                       struct cb_error *error)
{
  uint64_t id;
  int status = cb_service_subject_add(&state->subject, state->set, number, run,
                                      &id, error);
  if (status == 0 && map)
    status = cb_service_map_set(state->set, id, LCORE, true, error);
  return status;
}

/* Numbers between those that are wanted belong to services that are not
 * mapped. */
static int add_services(struct state *state, struct cb_error *error)
{
  unsigned number = 0;
  for (unsigned i = 0; i < state->services; i++) {
    unsigned wanted = number_of(state, i);
    for (; number < wanted; number++) {
      int status = add_service(state, number, false, false, error);
      if (status < 0)
        return status;
    }
    int status = add_service(state, number++, true, i < state->running, error);
    if (status < 0)
      return status;
  }
  return 0;
}

static void teardown(void *opaque)
{
  struct state *state = opaque;
  cb_services_destroy(state->set, 0, NULL);
  state->set = NULL;
}

static int guard(void *opaque, struct cb_error *error)
{
  const struct state *state = opaque;
  return cb_service_guard(&state->subject, &cb_check_start_stop, error);
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  (void)control;
  state->set =
      cb_services_create(state->subject.lock, state->subject.order, error);
  if (!state->set)
    return -ENOMEM;
  int status = cb_lcore_add(state->set, LCORE, CB_LCORE_CALLER, error);
  if (status == 0)
    status = add_services(state, error);
  if (status == 0)
    status = cb_lcore_start(state->set, LCORE, error);
  if (status < 0)
    teardown(state);
  return status;
}

static uint64_t run(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  return cb_lcore_passes(state->set, LCORE, n);
}

/* Calls in the statistics of all services together. */
static uint64_t recorded(const struct state *state)
{
  uint64_t sum = 0, value;
  for (uint64_t id = 0;
       cb_service_attr_get(state->set, id, CB_SERVICE_CALLS, &value, NULL) == 0;
       id++)
    sum += value;
  return sum;
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  const struct state *state = opaque;
  uint64_t calls = operations * state->running, loops = 0;
  cb_lcore_attr_get(state->set, LCORE, CB_LCORE_LOOPS, &loops, NULL);
  if (loops != operations)
    return cb_service_differ(error, "passes counted by the lcore", loops,
                             operations);
  uint64_t called = cb_services_called(state->set, LCORE);
  if (!state->subject.call.uncounted && called != calls)
    return cb_service_differ(error, "calls counted by the callbacks", called,
                             calls);
  if (state->subject.stats && recorded(state) != calls)
    return cb_service_differ(error, "calls in the statistics", recorded(state),
                             calls);
  return 0;
}

static void blame(void *opaque, struct cb_error *why)
{
  const struct state *state = opaque;
  cb_service_blame(cb_services_lcore(state->set, LCORE), why);
}

static void destroy(struct cb_workload *workload)
{
  struct state *state = workload->state;
  cb_call_release(&state->subject.call);
  free(state);
}

static int configure(struct state *state, const struct cb_spec *spec,
                     struct cb_error *error)
{
  state->services = (unsigned)cb_spec_integer(spec, "services");
  state->running = (unsigned)cb_spec_integer(spec, "running");
  if (state->running > state->services)
    return cb_fail(error, -EINVAL,
                   "option 'running': %u of %u services cannot run",
                   state->running, state->services);
  state->sparse = strcmp(cb_spec_string(spec, "ids"), "sparse") == 0;
  int status = cb_service_subject_make(&state->subject, spec, error);
  cb_service_guards(&state->subject, &cb_check_start_stop, state->guards,
                    sizeof state->guards);
  return status;
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  struct state *state = calloc(1, sizeof *state);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  int status = configure(state, spec, error);
  if (status < 0) {
    free(state);
    return status;
  }
  state->role =
      (struct cb_role){.name = "service lcore", .threads = 1, .run = run};
  *workload = (struct cb_workload){.operation = "one pass of a service lcore",
                                   .guards = state->guards,
                                   .state = state,
                                   .roles = &state->role,
                                   .role_count = 1,
                                   .guard = guard,
                                   .setup = setup,
                                   .check = check,
                                   .teardown = teardown,
                                   .blame = blame,
                                   .destroy = destroy};
  return 0;
}

static const struct cb_option options[] = {
    {.name = "services",
     .type = CB_INTEGER,
     .preset = "8",
     .min = 1,
     .max = CB_SERVICES_MOST,
     .help = "services mapped to the lcore"},
    {.name = "running",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 0,
     .max = CB_SERVICES_MOST,
     .help = "of them, those that run; the others are stopped"},
    {.name = "ids",
     .type = CB_CHOICE,
     .preset = "adjacent",
     .choices = "adjacent|sparse",
     .help = "numbers in a row, or spread over 0 to 63"},
    SERVICE_MT_SAFE_OPTION,
    SERVICE_OPTIONS,
    {.name = NULL}};

const struct cb_workload_kind cb_workload_service_loop = {
    .kind.name = "service_loop",
    .kind.summary = "one pass of a service lcore over what is mapped to it",
    .kind.options = options,
    .create = create};
