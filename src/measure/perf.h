/*
 * perf.h - the hardware counters of one thread, through the kernel's perf
 * events, where there are any.
 */
#ifndef CB_MEASURE_PERF_H
#define CB_MEASURE_PERF_H

#include "cbench.h"

/* An event as the kernel numbers it (linux/perf_event.h). */
struct cb_perf_event {
  uint32_t type;
  uint64_t config;
};

/* Counters of the calling thread, in user mode. Zeroed it has none. */
struct cb_perf {
  int files[CB_HARDWARE_COUNT]; /* descriptor + 1, 0: not open */
};

/* How far the counters were: since they were opened, as if each had had a
 * register of its own all the time. */
struct cb_perf_counts {
  double values[CB_HARDWARE_COUNT];
};

/* cycles, instructions, cache misses, branch misses. */
extern const struct cb_perf_event cb_perf_hardware[CB_HARDWARE_COUNT];

/* Opens what it can; a negative errno when not one could be opened. */
int cb_perf_open(struct cb_perf *perf, const struct cb_perf_event *events);
void cb_perf_close(struct cb_perf *perf);
/* NaN for events that are not there. */
void cb_perf_read(const struct cb_perf *perf, struct cb_perf_counts *counts);

#endif
