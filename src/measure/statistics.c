#include "config.h"

#include "measure/statistics.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
  double one = *(const double *)a, two = *(const double *)b;
  return (one > two) - (one < two);
}

void cb_sort(double *values, size_t count)
{
  if (count > 1)
    qsort(values, count, sizeof *values, ascending);
}

double cb_quantile(const double *sorted, size_t count, double p)
{
  if (count == 0)
    return NAN;
  double place = p * (double)(count - 1);
  size_t below = (size_t)place;
  if (below + 1 >= count)
    return sorted[count - 1];
  double part = place - (double)below;
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double cb_median(double *values, size_t count)
{
  cb_sort(values, count);
  return cb_quantile(values, count, 0.5);
}

/* P(|T| <= t) for whole degrees of freedom, by the finite trigonometric sums of
 * Abramowitz and Stegun 26.7.3 and 26.7.4. */
static double student_level(double t, unsigned freedom)
{
  double angle = atan(t / sqrt(freedom));
  double cosine = cos(angle), square = cosine * cosine;
  double term = freedom % 2 ? cosine : 1, sum = 0;
  for (unsigned i = freedom % 2 ? 3 : 2; i <= freedom; i += 2) {
    sum += term;
    term *= square * (i - 1) / i;
  }
  if (freedom % 2)
    return (angle + sin(angle) * sum) / acos(0);
  return sin(angle) * sum;
}

double cb_student(double level, unsigned freedom)
{
  double low = 0, high = 1;
  while (student_level(high, freedom) < level && high < 1e9)
    high *= 2;
  for (int i = 0; i < 100; i++) {
    double middle = (low + high) / 2;
    if (student_level(middle, freedom) < level)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

/* Each value lies below the median with probability 1/2, so the number of those
 * below is binomial. */
double cb_coverage(unsigned n, unsigned k)
{
  double outside = 0, ways = exp2(-(double)n);
  for (unsigned i = 0; i < k; i++) {
    outside += ways;
    ways *= (double)(n - i) / (i + 1);
  }
  return 1 - 2 * outside;
}

unsigned cb_order_statistic(unsigned n, double level)
{
  unsigned k = 1;
  while (2 * (k + 1) <= n && cb_coverage(n, k + 1) >= level)
    k++;
  return k;
}
