/*
 * pipeline_run.c - the loops of the two roles.
 *
 * The source's thread runs every section that has no lcores of its own, in
 * turn, and takes back the numbers of items that ended elsewhere. A service
 * lcore makes passes until the source says that the batch is over. Neither
 * reads a clock; the source of an open loop does, and its sink.
 *
 * Who finds nothing to do waits as the option `wait` says, and gives its CPU
 * away after a while where that is `yield`: more threads than CPUs must finish.
 */
#include "workload/pipeline.h"

#include <errno.h>

/* Passes at a stretch: few when there was nothing to do, so that what comes is
 * seen soon and the end too. */
enum { PASSES_BUSY = 64, PASSES_IDLE = 8 };

bool cb_lane_turn(struct lane *lane)
{
  bool worked = false;
  for (struct node *node = lane->first; node; node = node->next)
    if (node->poll)
      worked |= node->poll(node);
  return worked;
}

/* ---- the source's thread ---- */

static bool turn(struct lane *lane)
{
  const struct section *section = lane->section;
  int result = -EAGAIN;
  if (!section->service)
    return cb_lane_turn(lane);
  if (cb_service_run(lane->lcore, section->id, true, &result) < 0)
    return false;
  lane->runs++;
  return result == 0;
}

/* Numbers of items that ended on lcores. */
static bool collect(struct pipeline *pipeline, const struct section *last)
{
  const struct stage *sink = &pipeline->stages[pipeline->stage_count - 1];
  bool worked = false;
  for (unsigned i = 0; i < last->lane_count; i++) {
    uint64_t items[PIPELINE_BURST_MAX];
    struct node *node = cb_lane_node(&last->lanes[i], sink);
    uint32_t count =
        node ? cb_sink_collect(node, items, PIPELINE_BURST_MAX) : 0;
    if (count)
      cb_source_free(pipeline->source, items, count);
    worked |= count > 0;
  }
  return worked;
}

static bool turn_all(struct pipeline *pipeline)
{
  struct section *section = pipeline->sections;
  struct section *end = section + pipeline->section_count;
  bool worked = false;
  for (; section < end; section++)
    if (!section->lcores)
      worked |= turn(section->lanes);
  if (end[-1].lcores)
    worked |= collect(pipeline, end - 1);
  return worked;
}

uint64_t cb_pipeline_run(void *opaque, unsigned thread, uint64_t n)
{
  struct pipeline *pipeline = opaque;
  struct source_counts before, after;
  uint32_t streak = 0;
  (void)thread;
  cb_source_read(pipeline->source, &before);
  cb_source_begin(pipeline->source, n);
  while (!cb_source_done(pipeline->source)) {
    if (turn_all(pipeline)) {
      streak = 0;
      continue;
    }
    cb_source_waited(pipeline->source);
    if (!(streak = cb_pipeline_wait(pipeline, streak)))
      break;
  }
  /* What it has put down is put down: lcores may end. */
  atomic_fetch_add_explicit(&pipeline->ended, 1, memory_order_release);
  cb_source_read(pipeline->source, &after);
  return after.returned - before.returned;
}

int cb_pipeline_begin(void *opaque, unsigned thread, struct cb_error *error)
{
  struct pipeline *pipeline = opaque;
  int status = 0;
  (void)thread;
  for (unsigned i = 0; i < pipeline->section_count && status == 0; i++) {
    const struct section *section = &pipeline->sections[i];
    if (section->service && !section->lcores)
      status = cb_lane_attach(section->lanes, error);
  }
  if (status < 0)
    cb_pipeline_end(pipeline, 0);
  return status;
}

void cb_pipeline_end(void *opaque, unsigned thread)
{
  struct pipeline *pipeline = opaque;
  (void)thread;
  for (unsigned i = 0; i < pipeline->section_count; i++)
    if (pipeline->sections[i].service)
      cb_lane_detach(pipeline->sections[i].lanes);
}

/* ---- a service lcore ---- */

static bool is_over(const struct pipeline *pipeline, const struct lane *lane)
{
  return atomic_load_explicit(&pipeline->ended, memory_order_acquire) >=
         lane->batches;
}

uint64_t cb_pipeline_run_lcore(void *opaque, unsigned thread, uint64_t n)
{
  struct pipeline *pipeline = opaque;
  struct lane *lane = pipeline->lcores[thread];
  uint64_t before = lane->items, passes = PASSES_BUSY;
  uint32_t streak = 0;
  (void)n;
  lane->batches++;
  struct cb_lcore *lcore = cb_lcore_claim(lane->section->set, lane->number);
  while (lcore && !is_over(pipeline, lane)) {
    uint64_t busy = lane->busy;
    cb_lcore_make_passes(lcore, passes);
    if (lane->busy != busy) {
      passes = PASSES_BUSY;
      streak = 0;
      continue;
    }
    passes = PASSES_IDLE;
    if (!(streak = cb_pipeline_wait(pipeline, streak)))
      break;
  }
  if (lcore)
    cb_lcore_unclaim(lcore);
  return lane->items - before;
}
