/* compile.h - C text, compiled by the machine's compiler into a plug-in. */
#ifndef CB_WORKLOAD_COMPILE_H
#define CB_WORKLOAD_COMPILE_H

#include "cbench.h"

struct cb_plugin;

/* Compiles source, which may include <cbench/plugin.h>, and opens the result;
 * flags are words for the compiler ($CC, else cc), after its own. Nothing is
 * left on the disk. NULL: -ENOENT, there is no such compiler; -EINVAL with the
 * first error that it found. */
const struct cb_plugin *cb_compile(const char *source, const char *flags,
                                   struct cb_error *error);

#endif
