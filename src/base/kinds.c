/*
 * kinds.c - the kinds of a family: those in its table, then those added.
 *
 * Added kinds are never removed, so that a reader may walk the list without a
 * lock: a row is written before the pointer to it is published.
 */
#include "cbench.h"

#include "base/names.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct added {
  const struct cb_family *family;
  const struct cb_kind *kind;
  struct added *_Atomic next;
};

static struct added *_Atomic first_added;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

const struct cb_kind *cb_kind_at(const struct cb_family *family, size_t index)
{
  size_t count = 0;
  while (family->kinds[count])
    if (count++ == index)
      return family->kinds[index];

  struct added *row = atomic_load_explicit(&first_added, memory_order_acquire);
  for (; row; row = atomic_load_explicit(&row->next, memory_order_acquire))
    if (row->family == family && count++ == index)
      return row->kind;
  return NULL;
}

static void append(struct added *row)
{
  struct added *_Atomic *last = &first_added;
  struct added *next;
  while ((next = atomic_load_explicit(last, memory_order_relaxed)))
    last = &next->next;
  atomic_store_explicit(last, row, memory_order_release);
}

int cb_kind_add(const struct cb_family *family, const struct cb_kind *kind,
                struct cb_error *error)
{
  struct added *row = malloc(sizeof *row);
  if (!row)
    return cb_fail(error, -ENOMEM, "out of memory");
  row->family = family;
  row->kind = kind;
  atomic_init(&row->next, NULL);

  pthread_mutex_lock(&adding);
  bool known = cb_kind_find(family, kind->name, NULL);
  if (!known)
    append(row);
  pthread_mutex_unlock(&adding);
  if (!known)
    return 0;
  free(row);
  return cb_fail(error, -EEXIST, "there is a %s '%s' already", family->name,
                 kind->name);
}

/* As many names as there is room for. */
static void list_kinds(const struct cb_family *family, char *words, size_t size)
{
  const struct cb_kind *kind;
  size_t length = 0;
  for (size_t i = 0; (kind = cb_kind_at(family, i)); i++) {
    if (length + strlen(kind->name) + sizeof ", ..." > size) {
      snprintf(words + length, size - length, ", ...");
      return;
    }
    length += (size_t)snprintf(words + length, size - length, "%s%s",
                               length ? ", " : "", kind->name);
  }
}

static bool is_left_out(const struct cb_family *family, const char *name)
{
  for (const char *const *out = family->left_out; out && *out; out++)
    if (strcmp(*out, name) == 0)
      return true;
  return false;
}

/* Names are compared for likeness only when they have to be: it takes far
 * longer than finding one. */
static void unknown_kind(const struct cb_family *family, const char *name,
                         struct cb_error *error)
{
  struct cb_nearest search = {.word = name};
  const struct cb_kind *kind;

  if (is_left_out(family, name)) {
    cb_fail(error, -ENOTSUP,
            "%s '%s' is not in this build, which has no assembly", family->name,
            name);
    return;
  }
  for (size_t i = 0; (kind = cb_kind_at(family, i)); i++)
    cb_nearest_offer(&search, kind->name);
  if (search.nearest) {
    cb_fail(error, -ENOENT, "unknown %s '%.60s' (did you mean '%s'?)",
            family->name, name, search.nearest);
    return;
  }
  char words[120] = "";
  list_kinds(family, words, sizeof words);
  cb_fail(error, -ENOENT, "unknown %s '%.60s' (there are %s)", family->name,
          name, words);
}

const struct cb_kind *cb_kind_find(const struct cb_family *family,
                                   const char *name, struct cb_error *error)
{
  const struct cb_kind *kind;

  for (size_t i = 0; (kind = cb_kind_at(family, i)); i++)
    if (strcmp(kind->name, name) == 0)
      return kind;
  unknown_kind(family, name, error);
  return NULL;
}
