/* loader.h - opening a plug-in without adding its kinds anywhere. */
#ifndef CB_WORKLOAD_LOADER_H
#define CB_WORKLOAD_LOADER_H

#include "cbench.h"

struct cb_plugin;

/* Opens the shared object at path (with a slash in it), checks that it is a
 * plug-in of this ABI and fills its table. It stays open for ever; its file is
 * not needed any more. -ENOENT, or -ENOEXEC with what is wrong with it. */
const struct cb_plugin *cb_plugin_open(const char *path,
                                       struct cb_error *error);

#endif
