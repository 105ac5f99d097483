#include "workload/rings.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- between batches ---- */

static void take_out(void *context, uint64_t value)
{
  struct ring_work *work = context;
  work->out_count++;
  work->out_sum += value;
}

static void empty(struct ring_work *work)
{
  cb_ring_drain(work->ring, take_out, work);
}

/* The prefill is numbered from 1: no element is 0. */
static int fill(struct ring_work *work, struct cb_error *error)
{
  for (uint64_t i = 1; i <= work->prefill; i++) {
    if (!work->ring->ops->enqueue(work->ring, i))
      return cb_fail(
          error, -ENOBUFS, "the ring was full at %llu of %llu elements",
          (unsigned long long)i - 1, (unsigned long long)work->prefill);
    work->in_count++;
    work->in_sum += i;
  }
  return 0;
}

static int prepare(void *opaque, uint64_t n, struct cb_error *error)
{
  struct ring_work *work = opaque;
  (void)n;
  int status = cb_ring_claim(&work->loan, error);
  if (status < 0 || !work->refill)
    return status;
  empty(work);
  return fill(work, error);
}

/* ---- the proof ---- */

static unsigned threads_of(const struct ring_work *work)
{
  return work->roles[0].threads + work->roles[1].threads;
}

static bool was_stopped(const struct ring_work *work)
{
  return cb_ring_stopped(work->control) || cb_ring_is_broken(work->ring);
}

/* Threads that wait for each other's time slices do not fail, they crawl. */
static int convoy(const struct ring_work *work, struct cb_error *error)
{
  bool broken = cb_ring_is_broken(work->ring);
  enum cb_wait wait = broken ? work->ring->wait : work->wait;
  return cb_fail(
      error, -ETIMEDOUT,
      "convoy: %u threads waited %s until they were stopped%s",
      threads_of(work), broken ? "for their turn in the ring" : "at the ring",
      wait == CB_WAIT_YIELD ? ", though they gave the CPU away"
                            : " (wait = \"yield\" gives the CPU away)");
}

struct tally {
  uint64_t count, sum;
};

static int compare(const struct ring_work *work, const struct tally *in,
                   const struct tally *out, struct cb_error *error)
{
  if (work->ring->limits.forgets)
    return 0;
  if (in->count != out->count)
    return cb_fail(error, -EPROTO, "%llu elements went in, %llu came out",
                   (unsigned long long)in->count,
                   (unsigned long long)out->count);
  if (in->sum != out->sum)
    return cb_fail(error, -EPROTO,
                   "%llu elements moved, but not those that went in: the sums "
                   "are %llx and %llx",
                   (unsigned long long)in->count, (unsigned long long)in->sum,
                   (unsigned long long)out->sum);
  return 0;
}

/* One thread that puts in and takes out waits for nobody: where it ended early,
 * the ring had no room. */
static int check_room(const struct ring_work *work, struct cb_error *error)
{
  const struct cb_ring *ring = work->ring;
  const struct ring_lane *lane = &work->lanes[0];
  if (work->roles[1].threads > 0 || lane->done == lane->asked)
    return 0;
  return cb_fail(
      error, -ENOSPC, "%s of %llu elements had no room for %u more%s",
      ring->kind->kind.name, (unsigned long long)cb_ring_fits(ring),
      work->burst,
      ring->limits.lazy_free ? ": it frees its slots in batches" : "");
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  struct ring_work *work = opaque;
  uint64_t done = 0;
  if (was_stopped(work))
    return convoy(work, error);
  int status = check_room(work, error);
  if (status == 0)
    status = cb_ring_claim(&work->loan, error);
  if (status < 0)
    return status;
  empty(work);
  struct tally in = {work->in_count, work->in_sum};
  struct tally out = {work->out_count, work->out_sum};
  for (unsigned i = 0; i < threads_of(work); i++) {
    const struct ring_lane *lane = &work->lanes[i];
    unsigned does = work->does[i >= work->roles[0].threads];
    done += lane->done;
    in.count += does & RING_GIVES ? lane->done : 0;
    in.sum += lane->pass.given;
    out.count += does & RING_TAKES ? lane->done : 0;
    out.sum += lane->pass.taken;
  }
  if (done != operations)
    return cb_fail(error, -EPROTO, "%llu of %llu operations were counted",
                   (unsigned long long)done, (unsigned long long)operations);
  return compare(work, &in, &out, error);
}

/* ---- setting up ---- */

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct ring_work *work = opaque;
  work->control = control;
  work->ring->control = control;
  if (work->back)
    work->back->control = control;
  work->in_count = work->in_sum = work->out_count = work->out_sum = 0;
  for (unsigned i = 0; i < threads_of(work); i++)
    work->lanes[i] = (struct ring_lane){.pass = {.control = control,
                                                 .values = &work->values,
                                                 .burst = work->burst,
                                                 .wait = work->wait}};
  return work->lent ? cb_ring_borrow(&work->loan, work->ring, control, take_out,
                                     work, error)
                    : 0;
}

static void teardown(void *opaque)
{
  struct ring_work *work = opaque;
  work->ring->control = NULL;
  cb_ring_return(&work->loan);
}

static void free_work(struct ring_work *work)
{
  if (!work->lent)
    cb_ring_destroy(work->ring);
  cb_ring_destroy(work->back);
  cb_ring_forget(&work->loan);
  free(work->lanes);
  free(work);
}

static void destroy(struct cb_workload *workload)
{
  free_work(workload->state);
}

/* ---- creating ---- */

/* Kinds whose rings take so many threads on that side, in words. */
static void name_able(char *words, size_t size, bool producers)
{
  const struct cb_kind *kind;
  size_t length = 0;
  words[0] = '\0';
  for (size_t i = 0; (kind = cb_kind_at(&cb_ring_family, i)); i++) {
    const struct cb_ring_limits *limits =
        &((const struct cb_ring_kind *)kind)->limits;
    if ((producers ? limits->producers : limits->consumers) == 0 &&
        length + strlen(kind->name) + 3 < size)
      length += (size_t)snprintf(words + length, size - length, "%s%s",
                                 length ? ", " : "", kind->name);
  }
}

static int check_side(const struct cb_ring *ring, bool producers,
                      uint32_t threads, struct cb_error *error)
{
  const struct cb_ring_limits *limits = &ring->limits;
  const struct cb_ring_limits *most = &ring->kind->limits;
  uint32_t limit = producers ? limits->producers : limits->consumers;
  char able[128], few[32] = "one";
  if (limit == 0 || threads <= limit)
    return 0;
  if (limit > 1)
    snprintf(few, sizeof few, "%u", limit);
  name_able(able, sizeof able, producers);
  return cb_fail(error, -ENOTSUP, "%s%s: %s %s%s, got %u (any number: %s)",
                 ring->kind->kind.name,
                 (producers ? most->producers : most->consumers) == limit
                     ? ""
                     : " with these options",
                 few, producers ? "producer" : "consumer",
                 limit == 1 ? "" : "s", threads, able);
}

int cb_ring_check_threads(const struct cb_ring *ring, uint32_t producers,
                          uint32_t consumers, struct cb_error *error)
{
  int status = check_side(ring, true, producers, error);
  return status < 0 ? status : check_side(ring, false, consumers, error);
}

static int check_job(const struct ring_work *work, const struct ring_job *job,
                     struct cb_error *error)
{
  const struct cb_ring *ring = work->ring;
  const char *name = ring->kind->kind.name;
  uint64_t capacity = cb_ring_fits(ring);
  if ((uint64_t)job->burst > capacity)
    return cb_fail(error, -ENOTSUP,
                   "%s: a burst of %lld does not fit into %llu elements", name,
                   (long long)job->burst, (unsigned long long)capacity);
  /* Who puts in before taking out needs room for one more. */
  bool alone = job->roles[1].threads == 0;
  if (job->prefill >= 0 && (uint64_t)job->prefill + alone > capacity)
    return cb_fail(error, -ENOTSUP,
                   "%s: a prefill of %lld%s does not fit into %llu elements",
                   name, (long long)job->prefill, alone ? " and one more" : "",
                   (unsigned long long)capacity);
  if (job->round_trip && work->lent)
    return cb_fail(
        error, -EINVAL,
        "a round trip needs two rings: give the kind, not an object");
  return cb_ring_check_threads(ring, job->producers, job->consumers, error);
}

/* Numbers without a pattern that a ring could keep by mistake; none is 0. */
static void make_values(struct cb_ring_values *values)
{
  for (uint32_t i = 0; i < CB_RING_TABLE + CB_RING_BURST_MAX; i++)
    values->value[i] = (i % CB_RING_TABLE + 1) * 0x9e3779b97f4a7c15;
  values->below[0] = 0;
  for (uint32_t i = 0; i < CB_RING_TABLE; i++)
    values->below[i + 1] = values->below[i] + values->value[i];
}

static int make_rings(struct ring_work *work, const struct ring_job *job,
                      const struct cb_spec *ring, struct cb_error *error)
{
  struct cb_error trouble = {.code = -EINVAL};
  work->ring = cb_spec_object(ring);
  work->lent = work->ring != NULL;
  if (!work->ring)
    work->ring = cb_ring_create(ring, &trouble);
  if (work->ring && job->round_trip && !work->lent)
    work->back = cb_ring_create(ring, &trouble);
  if (!work->ring || (job->round_trip && !work->lent && !work->back))
    return cb_fail(error, trouble.code, "%s", trouble.text);
  return 0;
}

enum cb_wait cb_ring_loop_wait(const struct cb_spec *spec, unsigned threads)
{
  if (strcmp(cb_spec_string(spec, "wait"), "auto") != 0)
    return cb_ring_wait_of(spec);
  return threads > cb_cpus_allowed(NULL, 0) ? CB_WAIT_YIELD : CB_WAIT_PAUSE;
}

size_t cb_ring_counters(struct ring_work *work, struct cb_counter *list,
                        size_t capacity, enum cb_counter_type type,
                        const char *const names[2],
                        double (*figure)(struct ring_work *work, unsigned role))
{
  if (capacity < 2)
    return 0;
  for (unsigned role = 0; role < 2; role++)
    list[role] = (struct cb_counter){names[role], type, figure(work, role)};
  return 2;
}

static struct ring_work *new_work(const struct ring_job *job)
{
  struct ring_work *work = cb_memory_apart(sizeof *work);
  if (!work)
    return NULL;
  memcpy(work->roles, job->roles, sizeof work->roles);
  memcpy(work->does, job->does, sizeof work->does);
  work->burst = (uint32_t)job->burst;
  work->wait = job->wait;
  make_values(&work->values);
  work->lanes = cb_memory_apart(threads_of(work) * sizeof *work->lanes);
  if (!work->lanes) {
    free(work);
    return NULL;
  }
  return work;
}

/* What a ring forgets need not be put in. */
static uint64_t prefill_of(const struct cb_ring *ring, int64_t wanted)
{
  if (ring->limits.forgets)
    return 0;
  return wanted < 0 ? cb_ring_fits(ring) / 2 : (uint64_t)wanted;
}

int cb_ring_workload(const struct ring_job *job, const struct cb_spec *spec,
                     struct cb_workload *workload, struct cb_error *error)
{
  struct ring_work *work = new_work(job);
  if (!work)
    return cb_fail(error, -ENOMEM, "out of memory");
  int status = make_rings(work, job, cb_spec_spec(spec, "ring"), error);
  if (status == 0)
    status = check_job(work, job, error);
  if (status < 0) {
    free_work(work);
    return status;
  }
  work->loops = job->by_pointer ? &cb_ring_pointer_loops : work->ring->loops;
  work->prefill = prefill_of(work->ring, job->prefill);
  work->refill = work->prefill > 0 || job->wait == CB_WAIT_NEVER;
  *workload = (struct cb_workload){.operation = job->operation,
                                   .state = work,
                                   .roles = work->roles,
                                   .role_count = job->roles[1].threads ? 2 : 1,
                                   .batch_min = (uint64_t)job->burst,
                                   .batch_n = job->batch_n,
                                   .batch_cap = job->batch_cap,
                                   .setup = setup,
                                   .prepare = prepare,
                                   .check = check,
                                   .counters = job->counters,
                                   .teardown = teardown,
                                   .destroy = destroy};
  return 0;
}
