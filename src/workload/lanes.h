/* lanes.h - what the sentinels have in common: any number of threads, each
 * with a few numbers of its own, and nothing shared. */
#ifndef CB_WORKLOAD_LANES_H
#define CB_WORKLOAD_LANES_H

#include "base/cpu.h"
#include "cbench.h"

struct cb_lane {
  _Alignas(CB_APART) uint64_t values[8];
};

struct cb_lanes {
  struct cb_role role;
  uint64_t adds; /* of one operation */
  struct cb_lane lane[];
};

/* The option `threads` that cb_lanes_create reads. */
#define CB_LANES_THREADS                                                       \
  {                                                                            \
    .name = "threads", .type = CB_INTEGER, .preset = "1", .min = 1,            \
    .max = 1024, .help = "threads that do this, each for itself"               \
  }

/* Fills all of the workload but operation and check; state is a struct
 * cb_lanes with every value 0. -ENOMEM. */
int cb_lanes_create(const struct cb_spec *spec, struct cb_workload *workload,
                    uint64_t (*run)(void *, unsigned, uint64_t),
                    struct cb_error *error);

/* The sum of all values of all lanes, modulo 2^64. */
uint64_t cb_lanes_sum(const struct cb_lanes *lanes);

#endif
