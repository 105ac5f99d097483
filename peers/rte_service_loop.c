/*
 * rte_service_loop.c - the workload `rte_service_loop`: one pass of a service
 * lcore of DPDK over the services mapped to it.
 *
 * The loop is DPDK's own (service_runner_func), on the thread of a worker lcore
 * that EAL made; nobody else can call it. So the passes are counted where they
 * happen: the callback of the first service counts, and says so when it has
 * been told to count so many. The thread that measures asks and waits, on
 * another CPU; what asking costs (two lines between the CPUs) is less than a
 * hundredth of a batch.
 *
 * Between batches the lcore sleeps in that callback, so that it takes no CPU
 * from the rows that are measured in turn with it.
 */
#include "dpdk.h"

#include <cbench/plugin.h>

#include <rte_launch.h>
#include <rte_pause.h>
#include <rte_service.h>
#include <rte_service_component.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* Visits in the shortest batch, some 100 microseconds: in a shorter one asking
 * would show. */
enum { VISITS_MIN = 16384 };

struct state {
  struct cb_role role;
  const struct cb_control *control;
  unsigned services, running;
  bool mt_safe, stats;
  unsigned registered;
  uint32_t ids[MOST];
  /* Asked by the thread that measures: `asked` is raised last. */
  _Alignas(128) uint64_t wanted; /* passes */
  int cpu;                       /* to move to, or -1 */
  _Atomic uint64_t asked;
  sem_t wake;
  _Atomic bool leaving;
  /* The lcore's. */
  _Alignas(128) uint64_t seen, passes, target;
  _Alignas(128) _Atomic uint64_t answered;
  _Atomic bool awake;
};

/* ---- on the lcore ---- */

static void move_to(unsigned cpu)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static __attribute__((noinline)) void sleep_until_woken(struct state *state)
{
  if (atomic_load_explicit(&state->leaving, memory_order_relaxed))
    return;
  atomic_store_explicit(&state->awake, false, memory_order_relaxed);
  while (sem_wait(&state->wake) < 0)
    ;
  if (state->cpu >= 0)
    move_to((unsigned)state->cpu);
  atomic_store_explicit(&state->awake, true, memory_order_release);
}

static int32_t first(void *argument)
{
  struct state *state = argument;
  uint64_t asked = atomic_load_explicit(&state->asked, memory_order_acquire);
  if (asked != state->seen) {
    state->seen = asked;
    state->target = state->passes + state->wanted;
  }
  if (state->passes == state->target) {
    atomic_store_explicit(&state->answered, asked, memory_order_release);
    sleep_until_woken(state);
  }
  state->passes++;
  return 0;
}

static int32_t other(void *argument)
{
  (void)argument;
  return 0;
}

/* ---- on the thread that measures ---- */

static bool stopped(const struct state *state)
{
  return atomic_load_explicit(&state->control->stop, memory_order_relaxed);
}

static uint64_t run(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  uint64_t next = atomic_load_explicit(&state->asked, memory_order_relaxed) + 1;
  (void)thread;
  if (n < VISITS_MIN / state->services)
    n = VISITS_MIN / state->services;
  state->wanted = n;
  atomic_store_explicit(&state->asked, next, memory_order_release);
  while (atomic_load_explicit(&state->answered, memory_order_acquire) != next) {
    if (stopped(state))
      return 0;
    rte_pause();
  }
  return n;
}

/* Sends the lcore to a CPU that is not this one. */
static int begin(void *opaque, unsigned thread, struct cb_error *error)
{
  struct state *state = opaque;
  int cpus[2], here = sched_getcpu();
  (void)thread;
  if (cb_cpus_allowed(cpus, 2) < 2)
    return cb_fail(error, -ENOTSUP, "a service lcore needs a CPU of its own");
  state->cpu = cpus[0] == here ? cpus[1] : cpus[0];
  return 0;
}

static int add_service(struct state *state, unsigned i, struct cb_error *error)
{
  struct rte_service_spec service = {
      .callback = i == 0 ? first : other,
      .callback_userdata = state,
      .capabilities = state->mt_safe ? RTE_SERVICE_CAP_MT_SAFE : 0};
  snprintf(service.name, sizeof service.name, "cbench_loop_%u", i);
  int status = rte_service_component_register(&service, &state->ids[i]);
  if (status < 0)
    return cb_fail(error, status, "rte_service_component_register: %s",
                   strerror(-status));
  state->registered++;
  rte_service_component_runstate_set(state->ids[i], 1);
  rte_service_set_stats_enable(state->ids[i], state->stats);
  rte_service_runstate_set(state->ids[i], i < state->running);
  rte_service_map_lcore_set(state->ids[i], PEER_WORKER_LCORE, 1);
  return 0;
}

/* Only one row can have the lcore, and DPDK holds 64 services in all; so a row
 * takes both before a batch of its own, untimed. */
static struct state *owner;
static pthread_mutex_t owning = PTHREAD_MUTEX_INITIALIZER;

static void release(struct state *state)
{
  atomic_store_explicit(&state->leaving, true, memory_order_relaxed);
  sem_post(&state->wake);
  for (unsigned i = 0; i < state->registered; i++)
    rte_service_runstate_set(state->ids[i], 0);
  rte_service_lcore_stop(PEER_WORKER_LCORE);
  rte_eal_wait_lcore(PEER_WORKER_LCORE);
  for (unsigned i = 0; i < state->registered; i++) {
    rte_service_map_lcore_set(state->ids[i], PEER_WORKER_LCORE, 0);
    rte_service_component_unregister(state->ids[i]);
  }
  rte_service_lcore_del(PEER_WORKER_LCORE);
  sem_destroy(&state->wake);
  state->registered = 0;
  owner = NULL;
}

static int acquire(struct state *state, struct cb_error *error)
{
  owner = state;
  state->seen = state->passes = state->target = 0;
  atomic_store(&state->asked, 0);
  atomic_store(&state->answered, 0);
  atomic_store(&state->leaving, false);
  /* As if asleep: the lcore starts by falling asleep. */
  atomic_store(&state->awake, false);
  sem_init(&state->wake, 0, 0);
  int status = rte_service_lcore_add(PEER_WORKER_LCORE);
  if (status < 0)
    cb_fail(error, status, "rte_service_lcore_add: %s", strerror(-status));
  for (unsigned i = 0; status == 0 && i < state->services; i++)
    status = add_service(state, i, error);
  if (status == 0) {
    status = rte_service_lcore_start(PEER_WORKER_LCORE);
    if (status < 0)
      cb_fail(error, status, "rte_service_lcore_start: %s", strerror(-status));
  }
  if (status < 0)
    release(state);
  return status;
}

static int take_over(struct state *state, struct cb_error *error)
{
  int status = 0;
  pthread_mutex_lock(&owning);
  if (owner != state) {
    if (owner)
      release(owner);
    status = acquire(state, error);
  }
  pthread_mutex_unlock(&owning);
  return status;
}

static int prepare(void *opaque, uint64_t n, struct cb_error *error)
{
  struct state *state = opaque;
  int status = take_over(state, error);
  (void)n;
  if (status < 0 || atomic_load_explicit(&state->awake, memory_order_acquire))
    return status;
  sem_post(&state->wake);
  /* The lcore may still be on this CPU. */
  while (!atomic_load_explicit(&state->awake, memory_order_acquire) &&
         !stopped(state))
    sched_yield();
  return 0;
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  int status = peer_eal_start(error);
  state->control = control;
  state->cpu = -1;
  return status < 0 ? status : take_over(state, error);
}

static void teardown(void *opaque)
{
  pthread_mutex_lock(&owning);
  if (owner == opaque)
    release(owner);
  pthread_mutex_unlock(&owning);
}

static void destroy(struct cb_workload *workload)
{
  free(workload->state);
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  unsigned services = (unsigned)cb_spec_integer(spec, "services");
  unsigned running = (unsigned)cb_spec_integer(spec, "running");
  if (running > services)
    return cb_fail(error, -EINVAL,
                   "option 'running': %u of %u services cannot run", running,
                   services);
  struct state *state = aligned_alloc(128, sizeof *state);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  memset(state, 0, sizeof *state);
  state->role = (struct cb_role){
      .name = "watcher", .threads = 1, .run = run, .begin = begin};
  state->services = services;
  state->running = running;
  state->mt_safe = cb_spec_boolean(spec, "mt_safe");
  state->stats = cb_spec_boolean(spec, "stats");
  *workload = (struct cb_workload){
      .operation = "one pass of a service lcore of DPDK",
      .state = state,
      .roles = &state->role,
      .role_count = 1,
      .setup = setup,
      .prepare = prepare,
      .teardown = teardown,
      .destroy = destroy,
  };
  return 0;
}

static const struct cb_option options[] = {
    {.name = "services",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 1,
     .max = MOST,
     .help = "services mapped to the lcore"},
    {.name = "running",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 1,
     .max = MOST,
     .help = "of them, those that run"},
    {.name = "mt_safe",
     .type = CB_BOOLEAN,
     .preset = "true",
     .help = "their callbacks may run on several lcores at once"},
    {.name = "stats",
     .type = CB_BOOLEAN,
     .preset = "false",
     .help = "DPDK's statistics: calls and cycles"},
    {.name = NULL}};

const struct cb_workload_kind peer_rte_service_loop = {
    .kind.name = "rte_service_loop",
    .kind.summary = "the real rte_service: passes of a service lcore",
    .kind.options = options,
    .create = create,
};
