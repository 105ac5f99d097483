/*
 * clock.c - the workload `clock`: one read of the tick counter.
 *
 * `begin` and `end` are the two reads that stand around a batch; `system` is
 * clock_gettime. The proof is that time never went back.
 */
#include "base/ticks.h"
#include "workload/kinds.h"
#include "workload/lanes.h"

#include <errno.h>
#include <string.h>

/* Of the values of a lane: the last time, how often it went back, reads. */
enum { LAST, BACK, READS };

static uint64_t system_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#define DEFINE_RUN(name, read)                                                 \
  static uint64_t name(void *state, unsigned thread, uint64_t n)               \
  {                                                                            \
    struct cb_lanes *lanes = state;                                            \
    uint64_t *values = lanes->lane[thread].values;                             \
    uint64_t last = values[LAST], back = 0;                                    \
    for (uint64_t i = 0; i < n; i++) {                                         \
      uint64_t now = read();                                                   \
      back += now < last;                                                      \
      last = now;                                                              \
    }                                                                          \
    values[LAST] = last;                                                       \
    values[BACK] += back;                                                      \
    values[READS] += n;                                                        \
    return n;                                                                  \
  }

DEFINE_RUN(run_begin, cb_ticks_begin)
DEFINE_RUN(run_end, cb_ticks_end)
DEFINE_RUN(run_system, system_clock)

static int check(void *state, uint64_t operations, struct cb_error *error)
{
  const struct cb_lanes *lanes = state;
  uint64_t back = 0, reads = 0;
  for (unsigned i = 0; i < lanes->role.threads; i++) {
    back += lanes->lane[i].values[BACK];
    reads += lanes->lane[i].values[READS];
  }
  if (back > 0)
    return cb_fail(error, -EINVAL, "time went back %llu times",
                   (unsigned long long)back);
  if (reads != operations)
    return cb_fail(error, -EINVAL, "%llu reads for %llu operations",
                   (unsigned long long)reads, (unsigned long long)operations);
  return 0;
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  const char *read = cb_spec_string(spec, "read");
  uint64_t (*run)(void *, unsigned, uint64_t) = run_begin;
  if (strcmp(read, "end") == 0)
    run = run_end;
  else if (strcmp(read, "system") == 0)
    run = run_system;
  int status = cb_lanes_create(spec, workload, run, error);
  workload->operation = run == run_system ? "one call of clock_gettime"
                                          : "one read of the tick counter";
  workload->check = check;
  return status;
}

static const struct cb_option options[] = {
    {.name = "read",
     .type = CB_CHOICE,
     .preset = "begin",
     .choices = "begin|end|system",
     .help = "as at the begin or end of a batch, or clock_gettime"},
    CB_LANES_THREADS,
    {.name = NULL}};

const struct cb_workload_kind cb_workload_clock = {
    .kind.name = "clock",
    .kind.summary = "one read of the clock that times everything",
    .kind.options = options,
    .create = create};
