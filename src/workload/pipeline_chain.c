/*
 * pipeline_chain.c - from a list of stages to sections, lanes and nodes.
 *
 * Whatever cannot work is refused here, before anything runs, with the stage
 * and what it needs.
 */
#include "workload/pipeline.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

/* ---- stages and sections ---- */

static void begin_section(struct pipeline *pipeline, struct stage *ring,
                          unsigned first)
{
  struct section *section = &pipeline->sections[pipeline->section_count++];
  *section = (struct section){.pipeline = pipeline,
                              .stages = {first, first},
                              .ring = ring,
                              .lane_count = 1};
}

static int check_place(const struct stage *stage, struct cb_error *error)
{
  const struct stage *before =
      stage->number > 1 ? &stage->pipeline->stages[stage->number - 2] : NULL;
  if (!before && stage->kind != &cb_stage_source)
    return cb_stage_fail(stage, -EINVAL, error, "a chain begins with a source");
  if (before && before->kind == &cb_stage_sink)
    return cb_stage_fail(stage, -EINVAL, error,
                         "nothing can stand behind the sink, stage %u",
                         before->number);
  return 0;
}

static int plan_stage(struct pipeline *pipeline, const struct cb_spec *spec,
                      struct cb_error *error)
{
  unsigned index = pipeline->stage_count++;
  struct section *section = &pipeline->sections[pipeline->section_count - 1];
  struct stage *stage = &pipeline->stages[index];
  *stage = (struct stage){.kind = (const struct stage_kind *)cb_spec_kind(spec),
                          .number = index + 1,
                          .pipeline = pipeline,
                          .section = section};
  if (index > 0)
    section->stages[1] = index + 1;
  int status = check_place(stage, error);
  if (status == 0)
    status = stage->kind->plan(stage, spec, error);
  if (status == 0 && stage->kind == &cb_stage_ring)
    begin_section(pipeline, stage, index + 1);
  return status;
}

static int plan_stages(struct pipeline *pipeline, const struct cb_spec *spec,
                       struct cb_error *error)
{
  size_t count = cb_spec_count(spec, "stages");
  if (count == 0)
    return cb_fail(error, -EINVAL,
                   "option 'stages': there are none; the least is a source and "
                   "a sink");
  if (count > PIPELINE_STAGES_MAX)
    return cb_fail(error, -EINVAL, "option 'stages': %zu, at most %d", count,
                   PIPELINE_STAGES_MAX);
  begin_section(pipeline, NULL, 1);
  for (size_t i = 0; i < count; i++) {
    int status = plan_stage(pipeline, cb_spec_at(spec, "stages", i), error);
    if (status < 0)
      return status;
  }
  const struct stage *last = &pipeline->stages[count - 1];
  if (last->kind != &cb_stage_sink)
    return cb_stage_fail(last, -EINVAL, error,
                         "the chain needs a sink at its end");
  return 0;
}

/* ---- what depends on several stages ---- */

static unsigned inside(const struct section *section)
{
  return section->one_by_one ? 1 : section->lane_count;
}

static int check_sections(struct pipeline *pipeline, struct cb_error *error)
{
  unsigned lcores = 0;
  pipeline->ways = 1;
  for (unsigned i = 0; i < pipeline->section_count; i++) {
    const struct section *section = &pipeline->sections[i];
    lcores += section->lcores;
    pipeline->ways *= section->lane_count;
    if (lcores > PIPELINE_LCORES_MAX)
      return cb_stage_fail(section->service, -EINVAL, error,
                           "the chain has %u lcores with these, at most %d",
                           lcores, PIPELINE_LCORES_MAX);
    if (!section->ring)
      continue;
    int status = cb_stage_ring_threads(section->ring, inside(section - 1),
                                       inside(section), error);
    if (status < 0)
      return status;
  }
  return 0;
}

/* ---- lanes and nodes ---- */

static bool add_node(struct lane *lane, struct node *node)
{
  struct node **link = &lane->first;
  while (*link)
    link = &(*link)->next;
  *link = node;
  return node != NULL;
}

static bool make_nodes(struct lane *lane)
{
  const struct section *section = lane->section;
  struct pipeline *pipeline = section->pipeline;
  struct stage *first = section->ring ? section->ring : &pipeline->stages[0];
  if (!add_node(lane, first->kind->give(first, lane)))
    return false;
  for (unsigned i = section->stages[0]; i < section->stages[1]; i++) {
    struct stage *stage = &pipeline->stages[i];
    if (stage->kind->take && !stage->absorbed &&
        !add_node(lane, stage->kind->take(stage, lane)))
      return false;
  }
  return true;
}

static bool make_lanes(struct section *section)
{
  struct pipeline *pipeline = section->pipeline;
  section->lanes =
      cb_memory_apart(section->lane_count * sizeof *section->lanes);
  if (!section->lanes)
    return false;
  for (unsigned i = 0; i < section->lane_count; i++) {
    struct lane *lane = &section->lanes[i];
    lane->section = section;
    lane->number = i;
    if (!make_nodes(lane))
      return false;
    if (section->lcores)
      pipeline->lcores[pipeline->lcore_count++] = lane;
  }
  return true;
}

int cb_pipeline_plan(struct pipeline *pipeline, const struct cb_spec *spec,
                     struct cb_error *error)
{
  int status = plan_stages(pipeline, spec, error);
  if (status == 0)
    status = check_sections(pipeline, error);
  for (unsigned i = 0; i < pipeline->section_count && status == 0; i++)
    if (!make_lanes(&pipeline->sections[i]))
      status = cb_fail(error, -ENOMEM, "out of memory for %llu items in flight",
                       (unsigned long long)pipeline->depth);
  return status;
}

static void free_lane(struct lane *lane)
{
  for (struct node *node = lane->first, *next; node; node = next) {
    next = node->next;
    if (node->release)
      node->release(node);
    free(node);
  }
}

void cb_pipeline_forget(struct pipeline *pipeline)
{
  for (unsigned i = 0; i < pipeline->section_count; i++) {
    struct section *section = &pipeline->sections[i];
    for (unsigned j = 0; section->lanes && j < section->lane_count; j++)
      free_lane(&section->lanes[j]);
    free(section->lanes);
  }
  for (unsigned i = 0; i < pipeline->stage_count; i++)
    if (pipeline->stages[i].kind->forget)
      pipeline->stages[i].kind->forget(&pipeline->stages[i]);
}
