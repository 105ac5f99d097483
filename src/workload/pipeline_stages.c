/* pipeline_stages.c - the stages that there are, one line each, and what all
 * of them need. */
#include "workload/pipeline.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>

static const struct cb_kind *const kinds[] = {
    &cb_stage_source.kind,
    &cb_stage_ring.kind,
    &cb_stage_service.kind,
    &cb_stage_coroutine.kind,
    &cb_stage_device.kind,
    &cb_stage_sink.kind,
    NULL,
};

const struct cb_family cb_stage_family = {
    .name = "stage", .kinds = kinds, .size = sizeof(struct stage_kind)};

int cb_stage_fail(const struct stage *stage, int code, struct cb_error *error,
                  const char *format, ...)
{
  char text[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return cb_fail(error, code, "stage %u (%s): %s", stage->number,
                 stage->kind->kind.name, text);
}

void *cb_stage_node(struct stage *stage, struct lane *lane, size_t size)
{
  struct node *node = cb_memory_apart(size);
  if (node) {
    node->stage = stage;
    node->lane = lane;
  }
  return node;
}

struct stage *cb_stage_in(const struct section *section,
                          const struct stage_kind *kind)
{
  struct pipeline *pipeline = section->pipeline;
  for (unsigned i = section->stages[0]; i < section->stages[1]; i++)
    if (pipeline->stages[i].kind == kind)
      return &pipeline->stages[i];
  return NULL;
}

uint64_t cb_pipeline_room(const struct pipeline *pipeline)
{
  return cb_ring_round_up(pipeline->depth);
}

struct node *cb_lane_node(const struct lane *lane, const struct stage *stage)
{
  struct node *node = lane->first;
  while (node && node->stage != stage)
    node = node->next;
  return node;
}

void cb_pipeline_break(struct pipeline *pipeline)
{
  atomic_store_explicit(&pipeline->broken, 1, memory_order_relaxed);
}

uint32_t cb_pipeline_wait(struct pipeline *pipeline, uint32_t streak)
{
  if (atomic_load_explicit(&pipeline->broken, memory_order_relaxed))
    return 0;
  return cb_ring_wait(pipeline->control, pipeline->wait, streak);
}
