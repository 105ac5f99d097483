/*
 * service_checks.c - functional checks before figures.
 *
 * A row about services is only worth its ticks where services do what they
 * promise, so the check that guards the row runs first, with the row's lock and
 * order, and a check that fails or cannot run fails the row.
 *
 * Its threads wait asleep for each other: they are a handful of switches, and
 * quick beside others that want the CPUs, where giving way in a loop costs a
 * slice of each of them.
 */
#include "workload/services.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* How long anybody waits here: no hand-shake takes longer, however busy the
 * machine. */
enum { PATIENCE_SECONDS = 10 };

/* A callback that stays inside until it is let go. All of it is under the
 * mutex. */
struct gate {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct timespec deadline;
  unsigned inside, most, calls;
  bool shut;
  int result;
};

static void make_gate(struct gate *gate, bool shut)
{
  pthread_condattr_t attributes;
  *gate = (struct gate){.shut = shut};
  clock_gettime(CLOCK_MONOTONIC, &gate->deadline);
  gate->deadline.tv_sec += PATIENCE_SECONDS;
  pthread_mutex_init(&gate->mutex, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&gate->changed, &attributes);
  pthread_condattr_destroy(&attributes);
}

static void discard_gate(struct gate *gate)
{
  pthread_cond_destroy(&gate->changed);
  pthread_mutex_destroy(&gate->mutex);
}

/* With the mutex: until something changes. False when patience is at its
 * end. */
static bool await(struct gate *gate)
{
  return pthread_cond_timedwait(&gate->changed, &gate->mutex,
                                &gate->deadline) == 0;
}

static int pass_gate(void *argument, struct cb_lcore *lcore)
{
  struct gate *gate = argument;
  (void)lcore;
  pthread_mutex_lock(&gate->mutex);
  if (++gate->inside > gate->most)
    gate->most = gate->inside;
  pthread_cond_broadcast(&gate->changed);
  while (gate->shut && await(gate))
    ;
  gate->inside--;
  gate->calls++;
  int result = gate->result;
  pthread_mutex_unlock(&gate->mutex);
  return result;
}

static void open_gate(struct gate *gate)
{
  pthread_mutex_lock(&gate->mutex);
  gate->shut = false;
  pthread_cond_broadcast(&gate->changed);
  pthread_mutex_unlock(&gate->mutex);
}

static int add_gate(struct cb_services *set, struct gate *gate, bool mt_safe,
                    uint64_t *id, struct cb_error *error)
{
  const struct cb_service service = {.name = "check",
                                     .call = pass_gate,
                                     .argument = gate,
                                     .mt_safe = mt_safe,
                                     .stats = CB_STATS_COUNT};
  int status = cb_service_register(set, &service, id, error);
  if (status == 0)
    status = cb_service_component_set(set, *id, true, error);
  return status ? status : cb_service_runstate_set(set, *id, true, error);
}

/* Another application lcore that runs the service once. */
struct visitor {
  struct cb_services *set;
  struct gate *gate;
  uint64_t id;
  int status;
  bool back; /* under the gate's mutex */
  pthread_t thread;
};

static void *visit(void *argument)
{
  struct visitor *visitor = argument;
  struct gate *gate = visitor->gate;
  struct cb_lcore *lcore = cb_lcore_attach(visitor->set, NULL);
  visitor->status = -ENOMEM;
  if (lcore)
    visitor->status = cb_service_run(lcore, visitor->id, true, NULL);
  cb_lcore_detach(lcore, NULL);
  pthread_mutex_lock(&gate->mutex);
  visitor->back = true;
  pthread_cond_broadcast(&gate->changed);
  pthread_mutex_unlock(&gate->mutex);
  return NULL;
}

/* Sends the visitor, and waits until so many are inside or it is back,
 * refused. False when there is no thread for it. */
static bool send(struct visitor *visitor, unsigned wanted)
{
  struct gate *gate = visitor->gate;
  if (pthread_create(&visitor->thread, NULL, visit, visitor))
    return false;
  pthread_mutex_lock(&gate->mutex);
  while (gate->inside < wanted && !visitor->back && await(gate))
    ;
  pthread_mutex_unlock(&gate->mutex);
  return true;
}

/* A check that could not be carried out. */
static int skipped(struct cb_error *error, const char *why)
{
  return cb_fail(error, -EAGAIN, "skipped (%s)", why);
}

/* One lcore is held inside; another comes, and is let in or sent away. What it
 * was told, or -EAGAIN for a check that could not be carried out. */
static int second_run(struct cb_services *set, struct gate *gate, uint64_t id,
                      struct cb_error *error)
{
  struct visitor first = {.set = set, .gate = gate, .id = id}, second = first;
  if (!send(&first, 1))
    return skipped(error, "no thread could be started");
  bool started = send(&second, 2);
  open_gate(gate);
  if (started)
    pthread_join(second.thread, NULL);
  pthread_join(first.thread, NULL);
  if (!started)
    return skipped(error, "no second thread could be started");
  if (first.status < 0)
    return cb_fail(error, -EPROTO, "failed: the first lcore got %d, not 0",
                   first.status);
  return second.status;
}

/* The gate is shut until both have come; most: how many were inside. */
static int visit_twice(struct cb_services *set, bool mt_safe, unsigned *most,
                       struct cb_error *error)
{
  struct gate gate;
  uint64_t id;
  make_gate(&gate, true);
  int status = add_gate(set, &gate, mt_safe, &id, error);
  if (status == 0)
    status = second_run(set, &gate, id, error);
  *most = gate.most;
  discard_gate(&gate);
  return status;
}

static int app_mt_safe(struct cb_services *set, struct cb_error *error)
{
  unsigned most;
  int status = visit_twice(set, true, &most, error);
  if (status == -EAGAIN || status == -EPROTO || (status == 0 && most == 2))
    return status;
  return cb_fail(error, -EPROTO,
                 "failed: a second lcore got %d, not 0, and %u were inside",
                 status, most);
}

static int app_mt_unsafe(struct cb_services *set, struct cb_error *error)
{
  unsigned most;
  int status = visit_twice(set, false, &most, error);
  if (status == -EBUSY && most == 1)
    return 0;
  if (status < 0 && status != -EBUSY)
    return status;
  return cb_fail(error, -EPROTO,
                 "failed: a second lcore got %d, not -EBUSY, and %u were "
                 "inside",
                 status, most);
}

static int expect(int got, int wanted, const char *what, struct cb_error *error)
{
  if (got == wanted)
    return 0;
  return cb_fail(error, -EPROTO, "failed: %s gave %d, not %d", what, got,
                 wanted);
}

/* What a running and a stopped service say to an lcore. */
static int run_and_stop(struct cb_services *set, struct cb_lcore *lcore,
                        uint64_t id, struct cb_error *error)
{
  int result = 0;
  int status = expect(cb_service_run(lcore, id, true, &result), 0,
                      "a running service", error);
  if (status == 0)
    status = expect(result, -EAGAIN, "its callback", error);
  cb_service_runstate_set(set, id, false, NULL);
  if (status == 0)
    status = expect(cb_service_run(lcore, id, true, &result), -ENOEXEC,
                    "a stopped service", error);
  return status;
}

static int start_stop(struct cb_services *set, struct cb_error *error)
{
  struct gate gate;
  uint64_t id;
  make_gate(&gate, false);
  gate.result = -EAGAIN;
  int status = add_gate(set, &gate, true, &id, error);
  struct cb_lcore *lcore = status < 0 ? NULL : cb_lcore_attach(set, error);
  status = lcore ? run_and_stop(set, lcore, id, error) : -ENOMEM;
  if (status == 0)
    status = expect((int)gate.calls, 1, "the count of calls", error);
  cb_lcore_detach(lcore, NULL);
  discard_gate(&gate);
  return status;
}

static int count_results(struct cb_services *set, uint64_t id,
                         struct cb_error *error)
{
  static const struct {
    unsigned attr;
    int wanted;
    const char *what;
  } rows[] = {{CB_SERVICE_CALLS, 7, "the statistics of calls"},
              {CB_SERVICE_IDLE_CALLS, 4, "those of idle calls"},
              {CB_SERVICE_ERROR_CALLS, 2, "those of errors"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t value = 0;
    int status = cb_service_attr_get(set, id, rows[i].attr, &value, error);
    if (status == 0)
      status = expect((int)value, rows[i].wanted, rows[i].what, error);
    if (status < 0)
      return status;
  }
  return 0;
}

static int attr_get(struct cb_services *set, struct cb_error *error)
{
  static const int results[] = {0, -EAGAIN, -EAGAIN, -EIO, 3, -EAGAIN, -EAGAIN};
  struct gate gate;
  uint64_t id;
  make_gate(&gate, false);
  int status = add_gate(set, &gate, true, &id, error);
  struct cb_lcore *lcore = status < 0 ? NULL : cb_lcore_attach(set, error);
  status = lcore ? 0 : -ENOMEM;
  for (size_t i = 0; lcore && i < sizeof results / sizeof *results; i++) {
    gate.result = results[i];
    cb_service_run(lcore, id, true, NULL);
  }
  cb_lcore_detach(lcore, NULL);
  if (status == 0)
    status = count_results(set, id, error);
  discard_gate(&gate);
  return status;
}

const struct cb_service_check
    cb_check_start_stop = {"service_start_stop", start_stop},
    cb_check_app_mt_safe = {"service_app_lcore_mt_safe", app_mt_safe},
    cb_check_app_mt_unsafe = {"service_app_lcore_mt_unsafe", app_mt_unsafe},
    cb_check_attr_get = {"service_attr_get", attr_get};

int cb_service_check(const struct cb_service_check *check, const char *lock,
                     const char *order, struct cb_error *error)
{
  struct cb_error why = {0, ""};
  struct cb_services *set = cb_services_create(lock, order, error);
  if (!set)
    return -ENOMEM;
  int status = check->run(set, &why);
  cb_services_destroy(set, 0, NULL);
  if (status < 0)
    cb_fail(error, status, "no figures: the functional check %s %s",
            check->name, why.text);
  return status;
}
