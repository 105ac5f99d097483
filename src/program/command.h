/* command.h - what the words after the options ask for. */
#ifndef CB_PROGRAM_COMMAND_H
#define CB_PROGRAM_COMMAND_H

#include <lua.h>
#include <stdbool.h>

enum { EXIT_USAGE = 2 };

/* Runs words[0], a subcommand, a file or the name of a shipped scenario, with
 * the words after it. The options typed before it are in the table on top of
 * the stack; own: there were some of cbench. Returns an exit code. */
int command_run(lua_State *L, char *const *words, bool own);

/* Pushes what lua/cbench/NAME.lua returns; may raise. */
void command_import(lua_State *L, const char *name);

/* --help, else --version. Returns an exit code. */
int command_describe(bool help);

/* Says why a command line is refused; returns EXIT_USAGE. */
int command_refuse(const char *why);

#endif
