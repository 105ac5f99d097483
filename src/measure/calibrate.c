/*
 * calibrate.c - how many operations make a batch.
 *
 * Each step is the least of three probes: one interrupted probe would make all
 * batches of the run too short. Steps grow by eight while the batch is far from
 * its target and by two near it, are scaled once they can be, and verified. All
 * this is also the warm-up.
 *
 * An operation as long as a long batch is measured one at a time. An operation
 * of no time at all ends at 2^40 in a batch. A workload that says itself what a
 * batch is gets one probe, to warm up.
 */
#include "config.h"

#include "measure/calibrate.h"

#include "base/ticks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const uint64_t n_most = UINT64_C(1) << 40;

/* The longest bundle that variants share. */
static const uint64_t bundle_most = 1 << 20;

enum { PROBES = 3 };

struct search {
  struct cb_runner *runner;
  const struct cb_batch_limits *limits;
  struct cb_watchdog *watchdog;
  double target;
  double spent; /* ticks, what batches cost around them included */
  bool cut;     /* a batch ended before its n */
  bool warned;
};

/* The least time of some batches of n, or negative. What others took of a
 * batch is not counted, and neither is it spent: on a busy machine probes that
 * were interrupted would use up all patience, and n stay where it began. */
static double probe(struct search *search, uint64_t n, int batches)
{
  struct cb_runner *runner = search->runner;
  double least = INFINITY, quickest = INFINITY;
  for (int i = 1; i <= batches; i++) {
    struct cb_sample sample = {0};
    uint64_t before = cb_ticks_begin();
    cb_watchdog_enter(search->watchdog, runner);
    int status = cb_runner_batch(runner, n, &sample);
    search->warned = cb_watchdog_leave(search->watchdog);
    if (status < 0 || search->warned)
      return -1;
    runner->probe = sample;
    double worth = cb_runner_worth(runner, &sample);
    double around = (double)(cb_ticks_end() - before - sample.wall);
    least = fmin(least, worth);
    quickest = fmin(quickest, around + worth);
    search->cut |= sample.n < n * runner->slots[0].role->threads;
    if (search->spent + quickest * i > search->limits->patience)
      break;
  }
  search->spent += batches * quickest;
  return least;
}

static uint64_t scaled(uint64_t n, double by)
{
  double wanted = floor((double)n * by);
  if (wanted < 1)
    return 1;
  return wanted < (double)n_most ? (uint64_t)wanted : n_most;
}

/* Operations come in bundles of so many. In a batch of any other length the
 * last would be a shorter one, and all that follow would begin askew. */
static uint64_t bundle_of(const struct cb_runner *runner)
{
  return runner->work->batch_min > 0 ? runner->work->batch_min : 1;
}

/* n, or a little less, in whole bundles. */
static uint64_t whole(uint64_t n, uint64_t bundle)
{
  return n < bundle ? bundle : n - n % bundle;
}

static uint64_t most_of(const struct cb_runner *runner)
{
  uint64_t most = runner->work->batch_max;
  return most > 0 && most < n_most ? most : n_most;
}

/* Ticks of an operation. Some work does more of them than it is asked for,
 * because they come in bundles. */
static double cost_of(const struct cb_runner *runner, double wall, uint64_t n)
{
  uint64_t done = runner->probe.n / runner->slots[0].role->threads;
  return wall / (double)(done > n ? done : n);
}

static int find_n(struct search *search)
{
  struct cb_runner *runner = search->runner;
  uint64_t bundle = bundle_of(runner), n = bundle;
  uint64_t most = whole(most_of(runner), bundle);
  double wall = probe(search, n, PROBES);
  while (wall >= 0 && wall < search->target / 2 && n < most && !search->cut &&
         search->spent < search->limits->patience) {
    uint64_t factor = wall < search->target / 16 ? 8 : 2;
    n = n > most / factor ? most : n * factor;
    wall = probe(search, n, PROBES);
  }
  /* Scaled and verified, twice at most; without verification when there is no
   * time for it, since batches of 1 would be good for nothing. */
  double cost = cost_of(runner, wall, n);
  for (int i = 0; i < 2 && wall > 0 && !search->cut; i++) {
    double by = search->target / wall;
    uint64_t next = scaled(n, by);
    next = whole(next > most ? most : next, bundle);
    if (next == n || (by > 0.8 && by < 1.25))
      break;
    n = next;
    if (search->spent > search->limits->patience)
      break;
    wall = probe(search, n, PROBES);
    cost = cost_of(runner, wall, n);
  }
  if (wall < 0)
    return -1;
  if (search->cut) {
    n = runner->probe.n / runner->slots[0].role->threads;
    n = n > 0 ? n : 1;
  }
  runner->n = n;
  runner->cost = cost;
  return 0;
}

/* Do threads share a CPU? */
static bool is_crowded(const struct cb_runner *runner)
{
  for (unsigned i = 1; i < runner->threads; i++)
    for (unsigned j = 0; j < i; j++)
      if (runner->slots[i].cpu == runner->slots[j].cpu)
        return true;
  return false;
}

/* The workload's own wish, as far as there is time for it. */
static double target_of(const struct cb_runner *runner,
                        const struct cb_batch_limits *limits)
{
  double wanted = runner->work->batch_seconds * cb_clock()->hz;
  if (wanted > 0)
    return fmax(fmin(wanted, limits->patience), limits->least);
  if (is_crowded(runner))
    return limits->crowd;
  return runner->crew ? limits->crew : limits->target;
}

int cb_calibrate(struct cb_runner *runner, const struct cb_batch_limits *limits,
                 struct cb_watchdog *watchdog)
{
  struct search search = {.runner = runner,
                          .limits = limits,
                          .watchdog = watchdog,
                          .target = target_of(runner, limits)};
  uint64_t given = runner->variant->n;
  int status;
  if (given == 0)
    given = runner->work->batch_n;
  if (given > 0) {
    runner->n = given;
    double wall = probe(&search, runner->n, 1);
    runner->cost = cost_of(runner, wall, runner->n);
    status = runner->cost < 0 ? -1 : 0;
  } else
    status = find_n(&search);
  return search.warned ? -ETIMEDOUT : status;
}

/* ---- a shared n ---------------------------------------------------------- */

static int by_cost(const void *a, const void *b)
{
  const struct cb_runner *const *one = a, *const *two = b;
  return ((*one)->cost > (*two)->cost) - ((*one)->cost < (*two)->cost);
}

/* Those whose n is free: one thread, not given, and of an operation so short
 * that the count of a batch is a matter of choice. */
static bool is_free(const struct cb_runner *runner,
                    const struct cb_batch_limits *limits)
{
  return runner->ready && !runner->crew && runner->variant->n == 0 &&
         runner->work->batch_n == 0 && runner->work->batch_seconds == 0 &&
         runner->n > 0 && runner->n < n_most && runner->cost > 0 &&
         runner->cost <= limits->most;
}

/* A variant that comes late takes the n that others were given, if that suits
 * it. */
static bool adopt(struct cb_runner *runner, const struct cb_runner *runners,
                  size_t count, const struct cb_batch_limits *limits)
{
  for (size_t i = 0; i < count; i++) {
    uint64_t n = runners[i].variant->n;
    double batch = runner->cost * (double)n;
    if (n > 0 && !runners[i].crew && n <= most_of(runner) &&
        n % bundle_of(runner) == 0 && batch >= limits->least &&
        batch <= limits->most) {
      runner->n = n;
      return true;
    }
  }
  return false;
}

/* Sorted by cost; those that adopted an n are not among them. */
static size_t choose(struct cb_runner *runners, size_t count,
                     const struct cb_batch_limits *limits,
                     struct cb_runner **chosen)
{
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    if (is_free(&runners[i], limits) &&
        !adopt(&runners[i], runners, count, limits))
      chosen[found++] = &runners[i];
  }
  qsort(chosen, found, sizeof *chosen, by_cost);
  return found;
}

/* Says which variants have not the n of the first. */
static void note_own(struct cb_runner *runners, size_t count)
{
  const struct cb_runner *first = NULL;
  for (size_t i = 0; i < count; i++) {
    struct cb_runner *runner = &runners[i];
    if (!runner->ready || runner->crew)
      continue;
    first = first ? first : runner;
    runner->result->own_n = runner->n != first->n;
  }
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
  return b == 0 ? a : common_divisor(b, a % b);
}

/* The shortest bundle that is made of whole bundles of each, 0 when that is too
 * long. */
static uint64_t common_bundle(struct cb_runner *const *group, size_t size)
{
  uint64_t bundle = 1;
  for (size_t i = 0; i < size; i++) {
    uint64_t one = bundle_of(group[i]);
    if (one > bundle_most)
      return 0;
    bundle *= one / common_divisor(bundle, one);
    if (bundle > bundle_most)
      return 0;
  }
  return bundle;
}

/* The n for a group of ascending cost, 0 when there is none: the slowest fills
 * its target, unless the fastest would then drown in the clock's cost. For
 * whole bundles it may become half as long again, and no longer. */
static uint64_t common_n(struct cb_runner *const *group, size_t size,
                         const struct cb_batch_limits *limits)
{
  double slowest = group[size - 1]->cost;
  double low = ceil(limits->least / group[0]->cost);
  double high = floor(limits->most / slowest);
  for (size_t i = 0; i < size; i++)
    high = fmin(high, (double)most_of(group[i]));
  double bundle = (double)common_bundle(group, size);
  if (low > high || bundle == 0)
    return 0;
  double wanted = fmax(fmin(fmax(limits->target / slowest, low), high), 1);
  double n = floor(wanted / bundle) * bundle;
  if (n < low || n == 0)
    n += bundle;
  return n > high || n > 1.5 * wanted ? 0 : (uint64_t)n;
}

void cb_share_batches(struct cb_runner *runners, size_t count,
                      const struct cb_batch_limits *limits)
{
  struct cb_runner **chosen = calloc(count, sizeof *chosen);
  /* Without memory each keeps its own, which is good enough. */
  size_t left = chosen ? choose(runners, count, limits, chosen) : 0;
  struct cb_runner **group = chosen;
  while (left > 0) {
    size_t size = left;
    uint64_t n = 0;
    while (size > 1 && (n = common_n(group, size, limits)) == 0)
      size--;
    for (size_t i = 0; i < size && n > 0; i++)
      group[i]->n = n;
    group += size;
    left -= size;
  }
  note_own(runners, count);
  free(chosen);
}
