/* embedded.h - the Lua files that the program and the module carry. */
#ifndef CB_LUA_EMBEDDED_H
#define CB_LUA_EMBEDDED_H

#include "base/embedded.h"

extern const struct cb_embedded cb_embedded_lua[];
extern const struct cb_embedded cb_embedded_scenarios[];

#endif
