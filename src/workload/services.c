/* services.c - the family of live services, and what an option's word means. */
#include "workload/services.h"

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
