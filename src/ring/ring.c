/*
 * ring.c - rings of any kind: the checks in front of a kind's operations.
 */
#include "ring/ring.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- for the kinds ---- */

void *cb_ring_allocate(size_t head, uint64_t slots, size_t slot_size,
                       struct cb_error *error)
{
  size_t size = 0;
  bool fits = !__builtin_mul_overflow(slots, slot_size, &size) &&
              !__builtin_add_overflow(size, head + CB_APART, &size);
  /* A line of nobody's behind the slots, for the prefetcher to run into. */
  void *memory = fits ? cb_memory_apart(size) : NULL;
  if (!memory)
    cb_fail(error, -ENOMEM, "out of memory for a ring of %llu slots",
            (unsigned long long)slots);
  return memory;
}

int cb_ring_power_of_two(const char *kind, int64_t size, int64_t smallest,
                         const char *advice, struct cb_error *error)
{
  if (size >= smallest && (size & (size - 1)) == 0)
    return 0;
  return cb_fail(error, -EINVAL,
                 "option 'size': %s takes powers of two from %lld on, got "
                 "%lld%s%s%s",
                 kind, (long long)smallest, (long long)size, advice ? " (" : "",
                 advice ? advice : "", advice ? ")" : "");
}

uint64_t cb_ring_round_up(uint64_t n)
{
  uint64_t power = 1;
  while (power < n)
    power *= 2;
  return power;
}

enum cb_wait cb_ring_wait_of(const struct cb_spec *spec)
{
  const char *word = cb_spec_string(spec, "wait");
  if (strcmp(word, "spin") == 0)
    return CB_WAIT_SPIN;
  return strcmp(word, "yield") == 0 ? CB_WAIT_YIELD : CB_WAIT_PAUSE;
}

/* ---- what a ring can do ---- */

typedef bool can(const struct cb_ring_ops *ops);

#define CAN(member)                                                            \
  static bool can_##member(const struct cb_ring_ops *ops)                      \
  {                                                                            \
    return ops->member != NULL;                                                \
  }
CAN(enqueue_bulk)
CAN(enqueue_burst)
CAN(dequeue_bulk)
CAN(dequeue_burst)
CAN(enqueue_start)
CAN(dequeue_start)
CAN(resize)
CAN(unconsume)

/* "this alf ring cannot dequeue in bulk (spsc, ff, mutex can)" */
static int cannot(const struct cb_ring *ring, const char *what, can *has,
                  struct cb_error *error)
{
  static const char other[] = " with other options";
  char names[200] = "";
  size_t length = 0;
  const struct cb_kind *kind;
  for (size_t i = 0; (kind = cb_kind_at(&cb_ring_family, i)); i++)
    if (has(&((const struct cb_ring_kind *)kind)->ops) &&
        length + strlen(kind->name) + sizeof other + 2 < sizeof names)
      length +=
          (size_t)sprintf(names + length, "%s%s%s", length ? ", " : "",
                          kind->name, kind == &ring->kind->kind ? other : "");
  return cb_fail(error, -ENOTSUP, "this %s ring cannot %s (%s can)",
                 ring->kind->kind.name, what, length ? names : "no kind");
}

static int refuse_zero(const struct cb_ring *ring, struct cb_error *error)
{
  return cb_fail(error, -EINVAL,
                 "%s cannot hold 0: it is what a free slot looks like",
                 ring->kind->kind.name);
}

static bool holds_zero(const uint64_t *values, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (!values[i])
      return true;
  return false;
}

static int beyond_start(size_t n, struct cb_error *error)
{
  return cb_fail(error, -EINVAL, "%zu elements are more than were started", n);
}

/* No ring is larger, and a kind's operations count in 32 bits. */
static uint32_t at_most(size_t n)
{
  return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* ---- the public functions ---- */

struct cb_ring *cb_ring_create(const struct cb_spec *spec,
                               struct cb_error *error)
{
  const struct cb_ring_kind *kind =
      (const struct cb_ring_kind *)cb_spec_kind(spec);
  struct cb_ring *ring = kind->create(spec, error);
  if (!ring)
    return NULL;
  ring->kind = kind;
  if (!ring->ops) {
    ring->ops = &kind->ops;
    ring->loops = &kind->loops;
    ring->limits = kind->limits;
  }
  return ring;
}

void cb_ring_destroy(struct cb_ring *ring)
{
  if (ring && ring->kind->destroy)
    ring->kind->destroy(ring);
  else
    free(ring);
}

uint64_t cb_ring_drain(struct cb_ring *ring, cb_ring_drop *drop, void *context)
{
  uint64_t count = 0;
  if (ring->limits.forgets)
    return 0;
  for (uint64_t value; ring->ops->dequeue(ring, &value); count++)
    if (drop)
      drop(context, value);
  return count;
}

uint64_t cb_ring_capacity(const struct cb_ring *ring)
{
  return cb_ring_fits(ring);
}

uint64_t cb_ring_count(struct cb_ring *ring)
{
  return ring->ops->count(ring);
}

uint64_t cb_ring_free_count(struct cb_ring *ring)
{
  return ring->ops->free_count(ring);
}

int cb_ring_enqueue(struct cb_ring *ring, uint64_t value,
                    struct cb_error *error)
{
  if (!value && !ring->limits.zero_allowed)
    return refuse_zero(ring, error);
  return ring->ops->enqueue(ring, value);
}

int cb_ring_dequeue(struct cb_ring *ring, uint64_t *value)
{
  return ring->ops->dequeue(ring, value);
}

int64_t cb_ring_enqueue_bulk(struct cb_ring *ring, const uint64_t *values,
                             size_t n, uint32_t *room, struct cb_error *error)
{
  if (!ring->ops->enqueue_bulk)
    return cannot(ring, "enqueue in bulk", can_enqueue_bulk, error);
  if (!ring->limits.zero_allowed && holds_zero(values, n))
    return refuse_zero(ring, error);
  return ring->ops->enqueue_bulk(ring, values, at_most(n), room);
}

int64_t cb_ring_enqueue_burst(struct cb_ring *ring, const uint64_t *values,
                              size_t n, uint32_t *room, struct cb_error *error)
{
  if (!ring->ops->enqueue_burst)
    return cannot(ring, "enqueue a burst", can_enqueue_burst, error);
  if (!ring->limits.zero_allowed && holds_zero(values, n))
    return refuse_zero(ring, error);
  return ring->ops->enqueue_burst(ring, values, at_most(n), room);
}

int64_t cb_ring_dequeue_bulk(struct cb_ring *ring, uint64_t *values, size_t n,
                             uint32_t *left, struct cb_error *error)
{
  if (!ring->ops->dequeue_bulk)
    return cannot(ring, "dequeue in bulk", can_dequeue_bulk, error);
  return ring->ops->dequeue_bulk(ring, values, at_most(n), left);
}

int64_t cb_ring_dequeue_burst(struct cb_ring *ring, uint64_t *values, size_t n,
                              uint32_t *left, struct cb_error *error)
{
  if (!ring->ops->dequeue_burst)
    return cannot(ring, "dequeue a burst", can_dequeue_burst, error);
  return ring->ops->dequeue_burst(ring, values, at_most(n), left);
}

int64_t cb_ring_enqueue_start(struct cb_ring *ring, size_t n,
                              enum cb_ring_mode mode, uint32_t *room,
                              struct cb_error *error)
{
  if (!ring->ops->enqueue_start)
    return cannot(ring, "enqueue in halves", can_enqueue_start, error);
  return ring->ops->enqueue_start(ring, at_most(n), mode, room);
}

int cb_ring_enqueue_finish(struct cb_ring *ring, const uint64_t *values,
                           size_t n, struct cb_error *error)
{
  if (!ring->ops->enqueue_finish)
    return cannot(ring, "enqueue in halves", can_enqueue_start, error);
  if (!ring->limits.zero_allowed && holds_zero(values, n))
    return refuse_zero(ring, error);
  if (!ring->ops->enqueue_finish(ring, values, at_most(n)))
    return beyond_start(n, error);
  return 0;
}

int64_t cb_ring_dequeue_start(struct cb_ring *ring, uint64_t *values, size_t n,
                              enum cb_ring_mode mode, uint32_t *left,
                              struct cb_error *error)
{
  if (!ring->ops->dequeue_start)
    return cannot(ring, "dequeue in halves", can_dequeue_start, error);
  return ring->ops->dequeue_start(ring, values, at_most(n), mode, left);
}

int cb_ring_dequeue_finish(struct cb_ring *ring, size_t n,
                           struct cb_error *error)
{
  if (!ring->ops->dequeue_finish)
    return cannot(ring, "dequeue in halves", can_dequeue_start, error);
  if (!ring->ops->dequeue_finish(ring, at_most(n)))
    return beyond_start(n, error);
  return 0;
}

int cb_ring_resize(struct cb_ring *ring, uint64_t size, cb_ring_drop *drop,
                   void *context, struct cb_error *error)
{
  if (!ring->ops->resize)
    return cannot(ring, "be resized", can_resize, error);
  if (size < 1 || size > CB_RING_SLOTS_MAX)
    return cb_fail(error, -EINVAL, "size %llu is out of range [1, %d]",
                   (unsigned long long)size, CB_RING_SLOTS_MAX);
  return ring->ops->resize(ring, (uint32_t)size, drop, context, error);
}

int64_t cb_ring_unconsume(struct cb_ring *ring, const uint64_t *values,
                          size_t n, cb_ring_drop *drop, void *context,
                          struct cb_error *error)
{
  if (!ring->ops->unconsume)
    return cannot(ring, "take elements back", can_unconsume, error);
  if (!ring->limits.zero_allowed && holds_zero(values, n))
    return refuse_zero(ring, error);
  return ring->ops->unconsume(ring, values, at_most(n), drop, context);
}
