/*
 * pipeline_proof.c - what must hold when the last batch is over.
 *
 * Every item that started came out, once, and none that never started; the
 * numbers of those that came out add up to those that started; on each way
 * through the lcores they came out in the order of their starts. Then each
 * stage proves its own: no element left in a ring, none waiting for a device,
 * no coroutine suspended, the pool even, a service's calls counted alike by
 * everybody.
 */
#include "workload/pipeline.h"

#include <errno.h>
#include <stdio.h>

static void sum_up(const struct pipeline *pipeline, struct sink_counts *sum)
{
  const struct section *last = &pipeline->sections[pipeline->section_count - 1];
  const struct stage *sink = &pipeline->stages[pipeline->stage_count - 1];
  *sum = (struct sink_counts){0};
  for (unsigned i = 0; i < last->lane_count; i++) {
    struct sink_counts counts;
    cb_sink_read(cb_lane_node(&last->lanes[i], sink), &counts);
    sum->finished += counts.finished;
    sum->sum += counts.sum;
    sum->twice += counts.twice;
    sum->strange += counts.strange;
    sum->disorder += counts.disorder;
  }
}

/* 0 + 1 + ... + (n - 1), modulo 2^64. */
static uint64_t series(uint64_t n)
{
  return n % 2 ? n * ((n - 1) / 2) : n / 2 * (n - 1);
}

static unsigned long long count(uint64_t value)
{
  return (unsigned long long)value;
}

static int check_items(const struct source_counts *in,
                       const struct sink_counts *out, struct cb_error *error)
{
  if (out->twice)
    return cb_fail(error, -EPROTO,
                   "%llu items came out that were not in flight (twice, or "
                   "never put in)",
                   count(out->twice));
  if (out->strange)
    return cb_fail(error, -EPROTO, "%llu values came out that are no items",
                   count(out->strange));
  if (out->disorder)
    return cb_fail(error, -EPROTO,
                   "%llu items came out behind one that started later",
                   count(out->disorder));
  if (in->started == out->finished && series(in->started) != out->sum)
    return cb_fail(error, -EPROTO,
                   "%llu items came out, but not those that went in",
                   count(out->finished));
  return 0;
}

/* Items on their way are somewhere: the stage that has them says so. */
static int check_stages(struct pipeline *pipeline, struct cb_error *error)
{
  for (unsigned i = 0; i < pipeline->stage_count; i++) {
    struct stage *stage = &pipeline->stages[i];
    int status = stage->kind->check ? stage->kind->check(stage, error) : 0;
    if (status < 0)
      return status;
  }
  return 0;
}

static int check_counts(struct pipeline *pipeline,
                        const struct source_counts *in,
                        const struct sink_counts *out, struct cb_error *error)
{
  struct cb_error where = {0, ""};
  if (in->started == out->finished && in->returned == out->finished)
    return check_stages(pipeline, error);
  check_stages(pipeline, &where);
  return cb_fail(error, -EPROTO, "%llu items went in, %llu came out%s%s",
                 count(in->started), count(out->finished),
                 where.text[0] ? "; " : "", where.text);
}

int cb_pipeline_check(void *opaque, uint64_t operations, struct cb_error *error)
{
  struct pipeline *pipeline = opaque;
  struct source_counts in;
  struct sink_counts out;
  uint64_t done = 0;
  cb_source_read(pipeline->source, &in);
  sum_up(pipeline, &out);
  int status = check_items(&in, &out, error);
  if (status == 0)
    status = check_counts(pipeline, &in, &out, error);
  if (status < 0)
    return status;
  for (unsigned i = 0; i < pipeline->lcore_count; i++)
    done += pipeline->lcores[i]->items;
  if (in.returned + done != operations)
    return cb_fail(error, -EPROTO, "%llu of %llu operations were counted",
                   count(in.returned + done), count(operations));
  return 0;
}
