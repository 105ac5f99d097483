/*
 * stats.c - what was counted, summed over every lcore there is or was.
 *
 * Counters belong to the threads that count and only ever grow. Registration
 * and reset remember where they stood, so nobody writes to another's counter
 * and no update is lost.
 */
#include "service/service.h"

#include <stdarg.h>
#include <stdio.h>

static uint64_t get(const _Atomic uint64_t *counter)
{
  return atomic_load_explicit(counter, memory_order_relaxed);
}

static void gather(struct totals *sum, const struct cell *cell)
{
  sum->calls += get(&cell->calls);
  sum->idle += get(&cell->idle);
  sum->errors += get(&cell->errors);
  sum->ticks += get(&cell->ticks);
  if (get(&cell->longest) > sum->longest)
    sum->longest = get(&cell->longest);
}

void cb_service_bequeath(struct service *service, const struct cell *cell)
{
  gather(&service->departed, cell);
}

static struct totals raw(const struct cb_services *set,
                         const struct service *service)
{
  struct totals sum = service->departed;
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (!lcore->guest)
      gather(&sum, cb_cells_get(lcore, service->slot));
  return sum;
}

struct totals cb_service_totals(const struct cb_services *set,
                                const struct service *service)
{
  struct totals sum = raw(set, service);
  sum.calls -= service->base.calls;
  sum.idle -= service->base.idle;
  sum.errors -= service->base.errors;
  sum.ticks -= service->base.ticks;
  return sum;
}

void cb_service_reset(struct cb_services *set, struct service *service)
{
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    atomic_store_explicit(&cb_cells_get(lcore, service->slot)->longest, 0,
                          memory_order_relaxed);
  service->departed.longest = 0;
  service->base = raw(set, service);
}

void cb_service_choose(struct cb_services *set, struct service *service,
                       enum cb_stats stats)
{
  atomic_store_explicit(&service->stats, stats, memory_order_relaxed);
  atomic_store_explicit(&service->run, set->variant->run[stats],
                        memory_order_relaxed);
}

static int choose(struct cb_services *set, struct service *service,
                  enum cb_stats stats, struct cb_error *error)
{
  enum cb_stats old = (enum cb_stats)atomic_load_explicit(&service->stats,
                                                          memory_order_relaxed);
  cb_service_choose(set, service, stats);
  if (cb_lists_publish_service(set, service) == 0)
    return 0;
  cb_service_choose(set, service, old);
  return cb_fail(error, -ENOMEM, "out of memory");
}

int cb_service_stats_set(struct cb_services *set, uint64_t id,
                         enum cb_stats stats, struct cb_error *error)
{
  int status = -EINVAL;
  cb_services_enter(set);
  struct service *service = cb_services_find(set, id, error);
  if (service && (unsigned)stats >= CB_STATS_MODES)
    cb_fail(error, -EINVAL, "statistics mode %u is out of range [0, %d]",
            (unsigned)stats, CB_STATS_MODES - 1);
  else if (service)
    status = choose(set, service, stats, error);
  cb_services_leave(set);
  return status;
}

static int pick(const struct totals *totals, unsigned attr, uint64_t *value,
                struct cb_error *error)
{
  switch (attr) {
  case CB_SERVICE_TICKS:
    *value = totals->ticks;
    return 0;
  case CB_SERVICE_CALLS:
    *value = totals->calls;
    return 0;
  case CB_SERVICE_IDLE_CALLS:
    *value = totals->idle;
    return 0;
  case CB_SERVICE_ERROR_CALLS:
    *value = totals->errors;
    return 0;
  case CB_SERVICE_LONGEST:
    *value = totals->longest;
    return 0;
  default:
    return cb_fail(error, -EINVAL,
                   "service attribute %u is out of range "
                   "[0, %d]",
                   attr, CB_SERVICE_LONGEST);
  }
}

int cb_service_attr_get(struct cb_services *set, uint64_t id, unsigned attr,
                        uint64_t *value, struct cb_error *error)
{
  int status = -EINVAL;
  cb_services_enter(set);
  const struct service *service = cb_services_find(set, id, error);
  if (service && !value) {
    cb_fail(error, -EINVAL, "no room for the value");
  } else if (service) {
    struct totals totals = cb_service_totals(set, service);
    status = pick(&totals, attr, value, error);
  }
  cb_services_leave(set);
  return status;
}

int cb_service_attr_reset_all(struct cb_services *set, uint64_t id,
                              struct cb_error *error)
{
  cb_services_enter(set);
  struct service *service = cb_services_find(set, id, error);
  if (service)
    cb_service_reset(set, service);
  cb_services_leave(set);
  return service ? 0 : -EINVAL;
}

static uint64_t lcore_ticks(const struct cb_lcore *lcore)
{
  uint64_t ticks = 0;
  for (uint32_t slot = 0; slot < lcore->set->slot_count; slot++)
    ticks += get(&cb_cells_get(lcore, slot)->ticks);
  return ticks;
}

/* The service lcore of an attribute's call, or NULL with status. */
static struct cb_lcore *find_lcore(struct cb_services *set, unsigned number,
                                   int *status, struct cb_error *error)
{
  struct cb_lcore *lcore = NULL;
  *status = 0;
  if (number >= CB_LCORES_MOST)
    *status = cb_fail(error, -EINVAL, "lcore %u is out of range [0, %d]",
                      number, CB_LCORES_MOST - 1);
  else if (!(lcore = cb_services_lcore(set, number)))
    *status = cb_fail(error, -ENOTSUP, "lcore %u is no service lcore", number);
  return lcore;
}

static int lcore_attr(const struct cb_lcore *lcore, unsigned attr,
                      uint64_t *value, struct cb_error *error)
{
  if (attr == CB_LCORE_LOOPS)
    *value = get(&lcore->loops) - lcore->loops_base;
  else if (attr == CB_LCORE_TICKS)
    *value = lcore_ticks(lcore) - lcore->ticks_base;
  else
    return cb_fail(error, -EINVAL, "lcore attribute %u is out of range [0, %d]",
                   attr, CB_LCORE_TICKS);
  return 0;
}

int cb_lcore_attr_get(struct cb_services *set, unsigned number, unsigned attr,
                      uint64_t *value, struct cb_error *error)
{
  int status;
  if (number < CB_LCORES_MOST && !value)
    return cb_fail(error, -EINVAL, "no room for the value");
  cb_services_enter(set);
  const struct cb_lcore *lcore = find_lcore(set, number, &status, error);
  if (lcore)
    status = lcore_attr(lcore, attr, value, error);
  cb_services_leave(set);
  return status;
}

int cb_lcore_attr_reset_all(struct cb_services *set, unsigned number,
                            struct cb_error *error)
{
  int status;
  cb_services_enter(set);
  struct cb_lcore *lcore = find_lcore(set, number, &status, error);
  if (lcore) {
    lcore->loops_base = get(&lcore->loops);
    lcore->ticks_base = lcore_ticks(lcore);
  }
  cb_services_leave(set);
  return status;
}

/* Text that may be longer than its room; length is what it takes. */
struct text {
  char *at;
  size_t size, length;
};

static void put(struct text *text, const char *format, ...) CB_PRINTF(2, 3);

static void put(struct text *text, const char *format, ...)
{
  va_list arguments;
  bool room = text->length < text->size;
  va_start(arguments, format);
  int length =
      vsnprintf(room ? text->at + text->length : NULL,
                room ? text->size - text->length : 0, format, arguments);
  va_end(arguments);
  if (length > 0)
    text->length += (size_t)length;
}

static void put_service(struct text *text, const struct cb_services *set,
                        const struct service *service)
{
  static const char *const modes[] = {"off", "count", "time", "chain"};
  struct totals totals = cb_service_totals(set, service);
  put(text, "  %s: stats %s\tcalls %llu\tticks %llu\tavg: %llu", service->name,
      modes[atomic_load_explicit(&service->stats, memory_order_relaxed)],
      (unsigned long long)totals.calls, (unsigned long long)totals.ticks,
      (unsigned long long)(totals.calls ? totals.ticks / totals.calls : 0));
  if (!service->ever_mapped)
    put(text, "\t(never mapped to an lcore)");
  put(text, "\n");
}

static void put_lcore(struct text *text, const struct cb_lcore *lcore)
{
  const struct cb_services *set = lcore->set;
  put(text, "%02u", lcore->number);
  for (uint32_t slot = 0; slot < set->slot_count; slot++)
    if (cb_service_is_registered(set->slots[slot]))
      put(text, "\t%llu",
          (unsigned long long)get(&cb_cells_get(lcore, slot)->calls));
  put(text, "\n");
}

static void put_all(struct text *text, const struct cb_services *set)
{
  put(text, "Services Summary\n");
  for (uint32_t slot = 0; slot < set->slot_count; slot++)
    if (cb_service_is_registered(set->slots[slot]))
      put_service(text, set, set->slots[slot]);
  put(text, "Service Cores Summary\n");
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (lcore->role == ROLE_SERVICE)
      put_lcore(text, lcore);
}

int cb_service_dump(struct cb_services *set, uint64_t id, char *buffer,
                    size_t size, size_t *length, struct cb_error *error)
{
  struct text text = {.at = buffer, .size = size};
  int status = 0;
  cb_services_enter(set);
  if (id == CB_SERVICE_ALL) {
    put_all(&text, set);
  } else {
    const struct service *service = cb_services_find(set, id, error);
    status = service ? 0 : -EINVAL;
    if (service) {
      put(&text, "Service %s Summary\n", service->name);
      put_service(&text, set, service);
    }
  }
  cb_services_leave(set);
  if (length)
    *length = text.length + 1;
  return status;
}

/* Maps the services in turn, holes left out, and runs them. */
static int map_in_turn(struct cb_services *set, const unsigned *numbers,
                       int count, struct cb_error *error)
{
  int turn = 0;
  for (uint32_t slot = 0;; slot++) {
    cb_services_enter(set);
    bool more = slot < set->slot_count;
    bool used = more && cb_service_is_registered(set->slots[slot]);
    uint64_t id = used ? cb_services_id(set->slots[slot]) : 0;
    cb_services_leave(set);
    if (!more)
      return 0;
    if (!used)
      continue;
    if (cb_service_map_set(set, id, numbers[turn++ % count], true, error) < 0)
      return -ENODEV;
    if (cb_service_runstate_set(set, id, true, error) < 0)
      return -ENOEXEC;
  }
}

int cb_services_start_with_defaults(struct cb_services *set,
                                    struct cb_error *error)
{
  unsigned numbers[CB_LCORES_MOST];
  int count = cb_lcore_list(set, numbers, CB_LCORES_MOST);
  if (count <= 0)
    return cb_fail(error, -ENOTSUP, "the set has no service lcore");
  for (int i = 0; i < count; i++) {
    int status = cb_lcore_start(set, numbers[i], error);
    if (status < 0 && status != -EALREADY)
      return status;
  }
  return map_in_turn(set, numbers, count, error);
}
