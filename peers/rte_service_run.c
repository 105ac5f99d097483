/*
 * rte_service_run.c - the workload `rte_service_run`: one run of a service of
 * DPDK on an application lcore, rte_service_run_iter_on_app_lcore.
 *
 * Its callback counts for the thread it runs on. With several threads on a
 * service that is not MT-safe, an attempt that finds it busy is no operation
 * but is counted.
 */
#include "dpdk.h"

#include <cbench/plugin.h>

#include <rte_service.h>
#include <rte_service_component.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct lane {
  _Alignas(128) uint64_t calls; /* that really happened */
  uint64_t busy;
  int error; /* of a run, negative */
  bool registered;
};

struct state {
  struct cb_role role;
  const struct cb_control *control;
  uint32_t id;
  bool mt_safe, serialize, stats;
  struct lane lanes[];
};

static __thread uint64_t calls __attribute__((tls_model("initial-exec")));

static int32_t callback(void *argument)
{
  (void)argument;
  calls++;
  return 0;
}

static uint64_t run(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  uint32_t id = state->id, serialize = state->serialize;
  uint64_t before = calls, done = 0, busy = 0;
  while (done < n) {
    int status = rte_service_run_iter_on_app_lcore(id, serialize);
    if (status == 0) {
      done++;
      continue;
    }
    busy++;
    if (status != -EBUSY)
      state->lanes[thread].error = status;
    if (status != -EBUSY ||
        atomic_load_explicit(&state->control->stop, memory_order_relaxed))
      break;
  }
  state->lanes[thread].calls += calls - before;
  state->lanes[thread].busy += busy;
  return done;
}

static int begin(void *opaque, unsigned thread, struct cb_error *error)
{
  struct state *state = opaque;
  return peer_lcore_begin(&state->lanes[thread].registered, error);
}

static void end(void *opaque, unsigned thread)
{
  struct state *state = opaque;
  peer_lcore_end(state->lanes[thread].registered);
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  struct rte_service_spec service = {
      .callback = callback,
      .capabilities = state->mt_safe ? RTE_SERVICE_CAP_MT_SAFE : 0};
  static _Atomic unsigned count;
  int status = peer_eal_start(error);
  if (status < 0)
    return status;
  snprintf(service.name, sizeof service.name, "cbench_%u",
           atomic_fetch_add(&count, 1));
  status = rte_service_component_register(&service, &state->id);
  if (status < 0)
    return cb_fail(error, status, "rte_service_component_register: %s",
                   strerror(-status));
  rte_service_component_runstate_set(state->id, 1);
  rte_service_runstate_set(state->id, 1);
  rte_service_set_runstate_mapped_check(state->id, 0);
  rte_service_set_stats_enable(state->id, state->stats);
  memset(state->lanes, 0, state->role.threads * sizeof *state->lanes);
  state->control = control;
  return 0;
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  struct state *state = opaque;
  uint64_t sum = 0;
  for (unsigned i = 0; i < state->role.threads; i++) {
    sum += state->lanes[i].calls;
    if (state->lanes[i].error)
      return cb_fail(error, state->lanes[i].error,
                     "rte_service_run_iter_on_app_lcore: %s",
                     strerror(-state->lanes[i].error));
  }
  if (sum != operations)
    return cb_fail(error, -EINVAL, "%llu calls for %llu runs",
                   (unsigned long long)sum, (unsigned long long)operations);
  return 0;
}

static size_t counters(void *opaque, struct cb_counter *counters,
                       size_t capacity)
{
  struct state *state = opaque;
  uint64_t busy = 0;
  if (capacity == 0 || state->role.threads == 1)
    return 0;
  for (unsigned i = 0; i < state->role.threads; i++)
    busy += state->lanes[i].busy;
  *counters = (struct cb_counter){"busy", CB_SHARE, (double)busy};
  return 1;
}

static void teardown(void *opaque)
{
  struct state *state = opaque;
  rte_service_runstate_set(state->id, 0);
  rte_service_component_unregister(state->id);
}

static void destroy(struct cb_workload *workload)
{
  free(workload->state);
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  unsigned threads = (unsigned)cb_spec_integer(spec, "contenders");
  bool mt_safe = cb_spec_boolean(spec, "mt_safe");
  bool serialize = cb_spec_boolean(spec, "serialize");
  if (threads > 1 && !mt_safe && !serialize)
    return cb_fail(error, -EINVAL,
                   "option 'serialize': several threads in a service that is "
                   "not MT-safe would be a data race");
  struct state *state =
      aligned_alloc(128, sizeof *state + threads * sizeof *state->lanes);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  *state = (struct state){
      .role = {.name = "runner",
               .threads = threads,
               .run = run,
               .begin = begin,
               .end = end},
      .mt_safe = mt_safe,
      .serialize = serialize,
      .stats = cb_spec_boolean(spec, "stats"),
  };
  *workload = (struct cb_workload){
      .operation = "one run of a service of DPDK on an application lcore",
      .state = state,
      .roles = &state->role,
      .role_count = 1,
      .setup = setup,
      .check = check,
      .counters = counters,
      .teardown = teardown,
      .destroy = destroy,
  };
  return 0;
}

static const struct cb_option options[] = {
    {.name = "mt_safe",
     .type = CB_BOOLEAN,
     .preset = "true",
     .help = "several lcores may be in the callback at once"},
    {.name = "serialize",
     .type = CB_BOOLEAN,
     .preset = "true",
     .help = "take the lock of a service that is not MT-safe"},
    {.name = "stats",
     .type = CB_BOOLEAN,
     .preset = "false",
     .help = "DPDK's statistics: calls and cycles"},
    {.name = "contenders",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 1,
     .max = 64,
     .help = "threads that run the same service at once"},
    {.name = NULL}};

const struct cb_workload_kind peer_rte_service_run = {
    .kind.name = "rte_service_run",
    .kind.summary = "the real rte_service: runs on application lcores",
    .kind.options = options,
    .create = create,
};
