/* set.c - a set of services: made, swept, taken apart. */
#include "service/service.h"

#include "base/locks.h"
#include "base/names.h"
#include "base/ticks.h"

#include <stdlib.h>
#include <string.h>

extern const struct variant cb_service_tas_variants[CB_ORDERS],
    cb_service_ttas_variants[CB_ORDERS], cb_service_cas_variants[CB_ORDERS],
    cb_service_ticket_variants[CB_ORDERS], cb_service_mcs_variants[CB_ORDERS],
    cb_service_none_variants[CB_ORDERS];

static const struct {
  const struct cb_lock_kind *lock;
  const struct variant *variants;
} instances[] = {{&cb_lock_tas, cb_service_tas_variants},
                 {&cb_lock_ttas, cb_service_ttas_variants},
                 {&cb_lock_cas, cb_service_cas_variants},
                 {&cb_lock_ticket, cb_service_ticket_variants},
                 {&cb_lock_mcs, cb_service_mcs_variants},
                 {&cb_lock_none, cb_service_none_variants}};

static const char *const orders[] = {
    [CB_ORDER_ACQREL] = "acqrel",
    [CB_ORDER_SEQCST] = "seqcst",
    [CB_ORDER_FENCE] = "fence",
};

/* The index of the order, or -EINVAL. */
static int find_order(const char *name, struct cb_error *error)
{
  struct cb_nearest search = {.word = name};
  for (int i = 0; i < CB_ORDERS; i++) {
    if (strcmp(orders[i], name) == 0)
      return i;
    cb_nearest_offer(&search, orders[i]);
  }
  if (search.nearest)
    return cb_fail(error, -EINVAL, "unknown order '%.60s' (did you mean '%s'?)",
                   name, search.nearest);
  return cb_fail(error, -EINVAL,
                 "unknown order '%.60s' (acqrel, seqcst or fence)", name);
}

static const struct variant *find_variants(const struct cb_lock_kind *lock,
                                           struct cb_error *error)
{
  for (size_t i = 0; i < sizeof instances / sizeof *instances; i++)
    if (instances[i].lock == lock)
      return instances[i].variants;
  cb_fail(error, -ENOTSUP, "services take no plug-in's lock, as '%s' is",
          lock->kind.name);
  return NULL;
}

static int init(struct cb_services *set, const char *lock, const char *order,
                struct cb_error *error)
{
  set->lock =
      (const struct cb_lock_kind *)cb_kind_find(&cb_lock_family, lock, error);
  if (!set->lock)
    return -ENOENT;
  int index = find_order(order, error);
  if (index < 0)
    return index;
  const struct variant *variants = find_variants(set->lock, error);
  if (!variants)
    return -ENOTSUP;

  set->order = orders[index];
  set->membarrier = index == CB_ORDER_ACQREL && cb_quiesce_available();
  if (index == CB_ORDER_ACQREL && !set->membarrier)
    index = CB_ORDER_SEQCST;
  set->variant = &variants[index];
  int status = pthread_mutex_init(&set->mutex, NULL);
  if (status == 0 && (status = pthread_cond_init(&set->changed, NULL)))
    pthread_mutex_destroy(&set->mutex);
  if (status)
    return cb_fail(error, -status, "cannot make a mutex");
  return 0;
}

struct cb_services *cb_services_create(const char *lock, const char *order,
                                       struct cb_error *error)
{
  struct cb_services *set = calloc(1, sizeof *set);
  if (!set) {
    cb_fail(error, -ENOMEM, "out of memory");
    return NULL;
  }
  if (init(set, lock ? lock : "ttas", order ? order : "acqrel", error) < 0) {
    free(set);
    return NULL;
  }
  return set;
}

const char *cb_services_quiescence(const struct cb_services *set)
{
  return set->membarrier ? "membarrier" : "fence";
}

const char *cb_services_lock(const struct cb_services *set)
{
  return set->lock->kind.name;
}

const char *cb_services_order(const struct cb_services *set)
{
  return set->order;
}

void cb_services_enter(struct cb_services *set)
{
  pthread_mutex_lock(&set->mutex);
  cb_services_sweep(set);
}

/* Arguments are released without the mutex: their owner may call again. */
void cb_services_leave(struct cb_services *set)
{
  struct farewell *farewells = set->farewells;
  set->farewells = NULL;
  pthread_mutex_unlock(&set->mutex);
  while (farewells) {
    struct farewell *farewell = farewells;
    farewells = farewell->next;
    if (farewell->release)
      farewell->release(farewell->argument);
    free(farewell);
  }
}

void cb_services_sweep(struct cb_services *set)
{
  if (!set->departing)
    return;
  for (uint32_t slot = 0; slot < set->slot_count; slot++) {
    struct service *service = set->slots[slot];
    if (service->leaving && !cb_quiesce_inside(set, service))
      cb_service_finish(set, service);
  }
  for (struct cb_lcore **link = &set->lcores, *lcore; (lcore = *link);) {
    if (lcore->role == ROLE_LEAVING && cb_lcore_at_rest(lcore)) {
      *link = lcore->next;
      set->departing--;
      cb_lcore_free(lcore);
    } else {
      link = &lcore->next;
    }
  }
}

/* Why the set cannot be taken apart by this thread now; 0 if it can. */
static int check_destroy(const struct cb_services *set, struct cb_error *error)
{
  for (uint32_t slot = 0; slot < set->slot_count; slot++) {
    const struct service *service = set->slots[slot];
    if (cb_quiesce_self(set, service))
      return cb_fail(error, -EDEADLK,
                     "the set cannot be closed from inside the service '%s'",
                     service->name);
    const struct cb_lcore *lcore = cb_quiesce_inside(set, service);
    if (lcore && lcore->role == ROLE_APPLICATION)
      return cb_fail(error, -EBUSY,
                     "an application lcore is inside the service '%s'",
                     service->name);
  }
  return 0;
}

static void dismiss_all(struct cb_services *set)
{
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (lcore->role == ROLE_SERVICE)
      cb_lcore_dismiss(lcore);
}

/* An lcore that has not gone yet, if possible one that is inside a callback;
 * or NULL. */
static struct cb_lcore *find_leaving(const struct cb_services *set)
{
  struct cb_lcore *found = NULL;
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (lcore->role == ROLE_LEAVING && (!found || atomic_load(&lcore->current)))
      found = lcore;
  return found;
}

/* Waits for the service lcores; the mutex is held on return. */
static int await_lcores(struct cb_services *set, double seconds,
                        struct cb_error *error)
{
  double deadline = cb_seconds() + seconds;
  for (unsigned turns = 0;; cb_quiesce_wait(&turns)) {
    cb_services_enter(set);
    const struct cb_lcore *lcore = find_leaving(set);
    if (!lcore)
      return 0;
    if (cb_seconds() >= deadline)
      return cb_quiesce_blame(lcore, seconds, error);
    cb_services_leave(set);
  }
}

static void free_set(struct cb_services *set)
{
  for (struct cb_lcore *lcore = set->lcores, *next; lcore; lcore = next) {
    next = lcore->next;
    cb_lcore_free(lcore);
  }
  for (uint32_t slot = 0; slot < set->slot_count; slot++) {
    struct service *service = set->slots[slot];
    if (service->leaving || cb_service_is_registered(service))
      cb_service_finish(set, service);
    free(service);
  }
  free(set->spare);
  free(set->slots);
  cb_services_leave(set);
  pthread_cond_destroy(&set->changed);
  pthread_mutex_destroy(&set->mutex);
  free(set);
}

int cb_services_destroy(struct cb_services *set, double seconds,
                        struct cb_error *error)
{
  if (!set)
    return 0;
  cb_services_enter(set);
  int status = check_destroy(set, error);
  if (status == 0)
    dismiss_all(set);
  cb_services_leave(set);
  if (status < 0)
    return status;
  status = await_lcores(set, seconds, error);
  if (status < 0)
    cb_services_leave(set);
  else
    free_set(set);
  return status;
}
