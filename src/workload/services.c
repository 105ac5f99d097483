/* services.c - the family of live services, and what an option's word means. */
#include "workload/services.h"

#include "service/service.h"

#include <stdio.h>
#include <string.h>

static const struct cb_kind live = {
    .name = "live", .summary = "a service of a set that lives in the program"};

static const struct cb_kind *const kinds[] = {&live, NULL};

const struct cb_family cb_service_family = {
    .name = "service", .kinds = kinds, .size = sizeof(struct cb_kind)};

enum cb_stats cb_stats_of(const char *choice)
{
  static const char *const names[] = {"off", "count", "time", "chain"};
  unsigned stats = CB_STATS_CHAIN;
  while (stats > CB_STATS_OFF && strcmp(names[stats], choice) != 0)
    stats--;
  return (enum cb_stats)stats;
}

int cb_service_guard(const struct cb_service_check *check, enum cb_stats stats,
                     const char *lock, const char *order,
                     struct cb_error *error)
{
  int status = cb_service_check(check, lock, order, error);
  if (status == 0 && stats)
    status = cb_service_check(&cb_check_attr_get, lock, order, error);
  return status;
}

void cb_service_guards(char *names, size_t size,
                       const struct cb_service_check *check,
                       enum cb_stats stats)
{
  snprintf(names, size, "%s%s%s", check->name, stats ? " " : "",
           stats ? cb_check_attr_get.name : "");
}

bool cb_service_blame(const struct cb_lcore *lcore, struct cb_error *why)
{
  const char *name = lcore ? cb_lcore_inside(lcore) : NULL;
  if (name)
    cb_fail(why, -ETIMEDOUT, "it was in the callback of the service '%s'",
            name);
  return name;
}
