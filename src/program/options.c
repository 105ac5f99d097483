/*
 * options.c - the list of cbench's options, and how one is read.
 *
 * Values are checked while they are read, before anything runs: a wrong number
 * must not be found after a minute of measuring.
 */
#include "program/options.h"

#include "base/names.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct option option_list[] = {
    {.name = "time",
     .letter = 'T',
     .argument = "SECONDS",
     .type = CB_NUMBER,
     .min = 0.01,
     .max = 86400,
     .help = "budget of the whole run"},
    {.name = "rounds",
     .letter = 'r',
     .argument = "N",
     .type = CB_INTEGER,
     .min = 1,
     .max = 1000000,
     .help = "rounds in each process"},
    {.name = "seed",
     .argument = "N",
     .type = CB_INTEGER,
     .min = 0,
     .max = 9007199254740992.0,
     .help = "order of the rows in each round"},
    {.name = "filter",
     .letter = 'f',
     .argument = "TEXT",
     .type = CB_STRING,
     .repeatable = true,
     .help = "rows whose label contains TEXT; -TEXT excludes"},
    {.name = "dry-run", .letter = 'n', .help = "show the rows that would run"},
    {.name = "threads",
     .argument = "LIST",
     .type = CB_STRING,
     .help = "threads of each role, as 1,2,4"},
    {.name = "cpus",
     .argument = "LIST",
     .type = CB_STRING,
     .help = "CPUs for the roles, in their order, as 0,2-3"},
    {.name = "place",
     .argument = "WHERE",
     .type = CB_CHOICE,
     .choices = "same|smt|cache|package|spread",
     .help = "where threads run"},
    {.name = "format",
     .argument = "FORMAT",
     .type = CB_STRING,
     .help = "table, json, csv or one of the scenario's own"},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .type = CB_STRING,
     .help = "write the results to FILE (- is stdout)"},
    {.name = "plot", .help = "draw the first picture below the table"},
    {.name = "html",
     .argument = "FILE",
     .type = CB_STRING,
     .help = "report: a page with tables and pictures"},
    {.name = "svg",
     .argument = "FILE",
     .type = CB_STRING,
     .help = "report: the pictures, one below the other"},
    {.name = "png",
     .argument = "FILE",
     .type = CB_STRING,
     .help = "report: the same as pixels"},
    {.name = "term", .help = "report: tables and pictures as text"},
    {.name = "quiet", .letter = 'q', .help = "no progress, no warnings"},
    {.name = "verbose", .help = "say what is done"},
    {.name = "color",
     .argument = "WHEN",
     .type = CB_CHOICE,
     .choices = "auto|always|never",
     .help = "colour in tables"},
    {.name = "help", .help = "this page, or that of the scenario"},
    {.name = "version", .help = "the version"},
    {.name = NULL}};

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
  if (name[0] == '-' && name[1] == '-' && name[2]) {
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
    lua_createtable(L, 0, 5);
    set_text(L, "name", option_list[i].name);
    set_text(L, "letter", letter[0] ? letter : NULL);
    set_text(L, "argument", option_list[i].argument);
    set_text(L, "choices", option_list[i].choices);
    set_text(L, "help", option_list[i].help);
    lua_rawseti(L, -2, i + 1);
  }
}

static void print_option(FILE *out, const struct option *option)
{
  char left[40], letter[] = {'-', option->letter, ',', ' ', 0};
  snprintf(left, sizeof left, "%s--%s %s", option->letter ? letter : "    ",
           option->name, option->argument ? option->argument : "");
  fprintf(out, "  %-24s %s\n", left, option->help);
}

void option_print_help(FILE *out, const char *program)
{
  fprintf(out,
          "usage: %s [options] SCENARIO [options] [name=value[,value...]]...\n"
          "       %s [options] [SCRIPT [arguments]]     as lua5.4 does\n"
          "       %s list | info\n"
          "\n"
          "SCENARIO is a file or a name that `list` shows; name=value replaces "
          "the values\nof one of its parameters. Without words: a prompt.\n\n",
          program, program, program);
  for (const struct option *option = option_list; option->name; option++)
    print_option(out, option);
  fputs("  -e -i -l -v -E -W - --   as in lua5.4\n\n", out);
}
