/*
 * histogram.h - how often each value came, to within 1 %.
 *
 * Values below 128 have a bucket each. Above, every octave (from a power of two
 * to the next) is cut into 64 equal buckets, so a bucket is never wider than
 * 1/64 of its values, and the middle of it never wrong by more than 1/128.
 * Buckets stand at the same places in every histogram, so two are merged by
 * adding, and the whole range of 64 bits takes 30 KiB.
 *
 * One thread records into one histogram; merge when the threads are done.
 */
#ifndef CB_MEASURE_HISTOGRAM_H
#define CB_MEASURE_HISTOGRAM_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

enum {
  CB_HISTOGRAM_BITS = 6,
  CB_HISTOGRAM_BUCKETS = (65 - CB_HISTOGRAM_BITS) << CB_HISTOGRAM_BITS
};

struct cb_histogram {
  uint64_t count, least, most;
  uint64_t buckets[CB_HISTOGRAM_BUCKETS];
};

/* Where a value is counted: how far it must be shifted to keep its seven
 * leading bits, and these. */
CB_INLINE size_t cb_histogram_index(uint64_t value)
{
  int leading = 63 - __builtin_clzll(value | 1);
  int shift = leading > CB_HISTOGRAM_BITS ? leading - CB_HISTOGRAM_BITS : 0;
  return ((size_t)shift << CB_HISTOGRAM_BITS) + (size_t)(value >> shift);
}

CB_INLINE void cb_histogram_record(struct cb_histogram *histogram,
                                   uint64_t value)
{
  histogram->buckets[cb_histogram_index(value)]++;
  histogram->count++;
  if (value < histogram->least)
    histogram->least = value;
  if (value > histogram->most)
    histogram->most = value;
}

/* Empties it; also the first thing to do. */
void cb_histogram_clear(struct cb_histogram *histogram);
/* Adds count values at once. */
void cb_histogram_add(struct cb_histogram *histogram, uint64_t value,
                      uint64_t count);
void cb_histogram_merge(struct cb_histogram *into,
                        const struct cb_histogram *from);
/* The value that a share p (0 to 1) of all do not exceed: the middle of its
 * bucket, but never outside what was recorded; 0 of an empty histogram. */
uint64_t cb_histogram_quantile(const struct cb_histogram *histogram, double p);

/* The values that a bucket counts: from low to high, both included. */
struct cb_bucket {
  uint64_t low, high, count;
};
/* The first bucket at or after index that is not empty; returns the index to
 * go on with, or 0 when there is none. Start at 0. Adding low, count times, to
 * another histogram makes an equal one, but for least and most. */
size_t cb_histogram_next(const struct cb_histogram *histogram, size_t index,
                         struct cb_bucket *bucket);

#endif
