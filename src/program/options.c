/*
 * options.c - the list of cbench's options, and how one is read.
 *
 * Values are checked while they are read, before anything runs: a wrong number
 * must not be found after a minute of measuring.
 */
#include "program/options.h"

#include "base/names.h"
#include "program/command.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER(low, high) .type = CB_NUMBER, .min = (low), .max = (high)
#define SWITCH .type = CB_BOOLEAN
#define TEXT .type = CB_STRING
#define INTEGER(low, high) .type = CB_INTEGER, .min = (low), .max = (high)

/* clang-format off */
const struct option option_list[] = {
  {"time", 'T', "measure", "SECONDS", "budget of the whole run",
   NUMBER(0.01, 86400)},
  {"forks", 'F', "measure", "N", "processes that measure (default 10)",
   INTEGER(1, 1000)},
  {"rounds", 'r', "measure", "N", "rounds in each process",
   INTEGER(1, 1000000)},
  {"seed", 0, "measure", "N", "order of the rows in each round",
   INTEGER(0, 9007199254740991.0)},
  {"min-effect", 0, "measure", "PERCENT",
   "smallest effect that counts (default 2)", NUMBER(0, 100)},
  {"filter", 'f', "choose", "TEXT",
   "rows whose label has TEXT in it; -TEXT: has not",
   TEXT, .repeatable = true},
  {"dry-run", 'n', "choose", NULL, "show the rows that would run", SWITCH},
  {"loop", 0, "choose", "SECONDS",
   "only run the chosen rows, so that a profiler can look",
   NUMBER(0.01, 86400)},
  {"threads", 0, "place", "LIST",
   "threads of work that can have several, as 1,2,4", TEXT},
  {"cpus", 0, "place", "LIST",
   "CPUs for the roles, in their order, as 0,2-3", TEXT},
  {"place", 0, "place", "WHERE", "how far apart the threads run",
   .type = CB_CHOICE, .choices = "same|smt|cache|package|spread"},
  {"format", 0, "output", "FORMAT",
   "table, mail, markdown, csv, json, jsonl, bmf, gobench,\nor one of the "
   "scenario's own", TEXT},
  {"output", 'o', "output", "FILE",
   "write the results to FILE (- is stdout); in its name\n"
   "%h is the host, %r the rank, %j the job",
   TEXT},
  {"export", 0, "output", "FORMAT:FILE", "write them there as well",
   TEXT, .repeatable = true},
  {"plot", 0, "output", NULL, "draw the first picture below the table", SWITCH},
  {"baseline", 0, "gate", "FILE", "compare with the results in FILE (JSON)",
   TEXT},
  {"save-baseline", 0, "gate", "FILE", "keep the results for that",
   TEXT},
  {"fail-on", 0, "gate", "PERCENT",
   "exit 3 when a row is slower by more than that",
   NUMBER(0, 10000)},
  {"strict", 0, "gate", NULL, "exit 4 when something is not resolved", SWITCH},
  {"retry", 0, "gate", NULL, "believe only the second exit 3 or 4", SWITCH},
  {"plugin", 0, "other", "FILE",
   "load a plug-in first; NAME=FILE: its kinds as NAME_kind", TEXT,
   .repeatable = true, .plain = true},
  {"quiet", 'q', "other", NULL, "no progress, no warnings", SWITCH,
   .plain = true},
  {"verbose", 0, "other", NULL, "say what is done; errors with a traceback",
   SWITCH, .plain = true},
  {"color", 0, "other", "WHEN", "colour in tables", .type = CB_CHOICE,
   .choices = "auto|always|never", .plain = true},
  {"help", 0, "other", NULL,
   "this page; behind a subcommand or scenario, its own", SWITCH},
  {"version", 0, "other", NULL, "the version", SWITCH},
  {"a", 0, "ab", "OLD", "the old program or plug-in", TEXT},
  {"b", 0, "ab", "NEW", "the new one", TEXT},
  {"by", 0, "compare", "WHAT", "hosts beside each other", .type = CB_CHOICE,
   .choices = "host"},
  {"html", 0, "report", "FILE", "a page with tables and pictures",
   TEXT},
  {"svg", 0, "report", "FILE", "the pictures, one below the other",
   TEXT},
  {"png", 0, "report", "FILE", "the same as pixels", TEXT},
  {"term", 0, "report", NULL, "tables and pictures as text", SWITCH},
  {.name = NULL}};
/* clang-format on */

static const struct option *by_letter(char letter)
{
  for (const struct option *option = option_list; option->name; option++)
    if (letter && option->letter == letter)
      return option;
  return NULL;
}

/* The option of that long name, which ends at '=' or at the end of the word. */
static const struct option *by_name(const char *name)
{
  size_t length = strcspn(name, "=");
  for (const struct option *option = option_list; option->name; option++)
    if (strncmp(option->name, name, length) == 0 && !option->name[length])
      return option;
  return NULL;
}

static int unknown(const char *word, struct cb_error *error)
{
  char name[60];
  struct cb_nearest search = {.word = name};

  snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
  if (name[0] == '-' && name[1] == '-' && isalnum((unsigned char)name[2])) {
    search.word = name + 2;
    for (const struct option *option = option_list; option->name; option++)
      cb_nearest_offer(&search, option->name);
  }
  if (search.nearest)
    return cb_fail(error, -ENOENT,
                   "unrecognized option '%s' (did you mean '--%s'?)", name,
                   search.nearest);
  return cb_fail(error, -ENOENT, "unrecognized option '%s'", name);
}

/* ---- values ---- */

static int check_number(const struct option *option, const char *value,
                        struct cb_error *error)
{
  char *end;
  double number = strtod(value, &end);
  if (end == value || *end || !isfinite(number))
    return cb_fail(error, -EINVAL,
                   "option '--%s': number expected, got '%.60s'", option->name,
                   value);
  if (number < option->min || number > option->max)
    return cb_fail(error, -EINVAL,
                   "option '--%s': %.60s is out of range [%.16g, %.16g]",
                   option->name, value, option->min, option->max);
  if (option->type == CB_INTEGER && number != floor(number))
    return cb_fail(error, -EINVAL, "option '--%s': %.60s is not a whole number",
                   option->name, value);
  return 0;
}

static int check_choice(const struct option *option, const char *value,
                        struct cb_error *error)
{
  struct cb_nearest search = {.word = value};
  char choices[100];

  snprintf(choices, sizeof choices, "%s", option->choices);
  for (char *rest = choices, *word; (word = strtok_r(rest, "|", &rest));) {
    if (strcmp(word, value) == 0)
      return 0;
    cb_nearest_offer(&search, word);
  }
  return cb_fail(error, -EINVAL, "option '--%s': '%.60s' is none of %s%s%s%s",
                 option->name, value, option->choices,
                 search.nearest ? " (did you mean '" : "",
                 search.nearest ? search.nearest : "",
                 search.nearest ? "'?)" : "");
}

static int check_value(const struct option *option, const char *value,
                       struct cb_error *error)
{
  switch (option->type) {
  case CB_INTEGER:
  case CB_NUMBER:
    return check_number(option, value, error);
  case CB_CHOICE:
    return check_choice(option, value, error);
  default:
    if (!*value)
      return cb_fail(error, -EINVAL, "option '--%s': its value is empty",
                     option->name);
    return 0;
  }
}

/* ---- reading one ---- */

/* A value stands in the same word (inside) or is the next one, whatever that
 * looks like: `-f -asm` leaves out rows with "asm". */
static int take_value(struct typed_option *typed, const char *inside,
                      const char *next, struct cb_error *error)
{
  const struct option *option = typed->option;
  if (!option->argument) {
    if (inside)
      return cb_fail(error, -EINVAL, "option '--%s' takes no value",
                     option->name);
    return 1;
  }
  if (!inside)
    typed->words++;
  typed->value = inside ? inside : next;
  if (!typed->value)
    return cb_fail(error, -EINVAL, "option '--%s' needs a value, %s",
                   option->name, option->argument);
  int status = check_value(option, typed->value, error);
  return status < 0 ? status : 1;
}

/* -e and -l want a value, which cannot look like an option when it is a word
 * of its own; the others stand alone in their word. */
static int read_lua_option(char *const *words, struct typed_option *typed,
                           struct cb_error *error)
{
  const char *rest = words[0] + 2;
  typed->letter = words[0][1];
  if (typed->letter != 'e' && typed->letter != 'l')
    return *rest ? unknown(words[0], error) : 1;
  if (!*rest) {
    rest = words[1];
    typed->words = 2;
    if (!rest || *rest == '-')
      return cb_fail(error, -ENOENT, "'%s' needs argument", words[0]);
  }
  typed->value = rest;
  return 1;
}

int option_read(char *const *words, bool lua_too, struct typed_option *typed,
                struct cb_error *error)
{
  const char *word = words[0];
  *typed = (struct typed_option){.words = 1};
  if (word[0] != '-' || !word[1] || strcmp(word, "--") == 0)
    return 0;
  if (word[1] == '-') {
    typed->option = by_name(word + 2);
    if (!typed->option)
      return unknown(word, error);
    const char *value = strchr(word, '=');
    return take_value(typed, value ? value + 1 : NULL, words[1], error);
  }
  typed->option = by_letter(word[1]);
  if (typed->option) {
    if (!typed->option->argument && word[2])
      return unknown(word, error);
    return take_value(typed, word[2] ? word + 2 : NULL, words[1], error);
  }
  if (lua_too && strchr("eilvEW", word[1]))
    return read_lua_option(words, typed, error);
  return unknown(word, error);
}

/* ---- for Lua, and for people ---- */

void option_store(lua_State *L, const struct typed_option *typed)
{
  const struct option *option = typed->option;
  char name[40];

  snprintf(name, sizeof name, "%s", option->name);
  for (char *dash = name; (dash = strchr(dash, '-'));)
    *dash = '_';
  if (option->repeatable) {
    if (lua_getfield(L, -1, name) != LUA_TTABLE) {
      lua_pop(L, 1);
      lua_newtable(L);
      lua_pushvalue(L, -1);
      lua_setfield(L, -3, name);
    }
    lua_pushstring(L, typed->value);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
    return;
  }
  if (!option->argument)
    lua_pushboolean(L, 1);
  else if (option->type == CB_INTEGER)
    lua_pushinteger(L, (lua_Integer)strtod(typed->value, NULL));
  else if (option->type == CB_NUMBER)
    lua_pushnumber(L, strtod(typed->value, NULL));
  else
    lua_pushstring(L, typed->value);
  lua_setfield(L, -2, name);
}

static void set_text(lua_State *L, const char *key, const char *text)
{
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

void option_push_list(lua_State *L)
{
  lua_newtable(L);
  for (int i = 0; option_list[i].name; i++) {
    char letter[2] = {option_list[i].letter, 0};
    lua_createtable(L, 0, 6);
    set_text(L, "name", option_list[i].name);
    set_text(L, "letter", letter[0] ? letter : NULL);
    set_text(L, "group", option_list[i].group);
    set_text(L, "argument", option_list[i].argument);
    set_text(L, "choices", option_list[i].choices);
    set_text(L, "help", option_list[i].help);
    lua_rawseti(L, -2, i + 1);
  }
}

/* ---- the page of --help ---- */

enum { PAGE_COLUMNS = 79, GROUP_COLUMNS = 9 };

/* "-T, --time SECONDS", or with its choices "--color auto|always|never". */
static void spell_option(const struct option *option, char *text, size_t size)
{
  char letter[] = {'-', option->letter, ',', ' ', 0};
  const char *value = option->choices ? option->choices : option->argument;
  snprintf(text, size, "%s--%s%s%s", option->letter ? letter : "", option->name,
           value ? " " : "", value ? value : "");
}

/* One group of options, filled into lines. */
static void print_group(FILE *out, const char *group)
{
  int column = fprintf(out, "  %-*s", GROUP_COLUMNS, group);
  for (const struct option *option = option_list; option->name; option++) {
    char text[80];
    if (strcmp(option->group, group) != 0)
      continue;
    spell_option(option, text, sizeof text);
    if (column + 2 + (int)strlen(text) > PAGE_COLUMNS)
      column = fprintf(out, "\n  %-*s", GROUP_COLUMNS, "") - 1;
    column += fprintf(out, "  %s", text);
  }
  putc('\n', out);
}

void option_print_help(FILE *out)
{
  static const char *const groups[] = {"measure", "choose", "place",
                                       "output",  "gate",   "other"};
  fputs("usage: cbench [options] SCENARIO [options] "
        "[name=value[,value...]]...\n"
        "       cbench [options] [SCRIPT [arguments]]       "
        "as lua5.4 does\n"
        "       cbench                                      a prompt\n",
        out);
  command_print_usage(out);
  fputs("\nSCENARIO is a file, or a name that `cbench list` shows; "
        "name=value replaces\nthe values of one of its parameters.\n\n",
        out);
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    print_group(out, groups[i]);
  fputs("  lua        -e -i -l -v -E -W - --  as in lua5.4\n\n"
        "`cbench help option` explains the options, `cbench help` lists "
        "more topics.\n",
        out);
}
