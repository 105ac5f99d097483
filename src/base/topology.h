/* topology.h - pinning a thread, and putting it back. For public functions on
 * CPUs see cbench.h. */
#ifndef CB_BASE_TOPOLOGY_H
#define CB_BASE_TOPOLOGY_H

#include "cbench.h"

enum { CB_CPUS_MOST = 8192 };

/* The CPUs a thread may run on. */
struct cb_affinity {
  unsigned long bits[CB_CPUS_MOST / (8 * sizeof(unsigned long))];
};

/* Both act on the calling thread; 0 or a negative errno. */
int cb_affinity_save(struct cb_affinity *affinity);
int cb_affinity_restore(const struct cb_affinity *affinity);

/* Ties the calling thread to one CPU. -EINVAL for one that is not allowed; any
 * failure of the system is an error too, for a thread that floats measures
 * something else. */
int cb_pin(int cpu, struct cb_error *error);

/* How many of each the allowed CPUs make; 0 where it is not known. */
struct cb_topology {
  size_t cpus, cores, caches, packages;
  const char *source; /* "hwloc" or "sched_getaffinity" */
};
const struct cb_topology *cb_topology(void);

#endif
