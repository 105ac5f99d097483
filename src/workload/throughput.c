/* throughput.c - the workload `throughput`: adds that need not wait for each
 * other. Like `chain` it is one loop a batch, so that twice the adds take twice
 * the time; but up to eight adds are a turn of a loop, as an operation of any
 * other workload is, and then the turn is what takes the time. One add is the
 * least that a loop can do. */
#include "base/sentinel.h"
#include "workload/kinds.h"
#include "workload/lanes.h"

#include <errno.h>

static uint64_t run(void *state, unsigned thread, uint64_t n)
{
  struct cb_lanes *lanes = state;
  uint64_t *values = lanes->lane[thread].values;
  if (lanes->adds <= CB_SENTINEL_LANES)
    cb_sentinel_turns(values, 1, (unsigned)lanes->adds, n);
  else
    cb_sentinel_throughput(values, 1, n * lanes->adds);
  return n;
}

static int check(void *state, uint64_t operations, struct cb_error *error)
{
  const struct cb_lanes *lanes = state;
  uint64_t sum = cb_lanes_sum(lanes);
  if (sum != operations * lanes->adds)
    return cb_fail(error, -EINVAL, "the adds sum up to %llu, not to %llu",
                   (unsigned long long)sum,
                   (unsigned long long)(operations * lanes->adds));
  return 0;
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  int status = cb_lanes_create(spec, workload, run, error);
  if (status < 0)
    return status;
  struct cb_lanes *lanes = workload->state;
  lanes->adds = (uint64_t)cb_spec_integer(spec, "adds");
  workload->operation = "independent adds";
  workload->check = check;
  return 0;
}

static const struct cb_option options[] = {
    {.name = "adds",
     .type = CB_INTEGER,
     .preset = "1000",
     .min = 1,
     .max = 1000000,
     .help = "adds in one operation (up to 8: one turn of a loop)"},
    CB_LANES_THREADS,
    {.name = NULL}};

const struct cb_workload_kind cb_workload_throughput = {
    .kind.name = "throughput",
    .kind.summary = "independent adds: shows a neighbour on the core",
    .kind.options = options,
    .create = create};
