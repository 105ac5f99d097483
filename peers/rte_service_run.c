/*
 * rte_service_run.c - the workload `rte_service_run`: what it costs to run a
 * service of DPDK on an application lcore (rte_service_run_iter_on_app_lcore).
 *
 * It is made as `service_run` is: the first lcore is what is measured, and
 * contenders run the same service for as long as that one is at work. Where it
 * is not MT-safe they may find it busy, so an operation is an attempt, and
 * `success` says how many of them were runs. The callback counts for the thread
 * it runs on.
 */
#include "dpdk.h"

#include <cbench/plugin.h>

#include <rte_service.h>
#include <rte_service_component.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A thread's account. */
struct lane {
  _Alignas(128) uint64_t attempts, runs;
  uint64_t calls; /* that its callbacks counted */
  int error;      /* of a run, negative */
  bool registered;
};

struct state {
  struct cb_role roles[2];
  unsigned threads; /* of both */
  uint32_t id;
  bool mt_safe, serialize, stats;
  /* The first lcore is through with its batch. */
  _Alignas(128) _Atomic bool over;
  struct lane lanes[];
};

static __thread uint64_t calls __attribute__((tls_model("initial-exec")));

static int32_t callback(void *argument)
{
  (void)argument;
  calls++;
  return 0;
}

static uint64_t attempt(struct state *state, struct lane *lane, uint64_t n)
{
  uint32_t id = state->id, serialize = state->serialize;
  uint64_t before = calls, runs = 0;
  for (uint64_t i = 0; i < n; i++) {
    int status = rte_service_run_iter_on_app_lcore(id, serialize);
    if (status == 0)
      runs++;
    else if (status != -EBUSY)
      lane->error = status;
  }
  lane->attempts += n;
  lane->runs += runs;
  lane->calls += calls - before;
  return n;
}

static uint64_t run(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  attempt(state, &state->lanes[0], n);
  if (state->threads > 1)
    atomic_store_explicit(&state->over, true, memory_order_release);
  return n;
}

static uint64_t contend(void *opaque, unsigned thread, uint64_t n)
{
  enum { OFTEN = 1024, MOST = 64 };
  struct state *state = opaque;
  uint64_t some = n / OFTEN < MOST ? n / OFTEN + 1 : MOST, sum = 0;
  do
    sum += attempt(state, &state->lanes[1 + thread], some);
  while (!atomic_load_explicit(&state->over, memory_order_acquire));
  return sum;
}

static int prepare(void *opaque, uint64_t n, struct cb_error *error)
{
  struct state *state = opaque;
  (void)n, (void)error;
  state->over = false;
  return 0;
}

static int begin(void *opaque, unsigned thread, struct cb_error *error)
{
  struct state *state = opaque;
  (void)thread;
  return peer_lcore_begin(&state->lanes[0].registered, error);
}

static void end(void *opaque, unsigned thread)
{
  struct state *state = opaque;
  (void)thread;
  peer_lcore_end(state->lanes[0].registered);
}

static int begin_contender(void *opaque, unsigned thread,
                           struct cb_error *error)
{
  struct state *state = opaque;
  return peer_lcore_begin(&state->lanes[1 + thread].registered, error);
}

static void end_contender(void *opaque, unsigned thread)
{
  struct state *state = opaque;
  peer_lcore_end(state->lanes[1 + thread].registered);
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  (void)control;
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
  memset(state->lanes, 0, state->threads * sizeof *state->lanes);
  return 0;
}

static struct lane sum_of(const struct state *state)
{
  struct lane sum = {.attempts = 0};
  for (unsigned i = 0; i < state->threads; i++) {
    sum.attempts += state->lanes[i].attempts;
    sum.runs += state->lanes[i].runs;
    sum.calls += state->lanes[i].calls;
    sum.error = sum.error ? sum.error : state->lanes[i].error;
  }
  return sum;
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  struct lane sum = sum_of(opaque);
  if (sum.error)
    return cb_fail(error, sum.error, "rte_service_run_iter_on_app_lcore: %s",
                   strerror(-sum.error));
  if (sum.attempts != operations || sum.calls != sum.runs)
    return cb_fail(
        error, -EINVAL,
        "%llu attempts, %llu runs and %llu calls for %llu operations",
        (unsigned long long)sum.attempts, (unsigned long long)sum.runs,
        (unsigned long long)sum.calls, (unsigned long long)operations);
  return 0;
}

static size_t counters(void *opaque, struct cb_counter *counters,
                       size_t capacity)
{
  struct state *state = opaque;
  if (capacity == 0 || state->threads == 1)
    return 0;
  *counters =
      (struct cb_counter){"success", CB_SHARE, (double)state->lanes[0].runs};
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
  unsigned contenders = (unsigned)cb_spec_integer(spec, "contenders");
  bool mt_safe = cb_spec_boolean(spec, "mt_safe");
  bool serialize = cb_spec_boolean(spec, "serialize");
  if (contenders && !mt_safe && !serialize)
    return cb_fail(error, -EINVAL,
                   "option 'serialize': contenders in a service that is not "
                   "mt_safe would be a data race");
  struct state *state = aligned_alloc(
      128, sizeof *state + (1 + contenders) * sizeof *state->lanes);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  *state = (struct state){
      .roles = {{"lcore", 1, run, begin, end},
                {"contender", contenders, contend, begin_contender,
                 end_contender}},
      .threads = 1 + contenders,
      .mt_safe = mt_safe,
      .serialize = serialize,
      .stats = cb_spec_boolean(spec, "stats"),
  };
  *workload = (struct cb_workload){
      .operation = "one attempt to run a service of DPDK",
      .state = state,
      .roles = state->roles,
      .role_count = contenders ? 2 : 1,
      .setup = setup,
      .prepare = prepare,
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
     .preset = "0",
     .min = 0,
     .max = 63,
     .help = "more threads that run the same service at once"},
    {.name = NULL}};

const struct cb_workload_kind peer_rte_service_run = {
    .kind.name = "rte_service_run",
    .kind.summary = "the real rte_service: runs on application lcores",
    .kind.options = options,
    .create = create,
};
