/* command.h - what the words after the options ask for. */
#ifndef CB_PROGRAM_COMMAND_H
#define CB_PROGRAM_COMMAND_H

#include <lua.h>
#include <stdbool.h>
#include <stdio.h>

enum { EXIT_USAGE = 2 };

/* A command line, as far as it has been read. */
struct command {
  char **argv;
  int script; /* index of the first word that is no option */
  bool own;   /* there are options of cbench before it */
};

/* Runs a subcommand, a file or a shipped scenario with the words after it. The
 * options typed before it are in the table on top of the stack. Returns an
 * exit code. */
int command_run(lua_State *L, const struct command *command);

/* Pushes what lua/cbench/NAME.lua returns; may raise. */
void command_import(lua_State *L, const char *name);

/* Loads a plug-in, a path or NAME=PATH; false when it cannot, which is said. */
bool command_load_plugin(lua_State *L, const char *word);

/* --help, else --version. Returns an exit code. */
int command_describe(bool help);

/* The line of --help that names the subcommands. */
void command_print_usage(FILE *out);

/* Says why a command line is refused; returns EXIT_USAGE. */
int command_refuse(const char *why);

#endif
