/* load.h - plug-ins loaded at run time; plugin.h says how one is written. */
#ifndef CBENCH_LOAD_H
#define CBENCH_LOAD_H

#include "cbench/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kind that a plug-in brought. */
struct cb_plugin_entry {
  const struct cb_family *family;
  const struct cb_kind *kind;
};

/* A plug-in that is loaded; all of it lives as long as the process. */
struct cb_plugin_info {
  const char *path;   /* absolute */
  const char *prefix; /* of the names of its kinds, or NULL */
  const char *name;   /* what it calls itself */
  const struct cb_plugin_entry *entries;
  size_t count;
};

/* Loads the shared object at path, written as cbench/plugin.h says, and adds
 * its kinds to their families, as prefix_name unless prefix is NULL. Loading
 * the same again with the same prefix changes nothing; with another prefix its
 * kinds are there under both. Never unloaded. NULL with -ENOENT or -EACCES: no
 * such file; -ENOEXEC: it cannot be loaded, is no plug-in, or was built for
 * another ABI; -EBUSY: another copy of this library has it; -EEXIST: a name is
 * taken; -EINVAL: prefix is no identifier. Any thread. */
CB_API const struct cb_plugin_info *
cb_plugin_load(const char *path, const char *prefix, struct cb_error *error);
/* In the order of loading; NULL past the last. */
CB_API const struct cb_plugin_info *cb_plugin_at(size_t index);

#ifdef __cplusplus
}
#endif
#endif
