/* process.h - running a program with a text as its input. */
#ifndef CB_LUA_PROCESS_H
#define CB_LUA_PROCESS_H

#include <lua.h>

/* core.run_program(argv, input, seconds): runs argv[1] (a path) with the rest
 * as arguments, input on its standard input and our standard error. Returns
 * its output, then "exit" or "signal" and the number. After `seconds` it is
 * sent SIGTERM, a second later SIGKILL, and the third result is followed by
 * true. nil, message, code when it cannot be started. */
int cb_lua_run_program(lua_State *L);

#endif
