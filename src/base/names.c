#include "base/names.h"

#include <string.h>

enum { LONGEST = 40 };

static size_t smallest(size_t a, size_t b, size_t c)
{
  size_t least = a < b ? a : b;
  return least < c ? least : c;
}

/* Edits (insert, delete, replace, swap of neighbours) that turn a into b. */
static size_t edit_distance(const char *a, size_t a_length, const char *b,
                            size_t b_length)
{
  size_t rows[3][LONGEST + 1];
  size_t *before = rows[0], *above = rows[1], *row = rows[2];

  for (size_t j = 0; j <= b_length; j++)
    above[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      row[j] = smallest(above[j] + 1, row[j - 1] + 1,
                        above[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          before[j - 2] + 1 < row[j])
        row[j] = before[j - 2] + 1;
    }
    size_t *oldest = before;
    before = above;
    above = row;
    row = oldest;
  }
  return above[b_length];
}

void cb_nearest_offer(struct cb_nearest *search, const char *candidate)
{
  size_t word_length = strlen(search->word);
  size_t length = strlen(candidate);
  if (word_length == 0 || word_length > LONGEST || length > LONGEST)
    return;

  size_t distance = edit_distance(search->word, word_length, candidate, length);
  /* A third of the letters may be wrong, at least one; beginnings count. */
  size_t allowed = word_length / 3 > 1 ? word_length / 3 : 1;
  if (strncmp(search->word, candidate, word_length) == 0)
    distance = 1;
  /* Of several that a word begins, the shortest: the others go on from it. */
  if (distance <= allowed &&
      (!search->nearest || distance < search->distance ||
       (distance == search->distance && length < search->length))) {
    search->length = length;
    search->nearest = candidate;
    search->distance = distance;
  }
}
