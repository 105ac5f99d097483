/* embedded.h - files of the source tree that are compiled in. */
#ifndef CB_BASE_EMBEDDED_H
#define CB_BASE_EMBEDDED_H

#include <stddef.h>

/* A file: its path in the source tree and its text. A table of them ends with
 * a NULL name. */
struct cb_embedded {
  const char *name;
  const unsigned char *text;
  size_t size;
};

#endif
