/*
 * service_checks.c - functional checks before figures.
 *
 * A row about services is only worth its ticks where services do what they
 * promise, so setup runs the check that guards the row, with the row's lock and
 * order, and a check that fails or cannot run fails the row.
 */
#include "workload/services.h"

#include "base/cpu.h"
#include "base/ticks.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* A callback that stays inside until it is let go, or for so many seconds: no
 * hand-shake here takes longer, however busy the machine. */
enum { PATIENCE_SECONDS = 10 };

struct gate {
  _Atomic unsigned inside, most, calls;
  _Atomic bool shut;
  int result;
};

static int pass_gate(void *argument, struct cb_lcore *lcore)
{
  struct gate *gate = argument;
  double deadline = cb_seconds() + PATIENCE_SECONDS;
  (void)lcore;
  unsigned inside = ++gate->inside, most = gate->most;
  while (most < inside &&
         !atomic_compare_exchange_weak(&gate->most, &most, inside))
    ;
  while (gate->shut && cb_seconds() < deadline)
    sched_yield();
  gate->inside--;
  gate->calls++;
  return gate->result;
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
  uint64_t id;
  int status;
  _Atomic bool back;
  pthread_t thread;
};

static void *visit(void *argument)
{
  struct visitor *visitor = argument;
  struct cb_lcore *lcore = cb_lcore_attach(visitor->set, NULL);
  visitor->status = -ENOMEM;
  if (lcore)
    visitor->status = cb_service_run(lcore, visitor->id, true, NULL);
  cb_lcore_detach(lcore, NULL);
  visitor->back = true;
  return NULL;
}

/* Until so many are inside or the visitor is back, refused. */
static void settle(const struct gate *gate, unsigned wanted,
                   const struct visitor *visitor)
{
  double deadline = cb_seconds() + PATIENCE_SECONDS;
  for (unsigned turns = 1; gate->inside < wanted && !visitor->back; turns++) {
    if (turns % 256 == 0 && cb_seconds() > deadline)
      return;
    sched_yield();
  }
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
  struct visitor first = {.set = set, .id = id},
                 second = {.set = set, .id = id};
  gate->shut = true;
  if (pthread_create(&first.thread, NULL, visit, &first))
    return skipped(error, "no thread could be started");
  settle(gate, 1, &first);
  bool started = !pthread_create(&second.thread, NULL, visit, &second);
  if (started)
    settle(gate, 2, &second);
  gate->shut = false;
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

static int app_mt_safe(struct cb_services *set, struct cb_error *error)
{
  struct gate gate = {.inside = 0};
  uint64_t id;
  int status = add_gate(set, &gate, true, &id, error);
  if (status < 0)
    return status;
  status = second_run(set, &gate, id, error);
  if (status == -EAGAIN || status == -EPROTO || (status == 0 && gate.most == 2))
    return status;
  return cb_fail(error, -EPROTO,
                 "failed: a second lcore got %d, not 0, and %u were inside",
                 status, gate.most);
}

static int app_mt_unsafe(struct cb_services *set, struct cb_error *error)
{
  struct gate gate = {.inside = 0};
  uint64_t id;
  int status = add_gate(set, &gate, false, &id, error);
  if (status < 0)
    return status;
  status = second_run(set, &gate, id, error);
  if (status == -EBUSY && gate.most == 1)
    return 0;
  if (status < 0 && status != -EBUSY)
    return status;
  return cb_fail(error, -EPROTO,
                 "failed: a second lcore got %d, not -EBUSY, and %u were "
                 "inside",
                 status, gate.most);
}

static int expect(int got, int wanted, const char *what, struct cb_error *error)
{
  if (got == wanted)
    return 0;
  return cb_fail(error, -EPROTO, "failed: %s gave %d, not %d", what, got,
                 wanted);
}

static int start_stop(struct cb_services *set, struct cb_error *error)
{
  struct gate gate = {.result = -EAGAIN};
  uint64_t id;
  int result = 0;
  int status = add_gate(set, &gate, true, &id, error);
  struct cb_lcore *lcore = status < 0 ? NULL : cb_lcore_attach(set, error);
  if (!lcore)
    return -ENOMEM;
  status = expect(cb_service_run(lcore, id, true, &result), 0,
                  "a running service", error);
  if (status == 0)
    status = expect(result, -EAGAIN, "its callback", error);
  cb_service_runstate_set(set, id, false, NULL);
  if (status == 0)
    status = expect(cb_service_run(lcore, id, true, &result), -ENOEXEC,
                    "a stopped service", error);
  if (status == 0)
    status = expect((int)gate.calls, 1, "the count of calls", error);
  cb_lcore_detach(lcore, NULL);
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
  struct gate gate = {.result = 0};
  uint64_t id;
  int status = add_gate(set, &gate, true, &id, error);
  struct cb_lcore *lcore = status < 0 ? NULL : cb_lcore_attach(set, error);
  if (!lcore)
    return -ENOMEM;
  for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
    gate.result = results[i];
    cb_service_run(lcore, id, true, NULL);
  }
  cb_lcore_detach(lcore, NULL);
  return count_results(set, id, error);
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
