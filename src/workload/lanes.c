#include "workload/lanes.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int setup(void *state, const struct cb_control *control,
                 struct cb_error *error)
{
  struct cb_lanes *lanes = state;
  (void)control;
  (void)error;
  memset(lanes->lane, 0, lanes->role.threads * sizeof *lanes->lane);
  return 0;
}

static void destroy(struct cb_workload *workload)
{
  free(workload->state);
}

int cb_lanes_create(const struct cb_spec *spec, struct cb_workload *workload,
                    uint64_t (*run)(void *, unsigned, uint64_t),
                    struct cb_error *error)
{
  unsigned threads = (unsigned)cb_spec_integer(spec, "threads");
  struct cb_lanes *lanes =
      cb_memory_apart(sizeof *lanes + threads * sizeof *lanes->lane);
  if (!lanes)
    return cb_fail(error, -ENOMEM, "out of memory for %u threads", threads);
  lanes->role =
      (struct cb_role){.name = "worker", .threads = threads, .run = run};
  *workload = (struct cb_workload){.state = lanes,
                                   .roles = &lanes->role,
                                   .role_count = 1,
                                   .setup = setup,
                                   .destroy = destroy};
  return 0;
}

uint64_t cb_lanes_sum(const struct cb_lanes *lanes)
{
  uint64_t sum = 0;
  for (unsigned i = 0; i < lanes->role.threads; i++)
    for (int j = 0; j < 8; j++)
      sum += lanes->lane[i].values[j];
  return sum;
}
