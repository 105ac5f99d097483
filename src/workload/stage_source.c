/*
 * stage_source.c - the stage `source`: where items begin.
 *
 * Closed loop: as many items as `depth` are kept in flight; a new one starts
 * when one has come back. What is measured is the pipeline's own pace.
 *
 * Open loop: items start at `rate`, whatever becomes of those before. Each has
 * the tick at which it was due from the batch's beginning, and latency counts
 * from there: an item that could not start in time, because the source was held
 * up or `depth` items were out already, has waited all the same. Leaving that
 * time out (coordinated omission) would hide just the moments that matter.
 */
#include "workload/pipeline.h"

#include "base/memory.h"
#include "base/ticks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct source {
  uint32_t burst;
};

struct source_node {
  struct node node;
  struct pipeline_item *items;
  uint64_t *free; /* numbers, a stack: the one used last is still near */
  uint64_t free_count;
  uint32_t burst;
  uint64_t last;  /* items in the batches begun so far */
  uint64_t first; /* items before this batch */
  double interval;
  uint64_t begun; /* tick at which the batch began */
  struct source_counts counts;
};

static struct source_node *source_of(struct node *node)
{
  return (struct source_node *)(void *)node;
}

/* ---- starting ---- */

static uint32_t least(uint64_t a, uint64_t b)
{
  return (uint32_t)(a < b ? a : b);
}

static void push(struct source_node *source, uint32_t count)
{
  uint64_t values[PIPELINE_BURST_MAX];
  uint64_t number = source->counts.started;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t value = source->free[--source->free_count];
    struct pipeline_item *item = &source->items[value - 1];
    item->number = number + i;
    item->way = 0;
    item->in_flight = 1;
    values[i] = value;
  }
  source->counts.started = number + count;
  source->node.lane->items += count;
  source->node.next->push(source->node.next, values, count);
}

static bool poll_closed(struct node *node)
{
  struct source_node *source = source_of(node);
  uint64_t left = source->last - source->counts.started;
  uint32_t count = least(least(source->free_count, left), source->burst);
  if (count == 0)
    return false;
  push(source, count);
  return true;
}

/* The tick at which item number i of the batch is due. */
static uint64_t due_at(const struct source_node *source, uint64_t i)
{
  return source->begun + (uint64_t)((double)i * source->interval);
}

static void note_delay(struct source_node *source, uint64_t delay)
{
  source->counts.late += (double)delay > source->interval;
  if (delay > source->counts.latest)
    source->counts.latest = delay;
}

static bool poll_open(struct node *node)
{
  struct source_node *source = source_of(node);
  uint64_t left = source->last - source->counts.started;
  uint64_t most = least(least(source->free_count, left), source->burst);
  uint64_t at = source->counts.started - source->first;
  uint64_t now = cb_ticks_now();
  uint32_t count = 0;
  for (; count < most; count++) {
    uint64_t due = due_at(source, at + count);
    if (due > now)
      break;
    /* The number that push will take for it. */
    uint64_t value = source->free[source->free_count - 1 - count];
    source->items[value - 1].due = due;
    note_delay(source, now - due);
  }
  if (count == 0)
    return false;
  push(source, count);
  return true;
}

/* ---- for the loop of its thread ---- */

void cb_source_begin(struct node *node, uint64_t n)
{
  struct source_node *source = source_of(node);
  source->first = source->counts.started;
  source->last = source->first + n;
  if (source->interval > 0)
    source->begun = cb_ticks_now();
}

void cb_source_free(struct node *node, const uint64_t *items, uint32_t n)
{
  struct source_node *source = source_of(node);
  for (uint32_t i = 0; i < n; i++)
    source->free[source->free_count++] = items[i];
  source->counts.returned += n;
}

/* An open loop ends when its last interval is over, so that n items take n
 * intervals unless the pipeline cannot keep up. */
bool cb_source_done(const struct node *node)
{
  const struct source_node *source = (const struct source_node *)node;
  if (source->counts.returned < source->last)
    return false;
  return source->interval == 0 ||
         cb_ticks_now() >= due_at(source, source->last - source->first);
}

void cb_source_waited(struct node *node)
{
  source_of(node)->counts.waits++;
}

void cb_source_read(const struct node *node, struct source_counts *counts)
{
  *counts = ((const struct source_node *)node)->counts;
}

/* ---- making ---- */

static void reset(struct node *node)
{
  struct source_node *source = source_of(node);
  uint64_t depth = node->stage->pipeline->depth;
  source->counts = (struct source_counts){0};
  source->first = source->last = 0;
  source->free_count = depth;
  for (uint64_t i = 0; i < depth; i++) {
    source->free[i] = depth - i;
    source->items[i] = (struct pipeline_item){0};
  }
}

static void release(struct node *node)
{
  free(source_of(node)->free);
}

static struct node *give(struct stage *stage, struct lane *lane)
{
  struct pipeline *pipeline = stage->pipeline;
  const struct source *shared = stage->data;
  struct source_node *source = cb_stage_node(stage, lane, sizeof *source);
  if (!source)
    return NULL;
  source->free = cb_memory_apart(pipeline->depth * sizeof *source->free);
  source->items = pipeline->items;
  source->burst = shared->burst;
  source->interval = pipeline->interval;
  source->node.poll = pipeline->interval > 0 ? poll_open : poll_closed;
  source->node.reset = reset;
  source->node.release = release;
  pipeline->source = &source->node;
  if (source->free)
    return &source->node;
  free(source);
  return NULL;
}

/* More than one item between two readings of the clock cannot be paced. */
static int plan_rate(struct stage *stage, double rate, struct cb_error *error)
{
  const struct cb_clock *clock = cb_clock();
  double most = clock->hz / fmax(clock->cost, 1);
  if (rate > most)
    return cb_stage_fail(stage, -EINVAL, error,
                         "a rate of %.4g items a second is beyond what the "
                         "clock can pace: at most %.3g",
                         rate, most);
  stage->pipeline->interval = rate > 0 ? clock->hz / rate : 0;
  return 0;
}

static int plan(struct stage *stage, const struct cb_spec *spec,
                struct cb_error *error)
{
  struct pipeline *pipeline = stage->pipeline;
  struct source *source = cb_memory_apart(sizeof *source);
  stage->data = source;
  if (!source)
    return cb_stage_fail(stage, -ENOMEM, error, "out of memory");
  if (stage->number > 1)
    return cb_stage_fail(stage, -EINVAL, error,
                         "a chain has one source, at its beginning");
  source->burst = (uint32_t)cb_spec_integer(spec, "burst");
  pipeline->depth = (uint64_t)cb_spec_integer(spec, "depth");
  pipeline->items = cb_memory_apart(pipeline->depth * sizeof *pipeline->items);
  if (!pipeline->items)
    return cb_stage_fail(stage, -ENOMEM, error, "out of memory for %llu items",
                         (unsigned long long)pipeline->depth);
  return plan_rate(stage, cb_spec_number(spec, "rate"), error);
}

static void forget(struct stage *stage)
{
  if (stage->number == 1) {
    free(stage->pipeline->items);
    stage->pipeline->items = NULL;
  }
  free(stage->data);
}

static const struct cb_option options[] = {
    {.name = "depth",
     .type = CB_INTEGER,
     .preset = "32",
     .min = 1,
     .max = PIPELINE_DEPTH_MAX,
     .help = "most items in flight at once; a closed loop keeps so many there"},
    {.name = "rate",
     .type = CB_NUMBER,
     .min = 1,
     .max = 1e12,
     .help = "open loop: items a second, started at equal intervals"},
    {.name = "burst",
     .type = CB_INTEGER,
     .preset = "32",
     .min = 1,
     .max = PIPELINE_BURST_MAX,
     .help = "most items started at once"},
    {.name = NULL}};

const struct stage_kind cb_stage_source = {
    .kind.name = "source",
    .kind.summary = "where items begin: closed loop by depth, open loop by "
                    "rate",
    .kind.options = options,
    .plan = plan,
    .forget = forget,
    .give = give};
