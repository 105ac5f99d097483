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

int cb_service_subject_make(struct cb_service_subject *subject,
                            const struct cb_spec *spec, struct cb_error *error)
{
  const struct cb_spec *call = cb_spec_spec(spec, "call");
  subject->name = cb_spec_kind(call)->name;
  subject->mt_safe = cb_spec_boolean(spec, "mt_safe");
  subject->stats = cb_stats_of(cb_spec_string(spec, "stats"));
  subject->lock = cb_spec_kind(cb_spec_spec(spec, "lock"))->name;
  snprintf(subject->order, sizeof subject->order, "%s",
           cb_spec_string(spec, "order"));
  return cb_call_make(call, subject->mt_safe, &subject->call, error);
}

int cb_service_subject_add(const struct cb_service_subject *subject,
                           struct cb_services *set, unsigned number, bool run,
                           uint64_t *id, struct cb_error *error)
{
  char name[CB_SERVICE_NAME_SIZE];
  snprintf(name, sizeof name, "%.40s %u", subject->name, number);
  const struct cb_service service = {.name = name,
                                     .call = subject->call.call,
                                     .argument = subject->call.argument,
                                     .mt_safe = subject->mt_safe,
                                     .stats = subject->stats};
  int status = cb_service_register(set, &service, id, error);
  if (status == 0)
    status = cb_service_component_set(set, *id, true, error);
  return status ? status : cb_service_runstate_set(set, *id, run, error);
}

int cb_service_guard(const struct cb_service_subject *subject,
                     const struct cb_service_check *check,
                     struct cb_error *error)
{
  int status = cb_service_check(check, subject->lock, subject->order, error);
  if (status == 0 && subject->stats)
    status = cb_service_check(&cb_check_attr_get, subject->lock, subject->order,
                              error);
  return status;
}

void cb_service_guards(const struct cb_service_subject *subject,
                       const struct cb_service_check *check, char *names,
                       size_t size)
{
  bool stats = subject->stats != CB_STATS_OFF;
  snprintf(names, size, "%s%s%s", check->name, stats ? " " : "",
           stats ? cb_check_attr_get.name : "");
}

int cb_service_differ(struct cb_error *error, const char *what, uint64_t got,
                      uint64_t wanted)
{
  return cb_fail(error, -EPROTO, "%s: %llu, not %llu", what,
                 (unsigned long long)got, (unsigned long long)wanted);
}

bool cb_service_blame(const struct cb_lcore *lcore, struct cb_error *why)
{
  const char *name = lcore ? cb_lcore_inside(lcore) : NULL;
  if (name)
    cb_fail(why, -ETIMEDOUT, "it was in the callback of the service '%s'",
            name);
  return name;
}
