/* calibrate.h - how many operations make a batch. */
#ifndef CB_MEASURE_CALIBRATE_H
#define CB_MEASURE_CALIBRATE_H

#include "measure/runner.h"
#include "measure/watchdog.h"

/* Ticks that matter to the choice. */
struct cb_batch_limits {
  double target;   /* of a single-threaded batch */
  double crew;     /* of one with several threads */
  double crowd;    /* of one whose threads share a CPU */
  double least;    /* that stands out from the clock's own cost */
  double most;     /* of a batch whose n is shared */
  double patience; /* for the calibration of one variant */
};

/* Finds runner->n and runner->cost (unless the variant gives n: then one batch
 * warms up). Keeps the last batch as runner->probe. Negative: the variant is
 * out, with a reason; -ETIMEDOUT: the watchdog had to end a batch. */
int cb_calibrate(struct cb_runner *runner, const struct cb_batch_limits *limits,
                 struct cb_watchdog *watchdog);

/* One n for as many single-threaded variants as can be: equal counts make
 * equal harness costs. Those that need another say so in their result. */
void cb_share_batches(struct cb_runner *runners, size_t count,
                      const struct cb_batch_limits *limits);

#endif
