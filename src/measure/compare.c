/*
 * compare.c - is one of two variants faster?
 *
 * Two batches of one round lie a moment apart, so whatever slows the machine
 * slows both: the logarithm of their quotient is steady where neither of them
 * is. Its median in each process is one value; from the values of the
 * processes, which differ in the layout of memory and the hour, comes the
 * interval. From eight processes on it lies between two of the values
 * themselves, so that one process gone astray cannot widen it; of three to
 * seven it is Student's, which can. Fewer are no base for a verdict.
 *
 * The interval is widened by the bias that the harness may have, and the
 * verdict asks that the whole of it lie beyond the smallest effect that
 * matters: the place of the code in memory alone is worth one to two per cent.
 */
#include "config.h"

#include "measure/statistics.h"

#include "cbench.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double harness_bias = 0.001;
static const double default_effect = 0.02;
static const double error_rate = 0.05;
static const double rogue_effect = 0.02;

const char *cb_verdict_name(enum cb_verdict verdict)
{
  static const char *const names[] = {"unresolved", "same", "faster", "slower"};
  return names[verdict];
}

/* The log ratio of one round. */
struct pair {
  uint32_t fork;
  double log_ratio;
};

/* What one process says. */
struct fork {
  uint32_t fork;
  double log_ratio;
};

static int by_round(const void *a, const void *b)
{
  const struct cb_sample *one = a, *two = b;
  if (one->fork != two->fork)
    return one->fork < two->fork ? -1 : 1;
  return (one->round > two->round) - (one->round < two->round);
}

static struct cb_sample *sorted(const struct cb_sample *samples, size_t count)
{
  struct cb_sample *copy = malloc((count + 1) * sizeof *copy);
  if (!copy)
    return NULL;
  if (count > 0) {
    memcpy(copy, samples, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, by_round);
  }
  return copy;
}

static bool usable(const struct cb_sample *sample)
{
  return sample->n > 0 && sample->ticks > 0;
}

static double log_ratio(const struct cb_sample *a, const struct cb_sample *b)
{
  return log((double)a->ticks / (double)a->n) -
         log((double)b->ticks / (double)b->n);
}

/* Both sorted; what has no partner is passed over. */
static size_t pair_up(const struct cb_sample *a, size_t a_count,
                      const struct cb_sample *b, size_t b_count,
                      struct pair *pairs)
{
  size_t i = 0, j = 0, found = 0;
  while (i < a_count && j < b_count) {
    int order = by_round(&a[i], &b[j]);
    if (order == 0 && usable(&a[i]) && usable(&b[j]))
      pairs[found++] = (struct pair){a[i].fork, log_ratio(&a[i], &b[j])};
    i += order <= 0;
    j += order >= 0;
  }
  return found;
}

/* The pairs stand by process: one median for each. */
static unsigned medians(const struct pair *pairs, size_t count, double *values,
                        struct fork *forks)
{
  unsigned found = 0;
  for (size_t i = 0; i < count;) {
    size_t size = 0;
    uint32_t fork = pairs[i].fork;
    for (; i < count && pairs[i].fork == fork; i++)
      values[size++] = pairs[i].log_ratio;
    forks[found++] = (struct fork){fork, cb_median(values, size)};
  }
  return found;
}

static double deviation(const double *values, unsigned count, double mean)
{
  double sum = 0;
  for (unsigned i = 0; i < count; i++)
    sum += (values[i] - mean) * (values[i] - mean);
  return count > 1 ? sqrt(sum / (count - 1)) : NAN;
}

static double average(const double *values, unsigned count)
{
  double sum = 0;
  for (unsigned i = 0; i < count; i++)
    sum += values[i];
  return sum / count;
}

static void find_farthest(const struct fork *forks, unsigned count,
                          double middle, struct cb_comparison *comparison)
{
  double most = -1;
  for (unsigned i = 0; i < count; i++) {
    double distance = forks[i].log_ratio - middle;
    if (fabs(distance) > most) {
      most = fabs(distance);
      comparison->farthest = exp(distance);
      comparison->farthest_fork = forks[i].fork;
    }
  }
  comparison->rogue = most > log1p(rogue_effect);
}

/* Sorted log ratios of the processes to an interval of the ratio. */
static void find_interval(const double *values, unsigned count, double level,
                          struct cb_comparison *comparison)
{
  double low, high;
  if (count >= 8) {
    unsigned k = cb_order_statistic(count, level);
    low = values[k - 1];
    high = values[count - k];
    comparison->level = cb_coverage(count, k);
  } else {
    double half =
        cb_student(level, count - 1) * comparison->spread / sqrt((double)count);
    double mean = average(values, count);
    double middle = cb_quantile(values, count, 0.5);
    low = fmin(mean - half, middle);
    high = fmax(mean + half, middle);
    comparison->level = level;
  }
  comparison->low = exp(low) * (1 - harness_bias);
  comparison->high = exp(high) * (1 + harness_bias);
}

static void decide(double effect, struct cb_comparison *comparison)
{
  double above = 1 + effect, below = 1 / above;
  if (comparison->low > above)
    comparison->verdict = CB_SLOWER;
  else if (comparison->high < below)
    comparison->verdict = CB_FASTER;
  else if (comparison->low >= below && comparison->high <= above)
    comparison->verdict = CB_SAME;
  else
    comparison->reason = "the interval reaches over the smallest effect";
}

static void conclude(const struct fork *forks, unsigned count, double *values,
                     const struct cb_compare_options *options,
                     struct cb_comparison *comparison)
{
  static const char *const too_few[] = {"no rounds in common", "one process",
                                        "two processes"};
  double effect =
      options && options->min_effect > 0 ? options->min_effect : default_effect;
  unsigned rows = options && options->rows > 0 ? options->rows : 1;
  comparison->forks = count;
  if (count == 0) {
    comparison->reason = too_few[0];
    return;
  }
  for (unsigned i = 0; i < count; i++)
    values[i] = forks[i].log_ratio;
  cb_sort(values, count);
  double middle = cb_quantile(values, count, 0.5);
  comparison->ratio = exp(middle);
  comparison->spread = deviation(values, count, average(values, count));
  find_farthest(forks, count, middle, comparison);
  if (count < 3) {
    comparison->reason = too_few[count];
    return;
  }
  find_interval(values, count, 1 - error_rate / rows, comparison);
  decide(effect, comparison);
}

int cb_compare(const struct cb_sample *a, size_t a_count,
               const struct cb_sample *b, size_t b_count,
               const struct cb_compare_options *options,
               struct cb_comparison *comparison)
{
  *comparison = (struct cb_comparison){.ratio = NAN,
                                       .low = NAN,
                                       .high = NAN,
                                       .level = NAN,
                                       .spread = NAN,
                                       .farthest = NAN};
  size_t most = (a_count < b_count ? a_count : b_count) + 1;
  struct cb_sample *one = sorted(a, a_count), *two = sorted(b, b_count);
  struct pair *pairs = malloc(most * sizeof *pairs);
  struct fork *forks = malloc(most * sizeof *forks);
  double *values = malloc(most * sizeof *values);
  int status = -ENOMEM;
  if (one && two && pairs && forks && values) {
    size_t count = pair_up(one, a_count, two, b_count, pairs);
    unsigned found = medians(pairs, count, values, forks);
    conclude(forks, found, values, options, comparison);
    status = 0;
  }
  free(values);
  free(forks);
  free(pairs);
  free(two);
  free(one);
  return status;
}
