/* process.h - running a program with a text as its input. */
#ifndef CB_LUA_PROCESS_H
#define CB_LUA_PROCESS_H

#include <lua.h>
#include <stdint.h>

/* core.run_program(argv, input, seconds, of_work, noted): runs argv[1] (a path)
 * with the rest as arguments, input on its standard input and our standard
 * error. Returns its output, then "exit" or "signal" and the number. After
 * `seconds` it is sent SIGTERM, a second later SIGKILL, and the fourth result
 * is true. With `of_work` the seconds are those that it may work itself, or be
 * idle at a stretch. With `noted` the fifth result is what it has noted last,
 * if it is ours, or 0. nil, message, code when it cannot be started. */
int cb_lua_run_program(lua_State *L);

/* core.open_note(): in a program that was started with `noted`, before anything
 * is noted. */
int cb_lua_open_note(lua_State *L);

/* Leaves a number for whoever started us, should we end before we answer. */
void cb_lua_note(uint32_t number);

/* The registry field that the program sets, so that the module knows it runs
 * in a program that can be started again to measure. */
#define CB_LUA_PROGRAM "cbench.program"

/* core.program(): the path of the running program, or nothing in a foreign
 * host. */
int cb_lua_program(lua_State *L);

#endif
