/*
 * call_ring_consume.c - the callback `ring_consume`: takes a burst out of a
 * ring; there was work when the ring was not empty.
 *
 * A live ring is what it is meant for, filled by somebody else. A ring named by
 * its kind is made for the callback alone and stays empty: an idle poll.
 */
#include "workload/calls.h"

#include "ring/ring.h"
#include "service/calls.h"
#include "workload/loans.h"

#include <errno.h>
#include <stdlib.h>

struct consume {
  struct cb_ring *ring;
  bool own;
  uint32_t burst;
};

static int consume_burst(void *argument, struct cb_lcore *lcore)
{
  struct consume *consume = argument;
  uint64_t values[CB_RING_BURST_MAX];
  cb_call_count(lcore);
  return consume->ring->ops->dequeue_burst(consume->ring, values,
                                           consume->burst, NULL)
             ? 0
             : -EAGAIN;
}

/* For kinds that have no burst. */
static int consume_singly(void *argument, struct cb_lcore *lcore)
{
  struct consume *consume = argument;
  uint64_t value;
  uint32_t taken = 0;
  cb_call_count(lcore);
  while (taken < consume->burst &&
         consume->ring->ops->dequeue(consume->ring, &value))
    taken++;
  return taken ? 0 : -EAGAIN;
}

static void release(void *argument)
{
  struct consume *consume = argument;
  if (consume->own)
    cb_ring_destroy(consume->ring);
  free(consume);
}

static int create(const struct cb_spec *spec, struct cb_call *call,
                  struct cb_error *error)
{
  const struct cb_spec *ring = cb_spec_spec(spec, "ring");
  struct consume *consume = calloc(1, sizeof *consume);
  if (!consume)
    return cb_fail(error, -ENOMEM, "out of memory");
  consume->burst = (uint32_t)cb_spec_integer(spec, "burst");
  consume->ring = cb_spec_object(ring);
  consume->own = !consume->ring;
  if (consume->own)
    consume->ring = cb_ring_create(ring, error);
  if (!consume->ring) {
    free(consume);
    return error ? error->code : -EINVAL;
  }
  int status = cb_ring_usable(consume->ring, error);
  if (status < 0) {
    free(consume);
    return status;
  }
  *call = (struct cb_call){.call = consume->ring->ops->dequeue_burst
                                       ? consume_burst
                                       : consume_singly,
                           .argument = consume,
                           .release = release,
                           .mt_safe = consume->ring->limits.consumers != 1};
  return 0;
}

static const struct cb_option options[] = {
    {.name = "ring",
     .type = CB_KIND,
     .preset = "spsc",
     .family = &cb_ring_family,
     .help = "a live ring, or a kind for one that stays empty"},
    {.name = "burst",
     .type = CB_INTEGER,
     .preset = "32",
     .min = 1,
     .max = CB_RING_BURST_MAX,
     .help = "most elements taken by one call"},
    {.name = NULL}};

const struct cb_call_kind cb_call_ring_consume = {
    .kind.name = "ring_consume",
    .kind.summary = "takes a burst out of a ring",
    .kind.options = options,
    .create = create};
