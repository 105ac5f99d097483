/*
 * ring_parallel.c - the workload `ring_parallel`: some threads only put in, the
 * others only take out, until the ring is full or empty or the loops are done;
 * nobody waits for the other side. It is the parallel test of the Linux
 * skb_array thread of 2016.
 *
 * Where one side outruns the other a batch ends early, so the row says how much
 * of what was asked was done; and where the threads hardly ran at the same time
 * it measured one of them alone, so it says how much they overlapped. Producers
 * that begin with a full ring, and before any consumer, do nothing at all: such
 * a batch has no figure.
 */
#include "workload/rings.h"

static uint64_t run_producer(void *opaque, unsigned thread, uint64_t n)
{
  return ring_produce(opaque, 0, thread, n);
}

static uint64_t run_consumer(void *opaque, unsigned thread, uint64_t n)
{
  return ring_consume(opaque, 1, thread, n);
}

static double completed(struct ring_work *work, unsigned role)
{
  uint64_t done = 0, asked = 0;
  for (unsigned i = 0; i < work->roles[role].threads; i++) {
    done += ring_lane(work, role, i)->done;
    asked += ring_lane(work, role, i)->asked;
  }
  return asked ? (double)done / (double)asked : 1;
}

static size_t counters(void *opaque, struct cb_counter *list, size_t capacity)
{
  static const char *const names[] = {"completed_in", "completed_out"};
  return cb_ring_counters(opaque, list, capacity, CB_GAUGE, names, completed);
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  uint32_t producers = (uint32_t)cb_spec_integer(spec, "producers");
  uint32_t consumers = (uint32_t)cb_spec_integer(spec, "consumers");
  const struct ring_job job = {
      .operation = "one element in, or out, while others do the opposite",
      .roles = {{.name = "enqueue", .threads = producers, .run = run_producer},
                {.name = "dequeue", .threads = consumers, .run = run_consumer}},
      .does = {RING_GIVES, RING_TAKES},
      .producers = producers,
      .consumers = consumers,
      .burst = cb_spec_integer(spec, "burst"),
      .wait = CB_WAIT_NEVER,
      .prefill = cb_spec_integer(spec, "prefill"),
      .batch_n = (uint64_t)cb_spec_integer(spec, "loops"),
      .batch_cap = cb_spec_number(spec, "cap"),
      .counters = counters};
  return cb_ring_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {
    RING_OPTION_RING("ptr_ring"),
    {.name = "prefill",
     .type = CB_INTEGER,
     .preset = "-1",
     .min = -1,
     .max = CB_RING_SLOTS_MAX,
     .help = "elements in the ring before each batch; -1: half the capacity"},
    RING_OPTION_THREADS("producer"),
    RING_OPTION_THREADS("consumer"),
    RING_OPTION_BURST,
    {.name = "loops",
     .type = CB_INTEGER,
     .preset = "200000",
     .min = 1,
     .max = 1e9,
     .help = "elements of a thread in a batch, if it gets so far"},
    RING_OPTION_CAP,
    {.name = NULL}};

const struct cb_workload_kind cb_workload_ring_parallel = {
    .kind.name = "ring_parallel",
    .kind.summary = "threads that only enqueue beside threads that only "
                    "dequeue, until full or empty",
    .kind.options = options,
    .create = create};
