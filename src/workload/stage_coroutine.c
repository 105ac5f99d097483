/*
 * stage_coroutine.c - the stage `coroutine`: each item runs in a coroutine of
 * its own, out of a pool, which yields while the item waits.
 *
 * Starting, waiting and resuming are the back end's own loops (struct
 * cb_coroutine_line), with the switch inlined as it is in every other workload.
 * Those that wait do so first in first out, so items leave in the order in
 * which they came. What they wait for is the device that stands behind them, if
 * there is one; else for the next turn.
 */
#include "workload/pipeline.h"

#include "base/memory.h"
#include "base/ticks.h"
#include "coroutine/backend.h"
#include "workload/pools.h"

#include <errno.h>
#include <stdlib.h>

/* For the frames around what is touched. */
enum { FRAMES = 2048 };

struct shared {
  struct workload_pool pool;
  const struct cb_coroutine_loops *loops;
  uint64_t yields, depth, bytes;
  bool waits; /* for a device */
  uint64_t ticks;
};

struct coroutine_node {
  struct node node;
  const struct cb_coroutine_loops *loops;
  uint64_t ticks;
  uint64_t *due; /* ticks, beside line.waiting; only where it takes some */
  uint64_t items;
  struct cb_coroutine_line line;
};

static struct coroutine_node *coroutine_of(struct node *node)
{
  return (struct coroutine_node *)(void *)node;
}

/* ---- items ---- */

/* Those behind `from` in the queue have just begun to wait. */
static void begin_to_wait(struct coroutine_node *self, uint64_t from)
{
  if (from == self->line.tail)
    return;
  uint64_t due = cb_ticks_now() + self->ticks;
  for (uint64_t i = from; i < self->line.tail; i++)
    self->due[i & self->line.mask] = due;
}

static void hand_on(struct coroutine_node *self)
{
  struct cb_coroutine_line *line = &self->line;
  struct node *next = self->node.next;
  size_t count = line->done_count;
  line->done_count = 0;
  for (size_t at = 0; at < count; at += PIPELINE_BURST_MAX) {
    size_t part = count - at;
    part = part < PIPELINE_BURST_MAX ? part : PIPELINE_BURST_MAX;
    next->push(next, line->done + at, (uint32_t)part);
  }
  if (CB_UNLIKELY(line->status < 0))
    cb_pipeline_break(self->node.stage->pipeline);
}

static void push(struct node *node, const uint64_t *items, uint32_t n)
{
  struct coroutine_node *self = coroutine_of(node);
  uint64_t from = self->line.tail;
  self->items += n;
  self->loops->start(&self->line, items, n);
  if (self->ticks)
    begin_to_wait(self, from);
  hand_on(self);
}

/* How many of those that wait have waited long enough. */
static uint64_t ready(const struct coroutine_node *self)
{
  const struct cb_coroutine_line *line = &self->line;
  uint64_t count = line->tail - line->head;
  if (!self->ticks || !count)
    return count;
  uint64_t now = cb_ticks_now(), found = 0;
  while (found < count && self->due[(line->head + found) & line->mask] <= now)
    found++;
  return found;
}

static bool poll(struct node *node)
{
  struct coroutine_node *self = coroutine_of(node);
  uint64_t from = self->line.tail;
  uint64_t count = ready(self);
  if (!count)
    return false;
  self->loops->resume(&self->line, (uint32_t)count);
  if (self->ticks)
    begin_to_wait(self, from);
  hand_on(self);
  return true;
}

/* ---- making ---- */

static void reset(struct node *node)
{
  struct coroutine_node *self = coroutine_of(node);
  struct cb_coroutine_line *line = &self->line;
  line->head = line->tail = 0;
  line->done_count = 0;
  line->entered = line->ended = 0;
  line->status = 0;
  line->error.code = 0;
  self->items = 0;
}

static void release(struct node *node)
{
  struct coroutine_node *self = coroutine_of(node);
  free(self->due);
  free(self->line.waiting);
  free(self->line.done);
}

static struct node *take(struct stage *stage, struct lane *lane)
{
  const struct shared *shared = stage->data;
  uint64_t room = cb_pipeline_room(stage->pipeline);
  struct coroutine_node *self = cb_stage_node(stage, lane, sizeof *self);
  if (!self)
    return NULL;
  struct cb_coroutine_line *line = &self->line;
  self->loops = shared->loops;
  self->ticks = shared->ticks;
  line->pool = shared->pool.pool;
  line->yields = shared->yields;
  line->depth = shared->depth;
  line->bytes = (size_t)shared->bytes;
  line->mask = room - 1;
  line->waiting = cb_memory_apart(room * sizeof(struct cb_coroutine *));
  line->done = cb_memory_apart(room * sizeof *line->done);
  if (self->ticks)
    self->due = cb_memory_apart(room * sizeof *self->due);
  self->node.push = push;
  self->node.poll = poll;
  self->node.reset = reset;
  self->node.release = release;
  if (line->waiting && line->done && (self->due || !self->ticks))
    return &self->node;
  release(&self->node);
  free(self);
  return NULL;
}

/* ---- the stage ---- */

int cb_stage_coroutine_wait(struct stage *stage, const struct stage *device,
                            uint64_t ticks, struct cb_error *error)
{
  struct shared *shared = stage->data;
  if (shared->waits)
    return cb_stage_fail(device, -EINVAL, error,
                         "stage %u (coroutine) waits for a device already: a "
                         "ring between the two is wanted",
                         stage->number);
  if (shared->yields == 0)
    return cb_stage_fail(device, -EINVAL, error,
                         "nobody waits for it: stage %u (coroutine) has "
                         "yields = 0, it needs 1 or more",
                         stage->number);
  shared->waits = true;
  shared->ticks = ticks;
  return 0;
}

static int check_place(const struct stage *stage, struct cb_error *error)
{
  const struct section *section = stage->section;
  const struct stage *other = cb_stage_in(section, &cb_stage_coroutine);
  if (other && other != stage)
    return cb_stage_fail(stage, -EINVAL, error,
                         "an item is in the coroutine of stage %u already: a "
                         "ring between the two is wanted",
                         other->number);
  return 0;
}

static int check_bytes(const struct stage *stage, struct cb_error *error)
{
  const struct shared *shared = stage->data;
  struct cb_stack_options stack;
  cb_pool_stack(shared->pool.pool, &stack);
  if (shared->bytes <= stack.size - FRAMES)
    return 0;
  return cb_stage_fail(
      stage, -EINVAL, error,
      "option 'bytes': a stack of %zu bytes has room for %zu, not %llu",
      stack.size, stack.size - FRAMES, (unsigned long long)shared->bytes);
}

static int make_pool(struct stage *stage, const struct cb_spec *spec,
                     struct cb_error *error)
{
  struct shared *shared = stage->data;
  struct cb_error trouble = {.code = -EINVAL, .text = ""};
  const struct cb_spec *backend = cb_spec_spec(spec, "backend");
  if (!backend)
    return cb_stage_fail(stage, -EINVAL, error,
                         "it needs a back end, as in backend = \"%s\"",
                         CB_BACKEND_PRESET);
  const struct cb_backend *kind =
      (const struct cb_backend *)cb_spec_kind(backend);
  if (kind->kind.flags & CB_KIND_COMPARISON || !kind->loops->start)
    return cb_stage_fail(stage, -ENOTSUP, error,
                         "the back end '%s' makes no coroutines, it is a row "
                         "to compare with",
                         kind->kind.name);
  if (cb_workload_pool_init(&shared->pool, spec, true, &trouble) < 0)
    return cb_stage_fail(stage, trouble.code, error, "%s", trouble.text);
  shared->loops = kind->loops;
  return 0;
}

static int plan(struct stage *stage, const struct cb_spec *spec,
                struct cb_error *error)
{
  struct shared *shared = cb_memory_apart(sizeof *shared);
  stage->data = shared;
  if (!shared)
    return cb_stage_fail(stage, -ENOMEM, error, "out of memory");
  int status = check_place(stage, error);
  if (status == 0)
    status = make_pool(stage, spec, error);
  if (status < 0)
    return status;
  shared->yields = (uint64_t)cb_spec_integer(spec, "yields");
  shared->depth = (uint64_t)cb_spec_integer(spec, "depth");
  shared->bytes = (uint64_t)cb_spec_integer(spec, "bytes");
  return check_bytes(stage, error);
}

static void forget(struct stage *stage)
{
  struct shared *shared = stage->data;
  if (shared)
    cb_workload_pool_free(&shared->pool);
  free(shared);
}

static int setup(struct stage *stage, struct cb_error *error)
{
  struct shared *shared = stage->data;
  (void)error;
  cb_workload_pool_setup(&shared->pool);
  return 0;
}

/* What still waits ends now, and its items with it. */
static void let_end(struct coroutine_node *self)
{
  struct cb_coroutine_line *line = &self->line;
  while (line->head < line->tail && line->status == 0) {
    self->loops->resume(line, (uint32_t)(line->tail - line->head));
    line->done_count = 0;
  }
}

static void teardown(struct stage *stage)
{
  struct shared *shared = stage->data;
  struct section *section = stage->section;
  for (unsigned i = 0; i < section->lane_count; i++)
    let_end(coroutine_of(cb_lane_node(&section->lanes[i], stage)));
  cb_workload_pool_teardown(&shared->pool);
}

/* ---- the proof ---- */

static int check_line(const struct stage *stage,
                      const struct coroutine_node *self, struct cb_error *error)
{
  const struct shared *shared = stage->data;
  const struct cb_coroutine_line *line = &self->line;
  uint64_t waiting = line->tail - line->head;
  if (line->status < 0)
    return cb_stage_fail(stage, line->status, error, "%s",
                         line->error.code ? line->error.text
                                          : cb_coroutine_message(line->status));
  if (waiting)
    return cb_stage_fail(
        stage, -EPROTO, error, "%llu coroutine%s left suspended",
        (unsigned long long)waiting, waiting == 1 ? " is" : "s are");
  if (line->entered != self->items * shared->depth ||
      line->entered != line->ended)
    return cb_stage_fail(stage, -EPROTO, error,
                         "for %llu items %llu coroutines began and %llu ended",
                         (unsigned long long)self->items,
                         (unsigned long long)line->entered,
                         (unsigned long long)line->ended);
  return 0;
}

static int check(struct stage *stage, struct cb_error *error)
{
  const struct shared *shared = stage->data;
  struct section *section = stage->section;
  struct cb_error trouble;
  for (unsigned i = 0; i < section->lane_count; i++) {
    struct node *node = cb_lane_node(&section->lanes[i], stage);
    int status = check_line(stage, coroutine_of(node), error);
    if (status < 0)
      return status;
  }
  int status = cb_workload_pool_check(&shared->pool, &trouble);
  return status < 0 ? cb_stage_fail(stage, status, error, "%s", trouble.text)
                    : 0;
}

size_t cb_stage_coroutine_counters(const struct stage *stage,
                                   struct cb_counter *list, size_t capacity)
{
  const struct shared *shared = stage->data;
  return cb_workload_pool_counters(&shared->pool, list, capacity);
}

static const struct cb_option options[] = {
    {.name = "backend",
     .type = CB_KIND,
     .family = &cb_backend_family,
     .help = "how stacks are switched; must be given"},
    POOL_OPTION,
    {.name = "yields",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 0,
     .max = 1000,
     .help = "times that an item waits, for the device behind or a turn"},
    {.name = "depth",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 1,
     .max = 1000,
     .help = "coroutines nested for an item; the innermost waits"},
    {.name = "bytes",
     .type = CB_INTEGER,
     .preset = "0",
     .min = 0,
     .max = (double)CB_STACK_MAX,
     .help = "bytes of its stack that the innermost touches"},
    STACK_OPTIONS,
    {.name = NULL}};

const struct stage_kind cb_stage_coroutine = {
    .kind.name = "coroutine",
    .kind.summary =
        "runs each item in a pooled coroutine, which yields to wait",
    .kind.options = options,
    .plan = plan,
    .forget = forget,
    .take = take,
    .setup = setup,
    .teardown = teardown,
    .check = check};
