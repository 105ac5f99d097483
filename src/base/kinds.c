/* kinds.c - finding a kind in its family by name. */
#include "cbench.h"

#include "base/names.h"

#include <errno.h>
#include <string.h>

const struct cb_kind *cb_kind_find(const struct cb_family *family,
                                   const char *name, struct cb_error *error)
{
  struct cb_nearest search = {.word = name};

  for (const struct cb_kind *const *kind = family->kinds; *kind; kind++) {
    if (strcmp((*kind)->name, name) == 0)
      return *kind;
    cb_nearest_offer(&search, (*kind)->name);
  }
  if (search.nearest)
    cb_fail(error, -ENOENT, "unknown %s '%.60s' (did you mean '%s'?)",
            family->name, name, search.nearest);
  else
    cb_fail(error, -ENOENT, "unknown %s '%.60s'", family->name, name);
  return NULL;
}
