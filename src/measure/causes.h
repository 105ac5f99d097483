/* causes.h - what may have disturbed a batch, asked before and after it. */
#ifndef CB_MEASURE_CAUSES_H
#define CB_MEASURE_CAUSES_H

#include <stdint.h>

/* What the system has counted of the calling thread so far. */
struct cb_trace {
  long involuntary, voluntary; /* context switches */
  int cpu;
  uint64_t ticks;
  uint64_t busy; /* nanoseconds on a CPU */
};

/* About 1 us each, so both stand outside the timed region. hz is that of the
 * ticks, busy how many of them the thread had a CPU. */
void cb_trace_start(struct cb_trace *trace);
uint32_t cb_trace_stop(const struct cb_trace *trace, double hz, double *busy);

/* How often the control group of the process was made to wait for quota. */
struct cb_throttle {
  int file; /* -1: it has no quota */
  uint64_t count;
};

void cb_throttle_open(struct cb_throttle *throttle);
void cb_throttle_close(struct cb_throttle *throttle);
/* CB_THROTTLED when it happened since the last call, else 0. */
uint32_t cb_throttle_check(struct cb_throttle *throttle);

#endif
