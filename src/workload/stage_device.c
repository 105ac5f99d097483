/*
 * stage_device.c - the stage `device`: work that takes so many ticks elsewhere.
 *
 * Behind a coroutine it is what that waits for. Without one, items wait here
 * themselves, first in first out: what a state machine of callbacks would do,
 * and so the row to compare coroutines with. A device that takes no ticks is
 * ready in the same turn, and no clock is read for it; else once when a burst
 * comes and once in each turn in which something waits.
 */
#include "workload/pipeline.h"

#include "base/memory.h"
#include "base/ticks.h"

#include <errno.h>
#include <stdlib.h>

struct device_node {
  struct node node;
  uint64_t ticks;
  uint64_t *items, *due; /* number i, head <= i < tail, at i & mask */
  uint64_t mask, head, tail;
};

static struct device_node *device_of(struct node *node)
{
  return (struct device_node *)(void *)node;
}

static void push(struct node *node, const uint64_t *items, uint32_t n)
{
  struct device_node *device = device_of(node);
  uint64_t due = device->ticks ? cb_ticks_now() + device->ticks : 0;
  for (uint32_t i = 0; i < n; i++) {
    device->items[(device->tail + i) & device->mask] = items[i];
    device->due[(device->tail + i) & device->mask] = due;
  }
  device->tail += n;
}

static bool poll(struct node *node)
{
  struct device_node *device = device_of(node);
  struct node *next = node->next;
  uint64_t ready[PIPELINE_BURST_MAX];
  uint64_t before = device->head;
  if (device->head == device->tail)
    return false;
  uint64_t now = device->ticks ? cb_ticks_now() : 0;
  for (uint32_t n = PIPELINE_BURST_MAX; n == PIPELINE_BURST_MAX;) {
    for (n = 0; n < PIPELINE_BURST_MAX && device->head < device->tail &&
                device->due[device->head & device->mask] <= now;
         n++)
      ready[n] = device->items[device->head++ & device->mask];
    if (n)
      next->push(next, ready, n);
  }
  return device->head != before;
}

static void reset(struct node *node)
{
  struct device_node *device = device_of(node);
  device->head = device->tail = 0;
}

static void release(struct node *node)
{
  free(device_of(node)->items);
  free(device_of(node)->due);
}

static struct node *take(struct stage *stage, struct lane *lane)
{
  const uint64_t *ticks = stage->data;
  uint64_t room = cb_pipeline_room(stage->pipeline);
  struct device_node *device = cb_stage_node(stage, lane, sizeof *device);
  if (!device)
    return NULL;
  device->ticks = *ticks;
  device->mask = room - 1;
  device->items = cb_memory_apart(room * sizeof *device->items);
  device->due = cb_memory_apart(room * sizeof *device->due);
  device->node.push = push;
  device->node.poll = poll;
  device->node.reset = reset;
  device->node.release = release;
  if (device->items && device->due)
    return &device->node;
  release(&device->node);
  free(device);
  return NULL;
}

static int plan(struct stage *stage, const struct cb_spec *spec,
                struct cb_error *error)
{
  uint64_t *ticks = cb_memory_apart(sizeof *ticks);
  stage->data = ticks;
  if (!ticks)
    return cb_stage_fail(stage, -ENOMEM, error, "out of memory");
  *ticks = (uint64_t)cb_spec_integer(spec, "ticks");
  struct stage *coroutine = cb_stage_in(stage->section, &cb_stage_coroutine);
  stage->absorbed = coroutine != NULL;
  return coroutine ? cb_stage_coroutine_wait(coroutine, stage, *ticks, error)
                   : 0;
}

static void forget(struct stage *stage)
{
  free(stage->data);
}

static int check(struct stage *stage, struct cb_error *error)
{
  struct section *section = stage->section;
  uint64_t left = 0;
  for (unsigned i = 0; i < section->lane_count; i++) {
    struct node *node = cb_lane_node(&section->lanes[i], stage);
    if (node)
      left += device_of(node)->tail - device_of(node)->head;
  }
  return left ? cb_stage_fail(stage, -EPROTO, error, "%llu items still wait",
                              (unsigned long long)left)
              : 0;
}

static const struct cb_option options[] = {
    {.name = "ticks",
     .type = CB_INTEGER,
     .preset = "2000",
     .min = 0,
     .max = 1e9,
     .help = "ticks until what was given to it is done; 0: in the same turn"},
    {.name = NULL}};

const struct stage_kind cb_stage_device = {
    .kind.name = "device",
    .kind.summary = "takes its time with an item, beside the CPU",
    .kind.options = options,
    .plan = plan,
    .forget = forget,
    .take = take,
    .check = check};
