/*
 * spec.c - a kind with a value for each of its options.
 *
 * The values stand in the order of the kind's options. Every way into a spec
 * (C, a Lua table, a word on the command line, a descriptor read back from
 * JSON) goes through the setters here, so that a range is checked once and a
 * refusal reads the same everywhere.
 */
#include "cbench.h"

#include "base/names.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
  int64_t integer; /* also booleans */
  double number;
  char *string;
  struct cb_spec *spec;
  struct cb_spec **list;
  size_t count; /* of the list */
};

struct cb_spec {
  const struct cb_kind *kind;
  void *object;
  struct value *values;
};

static size_t option_count(const struct cb_kind *kind)
{
  size_t count = 0;
  while (kind->options && kind->options[count].name)
    count++;
  return count;
}

static int unknown_option(const struct cb_kind *kind, const char *name,
                          struct cb_error *error)
{
  struct cb_nearest search = {.word = name};

  for (size_t i = 0; kind->options && kind->options[i].name; i++)
    cb_nearest_offer(&search, kind->options[i].name);
  if (search.nearest)
    return cb_fail(error, -ENOENT,
                   "unknown option '%.60s' of '%s' (did you mean '%s'?)", name,
                   kind->name, search.nearest);
  return cb_fail(error, -ENOENT, "unknown option '%.60s' of '%s'", name,
                 kind->name);
}

/* The option's index, or -ENOENT with the nearest name. */
static int option_index(const struct cb_spec *spec, const char *name,
                        struct cb_error *error)
{
  const struct cb_option *options = spec->kind->options;

  for (int i = 0; options && options[i].name; i++)
    if (strcmp(options[i].name, name) == 0)
      return i;
  return unknown_option(spec->kind, name, error);
}

static const char *type_name(const struct cb_option *option)
{
  switch (option->type) {
  case CB_INTEGER:
    return "integer";
  case CB_NUMBER:
    return "number";
  case CB_BOOLEAN:
    return "boolean";
  case CB_STRING:
  case CB_CHOICE:
    return "string";
  case CB_LIST:
    return "list";
  default:
    return option->family->name;
  }
}

static int wrong_type(const struct cb_option *option, const char *got,
                      struct cb_error *error)
{
  return cb_fail(error, -EINVAL, "option '%s': %s expected, got %s",
                 option->name, type_name(option), got);
}

static int out_of_range(const struct cb_option *option, double value,
                        struct cb_error *error)
{
  return cb_fail(error, -EINVAL,
                 "option '%s': %.17g is out of range [%.16g, %.16g]",
                 option->name, value, option->min, option->max);
}

int cb_spec_set_integer(struct cb_spec *spec, const char *name, int64_t value,
                        struct cb_error *error)
{
  int index = option_index(spec, name, error);
  if (index < 0)
    return index;
  const struct cb_option *option = &spec->kind->options[index];
  if (option->type != CB_INTEGER && option->type != CB_NUMBER)
    return wrong_type(option, "a number", error);
  if ((double)value < option->min || (double)value > option->max)
    return out_of_range(option, (double)value, error);
  spec->values[index].integer = value;
  spec->values[index].number = (double)value;
  return 0;
}

int cb_spec_set_number(struct cb_spec *spec, const char *name, double value,
                       struct cb_error *error)
{
  int index = option_index(spec, name, error);
  if (index < 0)
    return index;
  const struct cb_option *option = &spec->kind->options[index];
  if (option->type != CB_INTEGER && option->type != CB_NUMBER)
    return wrong_type(option, "a number", error);
  if (!(value >= option->min && value <= option->max))
    return out_of_range(option, value, error);
  if (option->type == CB_INTEGER) {
    if (value != floor(value))
      return cb_fail(error, -EINVAL, "option '%s': %.17g is not a whole number",
                     name, value);
    return cb_spec_set_integer(spec, name, (int64_t)value, error);
  }
  spec->values[index].number = value;
  return 0;
}

int cb_spec_set_boolean(struct cb_spec *spec, const char *name, bool value,
                        struct cb_error *error)
{
  int index = option_index(spec, name, error);
  if (index < 0)
    return index;
  if (spec->kind->options[index].type != CB_BOOLEAN)
    return wrong_type(&spec->kind->options[index], "a boolean", error);
  spec->values[index].integer = value;
  return 0;
}

/* Is word one of those in "a|b|c"? Offers all of them to the search. */
static bool is_choice(const char *choices, const char *word,
                      struct cb_nearest *search, char *copy, size_t size)
{
  snprintf(copy, size, "%s", choices);
  for (char *rest = copy, *choice; (choice = strtok_r(rest, "|", &rest));) {
    if (strcmp(choice, word) == 0)
      return true;
    cb_nearest_offer(search, choice);
  }
  return false;
}

static int check_choice(const struct cb_option *option, const char *word,
                        struct cb_error *error)
{
  char copy[200];
  struct cb_nearest search = {.word = word};

  if (is_choice(option->choices, word, &search, copy, sizeof copy))
    return 0;
  if (search.nearest)
    return cb_fail(error, -EINVAL,
                   "option '%s': '%.60s' is none of %s (did you mean '%s'?)",
                   option->name, word, option->choices, search.nearest);
  return cb_fail(error, -EINVAL, "option '%s': '%.60s' is none of %s",
                 option->name, word, option->choices);
}

static int set_text(struct value *value, const char *text,
                    struct cb_error *error)
{
  char *copy = strdup(text);
  if (!copy)
    return cb_fail(error, -ENOMEM, "out of memory");
  free(value->string);
  value->string = copy;
  return 0;
}

int cb_spec_set_string(struct cb_spec *spec, const char *name,
                       const char *value, struct cb_error *error)
{
  int index = option_index(spec, name, error);
  if (index < 0)
    return index;
  const struct cb_option *option = &spec->kind->options[index];
  switch (option->type) {
  case CB_CHOICE:
    if (check_choice(option, value, error) < 0)
      return -EINVAL;
    return set_text(&spec->values[index], value, error);
  case CB_STRING:
    return set_text(&spec->values[index], value, error);
  case CB_KIND: {
    struct cb_spec *child = cb_spec_create(option->family, value, error);
    return child ? cb_spec_set_spec(spec, name, child, error) : -ENOENT;
  }
  default:
    return wrong_type(option, "a string", error);
  }
}

int cb_spec_set_spec(struct cb_spec *spec, const char *name,
                     struct cb_spec *child, struct cb_error *error)
{
  int index = option_index(spec, name, error);
  if (index >= 0 && spec->kind->options[index].type != CB_KIND)
    index = wrong_type(&spec->kind->options[index], "a kind", error);
  if (index < 0) {
    cb_spec_destroy(child);
    return index;
  }
  cb_spec_destroy(spec->values[index].spec);
  spec->values[index].spec = child;
  return 0;
}

int cb_spec_append(struct cb_spec *spec, const char *name,
                   struct cb_spec *child, struct cb_error *error)
{
  int index = option_index(spec, name, error);
  if (index >= 0 && spec->kind->options[index].type != CB_LIST)
    index = wrong_type(&spec->kind->options[index], "a list", error);
  struct value *value = index >= 0 ? &spec->values[index] : NULL;
  struct cb_spec **list =
      value ? realloc(value->list, (value->count + 1) * sizeof *list) : NULL;
  if (!list) {
    cb_spec_destroy(child);
    return value ? cb_fail(error, -ENOMEM, "out of memory") : index;
  }
  list[value->count++] = child;
  value->list = list;
  return 0;
}

/* A default is written as in a script, so it goes the way of any value. */
static int set_preset(struct cb_spec *spec, const struct cb_option *option,
                      struct cb_error *error)
{
  if (!option->preset)
    return 0;
  switch (option->type) {
  case CB_INTEGER:
  case CB_NUMBER:
    return cb_spec_set_number(spec, option->name, strtod(option->preset, NULL),
                              error);
  case CB_BOOLEAN:
    return cb_spec_set_boolean(spec, option->name,
                               strcmp(option->preset, "true") == 0, error);
  case CB_LIST:
    return 0;
  default:
    return cb_spec_set_string(spec, option->name, option->preset, error);
  }
}

static struct cb_spec *new_spec(const struct cb_kind *kind,
                                struct cb_error *error)
{
  struct cb_spec *spec = calloc(1, sizeof *spec);
  if (spec)
    spec->values = calloc(option_count(kind) + 1, sizeof *spec->values);
  if (!spec || !spec->values) {
    cb_fail(error, -ENOMEM, "out of memory");
    free(spec);
    return NULL;
  }
  spec->kind = kind;
  return spec;
}

struct cb_spec *cb_spec_create(const struct cb_family *family, const char *name,
                               struct cb_error *error)
{
  const struct cb_kind *kind = cb_kind_find(family, name, error);
  struct cb_spec *spec = kind ? new_spec(kind, error) : NULL;
  if (!spec)
    return NULL;
  for (size_t i = 0; i < option_count(kind); i++)
    if (set_preset(spec, &kind->options[i], error) < 0) {
      cb_spec_destroy(spec);
      return NULL;
    }
  return spec;
}

void cb_spec_destroy(struct cb_spec *spec)
{
  if (!spec)
    return;
  for (size_t i = 0; i < option_count(spec->kind); i++) {
    struct value *value = &spec->values[i];
    free(value->string);
    cb_spec_destroy(value->spec);
    for (size_t j = 0; j < value->count; j++)
      cb_spec_destroy(value->list[j]);
    free(value->list);
  }
  free(spec->values);
  free(spec);
}

static int copy_list(const struct value *from, struct value *to,
                     struct cb_error *error)
{
  to->list = calloc(from->count + 1, sizeof *to->list);
  if (!to->list)
    return cb_fail(error, -ENOMEM, "out of memory");
  for (; to->count < from->count; to->count++)
    if (!(to->list[to->count] = cb_spec_copy(from->list[to->count], error)))
      return -ENOMEM;
  return 0;
}

static int copy_value(const struct value *from, struct value *to,
                      struct cb_error *error)
{
  to->integer = from->integer;
  to->number = from->number;
  if (from->string && set_text(to, from->string, error) < 0)
    return -ENOMEM;
  if (from->spec && !(to->spec = cb_spec_copy(from->spec, error)))
    return -ENOMEM;
  return from->list ? copy_list(from, to, error) : 0;
}

struct cb_spec *cb_spec_copy(const struct cb_spec *spec, struct cb_error *error)
{
  struct cb_spec *copy = new_spec(spec->kind, error);
  if (!copy)
    return NULL;
  copy->object = spec->object;
  for (size_t i = 0; i < option_count(spec->kind); i++)
    if (copy_value(&spec->values[i], &copy->values[i], error) < 0) {
      cb_spec_destroy(copy);
      return NULL;
    }
  return copy;
}

const struct cb_kind *cb_spec_kind(const struct cb_spec *spec)
{
  return spec->kind;
}

void cb_spec_lend(struct cb_spec *spec, void *object)
{
  spec->object = object;
}

void *cb_spec_object(const struct cb_spec *spec)
{
  return spec->object;
}

static const struct value *value_of(const struct cb_spec *spec,
                                    const char *name)
{
  int index = option_index(spec, name, NULL);
  assert(index >= 0);
  return &spec->values[index];
}

int64_t cb_spec_integer(const struct cb_spec *spec, const char *name)
{
  return value_of(spec, name)->integer;
}

double cb_spec_number(const struct cb_spec *spec, const char *name)
{
  return value_of(spec, name)->number;
}

bool cb_spec_boolean(const struct cb_spec *spec, const char *name)
{
  return value_of(spec, name)->integer != 0;
}

const char *cb_spec_string(const struct cb_spec *spec, const char *name)
{
  return value_of(spec, name)->string;
}

const struct cb_spec *cb_spec_spec(const struct cb_spec *spec, const char *name)
{
  return value_of(spec, name)->spec;
}

size_t cb_spec_count(const struct cb_spec *spec, const char *name)
{
  return value_of(spec, name)->count;
}

const struct cb_spec *cb_spec_at(const struct cb_spec *spec, const char *name,
                                 size_t index)
{
  const struct value *value = value_of(spec, name);
  assert(index < value->count);
  return value->list[index];
}
