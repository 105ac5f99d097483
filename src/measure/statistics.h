/* statistics.h - the few numbers that the method needs. */
#ifndef CB_MEASURE_STATISTICS_H
#define CB_MEASURE_STATISTICS_H

#include <stddef.h>

/* The quantile p of sorted values, between neighbours by their distance; NaN
 * of none. */
double cb_quantile(const double *sorted, size_t count, double p);
void cb_sort(double *values, size_t count);
/* Sorts. */
double cb_median(double *values, size_t count);

/* The t with P(|T| <= t) = level, for so many degrees of freedom (>= 1). */
double cb_student(double level, unsigned freedom);

/* The probability that the median lies between the k-th smallest and the k-th
 * largest of n independent values. */
double cb_coverage(unsigned n, unsigned k);
/* The largest k whose coverage is at least level, else 1. */
unsigned cb_order_statistic(unsigned n, double level);

#endif
