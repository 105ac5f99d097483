/* chain.c - the workload `chain`: adds of which each waits for the one before.
 * All operations of a batch are one loop: where one ends nothing happens, so
 * that twice the adds take exactly twice the time. */
#include "base/sentinel.h"
#include "workload/kinds.h"
#include "workload/lanes.h"

#include <errno.h>

static uint64_t run(void *state, unsigned thread, uint64_t n)
{
  struct cb_lanes *lanes = state;
  uint64_t *value = lanes->lane[thread].values;
  *value = cb_sentinel_chain(*value, 1, n * lanes->adds);
  return n;
}

static int check(void *state, uint64_t operations, struct cb_error *error)
{
  const struct cb_lanes *lanes = state;
  uint64_t sum = cb_lanes_sum(lanes);
  if (sum != operations * lanes->adds)
    return cb_fail(error, -EINVAL, "the chain ends at %llu, not at %llu",
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
  workload->operation = "a chain of dependent adds";
  workload->check = check;
  return 0;
}

static const struct cb_option options[] = {{.name = "adds",
                                            .type = CB_INTEGER,
                                            .preset = "1000",
                                            .min = 1,
                                            .max = 1000000,
                                            .help = "adds in one operation"},
                                           CB_LANES_THREADS,
                                           {.name = NULL}};

const struct cb_workload_kind cb_workload_chain = {
    .kind.name = "chain",
    .kind.summary = "dependent adds: shows the frequency",
    .kind.options = options,
    .create = create};
