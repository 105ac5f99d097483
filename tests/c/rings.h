/*
 * rings.h - every ring there is to test: each kind of the family, whoever
 * registered it, with each combination of its choices and switches.
 */
#ifndef CB_TEST_RINGS_H
#define CB_TEST_RINGS_H

#include "cbench.h"
#include "known.h"
#include "plugins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void ring_visit(struct cb_spec *spec, const char *label, void *context);

static inline bool has_option(const struct cb_spec *spec, const char *name)
{
  const struct cb_option *option = cb_spec_kind(spec)->options;
  while (option && option->name && strcmp(option->name, name) != 0)
    option++;
  return option && option->name;
}

/* Sets option number `at` and those after it to each of their words. How a
 * ring waits is not what tells one from another. */
static inline void visit_options(struct cb_spec *spec,
                                 const struct cb_option *option,
                                 const char *label, ring_visit *visit,
                                 void *context)
{
  char longer[128], words[256];
  if (!option || !option->name) {
    visit(spec, label, context);
    return;
  }
  bool choice = option->type == CB_CHOICE && strcmp(option->name, "wait") != 0;
  if (!choice && option->type != CB_BOOLEAN) {
    visit_options(spec, option + 1, label, visit, context);
    return;
  }
  snprintf(words, sizeof words, "%s", choice ? option->choices : "false|true");
  for (char *rest = words, *word; (word = strtok_r(rest, "|", &rest));) {
    if (choice)
      cb_spec_set_string(spec, option->name, word, NULL);
    else
      cb_spec_set_boolean(spec, option->name, word[0] == 't', NULL);
    snprintf(longer, sizeof longer, "%.60s %.20s=%.20s", label, option->name,
             word);
    visit_options(spec, option + 1, longer, visit, context);
  }
}

/* Rings that keep no elements are left out. */
static inline void visit_rings(ring_visit *visit, void *context)
{
  const struct cb_family *family = cb_family_find("ring");
  const struct cb_kind *kind;
  load_test_plugins();
  for (size_t i = 0; (kind = cb_kind_at(family, i)); i++) {
    if (((const struct cb_ring_kind *)kind)->limits.forgets)
      continue;
    struct cb_spec *spec = cb_spec_create(family, kind->name, NULL);
    visit_options(spec, kind->options, kind->name, visit, context);
    cb_spec_destroy(spec);
  }
}

/* The same without what only changes how many fit: threads cannot tell. */
struct visit_between {
  ring_visit *visit;
  void *context;
};

static inline void visit_inexact(struct cb_spec *spec, const char *label,
                                 void *context)
{
  const struct visit_between *between = context;
  if (!has_option(spec, "exact") || !cb_spec_boolean(spec, "exact"))
    between->visit(spec, label, between->context);
}

static inline void visit_rings_between(ring_visit *visit, void *context)
{
  struct visit_between between = {visit, context};
  visit_rings(visit_inexact, &between);
}

/* A ring of that size, or NULL where the kind does not take it. */
static inline struct cb_ring *make_ring(struct cb_spec *spec, int64_t size)
{
  if (cb_spec_set_integer(spec, "size", size, NULL) < 0)
    return NULL;
  return cb_ring_create(spec, NULL);
}

/* A generator of its own, so that a printed seed repeats a run anywhere. */
static inline uint32_t draw(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

/* From CB_TEST_SEED or the clock; printed. */
static inline uint64_t test_seed(void)
{
  const char *given = getenv("CB_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
  printf("# CB_TEST_SEED=%llu\n", (unsigned long long)seed);
  return seed;
}

#endif
