/* embedded.h - the Lua files that the program and the module carry. */
#ifndef CB_LUA_EMBEDDED_H
#define CB_LUA_EMBEDDED_H

#include <stddef.h>

/* A file: its path in the source tree and its text. */
struct cb_embedded {
  const char *name;
  const unsigned char *text;
  size_t size;
};

/* Both end with a NULL name. */
extern const struct cb_embedded cb_embedded_lua[];
extern const struct cb_embedded cb_embedded_scenarios[];

#endif
