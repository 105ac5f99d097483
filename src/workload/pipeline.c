/*
 * pipeline.c - the workload `pipeline`: one item from source to sink, through
 * whatever stands between them. How it is made is told in pipeline.h.
 */
#include "workload/pipeline.h"

#include "base/memory.h"

#include "coroutine/kinds.h"
#include "workload/kinds.h"

#include <errno.h>
#include <stdlib.h>

/* An open loop is looked at for so long at a time, that the latency of its last
 * items is nothing beside. */
static const double open_batch_seconds = 10e-3;

/* ---- around a run ---- */

static void each_node(struct pipeline *pipeline,
                      void (*visit)(struct node *node))
{
  for (unsigned i = 0; i < pipeline->section_count; i++) {
    const struct section *section = &pipeline->sections[i];
    for (unsigned j = 0; j < section->lane_count; j++)
      for (struct node *node = section->lanes[j].first; node; node = node->next)
        visit(node);
  }
}

static void reset_node(struct node *node)
{
  struct lane *lane = node->lane;
  if (node->reset)
    node->reset(node);
  lane->batches = lane->busy = lane->items = 0;
  lane->calls = lane->runs = lane->called = 0;
}

/* Of the first `count` stages. */
static void teardown_some(struct pipeline *pipeline, unsigned count)
{
  while (count > 0) {
    struct stage *stage = &pipeline->stages[--count];
    if (stage->kind->teardown)
      stage->kind->teardown(stage);
  }
}

static void teardown(void *opaque)
{
  struct pipeline *pipeline = opaque;
  teardown_some(pipeline, pipeline->stage_count);
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct pipeline *pipeline = opaque;
  pipeline->control = control;
  atomic_store_explicit(&pipeline->ended, 0, memory_order_relaxed);
  atomic_store_explicit(&pipeline->broken, 0, memory_order_relaxed);
  each_node(pipeline, reset_node);
  for (unsigned i = 0; i < pipeline->stage_count; i++) {
    struct stage *stage = &pipeline->stages[i];
    int status = stage->kind->setup ? stage->kind->setup(stage, error) : 0;
    if (status < 0) {
      teardown_some(pipeline, i);
      return status;
    }
  }
  return 0;
}

/* Before each batch. */
static int prepare(void *opaque, uint64_t n, struct cb_error *error)
{
  struct pipeline *pipeline = opaque;
  int status = 0;
  (void)n;
  for (unsigned i = 0; i < pipeline->stage_count && status == 0; i++) {
    struct stage *stage = &pipeline->stages[i];
    status = stage->kind->prepare ? stage->kind->prepare(stage, error) : 0;
  }
  return status;
}

/* ---- what is told ---- */

static size_t counters(void *opaque, struct cb_counter *list, size_t capacity)
{
  struct pipeline *pipeline = opaque;
  struct source_counts source;
  uint64_t calls = 0, busy = 0;
  size_t count = 0;
  cb_source_read(pipeline->source, &source);
  for (unsigned i = 0; i < pipeline->section_count; i++)
    for (unsigned j = 0; j < pipeline->sections[i].lane_count; j++) {
      calls += pipeline->sections[i].lanes[j].calls;
      busy += pipeline->sections[i].lanes[j].busy;
    }
  if (capacity < 4)
    return 0;
  list[count++] = (struct cb_counter){"waits", CB_SHARE, (double)source.waits};
  if (calls) {
    list[count++] = (struct cb_counter){"calls", CB_SHARE, (double)calls};
    list[count++] = (struct cb_counter){"busy_calls", CB_SHARE, (double)busy};
  }
  if (pipeline->interval > 0)
    list[count++] = (struct cb_counter){"late", CB_SHARE, (double)source.late};
  for (unsigned i = 0; i < pipeline->stage_count; i++)
    if (pipeline->stages[i].kind == &cb_stage_coroutine)
      return count + cb_stage_coroutine_counters(
                         &pipeline->stages[i], list + count, capacity - count);
  return count;
}

static void latency(void *opaque, struct cb_histogram *into)
{
  struct pipeline *pipeline = opaque;
  const struct section *last = &pipeline->sections[pipeline->section_count - 1];
  const struct stage *sink = &pipeline->stages[pipeline->stage_count - 1];
  for (unsigned i = 0; i < last->lane_count; i++) {
    struct cb_histogram *from =
        cb_sink_latency(cb_lane_node(&last->lanes[i], sink));
    cb_histogram_merge(into, from);
    cb_histogram_clear(from);
  }
}

/* ---- making ---- */

static void free_pipeline(struct pipeline *pipeline)
{
  cb_pipeline_forget(pipeline);
  free(pipeline);
}

static void destroy(struct cb_workload *workload)
{
  free_pipeline(workload->state);
}

static void describe(struct pipeline *pipeline, struct cb_workload *workload)
{
  bool open = pipeline->interval > 0;
  pipeline->roles[0] = (struct cb_role){.name = "source",
                                        .threads = 1,
                                        .run = cb_pipeline_run,
                                        .begin = cb_pipeline_begin,
                                        .end = cb_pipeline_end};
  pipeline->roles[1] = (struct cb_role){.name = "service lcore",
                                        .threads = pipeline->lcore_count,
                                        .run = cb_pipeline_run_lcore};
  *workload =
      (struct cb_workload){.operation = "one item from source to sink",
                           .state = pipeline,
                           .roles = pipeline->roles,
                           .role_count = pipeline->lcore_count ? 2 : 1,
                           .batch_seconds = open ? open_batch_seconds : 0,
                           .setup = setup,
                           .prepare = prepare,
                           .check = cb_pipeline_check,
                           .counters = counters,
                           .latency = open ? latency : NULL,
                           .teardown = teardown,
                           .destroy = destroy};
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  struct pipeline *pipeline = cb_memory_apart(sizeof *pipeline);
  if (!pipeline)
    return cb_fail(error, -ENOMEM, "out of memory");
  pipeline->wait = cb_ring_wait_of(spec);
  int status = cb_pipeline_plan(pipeline, spec, error);
  if (status < 0) {
    free_pipeline(pipeline);
    return status;
  }
  describe(pipeline, workload);
  return 0;
}

static const struct cb_option options[] = {
    {.name = "stages",
     .type = CB_LIST,
     .preset = "{ { \"source\", depth = 32 }, "
               "{ \"ring\", ring = \"spsc\", size = 64, burst = 32 }, "
               "{ \"service\", lcores = 1 }, "
               "{ \"coroutine\", backend = \"" CB_BACKEND_PRESET "\" }, "
               "{ \"device\", ticks = 2000 }, { \"sink\" } }",
     .family = &cb_stage_family,
     .help = "the chain, from the source to the sink"},
    {.name = "wait",
     .type = CB_CHOICE,
     .preset = "yield",
     .choices = "spin|pause|yield",
     .help = "how a thread waits that finds nothing to do"},
    {.name = NULL}};

const struct cb_workload_kind cb_workload_pipeline = {
    .kind.name = "pipeline",
    .kind.summary = "items through rings, services, coroutines and devices",
    .kind.options = options,
    .create = create};
