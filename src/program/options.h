/* options.h - the options of the program: Lua's own and those of cbench. */
#ifndef CB_PROGRAM_OPTIONS_H
#define CB_PROGRAM_OPTIONS_H

#include "cbench.h"

#include <lua.h>
#include <stdio.h>

/* An option of cbench. Everything that reads a command line, explains it or
 * completes it works from the one list of these. */
struct option {
  const char *name;     /* without the two dashes */
  char letter;          /* 0: it has only the long name */
  const char *group;    /* a heading of --help, or a subcommand */
  const char *argument; /* what its value is called, NULL for a switch */
  const char *help;     /* short lines */
  enum cb_type type;    /* of the value */
  double min, max;      /* of a number, inclusive */
  const char *choices;  /* of CB_CHOICE, separated by '|' */
  bool repeatable;
  bool plain; /* goes with plain Lua too: it asks for no scenario */
};

/* Ends with one whose name is NULL. */
extern const struct option option_list[];

/* One option as it was typed. */
struct typed_option {
  const struct option *option; /* NULL: one of Lua's, which is `letter` */
  char letter;
  const char *value; /* NULL for a switch */
  int words;         /* of the command line that it takes */
};

/* Reads the option at words[0]; words ends with NULL. Returns 1, 0 when there
 * is no option (a name, "-" or "--"), or with a sentence -ENOENT for an option
 * that there is not and -EINVAL for a wrong value. Lua's letters are options
 * only where lua_too says so. */
int option_read(char *const *words, bool lua_too, struct typed_option *typed,
                struct cb_error *error);

/* Sets the field of an option (name, dashes turned to underscores) in the table
 * on top of the stack: true, a string, a number, or a list of strings. */
void option_store(lua_State *L, const struct typed_option *typed);

/* Pushes the list as a table of { name, letter, group, argument, choices,
 * help }. */
void option_push_list(lua_State *L);

/* The page of --help: one screen. */
void option_print_help(FILE *out);

#endif
