/*
 * ring_stream.c - the workload `ring_stream`: elements go through a ring from
 * some threads to others, and a side that finds the ring full or empty waits.
 *
 * The consumers are the first role, whose time the row shows: the last element
 * is taken out by one of them, so theirs is the time of the whole stream. Each
 * thread has its share of the batch beforehand, so that nothing has to be
 * shared to find the end.
 */
#include "workload/rings.h"

/* Producers make n each; consumers divide that by their own number. */
static uint64_t share(const struct ring_work *work, unsigned thread, uint64_t n)
{
  uint64_t all = n * work->roles[1].threads;
  unsigned consumers = work->roles[0].threads;
  return all / consumers + (thread < all % consumers);
}

static uint64_t run_consumer(void *opaque, unsigned thread, uint64_t n)
{
  return ring_consume(opaque, 0, thread, share(opaque, thread, n));
}

static uint64_t run_producer(void *opaque, unsigned thread, uint64_t n)
{
  return ring_produce(opaque, 1, thread, n);
}

static double polls(struct ring_work *work, unsigned role)
{
  uint64_t polls = 0;
  for (unsigned i = 0; i < work->roles[role].threads; i++)
    polls += ring_lane(work, role, i)->pass.polls;
  return (double)polls;
}

static size_t counters(void *opaque, struct cb_counter *list, size_t capacity)
{
  static const char *const names[] = {"found_empty", "found_full"};
  return cb_ring_counters(opaque, list, capacity, CB_SHARE, names, polls);
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  uint32_t producers = (uint32_t)cb_spec_integer(spec, "producers");
  uint32_t consumers = (uint32_t)cb_spec_integer(spec, "consumers");
  const struct ring_job job = {
      .operation = "one element through the ring",
      .roles = {{.name = "consumer", .threads = consumers, .run = run_consumer},
                {.name = "producer",
                 .threads = producers,
                 .run = run_producer}},
      .does = {RING_TAKES, RING_GIVES},
      .producers = producers,
      .consumers = consumers,
      .burst = cb_spec_integer(spec, "burst"),
      .wait = cb_ring_loop_wait(spec, producers + consumers),
      .batch_n = (uint64_t)cb_spec_integer(spec, "loops"),
      .batch_cap = cb_spec_number(spec, "cap"),
      .counters = counters};
  return cb_ring_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {
    RING_OPTION_RING("spsc"),
    RING_OPTION_THREADS("producer"),
    RING_OPTION_THREADS("consumer"),
    RING_OPTION_BURST,
    RING_OPTION_LOOP_WAIT,
    {.name = "loops",
     .type = CB_INTEGER,
     .preset = "0",
     .min = 0,
     .max = 1e9,
     .help = "elements of a producer in a batch; 0: enough to be timed"},
    RING_OPTION_CAP,
    {.name = NULL}};

const struct cb_workload_kind cb_workload_ring_stream = {
    .kind.name = "ring_stream",
    .kind.summary = "elements from some threads through a ring to others",
    .kind.options = options,
    .create = create};
