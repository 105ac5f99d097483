/* known.h - what a peer cannot do, by its own design or documentation. The
 * tests of its family skip it by name and say why. */
#ifndef CB_TEST_KNOWN_H
#define CB_TEST_KNOWN_H

#include <stddef.h>
#include <string.h>

static const struct {
  const char *kind, *test, *reason;
} known_limits[] = {
    /* kind, test, why */
    {"pcl", "a_coroutine_changes_threads",
     "libpcl 1.12 keeps who resumes whom in the state of a thread "
     "(pcl.c, co_resume)"},
    {"moodycamel_cq", "model_is_matched",
     "a block of 32 slots is free again when all of it was dequeued, and how "
     "many fit is not told (concurrentqueue.h, try_enqueue)"},
};

/* Why the test is not for the kind, or NULL. */
static inline const char *known_limit(const char *kind, const char *test)
{
  for (size_t i = 0; i < sizeof known_limits / sizeof *known_limits; i++)
    if (strcmp(known_limits[i].kind, kind) == 0 &&
        strcmp(known_limits[i].test, test) == 0)
      return known_limits[i].reason;
  return NULL;
}

#endif
