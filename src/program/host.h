/* host.h - what makes the program a Lua interpreter like lua5.4. */
#ifndef CB_PROGRAM_HOST_H
#define CB_PROGRAM_HOST_H

#include <lua.h>
#include <stdbool.h>

/* What stands before every message; NULL for nothing, as at a prompt. */
extern const char *host_prefix;

/* How many SIGINTs a call may swallow before the next one ends the process. */
extern int host_patience;

/* Coroutines are interrupted as well from now on, where C enters them and where
 * coroutine.resume and coroutine.wrap do, which are replaced. NULL: no more.
 * Scripts do without, as in lua5.4. */
void host_watch_threads(lua_State *L);

void host_message(const char *text);

/* Prints and pops the error on top of the stack unless status is LUA_OK.
 * Returns status. */
int host_report(lua_State *L, int status);

/* Calls the function below its arguments. An error gets a traceback, and
 * SIGINT becomes an error that pcall can catch. */
int host_call(lua_State *L, int arguments, int results);

/* The same with a message of one line in place of a traceback. */
int host_call_brief(lua_State *L, int arguments, int results);

/* Run text, a file (NULL: stdin), `require`; report errors. `name` of
 * host_require is MODULE or GLOBAL=MODULE. */
int host_run_text(lua_State *L, const char *text, size_t size,
                  const char *chunk);
int host_run_file(lua_State *L, const char *file);
int host_require(lua_State *L, const char *name);

/* LUA_INIT_5_4, else LUA_INIT: text, or @FILE. */
int host_run_init(lua_State *L);

/* Sets the global `arg`: words[script] is arg[0]. */
void host_set_arguments(lua_State *L, char *const *words, int script);

/* Pushes arg[1], arg[2], ... and returns how many. */
int host_push_arguments(lua_State *L);

/* Reads and runs lines as lua5.4 does: plain, without colour or editing. */
void host_interact(lua_State *L);

/* ---- what a prompt needs, plain or not ---- */

/* Pushes the text of the global `_PROMPT` (or `_PROMPT2`), else the preset;
 * returns it. */
const char *host_push_prompt(lua_State *L, bool first);

/* Does this failed load only want more lines? */
bool host_incomplete(lua_State *L, int status);

/* Loads the text on top of the stack as an expression, pushing the chunk or a
 * message above it. */
int host_load_expression(lua_State *L);

/* Loads the text on top of the stack, as an expression if it may and can be
 * one, else as statements. The chunk or a message is pushed above the text. */
int host_load_line(lua_State *L, bool expression);

#endif
