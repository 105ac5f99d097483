/*
 * watchdog.h - ends a body that does not return.
 *
 * A thread of its own looks four times a second. When a batch runs on after the
 * budget and its grace (or a second after the user said stop), it first asks:
 * sets control->stop, calls interrupt. A second later it tells the host (hung).
 * Another second later the body is left by force: a signal makes its thread
 * jump out. What the body held is then lost, but the process lives, can print
 * what it has, and knows the name of the culprit. A workload may set a shorter
 * limit of its own (batch_cap).
 */
#ifndef CB_MEASURE_WATCHDOG_H
#define CB_MEASURE_WATCHDOG_H

#include "measure/runner.h"

#include <signal.h>

struct cb_watchdog {
  const struct cb_measure_options *options;
  double deadline; /* in cb_seconds */
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  /* Under the mutex. */
  bool quit;
  struct cb_runner *runner; /* whose batch runs */
  double since;             /* when it began */
  double stop_seen;         /* when the user's stop was noticed, or 0 */
  int stage;                /* how far this batch has been warned */
  bool fired;               /* any batch was */
  bool installed;           /* a handler for SIGURG, over this one: */
  struct sigaction previous;
};

/* Call before pinning: the thread keeps the caller's CPUs. */
int cb_watchdog_start(struct cb_watchdog *watchdog,
                      const struct cb_measure_options *options,
                      double deadline);
void cb_watchdog_stop(struct cb_watchdog *watchdog);

/* Around each batch. leave says whether it had to be warned. */
void cb_watchdog_enter(struct cb_watchdog *watchdog, struct cb_runner *runner);
bool cb_watchdog_leave(struct cb_watchdog *watchdog);
/* Moves the deadline, between batches. */
void cb_watchdog_extend(struct cb_watchdog *watchdog, double seconds);

#endif
