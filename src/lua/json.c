/*
 * json.c - strict JSON, read and written by jansson.
 *
 * Lua has one number type with two faces and one table for two things, JSON
 * has neither NaN nor a difference between them; the rules are these:
 *  - integers stay integers (64 bits), floats keep every bit (17 digits);
 *  - a table with positions is an array, one with names an object; an empty
 *    one is an object unless core.json_array marked it; both at once is an
 *    error, and so is a value that JSON does not know;
 *  - NaN and the infinities become null, and in an object the key KEY_reason
 *    says which it was;
 *  - text that is not UTF-8, also a key, gets U+FFFD for each octet that does
 *    not belong; that two keys become one is an error;
 *  - null in an object is an absent key, in an array core.json_null.
 *
 * Containers hang on their root from the moment they exist, and the root on a
 * userdata: a Lua error on the way leaks nothing.
 */
#include "lua/core.h"

#include <jansson.h>
#include <lauxlib.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOX "cbench.json"
#define ARRAY "cbench.json_array"

enum { DEEPEST = 100 };
/* Stack of core.json_encode: the value, then the rank of each ordered key. */
enum { VALUE = 1, RANKS = 2 };

struct box {
  json_t *root;
  char *text;
};

static int box_free(lua_State *L)
{
  struct box *box = luaL_checkudata(L, 1, BOX);
  json_decref(box->root);
  free(box->text);
  *box = (struct box){NULL, NULL};
  return 0;
}

static struct box *push_box(lua_State *L)
{
  struct box *box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = (struct box){NULL, NULL};
  if (luaL_newmetatable(L, BOX)) {
    lua_pushcfunction(L, box_free);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return box;
}

/* ---- from Lua ------------------------------------------------------------ */

/* A place in the growing document: where the next value goes. */
struct place {
  struct box *box;
  json_t *parent;  /* NULL: the value is the root */
  const char *key; /* of an object */
  int depth;
};

static void put(lua_State *L, const struct place *place, json_t *value)
{
  int failed = 0;
  if (!value)
    luaL_error(L, "out of memory");
  if (!place->parent)
    place->box->root = value;
  else if (place->key)
    failed = json_object_set_new(place->parent, place->key, value);
  else
    failed = json_array_append_new(place->parent, value);
  if (failed)
    luaL_error(L, "out of memory");
}

size_t cb_lua_utf8_length(const unsigned char *text, size_t left)
{
  static const struct {
    unsigned char mask, lead;
    unsigned long least;
  } forms[] = {{0x80, 0, 0},
               {0xe0, 0xc0, 0x80},
               {0xf0, 0xe0, 0x800},
               {0xf8, 0xf0, 0x10000}};

  for (size_t n = 0; n < 4 && n < left; n++) {
    if ((text[0] & forms[n].mask) != forms[n].lead)
      continue;
    unsigned long point = text[0] & (unsigned char)~forms[n].mask;
    for (size_t i = 1; i <= n; i++) {
      if ((text[i] & 0xc0) != 0x80)
        return 0;
      point = point << 6 | (text[i] & 0x3f);
    }
    bool surrogate = point >= 0xd800 && point < 0xe000;
    return point >= forms[n].least && point < 0x110000 && !surrogate ? n + 1
                                                                     : 0;
  }
  return 0;
}

/* Pushes the string with U+FFFD for what is not UTF-8. */
static const char *push_mended(lua_State *L, const char *text, size_t *length)
{
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (size_t i = 0; i < *length;) {
    size_t n = cb_lua_utf8_length((const unsigned char *)text + i, *length - i);
    if (n)
      luaL_addlstring(&buffer, text + i, n);
    else
      luaL_addstring(&buffer, "\xef\xbf\xbd");
    i += n ? n : 1;
  }
  luaL_pushresult(&buffer);
  return lua_tolstring(L, -1, length);
}

static void put_string(lua_State *L, const struct place *place, int index)
{
  size_t length;
  const char *text = lua_tolstring(L, index, &length);
  json_t *value = json_stringn(text, length);
  if (!value) {
    text = push_mended(L, text, &length);
    value = json_stringn(text, length);
    lua_pop(L, 1);
  }
  put(L, place, value);
}

static void put_number(lua_State *L, const struct place *place, int index)
{
  double number = lua_tonumber(L, index);
  if (lua_isinteger(L, index)) {
    put(L, place, json_integer(lua_tointeger(L, index)));
  } else if (isfinite(number)) {
    put(L, place, json_real(number));
  } else {
    put(L, place, json_null());
    if (place->key) {
      struct place reason = *place;
      reason.key = lua_pushfstring(L, "%s_reason", place->key);
      put(L, &reason,
          json_string(isnan(number) ? "not a number"
                      : number > 0  ? "infinite"
                                    : "negative infinite"));
      lua_pop(L, 1);
    }
  }
}

static void put_value(lua_State *L, const struct place *place, int index);

static bool marked_array(lua_State *L, int index)
{
  if (!lua_getmetatable(L, index))
    return false;
  luaL_getmetatable(L, ARRAY);
  bool marked = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return marked;
}

/* A key and its rank in the wanted order. */
struct entry {
  const char *key;
  lua_Integer rank;
};

static int compare_entries(const void *left, const void *right)
{
  const struct entry *a = left, *b = right;
  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  return strcmp(a->key, b->key);
}

static lua_Integer rank_of(lua_State *L, const char *key)
{
  lua_Integer rank = LUA_MAXINTEGER;
  if (lua_getfield(L, RANKS, key) == LUA_TNUMBER)
    rank = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return rank;
}

static bool is_utf8(const char *text)
{
  size_t length = strlen(text), n = 1;
  for (size_t i = 0; i < length && n; i += n)
    n = cb_lua_utf8_length((const unsigned char *)text + i, length - i);
  return n > 0;
}

/* Pushes the key as it stands in the object, where `mended` tells whether one
 * is not what it was: then it may meet another. */
static const char *push_key(lua_State *L, json_t *object, const char *key,
                            bool *mended)
{
  size_t length = strlen(key);
  if (is_utf8(key)) {
    lua_pushstring(L, key);
  } else {
    key = push_mended(L, key, &length);
    *mended = true;
  }
  if (*mended && json_object_get(object, key))
    luaL_error(L, "two keys that are '%s' in UTF-8 are no JSON", key);
  return key;
}

static void put_object(lua_State *L, const struct place *place, int index,
                       size_t count)
{
  struct entry *entries = lua_newuserdatauv(L, count * sizeof *entries + 1, 0);
  size_t used = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      luaL_error(L, "a table with both names and positions is no JSON");
    entries[used].key = lua_tostring(L, -2);
    if (strlen(entries[used].key) != lua_rawlen(L, -2))
      luaL_error(L, "a key with a zero octet is no JSON");
    entries[used].rank = rank_of(L, entries[used].key);
    used++;
  }
  qsort(entries, used, sizeof *entries, compare_entries);
  bool mended = false;
  json_t *object = json_object();
  put(L, place, object);
  for (size_t i = 0; i < used; i++) {
    const char *key = push_key(L, object, entries[i].key, &mended);
    struct place inner = {place->box, object, key, place->depth + 1};
    lua_getfield(L, index, entries[i].key);
    put_value(L, &inner, lua_gettop(L));
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
}

static void put_array(lua_State *L, const struct place *place, int index,
                      size_t count)
{
  json_t *array = json_array();
  put(L, place, array);
  struct place inner = {place->box, array, NULL, place->depth + 1};
  for (size_t i = 1; i <= count; i++) {
    if (lua_rawgeti(L, index, (lua_Integer)i) == LUA_TNIL)
      luaL_error(L, "a list with holes, or with names too, is no JSON");
    put_value(L, &inner, lua_gettop(L));
    lua_pop(L, 1);
  }
}

static void put_table(lua_State *L, const struct place *place, int index)
{
  if (place->depth > DEEPEST)
    luaL_error(L, "tables nested deeper than %d are no JSON", DEEPEST);
  luaL_checkstack(L, 10, "JSON");
  size_t count = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
    count++;
  if (lua_rawlen(L, index) > 0 || (count == 0 && marked_array(L, index)))
    put_array(L, place, index, count);
  else
    put_object(L, place, index, count);
}

static void put_value(lua_State *L, const struct place *place, int index)
{
  switch (lua_type(L, index)) {
  case LUA_TBOOLEAN:
    put(L, place, json_boolean(lua_toboolean(L, index)));
    break;
  case LUA_TNUMBER:
    put_number(L, place, index);
    break;
  case LUA_TSTRING:
    put_string(L, place, index);
    break;
  case LUA_TTABLE:
    put_table(L, place, index);
    break;
  case LUA_TLIGHTUSERDATA:
    if (!lua_touserdata(L, index)) {
      put(L, place, json_null());
      break;
    }
    /* fall through */
  default:
    luaL_error(L, "a %s%s%s is no JSON", luaL_typename(L, index),
               place->key ? " in field " : "", place->key ? place->key : "");
  }
}

/* Replaces the list of keys at RANKS by a table from key to position. */
static void make_ranks(lua_State *L)
{
  lua_settop(L, 2);
  lua_newtable(L);
  if (!lua_isnoneornil(L, RANKS)) {
    luaL_checktype(L, RANKS, LUA_TTABLE);
    for (lua_Integer i = 1; lua_rawgeti(L, RANKS, i) == LUA_TSTRING; i++) {
      lua_pushinteger(L, i);
      lua_settable(L, -3);
    }
    lua_pop(L, 1);
  }
  lua_replace(L, RANKS);
}

int cb_lua_json_encode(lua_State *L)
{
  luaL_checkany(L, VALUE);
  make_ranks(L);
  struct box *box = push_box(L);
  struct place place = {box, NULL, NULL, 0};
  put_value(L, &place, VALUE);
  box->text = json_dumps(box->root, JSON_COMPACT | JSON_ENCODE_ANY |
                                        JSON_REAL_PRECISION(17));
  if (!box->text)
    return luaL_error(L, "out of memory");
  lua_pushstring(L, box->text);
  return 1;
}

int cb_lua_json_array(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  luaL_newmetatable(L, ARRAY);
  lua_setmetatable(L, 1);
  return 1;
}

/* ---- to Lua -------------------------------------------------------------- */

static void push_value(lua_State *L, const json_t *value);

static void push_array(lua_State *L, const json_t *array)
{
  size_t count = json_array_size(array);
  lua_createtable(L, (int)count, 0);
  if (count == 0)
    luaL_setmetatable(L, ARRAY);
  for (size_t i = 0; i < count; i++) {
    const json_t *element = json_array_get(array, i);
    if (json_is_null(element))
      lua_pushlightuserdata(L, NULL);
    else
      push_value(L, element);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_object(lua_State *L, json_t *object)
{
  const char *key;
  json_t *value;
  lua_createtable(L, 0, (int)json_object_size(object));
  json_object_foreach(object, key, value)
  {
    push_value(L, value);
    lua_setfield(L, -2, key);
  }
}

static void push_value(lua_State *L, const json_t *value)
{
  luaL_checkstack(L, 6, "JSON");
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    push_object(L, (json_t *)value);
    break;
  case JSON_ARRAY:
    push_array(L, value);
    break;
  case JSON_STRING:
    lua_pushlstring(L, json_string_value(value), json_string_length(value));
    break;
  case JSON_INTEGER:
    lua_pushinteger(L, json_integer_value(value));
    break;
  case JSON_REAL:
    lua_pushnumber(L, json_real_value(value));
    break;
  case JSON_NULL:
    lua_pushnil(L);
    break;
  default:
    lua_pushboolean(L, json_is_true(value));
  }
}

int cb_lua_json_decode(lua_State *L)
{
  size_t length;
  json_error_t error;
  const char *text = luaL_checklstring(L, 1, &length);
  luaL_newmetatable(L, ARRAY);
  struct box *box = push_box(L);
  box->root = json_loadb(
      text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL,
      &error);
  if (!box->root) {
    lua_pushnil(L);
    lua_pushfstring(L, "line %d, column %d: %s", error.line, error.column,
                    error.text);
    return 2;
  }
  push_value(L, box->root);
  return 1;
}
