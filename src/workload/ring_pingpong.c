/*
 * ring_pingpong.c - the workload `ring_pingpong`: one element to another CPU
 * through one ring, and back through a second. Nothing overlaps: this is the
 * latency of a hand-over, twice.
 */
#include "workload/rings.h"

static uint64_t run_ping(void *opaque, unsigned thread, uint64_t n)
{
  struct ring_work *work = opaque;
  struct ring_lane *lane = ring_lane(work, 0, thread);
  return ring_done(
      lane, work->loops->ping(work->ring, work->back, &lane->pass, n), n);
}

static uint64_t run_pong(void *opaque, unsigned thread, uint64_t n)
{
  struct ring_work *work = opaque;
  struct ring_lane *lane = ring_lane(work, 1, thread);
  return ring_done(
      lane, work->loops->pong(work->ring, work->back, &lane->pass, n), n);
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  const struct ring_job job = {
      .operation = "one element to another CPU and back, by two rings",
      .roles = {{.name = "ping", .threads = 1, .run = run_ping},
                {.name = "pong", .threads = 1, .run = run_pong}},
      .does = {RING_GIVES | RING_TAKES, 0},
      .producers = 1,
      .consumers = 1,
      .burst = 1,
      .wait = cb_ring_loop_wait(spec, 2),
      .round_trip = true};
  return cb_ring_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {
    RING_OPTION_RING("spsc"), RING_OPTION_LOOP_WAIT, {.name = NULL}};

const struct cb_workload_kind cb_workload_ring_pingpong = {
    .kind.name = "ring_pingpong",
    .kind.summary = "one element to another CPU and back",
    .kind.options = options,
    .create = create};
