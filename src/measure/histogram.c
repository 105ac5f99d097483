#include "config.h"

#include "measure/histogram.h"

#include <string.h>

void cb_histogram_clear(struct cb_histogram *histogram)
{
  memset(histogram, 0, sizeof *histogram);
  histogram->least = UINT64_MAX;
}

void cb_histogram_add(struct cb_histogram *histogram, uint64_t value,
                      uint64_t count)
{
  if (count == 0)
    return;
  cb_histogram_record(histogram, value);
  histogram->buckets[cb_histogram_index(value)] += count - 1;
  histogram->count += count - 1;
}

void cb_histogram_merge(struct cb_histogram *into,
                        const struct cb_histogram *from)
{
  into->count += from->count;
  into->least = from->least < into->least ? from->least : into->least;
  into->most = from->most > into->most ? from->most : into->most;
  for (size_t i = 0; i < CB_HISTOGRAM_BUCKETS; i++)
    into->buckets[i] += from->buckets[i];
}

/* The inverse of cb_histogram_index. The first two octaves are one run of
 * buckets of a single value. */
static struct cb_bucket bucket_at(size_t index)
{
  size_t octave = index >> CB_HISTOGRAM_BITS;
  size_t shift = octave > 1 ? octave - 1 : 0;
  uint64_t low = (uint64_t)(index - (shift << CB_HISTOGRAM_BITS)) << shift;
  return (struct cb_bucket){.low = low,
                            .high = low + ((UINT64_C(1) << shift) - 1)};
}

size_t cb_histogram_next(const struct cb_histogram *histogram, size_t index,
                         struct cb_bucket *bucket)
{
  while (index < CB_HISTOGRAM_BUCKETS && histogram->buckets[index] == 0)
    index++;
  if (index >= CB_HISTOGRAM_BUCKETS)
    return 0;
  *bucket = bucket_at(index);
  bucket->count = histogram->buckets[index];
  return index + 1;
}

uint64_t cb_histogram_quantile(const struct cb_histogram *histogram, double p)
{
  struct cb_bucket bucket;
  uint64_t seen = 0, value = 0;
  /* A little less, for i / n * n may come out above i. */
  double wanted = p * (double)histogram->count * (1 - 1e-12);
  if (histogram->count == 0)
    return 0;
  for (size_t i = 0; (i = cb_histogram_next(histogram, i, &bucket));) {
    value = bucket.low + (bucket.high - bucket.low) / 2;
    seen += bucket.count;
    if ((double)seen >= wanted)
      break;
  }
  if (value < histogram->least)
    return histogram->least;
  return value > histogram->most ? histogram->most : value;
}
