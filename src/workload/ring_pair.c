/*
 * ring_pair.c - the workload `ring_pair`: one thread puts elements in and takes
 * them out again, a burst at a time. Everything stays in one CPU's cache: this
 * is the least that a ring can cost.
 */
#include "workload/rings.h"

#include <errno.h>
#include <string.h>

static uint64_t run(void *opaque, unsigned thread, uint64_t n)
{
  struct ring_work *work = opaque;
  struct ring_lane *lane = ring_lane(work, 0, thread);
  return ring_done(lane, work->loops->pair(work->ring, &lane->pass, n), n);
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  const struct ring_job job = {
      .operation = "one element in and out, on one CPU",
      .roles = {{.name = "pair", .threads = 1, .run = run}},
      .does = {RING_GIVES | RING_TAKES, 0},
      .producers = 1,
      .consumers = 1,
      .burst = cb_spec_integer(spec, "burst"),
      .prefill = cb_spec_integer(spec, "prefill"),
      .by_pointer = strcmp(cb_spec_string(spec, "via"), "pointer") == 0};
  if (job.prefill > 0 && job.burst > 1)
    return cb_fail(error, -EINVAL,
                   "option 'prefill': goes with burst = 1, got %lld (of bursts "
                   "the proof looks at the ends alone)",
                   (long long)job.burst);
  return cb_ring_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {
    RING_OPTION_RING("spsc"),
    RING_OPTION_BURST,
    {.name = "prefill",
     .type = CB_INTEGER,
     .preset = "0",
     .min = 0,
     .max = CB_RING_SLOTS_MAX,
     .help = "elements in the ring before each batch"},
    {.name = "via",
     .type = CB_CHOICE,
     .preset = "inline",
     .choices = "inline|pointer",
     .help = "how the operations are reached: inlined, or through a pointer"},
    {.name = NULL}};

const struct cb_workload_kind cb_workload_ring_pair = {
    .kind.name = "ring_pair",
    .kind.summary = "one element into a ring and out again, on one CPU",
    .kind.options = options,
    .create = create};
