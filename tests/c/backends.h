/* backends.h - runs a list of tests once for each back end there is. */
#ifndef CB_TEST_BACKENDS_H
#define CB_TEST_BACKENDS_H

#include "known.h"
#include "plugins.h"
#include "test.h"

#include "coroutine/backend.h"
#include "coroutine/kinds.h"
#include "pool/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Their runtimes die where a program gets an error: without mappings. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* A pool for the back end (an option of it may be set) and the policy. */
static inline struct cb_pool *new_pool(const char *backend, const char *policy,
                                       const struct cb_stack_options *stack)
{
  struct cb_error error = {0};
  struct cb_pool_options options = {0};
  struct cb_spec *of_policy = cb_spec_create(&cb_pool_family, policy, &error);
  struct cb_spec *of_backend =
      cb_spec_create(&cb_backend_family, backend, &error);
  options.policy = of_policy;
  options.backend = of_backend;
  if (stack)
    options.stack = *stack;
  struct cb_pool *pool = cb_pool_create(&options, &error);
  if (!pool)
    fail_msg("%s", error.text);
  cb_spec_destroy(of_policy);
  cb_spec_destroy(of_backend);
  return pool;
}

static inline struct cb_pool_stats stats_of(struct cb_pool *pool)
{
  struct cb_pool_stats stats;
  cb_pool_stats(pool, &stats);
  return stats;
}

/* Every coroutine has ended and none is lost; then the pool goes. */
static inline void end_pool(struct cb_pool *pool)
{
  struct cb_error error = {0};
  struct cb_pool_stats stats = stats_of(pool);
  assert_int_equal(stats.live, 0);
  assert_int_equal(stats.fresh, stats.deleted + stats.idle);
  if (cb_pool_destroy(pool, &error) < 0)
    fail_msg("%s", error.text);
}

/* The i-th back end that coroutines can be created on, or NULL. */
static inline const char *real_backend(size_t i)
{
  const struct cb_kind *kind;
  for (size_t at = 0; (kind = cb_kind_at(&cb_backend_family, at)); at++)
    if (!(kind->flags & CB_KIND_COMPARISON) && i-- == 0)
      return kind->name;
  return NULL;
}

static inline void skip_known(void **state)
{
  (void)state;
  skip();
}

/* Runs the plain tests, then each of the others once for each kind of the
 * family that is no comparison, with its name as *state. */
static inline int run_on_kinds(const char *group,
                               const struct cb_family *family,
                               const struct CMUnitTest *plain,
                               size_t plain_count,
                               const struct CMUnitTest *tests, size_t count)
{
  enum { MOST = 160 };
  static struct CMUnitTest all[MOST];
  static char names[MOST][80];
  const struct cb_kind *kind;
  size_t total = 0;
  load_test_plugins();
  for (; total < plain_count; total++)
    all[total] = plain[total];
  for (size_t i = 0; (kind = cb_kind_at(family, i)); i++)
    for (size_t j = 0; j < count && total < MOST; j++) {
      if (kind->flags & CB_KIND_COMPARISON)
        continue;
      snprintf(names[total], sizeof names[total], "%s: %s", kind->name,
               tests[j].name);
      all[total] = tests[j];
      const char *reason = known_limit(kind->name, tests[j].name);
      if (reason) {
        printf("# %s: %s\n", names[total], reason);
        all[total].test_func = skip_known;
      }
      all[total].name = names[total];
      all[total++].initial_state = (void *)(uintptr_t)kind->name;
    }
  return _cmocka_run_group_tests(group, all, total, NULL, NULL);
}

#endif
