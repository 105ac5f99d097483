/*
 * stage_ring.c - the stage `ring`: between two sections, and so perhaps between
 * two threads.
 *
 * The section before it ends in a node that enqueues; what does not fit waits
 * there, in order, and is tried again in the next turn. The section behind it
 * begins with a node that dequeues one burst in each turn. Operations are
 * called through the ring's pointers, once a burst.
 */
#include "workload/pipeline.h"

#include "base/memory.h"

#include "workload/rings.h"

#include <errno.h>
#include <stdlib.h>

typedef uint32_t put_function(struct cb_ring *ring, const uint64_t *values,
                              uint32_t n, uint32_t *room);
typedef uint32_t get_function(struct cb_ring *ring, uint64_t *values,
                              uint32_t n, uint32_t *left);

struct shared {
  struct cb_ring *ring;
  uint32_t burst;
  put_function *put;
  get_function *get;
  bool lent;
  struct ring_loan loan;
};

struct put_node {
  struct node node;
  struct cb_ring *ring;
  put_function *put;
  uint32_t burst;
  /* Items that did not fit: backlog[i & mask], head <= i < tail. */
  uint64_t *backlog;
  uint64_t mask, head, tail;
};

struct get_node {
  struct node node;
  struct cb_ring *ring;
  get_function *get;
  uint32_t burst;
  struct pipeline_item *items; /* where they note their way, else NULL */
  uint64_t depth;
  uint32_t lcores, lcore;
};

static struct put_node *put_of(struct node *node)
{
  return (struct put_node *)(void *)node;
}

static struct get_node *get_of(struct node *node)
{
  return (struct get_node *)(void *)node;
}

/* ---- in ---- */

static uint32_t put_singly(struct cb_ring *ring, const uint64_t *values,
                           uint32_t n, uint32_t *room)
{
  uint32_t done = 0;
  (void)room;
  while (done < n && ring->ops->enqueue(ring, values[done]))
    done++;
  return done;
}

static void put_aside(struct put_node *put, const uint64_t *items, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    put->backlog[put->tail++ & put->mask] = items[i];
}

static void push(struct node *node, const uint64_t *items, uint32_t n)
{
  struct put_node *put = put_of(node);
  uint32_t done = 0;
  while (put->head == put->tail && done < n) {
    uint32_t part = n - done < put->burst ? n - done : put->burst;
    uint32_t moved = put->put(put->ring, items + done, part, NULL);
    done += moved;
    if (moved < part)
      break;
  }
  if (CB_RING_RARELY(done < n))
    put_aside(put, items + done, n - done);
}

/* Tries again with those that wait. */
static bool poll_backlog(struct node *node)
{
  struct put_node *put = put_of(node);
  uint64_t before = put->head;
  while (CB_RING_RARELY(put->head < put->tail)) {
    uint64_t at = put->head & put->mask;
    uint64_t part = put->tail - put->head;
    part = part < put->burst ? part : put->burst;
    part = part < put->mask + 1 - at ? part : put->mask + 1 - at;
    uint32_t moved =
        put->put(put->ring, put->backlog + at, (uint32_t)part, NULL);
    put->head += moved;
    if (moved < part)
      break;
  }
  return put->head != before;
}

static void reset_put(struct node *node)
{
  struct put_node *put = put_of(node);
  put->head = put->tail = 0;
}

static void release_put(struct node *node)
{
  free(put_of(node)->backlog);
}

static struct node *take(struct stage *stage, struct lane *lane)
{
  const struct shared *shared = stage->data;
  struct put_node *put = cb_stage_node(stage, lane, sizeof *put);
  uint64_t room = cb_pipeline_room(stage->pipeline);
  if (!put)
    return NULL;
  put->ring = shared->ring;
  put->put = shared->put;
  put->burst = shared->burst;
  put->mask = room - 1;
  put->backlog = cb_memory_apart(room * sizeof *put->backlog);
  put->node.push = push;
  put->node.poll = poll_backlog;
  put->node.reset = reset_put;
  put->node.release = release_put;
  if (put->backlog)
    return &put->node;
  free(put);
  return NULL;
}

/* ---- out ---- */

static uint32_t get_singly(struct cb_ring *ring, uint64_t *values, uint32_t n,
                           uint32_t *left)
{
  uint32_t done = 0;
  (void)left;
  while (done < n && ring->ops->dequeue(ring, &values[done]))
    done++;
  return done;
}

/* Which of several lcores has them from now on. */
static void mark(const struct get_node *get, const uint64_t *values, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (values[i] - 1 < get->depth) {
      struct pipeline_item *item = &get->items[values[i] - 1];
      item->way = item->way * get->lcores + get->lcore;
    }
}

static bool poll_ring(struct node *node)
{
  struct get_node *get = get_of(node);
  uint64_t values[PIPELINE_BURST_MAX];
  uint32_t n = get->get(get->ring, values, get->burst, NULL);
  if (n == 0)
    return false;
  if (get->items)
    mark(get, values, n);
  node->lane->items += n;
  node->next->push(node->next, values, n);
  return true;
}

static struct node *give(struct stage *stage, struct lane *lane)
{
  const struct shared *shared = stage->data;
  struct get_node *get = cb_stage_node(stage, lane, sizeof *get);
  if (!get)
    return NULL;
  get->ring = shared->ring;
  get->get = shared->get;
  get->burst = shared->burst;
  get->lcores = lane->section->lane_count;
  get->lcore = lane->number;
  get->depth = stage->pipeline->depth;
  get->items = get->lcores > 1 ? stage->pipeline->items : NULL;
  get->node.poll = poll_ring;
  return &get->node;
}

/* ---- the ring ---- */

static int make_ring(struct shared *shared, const struct cb_spec *ring,
                     int64_t size, struct cb_error *error)
{
  int status = 0;
  if (size == 0) {
    shared->ring = cb_ring_create(ring, error);
    return shared->ring ? 0 : -EINVAL;
  }
  struct cb_spec *sized = cb_spec_copy(ring, error);
  if (!sized)
    return -ENOMEM;
  status = cb_spec_set_integer(sized, "size", size, error);
  if (status == 0 && !(shared->ring = cb_ring_create(sized, error)))
    status = -EINVAL;
  cb_spec_destroy(sized);
  return status;
}

static int choose_ring(struct shared *shared, const struct cb_spec *spec,
                       struct cb_error *error)
{
  const struct cb_spec *ring = cb_spec_spec(spec, "ring");
  int64_t size = cb_spec_integer(spec, "size");
  shared->ring = cb_spec_object(ring);
  shared->lent = shared->ring != NULL;
  if (!shared->lent)
    return make_ring(shared, ring, size, error);
  if (size == 0)
    return 0;
  return cb_fail(error, -EINVAL,
                 "option 'size': a live ring keeps its own, do not give one");
}

static void choose_moves(struct shared *shared)
{
  const struct cb_ring_ops *ops = shared->ring->ops;
  shared->put =
      ops->enqueue_burst && shared->burst > 1 ? ops->enqueue_burst : put_singly;
  shared->get =
      ops->dequeue_burst && shared->burst > 1 ? ops->dequeue_burst : get_singly;
}

static int plan(struct stage *stage, const struct cb_spec *spec,
                struct cb_error *error)
{
  struct cb_error trouble = {.code = -EINVAL, .text = "out of memory"};
  struct shared *shared = cb_memory_apart(sizeof *shared);
  stage->data = shared;
  if (!shared || choose_ring(shared, spec, &trouble) < 0)
    return cb_stage_fail(stage, trouble.code, error, "%s", trouble.text);
  const struct cb_ring *ring = shared->ring;
  shared->burst = (uint32_t)cb_spec_integer(spec, "burst");
  if (ring->limits.forgets)
    return cb_stage_fail(stage, -ENOTSUP, error,
                         "'%s' forgets its elements, and no item would arrive",
                         ring->kind->kind.name);
  if (shared->burst > cb_ring_fits(ring))
    return cb_stage_fail(stage, -EINVAL, error,
                         "a burst of %u does not fit into %llu elements: size "
                         "= %u or more, or a smaller burst",
                         shared->burst, (unsigned long long)cb_ring_fits(ring),
                         shared->burst);
  choose_moves(shared);
  return 0;
}

static void forget(struct stage *stage)
{
  struct shared *shared = stage->data;
  if (shared && !shared->lent)
    cb_ring_destroy(shared->ring);
  if (shared)
    cb_ring_forget(&shared->loan);
  free(shared);
}

int cb_stage_ring_threads(const struct stage *stage, unsigned producers,
                          unsigned consumers, struct cb_error *error)
{
  const struct shared *shared = stage->data;
  struct cb_error trouble;
  int status =
      cb_ring_check_threads(shared->ring, producers, consumers, &trouble);
  return status < 0 ? cb_stage_fail(stage, status, error, "%s", trouble.text)
                    : 0;
}

/* ---- around a run ---- */

static int setup(struct stage *stage, struct cb_error *error)
{
  struct shared *shared = stage->data;
  const struct cb_control *control = stage->pipeline->control;
  struct cb_error trouble;
  shared->ring->control = control;
  if (!shared->lent)
    return 0;
  int status = cb_ring_borrow(&shared->loan, shared->ring, control, NULL, NULL,
                              &trouble);
  return status < 0 ? cb_stage_fail(stage, status, error, "%s", trouble.text)
                    : 0;
}

static int claim(struct stage *stage, struct cb_error *error)
{
  struct shared *shared = stage->data;
  struct cb_error trouble;
  int status = cb_ring_claim(&shared->loan, &trouble);
  return status < 0 ? cb_stage_fail(stage, status, error, "%s", trouble.text)
                    : 0;
}

static void teardown(struct stage *stage)
{
  struct shared *shared = stage->data;
  shared->ring->control = NULL;
  if (shared->lent)
    cb_ring_return(&shared->loan);
  else if (!cb_ring_is_broken(shared->ring))
    cb_ring_drain(shared->ring, NULL, NULL);
}

static int check(struct stage *stage, struct cb_error *error)
{
  const struct shared *shared = stage->data;
  if (cb_ring_is_broken(shared->ring))
    return cb_stage_fail(stage, -ETIMEDOUT, error,
                         "convoy: a thread waited for its turn in the ring "
                         "until it was stopped");
  int status = claim(stage, error);
  if (status < 0)
    return status;
  uint64_t left = cb_ring_count(shared->ring);
  if (left)
    return cb_stage_fail(stage, -EPROTO, error, "%llu elements are left in it",
                         (unsigned long long)left);
  return 0;
}

static const struct cb_option options[] = {
    RING_OPTION_RING("spsc"),
    {.name = "size",
     .type = CB_INTEGER,
     .preset = "0",
     .min = 0,
     .max = CB_RING_SLOTS_MAX,
     .help = "its size, as the ring's own option; 0: what that says"},
    {.name = "burst",
     .type = CB_INTEGER,
     .preset = "32",
     .min = 1,
     .max = PIPELINE_BURST_MAX,
     .help = "most elements moved at once, in and out"},
    {.name = NULL}};

const struct stage_kind cb_stage_ring = {
    .kind.name = "ring",
    .kind.summary = "from one section of the chain to the next",
    .kind.options = options,
    .plan = plan,
    .forget = forget,
    .take = take,
    .give = give,
    .setup = setup,
    .prepare = claim,
    .teardown = teardown,
    .check = check};
