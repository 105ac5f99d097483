/*
 * estimate.c - what one operation took, from all the batches there are.
 *
 * Noise only ever adds, so the 10th percentile of undisturbed batches is what
 * the machine can do (`fast`), and their median what it mostly does
 * (`typical`); the mean is neither. No batch is left out for being slow, only
 * for a cause that was counted.
 *
 * A machine can have two modes, unnoticed by everything it counts: a neighbour
 * on the other thread of the core, say. The canary shows them. Not every
 * operation feels them (a chain of adds does not), so rounds of a slow canary
 * are left out only for those that do, and only their absolute figures are void
 * when the fast mode was hardly seen. Ratios of paired rounds need none of
 * this.
 */
#include "config.h"

#include "cbench.h"
#include "measure/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double slow_canary = 1.05;
static const double felt = 1.05;       /* slow rounds against fast ones */
static const double noisy = 0.10;      /* share of disturbed rounds */
static const double void_below = 0.10; /* share of fast rounds */

enum { FEW = 5 }; /* rounds that a median can be built on */

const char *cb_status_name(enum cb_status status)
{
  static const char *const names[] = {"ok", "fail", "partial", "n/a"};
  return names[status];
}

const char *cb_noise_name(enum cb_noise noise)
{
  static const char *const names[] = {"ok", "noisy", "void"};
  return names[noise];
}

void cb_classify(struct cb_sample *samples, size_t count)
{
  uint32_t best[2] = {UINT32_MAX, UINT32_MAX};
  for (size_t i = 0; i < count; i++)
    for (int j = 0; j < 2; j++)
      if (samples[i].canary[j] > 0 && samples[i].canary[j] < best[j])
        best[j] = samples[i].canary[j];
  for (size_t i = 0; i < count; i++) {
    samples[i].causes &= ~(uint32_t)CB_HOST_SLOW;
    for (int j = 0; j < 2; j++)
      if (samples[i].canary[j] > slow_canary * best[j])
        samples[i].causes |= CB_HOST_SLOW;
  }
}

static double per_operation(const struct cb_sample *sample)
{
  return (double)sample->ticks / (double)sample->n;
}

/* Ticks per operation of the samples that count and whose causes, as far as
 * mask goes, are exactly wanted; sorted. */
static size_t select_ticks(const struct cb_sample *samples, size_t count,
                           uint32_t mask, uint32_t wanted, double *values)
{
  size_t found = 0;
  for (size_t i = 0; i < count; i++)
    if (samples[i].n > 0 && (samples[i].causes & mask) == wanted)
      values[found++] = per_operation(&samples[i]);
  cb_sort(values, found);
  return found;
}

static const uint32_t any_cause = ~(uint32_t)0;

/* Does the operation take longer when the canary does? */
static bool feels_mode(const struct cb_sample *samples, size_t count,
                       double *values)
{
  size_t slow = select_ticks(samples, count, any_cause, CB_HOST_SLOW, values);
  double slow_median = cb_quantile(values, slow, 0.5);
  size_t fast = select_ticks(samples, count, any_cause, 0, values);
  /* Too few to tell by the median: then by the best there was. */
  double fast_median = cb_quantile(values, fast, fast < FEW ? 0 : 0.5);
  return slow >= FEW && fast > 0 && slow_median > felt * fast_median;
}

static void count_causes(const struct cb_sample *samples, size_t count,
                         struct cb_estimate *estimate)
{
  size_t disturbed = 0, each[CB_CAUSE_COUNT] = {0};
  for (size_t i = 0; i < count; i++) {
    if (samples[i].n == 0)
      continue;
    disturbed += samples[i].causes != 0;
    for (unsigned j = 0; j < CB_CAUSE_COUNT; j++)
      each[j] += samples[i].causes >> j & 1;
  }
  double rounds = (double)(estimate->rounds > 0 ? estimate->rounds : 1);
  estimate->disturbed = (double)disturbed / rounds;
  for (unsigned j = 0; j < CB_CAUSE_COUNT; j++)
    estimate->shares[j] = (double)each[j] / rounds;
}

/* The canary's slow rounds disturb only those who feel them. */
static enum cb_noise grade(const struct cb_estimate *estimate,
                           size_t undisturbed)
{
  double rounds = (double)estimate->rounds;
  double fast = 1 - estimate->shares[CB_CAUSE_COUNT - 1];
  if (estimate->feels_mode && fast < void_below)
    return CB_NOISE_VOID;
  return rounds - (double)undisturbed > noisy * rounds ? CB_NOISE_NOISY
                                                       : CB_NOISE_OK;
}

static void estimate_rate(const struct cb_sample *samples, size_t count,
                          double *values, struct cb_estimate *estimate)
{
  size_t found = 0;
  for (size_t i = 0; i < count; i++)
    if (samples[i].n > 0)
      values[found++] = (double)samples[i].wall / (double)samples[i].n;
  double wall = cb_median(values, found);
  estimate->per_second = wall > 0 ? cb_clock()->hz / wall : NAN;
}

/* Twenty times the cost of reading the clock is the least that a batch must
 * take to be told from an empty one. */
static bool is_below_resolution(const struct cb_sample *samples, size_t count,
                                double *values)
{
  size_t found = 0;
  for (size_t i = 0; i < count; i++)
    if (samples[i].n > 0)
      values[found++] = (double)samples[i].wall;
  return found > 0 &&
         cb_median(values, found) <= 20 * fmax(cb_clock()->cost, 1);
}

int cb_estimate(const struct cb_sample *samples, size_t count,
                struct cb_estimate *estimate)
{
  *estimate = (struct cb_estimate){.fast = NAN,
                                   .typical = NAN,
                                   .p90 = NAN,
                                   .min = NAN,
                                   .max = NAN,
                                   .per_second = NAN};
  double *values = calloc(count + 1, sizeof *values);
  if (!values)
    return -ENOMEM;
  size_t rounds = select_ticks(samples, count, 0, 0, values);
  estimate->rounds = rounds;
  estimate->min = cb_quantile(values, rounds, 0);
  estimate->p90 = cb_quantile(values, rounds, 0.9);
  estimate->max = cb_quantile(values, rounds, 1);

  count_causes(samples, count, estimate);
  estimate->feels_mode = feels_mode(samples, count, values);
  uint32_t mask = any_cause;
  if (!estimate->feels_mode)
    mask &= ~(uint32_t)CB_HOST_SLOW;
  size_t clean = select_ticks(samples, count, mask, 0, values);
  estimate->noise = grade(estimate, clean);
  if (clean == 0) /* every round had a cause: all of them, and noisy */
    clean = select_ticks(samples, count, 0, 0, values);
  estimate->fast = cb_quantile(values, clean, 0.1);
  estimate->typical = cb_quantile(values, clean, 0.5);

  estimate_rate(samples, count, values, estimate);
  estimate->below_resolution = is_below_resolution(samples, count, values);
  free(values);
  return 0;
}
