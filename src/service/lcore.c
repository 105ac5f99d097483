/*
 * lcore.c - the threads that run services.
 *
 * A service lcore's thread lives from add to delete and waits on the set's
 * condition between a stop and the next start. All of its states are changed
 * under the set's mutex; in its loop it looks at `want` and `list` only.
 */
#include "service/service.h"

#include "base/memory.h"
#include "base/ticks.h"
#include "base/topology.h"

#include <stdlib.h>
#include <string.h>

struct cb_lcore *cb_services_lcore(struct cb_services *set, unsigned number)
{
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (lcore->role == ROLE_SERVICE && lcore->number == number)
      return lcore;
  return NULL;
}

static enum want want_of(const struct cb_lcore *lcore)
{
  return atomic_load_explicit(&lcore->want, memory_order_relaxed);
}

/* Says which list it is in, before it trusts that list to stay. */
static struct list *pick_list(struct cb_lcore *lcore)
{
  struct list *list;
  do {
    list = atomic_load(&lcore->list);
    atomic_store(&lcore->using, list);
  } while (atomic_load(&lcore->list) != list);
  return list;
}

static uint64_t run_passes(struct cb_lcore *lcore, uint64_t n)
{
  uint64_t done = 0;
  lcore->last_tick = 0;
  while (done < n && want_of(lcore) == WANT_RUNNING) {
    const struct list *list = pick_list(lcore);
    if (list->count) {
      done += list->spin(lcore, list, n - done);
    } else { /* nothing to do: leaves its CPU to others after each pass */
      done += list->spin(lcore, list, 1);
      sched_yield();
    }
  }
  atomic_store(&lcore->using, NULL);
  return done;
}

/* Waits, with the mutex held, for a start or the end. */
static bool await_launch(struct cb_lcore *lcore)
{
  while (!lcore->launch && !lcore->quit)
    pthread_cond_wait(&lcore->set->changed, &lcore->set->mutex);
  bool launch = lcore->launch;
  lcore->launch = false;
  return launch;
}

static void serve(struct cb_lcore *lcore)
{
  struct cb_services *set = lcore->set;
  while (await_launch(lcore)) {
    pthread_mutex_unlock(&set->mutex);
    run_passes(lcore, UINT64_MAX);
    atomic_store(&lcore->active, false);
    pthread_mutex_lock(&set->mutex);
  }
}

static void release_local(struct cb_lcore *lcore)
{
  if (lcore->local_release)
    lcore->local_release(lcore->local);
  lcore->local_release = NULL;
  lcore->local = NULL;
}

static void *lcore_main(void *argument)
{
  struct cb_lcore *lcore = argument;
  struct cb_services *set = lcore->set;
  struct cb_error error = {0};
  int status = lcore->cpu >= 0 ? cb_pin(lcore->cpu, &error) : 0;

  pthread_mutex_lock(&set->mutex);
  lcore->pinned = status;
  lcore->error = error;
  pthread_cond_broadcast(&set->changed);
  if (status == 0)
    serve(lcore);
  pthread_mutex_unlock(&set->mutex);
  release_local(lcore);
  atomic_store(&lcore->gone, true);
  return NULL;
}

/* Puts it in the order of numbers; application lcores have the highest. */
static void link_lcore(struct cb_services *set, struct cb_lcore *lcore)
{
  struct cb_lcore **link = &set->lcores;
  while (*link && (*link)->number <= lcore->number)
    link = &(*link)->next;
  lcore->next = *link;
  *link = lcore;
}

static struct cb_lcore *new_lcore(struct cb_services *set, unsigned number,
                                  int cpu)
{
  struct cb_lcore *lcore = cb_memory_apart(sizeof *lcore);
  if (!lcore)
    return NULL;
  lcore->set = set;
  lcore->number = number;
  lcore->cpu = cpu;
  lcore->thread = pthread_self();
  int status = cb_cells_reserve(lcore, set->slot_count + 1);
  for (uint32_t slot = 0; slot < set->slot_count && status == 0; slot++)
    status = cb_cells_add(lcore, set->slots[slot]);
  if (status == 0)
    status = cb_lists_publish(lcore);
  if (status == 0)
    return lcore;
  cb_cells_free(lcore);
  free(lcore);
  return NULL;
}

/* Its counts stay with the services. */
void cb_lcore_free(struct cb_lcore *lcore)
{
  struct cb_services *set = lcore->set;
  if (lcore->has_thread)
    pthread_join(lcore->thread, NULL);
  else
    release_local(lcore);
  for (uint32_t slot = 0; slot < set->slot_count && !lcore->guest; slot++)
    cb_service_bequeath(set->slots[slot], cb_cells_get(lcore, slot));
  cb_lists_free(lcore);
  cb_cells_free(lcore);
  free(lcore);
}

bool cb_lcore_at_rest(const struct cb_lcore *lcore)
{
  return lcore->has_thread ? atomic_load(&lcore->gone)
                           : !atomic_load(&lcore->active);
}

/* Starts the thread and waits until it is where it should be. While it waits
 * the mutex is free, so the lcore is linked as one that leaves. */
static int launch_thread(struct cb_lcore *lcore, struct cb_error *error)
{
  struct cb_services *set = lcore->set;
  lcore->pinned = 1;
  int status = pthread_create(&lcore->thread, NULL, lcore_main, lcore);
  if (status)
    return cb_fail(error, -status, "cannot create the thread of lcore %u: %s",
                   lcore->number, strerror(status));
  lcore->has_thread = true;
  lcore->role = ROLE_LEAVING;
  set->departing++;
  link_lcore(set, lcore);
  while (lcore->pinned > 0)
    pthread_cond_wait(&set->changed, &set->mutex);
  if (lcore->pinned < 0) {
    if (error)
      *error = lcore->error;
    return lcore->pinned;
  }
  if (cb_services_lcore(set, lcore->number)) {
    lcore->quit = true;
    pthread_cond_broadcast(&set->changed);
    return cb_fail(error, -EALREADY, "lcore %u is a service lcore already",
                   lcore->number);
  }
  lcore->role = ROLE_SERVICE;
  set->departing--;
  return 0;
}

static int check_number(unsigned number, struct cb_error *error)
{
  if (number < CB_LCORES_MOST)
    return 0;
  return cb_fail(error, -EINVAL, "lcore %u is out of range [0, %d]", number,
                 CB_LCORES_MOST - 1);
}

static int no_service_lcore(int code, unsigned number, struct cb_error *error)
{
  return cb_fail(error, code, "lcore %u is no service lcore", number);
}

static int add(struct cb_services *set, unsigned number, int cpu,
               struct cb_error *error)
{
  if (cb_services_lcore(set, number))
    return cb_fail(error, -EALREADY, "lcore %u is a service lcore already",
                   number);
  if (cpu < CB_LCORE_CALLER)
    return cb_fail(error, -EINVAL, "cpu %d is no CPU", cpu);
  struct cb_lcore *lcore = new_lcore(set, number, cpu);
  if (!lcore)
    return cb_fail(error, -ENOMEM, "out of memory");
  if (cpu == CB_LCORE_CALLER) {
    lcore->role = ROLE_SERVICE;
    link_lcore(set, lcore);
    return 0;
  }
  int status = launch_thread(lcore, error);
  if (status < 0 && !lcore->has_thread)
    cb_lcore_free(lcore);
  return status;
}

int cb_lcore_add(struct cb_services *set, unsigned number, int cpu,
                 struct cb_error *error)
{
  int status = check_number(number, error);
  if (status < 0)
    return status;
  cb_services_enter(set);
  status = add(set, number, cpu, error);
  cb_services_leave(set);
  return status;
}

void cb_lcore_dismiss(struct cb_lcore *lcore)
{
  atomic_store(&lcore->want, WANT_STOPPED);
  lcore->role = ROLE_LEAVING;
  lcore->set->departing++;
  lcore->quit = true;
  pthread_cond_broadcast(&lcore->set->changed);
}

/* The lcore of a control call: NULL with code when there is none. */
static struct cb_lcore *find(struct cb_services *set, unsigned number, int code,
                             int *status, struct cb_error *error)
{
  *status = check_number(number, error);
  if (*status < 0)
    return NULL;
  struct cb_lcore *lcore = cb_services_lcore(set, number);
  if (!lcore)
    *status = no_service_lcore(code, number, error);
  return lcore;
}

int cb_lcore_del(struct cb_services *set, unsigned number,
                 struct cb_error *error)
{
  int status;
  cb_services_enter(set);
  struct cb_lcore *lcore = find(set, number, -EINVAL, &status, error);
  if (lcore && want_of(lcore) == WANT_RUNNING)
    status = cb_fail(error, -EBUSY, "lcore %u is running", number);
  else if (lcore)
    cb_lcore_dismiss(lcore);
  cb_services_leave(set);
  return status;
}

static int start(struct cb_lcore *lcore, struct cb_error *error)
{
  if (want_of(lcore) == WANT_RUNNING)
    return cb_fail(error, -EALREADY, "lcore %u is running already",
                   lcore->number);
  if (atomic_load(&lcore->active))
    return cb_fail(error, -EBUSY, "lcore %u has not yet come to a stop",
                   lcore->number);
  atomic_store(&lcore->want, WANT_RUNNING);
  if (lcore->has_thread) {
    atomic_store(&lcore->active, true);
    lcore->launch = true;
    pthread_cond_broadcast(&lcore->set->changed);
  }
  return 0;
}

int cb_lcore_start(struct cb_services *set, unsigned number,
                   struct cb_error *error)
{
  int status;
  cb_services_enter(set);
  struct cb_lcore *lcore = find(set, number, -EINVAL, &status, error);
  if (lcore)
    status = start(lcore, error);
  cb_services_leave(set);
  return status;
}

/* A service that may run and would be left without an lcore, or NULL. */
static const struct service *dependent(const struct cb_lcore *lcore)
{
  struct cb_services *set = lcore->set;
  for (uint32_t slot = 0; slot < set->slot_count; slot++) {
    const struct service *service = set->slots[slot];
    if (cb_cells_get(lcore, slot)->mapped && cb_service_may_run(set, service) &&
        cb_service_lcores(set, service) == 1)
      return service;
  }
  return NULL;
}

static int stop(struct cb_lcore *lcore, struct cb_error *error)
{
  const struct service *service = dependent(lcore);
  if (service)
    return cb_fail(error, -EBUSY,
                   "lcore %u is the only one of the running service '%s'",
                   lcore->number, service->name);
  atomic_store(&lcore->want, WANT_STOPPED);
  return 0;
}

int cb_lcore_stop(struct cb_services *set, unsigned number,
                  struct cb_error *error)
{
  int status;
  cb_services_enter(set);
  struct cb_lcore *lcore = find(set, number, -EALREADY, &status, error);
  if (lcore && want_of(lcore) == WANT_STOPPED)
    status = cb_fail(error, -EALREADY, "lcore %u is stopped already", number);
  else if (lcore)
    status = stop(lcore, error);
  cb_services_leave(set);
  return status;
}

int cb_lcore_active(struct cb_services *set, unsigned number,
                    struct cb_error *error)
{
  int status;
  cb_services_enter(set);
  struct cb_lcore *lcore = find(set, number, -EINVAL, &status, error);
  if (lcore)
    status = atomic_load(&lcore->active);
  cb_services_leave(set);
  return status;
}

/* 0 when at rest, 1 when not yet, else what ends the wait. */
static int look(struct cb_lcore *lcore, double seconds, bool late,
                struct cb_error *error)
{
  if (!atomic_load(&lcore->active))
    return 0;
  if (want_of(lcore) == WANT_RUNNING)
    return cb_fail(error, -EBUSY, "lcore %u has not been stopped",
                   lcore->number);
  if (pthread_equal(lcore->thread, pthread_self()))
    return cb_fail(error, -EDEADLK, "lcore %u would wait for itself",
                   lcore->number);
  return late ? cb_quiesce_blame(lcore, seconds, error) : 1;
}

int cb_lcore_join(struct cb_services *set, unsigned number, double seconds,
                  struct cb_error *error)
{
  double deadline = cb_seconds() + seconds;
  bool late = false;
  for (unsigned turns = 0;; cb_quiesce_wait(&turns)) {
    int status;
    cb_services_enter(set);
    struct cb_lcore *lcore = find(set, number, -EINVAL, &status, error);
    if (lcore)
      status = look(lcore, seconds, late, error);
    cb_services_leave(set);
    if (status <= 0)
      return status;
    late = cb_seconds() >= deadline;
  }
}

static unsigned list_lcores(const struct cb_services *set, unsigned *numbers)
{
  unsigned count = 0;
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (lcore->role == ROLE_SERVICE) {
      if (numbers)
        numbers[count] = lcore->number;
      count++;
    }
  return count;
}

unsigned cb_lcore_count(struct cb_services *set)
{
  cb_services_enter(set);
  unsigned count = list_lcores(set, NULL);
  cb_services_leave(set);
  return count;
}

int cb_lcore_list(struct cb_services *set, unsigned *numbers, size_t size)
{
  cb_services_enter(set);
  unsigned count = list_lcores(set, NULL);
  int status = (int)count;
  if (count > size)
    status = -ENOMEM;
  else if (!numbers)
    status = -EINVAL;
  else
    list_lcores(set, numbers);
  cb_services_leave(set);
  return status;
}

int cb_lcore_count_services(struct cb_services *set, unsigned number,
                            struct cb_error *error)
{
  int status;
  cb_services_enter(set);
  struct cb_lcore *lcore = find(set, number, -ENOTSUP, &status, error);
  for (uint32_t slot = 0; lcore && slot < set->slot_count; slot++)
    status += cb_cells_get(lcore, slot)->mapped;
  cb_services_leave(set);
  return status;
}

int cb_lcore_reset_all(struct cb_services *set)
{
  cb_services_enter(set);
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (lcore->role == ROLE_SERVICE)
      cb_lcore_dismiss(lcore);
  cb_services_leave(set);
  return 0;
}

static int map(struct cb_services *set, struct service *service,
               struct cb_lcore *lcore, bool on, struct cb_error *error)
{
  struct cell *cell = cb_cells_get(lcore, service->slot);
  if (cell->mapped == on)
    return 0;
  cell->mapped = on;
  int status = cb_lists_publish(lcore);
  if (!on) {
    cb_quiesce_barrier(set);
    return 0;
  }
  if (status < 0) {
    cell->mapped = false;
    return cb_fail(error, status, "out of memory");
  }
  service->ever_mapped = true;
  return 0;
}

int cb_service_map_set(struct cb_services *set, uint64_t id, unsigned number,
                       bool on, struct cb_error *error)
{
  int status = -EINVAL;
  cb_services_enter(set);
  struct service *service = cb_services_find(set, id, error);
  struct cb_lcore *lcore =
      service ? find(set, number, -EINVAL, &status, error) : NULL;
  if (lcore)
    status = map(set, service, lcore, on, error);
  cb_services_leave(set);
  return status;
}

int cb_service_map_get(struct cb_services *set, uint64_t id, unsigned number,
                       struct cb_error *error)
{
  int status = -EINVAL;
  cb_services_enter(set);
  struct service *service = cb_services_find(set, id, error);
  struct cb_lcore *lcore =
      service ? find(set, number, -EINVAL, &status, error) : NULL;
  if (lcore)
    status = cb_cells_get(lcore, service->slot)->mapped;
  cb_services_leave(set);
  return status;
}

static struct cb_lcore *attach(struct cb_services *set, bool guest,
                               struct cb_error *error)
{
  cb_services_enter(set);
  struct cb_lcore *lcore = new_lcore(set, CB_LCORES_MOST, CB_LCORE_ANYWHERE);
  if (lcore) {
    lcore->role = ROLE_APPLICATION;
    lcore->guest = guest;
    link_lcore(set, lcore);
  } else {
    cb_fail(error, -ENOMEM, "out of memory");
  }
  cb_services_leave(set);
  return lcore;
}

struct cb_lcore *cb_lcore_attach(struct cb_services *set,
                                 struct cb_error *error)
{
  return attach(set, false, error);
}

struct cb_lcore *cb_lcore_attach_guest(struct cb_services *set,
                                       struct cb_error *error)
{
  return attach(set, true, error);
}

uint64_t cb_lcore_called(const struct cb_lcore *lcore)
{
  return lcore->called;
}

uint64_t cb_services_called(struct cb_services *set, unsigned number)
{
  cb_services_enter(set);
  const struct cb_lcore *lcore = cb_services_lcore(set, number);
  uint64_t called = lcore ? lcore->called : 0;
  cb_services_leave(set);
  return called;
}

int cb_lcore_detach(struct cb_lcore *lcore, struct cb_error *error)
{
  if (!lcore)
    return 0;
  struct cb_services *set = lcore->set;
  int status = 0;
  cb_services_enter(set);
  const char *name = cb_lcore_inside(lcore);
  if (name) {
    status =
        cb_fail(error, -EBUSY, "the lcore is inside the service '%s'", name);
  } else {
    struct cb_lcore **link = &set->lcores;
    while (*link != lcore)
      link = &(*link)->next;
    *link = lcore->next;
    cb_lcore_free(lcore);
  }
  cb_services_leave(set);
  return status;
}

struct cb_lcore *cb_lcore_claim(struct cb_services *set, unsigned number)
{
  cb_services_enter(set);
  struct cb_lcore *lcore = cb_services_lcore(set, number);
  bool mine = lcore && lcore->cpu == CB_LCORE_CALLER &&
              !atomic_exchange(&lcore->active, true);
  if (mine)
    lcore->thread = pthread_self();
  cb_services_leave(set);
  return mine ? lcore : NULL;
}

uint64_t cb_lcore_make_passes(struct cb_lcore *lcore, uint64_t n)
{
  return run_passes(lcore, n);
}

void cb_lcore_unclaim(struct cb_lcore *lcore)
{
  atomic_store(&lcore->active, false);
}

uint64_t cb_lcore_passes(struct cb_services *set, unsigned number, uint64_t n)
{
  struct cb_lcore *lcore = cb_lcore_claim(set, number);
  if (!lcore)
    return 0;
  uint64_t done = run_passes(lcore, n);
  cb_lcore_unclaim(lcore);
  return done;
}

int cb_lcore_number(const struct cb_lcore *lcore)
{
  return lcore->number < CB_LCORES_MOST ? (int)lcore->number : -1;
}

void *cb_lcore_local(const struct cb_lcore *lcore)
{
  return lcore->local;
}

void cb_lcore_local_set(struct cb_lcore *lcore, void *local,
                        void (*release)(void *local))
{
  lcore->local = local;
  lcore->local_release = release;
}
