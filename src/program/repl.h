/* repl.h - the prompt. */
#ifndef CB_PROGRAM_REPL_H
#define CB_PROGRAM_REPL_H

#include <lua.h>
#include <stdbool.h>

/* Are stdin and stdout terminals? Else the prompt is that of lua5.4. */
bool repl_is_fancy(void);

/* Reads and runs lines until the end of stdin. */
void repl_run(lua_State *L);

#endif
