/*
 * stage_sink.c - the stage `sink`: where items end, and are looked at once
 * more.
 *
 * Is it an item, was it in flight, and did none that started later come before
 * it the same way? Only then does its number go back to the source: at once
 * where both are on one thread, else through an array that this one publishes
 * and the source reads. It has room for all items there are, so it is never
 * full.
 */
#include "workload/pipeline.h"

#include "base/memory.h"
#include "base/ticks.h"

#include <errno.h>
#include <stdlib.h>

struct sink_node {
  struct node node;
  struct node *source; /* on the same thread, or NULL */
  struct pipeline_item *items;
  uint64_t depth;
  bool open;
  uint64_t *next; /* by way: the least number that may come */
  uint64_t ways;
  struct sink_counts counts;
  struct cb_histogram *latency;
  uint64_t *returned;
  uint64_t mask;
  _Alignas(CB_APART) _Atomic uint64_t tail;
  _Alignas(CB_APART) uint64_t head; /* the source's */
};

static struct sink_node *sink_of(struct node *node)
{
  return (struct sink_node *)(void *)node;
}

/* ---- items ---- */

/* Counts one item; false: it is none that may go back. */
CB_INLINE bool admit(struct sink_node *sink, uint64_t value)
{
  if (CB_RING_RARELY(value - 1 >= sink->depth)) {
    sink->counts.strange++;
    return false;
  }
  struct pipeline_item *item = &sink->items[value - 1];
  /* A way that there is not has one that was marked twice. */
  if (CB_RING_RARELY(!item->in_flight || item->way >= sink->ways)) {
    sink->counts.twice++;
    return false;
  }
  item->in_flight = 0;
  if (CB_RING_RARELY(item->number < sink->next[item->way]))
    sink->counts.disorder++;
  else
    sink->next[item->way] = item->number + 1;
  sink->counts.sum += item->number;
  return true;
}

static void record(struct sink_node *sink, uint64_t value, uint64_t now)
{
  uint64_t due = sink->items[value - 1].due;
  cb_histogram_record(sink->latency, now > due ? now - due : 0);
}

static void hand_back(struct sink_node *sink, const uint64_t *items, uint32_t n)
{
  uint64_t tail = atomic_load_explicit(&sink->tail, memory_order_relaxed);
  for (uint32_t i = 0; i < n; i++)
    sink->returned[(tail + i) & sink->mask] = items[i];
  atomic_store_explicit(&sink->tail, tail + n, memory_order_release);
}

static void push(struct node *node, const uint64_t *items, uint32_t n)
{
  struct sink_node *sink = sink_of(node);
  uint64_t good[PIPELINE_BURST_MAX];
  uint64_t now = sink->open ? cb_ticks_now() : 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!admit(sink, items[i]))
      continue;
    good[count++] = items[i];
    if (sink->open)
      record(sink, items[i], now);
  }
  sink->counts.finished += count;
  if (sink->source)
    cb_source_free(sink->source, good, count);
  else
    hand_back(sink, good, count);
}

uint32_t cb_sink_collect(struct node *node, uint64_t *items, uint32_t most)
{
  struct sink_node *sink = sink_of(node);
  uint64_t tail = atomic_load_explicit(&sink->tail, memory_order_acquire);
  uint32_t count = 0;
  while (sink->head < tail && count < most)
    items[count++] = sink->returned[sink->head++ & sink->mask];
  return count;
}

void cb_sink_read(const struct node *node, struct sink_counts *counts)
{
  *counts = ((const struct sink_node *)node)->counts;
}

struct cb_histogram *cb_sink_latency(struct node *node)
{
  return sink_of(node)->latency;
}

/* ---- making ---- */

static void reset(struct node *node)
{
  struct sink_node *sink = sink_of(node);
  sink->counts = (struct sink_counts){0};
  for (uint64_t i = 0; i < sink->ways; i++)
    sink->next[i] = 0;
  if (sink->latency)
    cb_histogram_clear(sink->latency);
  atomic_store_explicit(&sink->tail, 0, memory_order_relaxed);
  sink->head = 0;
}

static void release(struct node *node)
{
  struct sink_node *sink = sink_of(node);
  free(sink->next);
  free(sink->latency);
  free(sink->returned);
}

static bool allocate(struct sink_node *sink, const struct pipeline *pipeline)
{
  uint64_t room = cb_pipeline_room(pipeline);
  sink->ways = pipeline->ways;
  sink->next = cb_memory_apart(sink->ways * sizeof *sink->next);
  if (sink->open)
    sink->latency = cb_memory_apart(sizeof *sink->latency);
  if (!sink->source)
    sink->returned = cb_memory_apart(room * sizeof *sink->returned);
  sink->mask = room - 1;
  return sink->next && (!sink->open || sink->latency) &&
         (sink->source || sink->returned);
}

static struct node *take(struct stage *stage, struct lane *lane)
{
  const struct pipeline *pipeline = stage->pipeline;
  struct sink_node *sink = cb_stage_node(stage, lane, sizeof *sink);
  if (!sink)
    return NULL;
  sink->source = lane->section->lcores ? NULL : pipeline->source;
  sink->items = pipeline->items;
  sink->depth = pipeline->depth;
  sink->open = pipeline->interval > 0;
  sink->node.push = push;
  sink->node.reset = reset;
  sink->node.release = release;
  if (allocate(sink, pipeline))
    return &sink->node;
  release(&sink->node);
  free(sink);
  return NULL;
}

static int plan(struct stage *stage, const struct cb_spec *spec,
                struct cb_error *error)
{
  (void)spec;
  (void)stage;
  (void)error;
  return 0;
}

const struct stage_kind cb_stage_sink = {
    .kind.name = "sink",
    .kind.summary = "where items end; one goes back to the source for each",
    .plan = plan,
    .take = take};
