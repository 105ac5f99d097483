/*
 * ring_pair.c - the workload `ring_pair`: one thread puts elements in and takes
 * them out again, a burst at a time. Everything stays in one CPU's cache: this
 * is the least that a ring can cost.
 */
#include "workload/rings.h"

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
      .by_pointer = strcmp(cb_spec_string(spec, "via"), "pointer") == 0};
  return cb_ring_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {
    RING_OPTION_RING("spsc"),
    RING_OPTION_BURST,
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
