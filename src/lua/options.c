#include "lua/options.h"

#include "lua/object.h"
#include "lua/ring.h"

#include <errno.h>
#include <lauxlib.h>
#include <string.h>

#define SPEC "cbench.spec"

static int spec_gc(lua_State *L)
{
  struct cb_spec **box = lua_touserdata(L, 1);
  cb_spec_destroy(*box);
  *box = NULL;
  return 0;
}

/* Pushes an empty box with one user value: the table of objects kept alive. */
static struct cb_spec **new_box(lua_State *L)
{
  struct cb_spec **box = lua_newuserdatauv(L, sizeof *box, 1);
  *box = NULL;
  if (luaL_newmetatable(L, SPEC)) {
    lua_pushcfunction(L, spec_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return box;
}

/* The live object of the family at index, or NULL. */
static struct cb_lua_object *test_object(lua_State *L, int index,
                                         const struct cb_family *family)
{
  lua_pushfstring(L, "cbench.%s", family->name);
  struct cb_lua_object *object = luaL_testudata(L, index, lua_tostring(L, -1));
  lua_pop(L, 1);
  return object;
}

static const struct cb_option *find_option(const struct cb_spec *spec,
                                           const char *name)
{
  const struct cb_option *option = cb_spec_kind(spec)->options;
  while (option && option->name && strcmp(option->name, name) != 0)
    option++;
  return option && option->name ? option : NULL;
}

static struct cb_spec *build(lua_State *L, int index,
                             const struct cb_family *family, int keep,
                             struct cb_error *error);

static int set_kind(lua_State *L, struct cb_spec *spec,
                    const struct cb_option *option, int keep,
                    struct cb_error *error)
{
  struct cb_spec *child = build(L, lua_gettop(L), option->family, keep, error);
  if (!child)
    return error->code;
  return cb_spec_set_spec(spec, option->name, child, error);
}

/* A list's elements are numbered in messages: "stage 2 (ring): ...". */
static int set_element(lua_State *L, struct cb_spec *spec,
                       const struct cb_option *option, lua_Integer at, int keep,
                       struct cb_error *error)
{
  struct cb_error trouble;
  struct cb_spec *child =
      build(L, lua_gettop(L), option->family, keep, &trouble);
  if (child)
    return cb_spec_append(spec, option->name, child, error);
  if (lua_istable(L, -1))
    lua_rawgeti(L, -1, 1);
  else
    lua_pushvalue(L, -1);
  const char *kind =
      lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  cb_fail(error, trouble.code, "%s %d%s%.20s%s: %s", option->family->name,
          (int)at, kind ? " (" : "", kind ? kind : "", kind ? ")" : "",
          trouble.text);
  lua_pop(L, 1);
  return trouble.code;
}

/* Has the table at index keys beyond 1 to count? */
static bool has_other_keys(lua_State *L, int index, lua_Integer count)
{
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
    if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 ||
        lua_tointeger(L, -2) > count) {
      lua_pop(L, 2);
      return true;
    }
  return false;
}

static int set_list(lua_State *L, struct cb_spec *spec,
                    const struct cb_option *option, int keep,
                    struct cb_error *error)
{
  int list = lua_gettop(L);
  lua_Integer count =
      lua_istable(L, list) ? (lua_Integer)lua_rawlen(L, list) : 0;
  luaL_checkstack(L, 10, "lists nested too deeply");
  if (count == 0 || has_other_keys(L, list, count))
    return cb_fail(error, -EINVAL,
                   "option '%s': a list of the family '%s' is wanted",
                   option->name, option->family->name);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, list, i);
    int status = set_element(L, spec, option, i, keep, error);
    lua_pop(L, 1);
    if (status < 0)
      return status;
  }
  return 0;
}

/* The name of a side that there is not, or NULL. The table is on top. */
static const char *odd_side(lua_State *L)
{
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    const char *name =
        lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    if (name && strcmp(name, "producer") != 0 &&
        strcmp(name, "consumer") != 0) {
      lua_pop(L, 2); /* the table holds it */
      return name;
    }
  }
  return NULL;
}

/* { producer = "mt", consumer = "st" } is the choice "mt/st"; "mt" when both
 * are the same. */
static int set_sides(lua_State *L, struct cb_spec *spec, const char *key,
                     struct cb_error *error)
{
  const char *odd = odd_side(L);
  if (odd)
    return cb_fail(error, -EINVAL,
                   "option '%s': unknown side '%s' (there are producer, "
                   "consumer)",
                   key, odd);
  lua_pushliteral(L, "producer");
  lua_rawget(L, -2); /* raw: nothing here may raise, for the spec's sake */
  lua_pushliteral(L, "consumer");
  lua_rawget(L, -3);
  const char *producer = lua_tostring(L, -2), *consumer = lua_tostring(L, -1);
  int status;
  if (!producer || !consumer) {
    status = cb_fail(error, -EINVAL,
                     "option '%s': a word, or one for producer and one for "
                     "consumer, is wanted",
                     key);
  } else {
    const char *word = strcmp(producer, consumer) == 0
                           ? producer
                           : lua_pushfstring(L, "%s/%s", producer, consumer);
    status = cb_spec_set_string(spec, key, word, error);
    if (word != producer)
      lua_pop(L, 1);
  }
  lua_pop(L, 2);
  return status;
}

/* A zero byte would end the string early. */
static int set_string(lua_State *L, struct cb_spec *spec, const char *key,
                      struct cb_error *error)
{
  const char *text = lua_tostring(L, -1);
  size_t length = strlen(text);
  if (length != lua_rawlen(L, -1))
    return cb_fail(error, -EINVAL, "option '%s': it has a zero byte, at %zu",
                   key, length + 1);
  return cb_spec_set_string(spec, key, text, error);
}

/* Sets one option from the value on top of the stack. */
static int set_value(lua_State *L, struct cb_spec *spec, const char *key,
                     int keep, struct cb_error *error)
{
  const struct cb_option *option = find_option(spec, key);
  if (option && option->type == CB_KIND)
    return set_kind(L, spec, option, keep, error);
  if (option && option->type == CB_LIST)
    return set_list(L, spec, option, keep, error);
  if (option && option->type == CB_CHOICE && lua_istable(L, -1))
    return set_sides(L, spec, key, error);
  switch (lua_type(L, -1)) {
  case LUA_TNUMBER:
    if (lua_isinteger(L, -1))
      return cb_spec_set_integer(spec, key, lua_tointeger(L, -1), error);
    return cb_spec_set_number(spec, key, lua_tonumber(L, -1), error);
  case LUA_TBOOLEAN:
    return cb_spec_set_boolean(spec, key, lua_toboolean(L, -1), error);
  case LUA_TSTRING:
    return set_string(L, spec, key, error);
  default:
    if (!option) /* let the spec say which name was meant */
      return cb_spec_set_boolean(spec, key, false, error);
    return cb_fail(error, -1, "option '%s': a %s is no value for it", key,
                   luaL_typename(L, -1));
  }
}

/* Keys are visited in no certain order; so that the same mistake always reads
 * the same, the alphabetically first bad key is the one reported. */
static int fill(lua_State *L, int index, struct cb_spec *spec, int keep,
                struct cb_error *error)
{
  char worst[64] = "";
  int result = 0;

  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    struct cb_error trouble;
    if (lua_type(L, -2) != LUA_TSTRING) {
      if (lua_isinteger(L, -2) && lua_tointeger(L, -2) == 1)
        continue; /* the kind's name */
      result = cb_fail(error, -1, "an option's name is a string, not a %s",
                       luaL_typename(L, -2));
      lua_pop(L, 2);
      return result;
    }
    const char *key = lua_tostring(L, -2);
    int code = set_value(L, spec, key, keep, &trouble);
    if (code < 0 && (!worst[0] || strcmp(key, worst) < 0)) {
      strncpy(worst, key, sizeof worst - 1);
      worst[sizeof worst - 1] = '\0';
      *error = trouble;
      result = code;
    }
  }
  return result;
}

/* Remembers the object on top of the stack in the box's user value. */
static void keep_alive(lua_State *L, int keep)
{
  lua_getiuservalue(L, keep, 1);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, keep, 1);
  }
  lua_pushvalue(L, -2);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}

static struct cb_spec *build_from_object(lua_State *L, int index,
                                         const struct cb_family *family,
                                         int keep, struct cb_error *error)
{
  struct cb_lua_object *object = test_object(L, index, family);
  if (!object) {
    const char *type = luaL_typename(L, index);
    int named = luaL_getmetafield(L, index, "__name");
    cb_fail(error, -1, "a %s is wanted (a name, a table or an object), got %s",
            family->name, named == LUA_TSTRING ? lua_tostring(L, -1) : type);
    if (named != LUA_TNIL)
      lua_pop(L, 1);
    return NULL;
  }
  if (!object->object) {
    cb_fail(error, -1, "%s is closed", family->name);
    return NULL;
  }
  struct cb_spec *spec = cb_spec_create(family, object->kind->name, error);
  if (spec) {
    cb_spec_lend(spec, object->object);
    lua_pushvalue(L, index);
    keep_alive(L, keep);
    lua_pop(L, 1);
  }
  return spec;
}

static struct cb_spec *build_from_table(lua_State *L, int index,
                                        const struct cb_family *family,
                                        int keep, struct cb_error *error)
{
  lua_rawgeti(L, index, 1);
  if (lua_type(L, -1) != LUA_TSTRING) {
    cb_fail(error, -1, "the first element names the %s, as in { \"%s\" }",
            family->name, family->kinds[0] ? family->kinds[0]->name : "name");
    lua_pop(L, 1);
    return NULL;
  }
  struct cb_spec *spec = cb_spec_create(family, lua_tostring(L, -1), error);
  lua_pop(L, 1);
  if (spec && fill(L, index, spec, keep, error) < 0) {
    cb_spec_destroy(spec);
    return NULL;
  }
  return spec;
}

/* The box at keep owns nothing while this runs: the specs below are freed on
 * every refusal, and only running out of memory inside Lua could lose them. */
static struct cb_spec *build(lua_State *L, int index,
                             const struct cb_family *family, int keep,
                             struct cb_error *error)
{
  luaL_checkstack(L, 10, "kinds nested too deeply");
  switch (lua_type(L, index)) {
  case LUA_TSTRING:
    return cb_spec_create(family, lua_tostring(L, index), error);
  case LUA_TTABLE:
    return build_from_table(L, index, family, keep, error);
  default:
    return build_from_object(L, index, family, keep, error);
  }
}

struct cb_spec *cb_lua_new_spec(lua_State *L, int index,
                                const struct cb_family *family)
{
  struct cb_error error;
  index = lua_absindex(L, index);
  struct cb_spec **box = new_box(L);
  *box = build(L, index, family, lua_gettop(L), &error);
  if (!*box) {
    lua_pop(L, 1);
    lua_pushstring(L, error.text);
  }
  return *box;
}

struct cb_spec *cb_lua_check_spec(lua_State *L, int index,
                                  const struct cb_family *family)
{
  struct cb_spec *spec = cb_lua_new_spec(L, index, family);
  if (!spec) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
    lua_error(L);
  }
  return spec;
}

/* Pushes the list of the live objects that the box at index keeps (or nil) and
 * returns their number. */
static lua_Integer push_objects(lua_State *L, int index)
{
  lua_getiuservalue(L, index, 1);
  return lua_istable(L, -1) ? (lua_Integer)lua_rawlen(L, -1) : 0;
}

const char *cb_lua_closed_object(lua_State *L, int index)
{
  const char *family = NULL;
  lua_Integer count = push_objects(L, index);
  for (lua_Integer i = 1; i <= count && !family; i++) {
    lua_rawgeti(L, -1, i);
    const struct cb_lua_object *object = lua_touserdata(L, -1);
    if (!object->object && luaL_getmetafield(L, -1, "__name")) {
      family = lua_tostring(L, -1) + strlen("cbench.");
      lua_pop(L, 1); /* its metatable keeps it */
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return family;
}

void cb_lua_use_objects(lua_State *L, int index, int by)
{
  lua_Integer count = push_objects(L, index);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, -1, i);
    struct cb_lua_object *object = lua_touserdata(L, -1);
    object->uses = (unsigned)((int)object->uses + by);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static const char *type_name(enum cb_type type)
{
  static const char *const names[] = {"integer", "number", "boolean", "string",
                                      "choice",  "kind",   "list"};
  return names[type];
}

static void push_choices(lua_State *L, const char *choices)
{
  lua_newtable(L);
  for (lua_Integer i = 1; *choices; i++) {
    size_t length = strcspn(choices, "|");
    lua_pushlstring(L, choices, length);
    lua_rawseti(L, -2, i);
    choices += length + (choices[length] == '|');
  }
}

static void push_preset(lua_State *L, const struct cb_option *option)
{
  switch (option->type) {
  case CB_INTEGER:
  case CB_NUMBER:
    lua_stringtonumber(L, option->preset);
    break;
  case CB_BOOLEAN:
    lua_pushboolean(L, strcmp(option->preset, "true") == 0);
    break;
  case CB_LIST: /* written as a script would, so Lua reads it */
    lua_pushfstring(L, "return %s", option->preset);
    if (luaL_loadstring(L, lua_tostring(L, -1)) ||
        lua_pcall(L, 0, 1, 0) != LUA_OK)
      lua_error(L);
    lua_remove(L, -2);
    break;
  default:
    lua_pushstring(L, option->preset);
  }
}

static void push_option(lua_State *L, const struct cb_option *option)
{
  lua_newtable(L);
  lua_pushstring(L, option->name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, type_name(option->type));
  lua_setfield(L, -2, "type");
  lua_pushstring(L, option->help);
  lua_setfield(L, -2, "help");
  if (option->preset) {
    push_preset(L, option);
    lua_setfield(L, -2, "preset");
  }
  if (option->type == CB_INTEGER || option->type == CB_NUMBER) {
    lua_pushnumber(L, option->min);
    lua_setfield(L, -2, "min");
    lua_pushnumber(L, option->max);
    lua_setfield(L, -2, "max");
  }
  if (option->type == CB_CHOICE) {
    push_choices(L, option->choices);
    lua_setfield(L, -2, "choices");
  }
  if (option->type == CB_KIND || option->type == CB_LIST) {
    lua_pushstring(L, option->family->name);
    lua_setfield(L, -2, "family");
  }
}

void cb_lua_push_kind(lua_State *L, const struct cb_kind *kind)
{
  lua_newtable(L);
  lua_pushstring(L, kind->name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, kind->summary);
  lua_setfield(L, -2, "summary");
  lua_pushboolean(L, kind->flags & CB_KIND_COMPARISON);
  lua_setfield(L, -2, "comparison");
  lua_pushboolean(L, kind->flags & CB_KIND_INTERPRETER);
  lua_setfield(L, -2, "interpreter");
  lua_newtable(L);
  for (int i = 0; kind->options && kind->options[i].name; i++) {
    push_option(L, &kind->options[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "options");
}

int cb_lua_families(lua_State *L)
{
  lua_newtable(L);
  for (int i = 0; cb_families()[i]; i++) {
    lua_pushstring(L, cb_families()[i]->name);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

int cb_lua_kinds(lua_State *L)
{
  const struct cb_family *family = cb_family_find(luaL_checkstring(L, 1));
  if (!family)
    return 0;
  lua_newtable(L);
  const struct cb_kind *kind;
  for (size_t i = 0; (kind = cb_kind_at(family, i)); i++) {
    cb_lua_push_kind(L, kind);
    if (strcmp(family->name, "ring") == 0) {
      cb_lua_push_ring_limits(L, kind);
      lua_setfield(L, -2, "limits");
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}
