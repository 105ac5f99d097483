/* names.h - names that people type: the nearest one to a misspelt word. */
#ifndef CB_BASE_NAMES_H
#define CB_BASE_NAMES_H

#include <stddef.h>

/* A search for the candidate nearest to word: start with { word }, offer every
 * candidate, then read nearest (NULL when none is near enough to suggest). */
struct cb_nearest {
  const char *word;
  const char *nearest;
  size_t distance; /* of nearest, in edits */
  size_t length;   /* of nearest */
};

void cb_nearest_offer(struct cb_nearest *search, const char *candidate);

#endif
