/*
 * json_members.c - where the members of a JSON object stand in its text.
 *
 * Whoever joins files of results copies nearly all of them as they are: he
 * must know that each line is sound and where its parts begin, and has no use
 * for a tree of it. So this is one pass over the text that builds nothing but
 * the list of places. It refuses what jansson refuses, so that what was copied
 * can be read again: what is not UTF-8, numbers beyond 64 bits or infinite,
 * keys given twice.
 */
#include "lua/core.h"

#include <errno.h>
#include <lauxlib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64, MEMBERS_MAX = 128 };

struct scan {
  const char *at, *end;
  const char *why; /* NULL as long as all is well */
};

/* A member: its key without quotes, where it begins and ends with them. */
struct member {
  const char *key, *first, *value, *last;
  size_t length;
};

static bool fail(struct scan *scan, const char *why)
{
  if (!scan->why)
    scan->why = why;
  return false;
}

static int peek(const struct scan *scan)
{
  return scan->at < scan->end ? (unsigned char)*scan->at : -1;
}

static bool is_space(char c)
{
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static int skip_space(struct scan *scan)
{
  while (scan->at < scan->end && is_space(*scan->at))
    scan->at++;
  return peek(scan);
}

static bool take(struct scan *scan, char wanted, const char *why)
{
  if (peek(scan) != wanted)
    return fail(scan, why);
  scan->at++;
  return true;
}

/* ---- strings ------------------------------------------------------------- */

static int hex4(struct scan *scan)
{
  int value = 0;
  for (int i = 0; i < 4; i++, scan->at++) {
    static const char digits[] = "0123456789abcdef";
    const char *digit =
        peek(scan) > 0 ? strchr(digits, peek(scan) | 0x20) : NULL;
    if (!digit || !*digit || (peek(scan) < '0'))
      return -1;
    value = value * 16 + (int)(digit - digits);
  }
  return value;
}

/* After "\u": a pair of surrogates is one character. */
static bool unicode(struct scan *scan)
{
  int high = hex4(scan);
  if (high < 0)
    return fail(scan, "invalid escape");
  if (high >= 0xdc00 && high < 0xe000)
    return fail(scan, "half of a surrogate pair");
  if (high < 0xd800 || high >= 0xdc00)
    return true;
  if (scan->end - scan->at < 6 || memcmp(scan->at, "\\u", 2) != 0)
    return fail(scan, "half of a surrogate pair");
  scan->at += 2;
  int low = hex4(scan);
  return (low >= 0xdc00 && low < 0xe000) ||
         fail(scan, "half of a surrogate pair");
}

static bool escape(struct scan *scan)
{
  int letter = peek(scan);
  if (letter <= 0 || !strchr("\"\\/bfnrtu", letter))
    return fail(scan, "invalid escape");
  scan->at++;
  return letter != 'u' || unicode(scan);
}

static bool beyond_ascii(struct scan *scan)
{
  size_t length = cb_lua_utf8_length((const unsigned char *)scan->at,
                                     (size_t)(scan->end - scan->at));
  scan->at += length;
  return length > 0 || fail(scan, "no UTF-8");
}

/* Passes over what stands for itself, and gives what comes after. */
static int skip_plain(struct scan *scan)
{
  const char *at = scan->at;
  while (at < scan->end && (unsigned char)(*at - 0x20) < 0x60 && *at != '"' &&
         *at != '\\')
    at++;
  scan->at = at;
  return peek(scan);
}

static bool string(struct scan *scan)
{
  if (!take(scan, '"', "string expected"))
    return false;
  for (;;) {
    int c = skip_plain(scan);
    if (c == '"') {
      scan->at++;
      return true;
    }
    if (c < 0)
      return fail(scan, "the text ends in a string");
    if (c < 0x20)
      return fail(scan, "control character in a string");
    if (c >= 0x80 && !beyond_ascii(scan))
      return false;
    if (c == '\\' && (scan->at++, !escape(scan)))
      return false;
  }
}

/* ---- numbers ------------------------------------------------------------- */

static bool digits(struct scan *scan)
{
  const char *first = scan->at;
  while (peek(scan) >= '0' && peek(scan) <= '9')
    scan->at++;
  return scan->at > first || fail(scan, "invalid number");
}

/* Lua ends every text with a zero octet, so that strtod and strtoll stop. */
static bool in_range(struct scan *scan, const char *first, bool whole)
{
  errno = 0;
  if (whole ? (strtoll(first, NULL, 10), errno == ERANGE)
            : !isfinite(strtod(first, NULL)))
    return fail(scan, "a number out of range");
  return true;
}

/* Passes over the letter, a sign and the digits. */
static bool exponent(struct scan *scan)
{
  scan->at++;
  if (peek(scan) == '+' || peek(scan) == '-')
    scan->at++;
  return digits(scan);
}

static bool number(struct scan *scan)
{
  enum { SAFE_DIGITS = 18 };
  const char *first = scan->at;
  bool whole = true, large = false;
  if (peek(scan) == '-')
    scan->at++;
  if (peek(scan) == '0')
    scan->at++;
  else if (!digits(scan))
    return false;
  large = scan->at - first > SAFE_DIGITS;
  if (peek(scan) == '.') {
    whole = false;
    scan->at++;
    if (!digits(scan))
      return false;
  }
  if (peek(scan) == 'e' || peek(scan) == 'E') {
    whole = false;
    large = true;
    if (!exponent(scan))
      return false;
  }
  return !large || in_range(scan, first, whole);
}

/* ---- values -------------------------------------------------------------- */

static bool value(struct scan *scan, int depth);

static bool literal(struct scan *scan, const char *word)
{
  size_t length = strlen(word);
  if ((size_t)(scan->end - scan->at) < length ||
      memcmp(scan->at, word, length) != 0)
    return fail(scan, "value expected");
  scan->at += length;
  return true;
}

static bool array(struct scan *scan, int depth)
{
  scan->at++;
  if (skip_space(scan) == ']') {
    scan->at++;
    return true;
  }
  for (;;) {
    if (!value(scan, depth))
      return false;
    if (skip_space(scan) == ']') {
      scan->at++;
      return true;
    }
    if (!take(scan, ',', "',' or ']' expected"))
      return false;
  }
}

static bool member(struct scan *scan, int depth, struct member *found)
{
  skip_space(scan);
  found->first = scan->at;
  if (!string(scan))
    return false;
  found->key = found->first + 1;
  found->length = (size_t)(scan->at - found->key) - 1;
  skip_space(scan);
  if (!take(scan, ':', "':' expected"))
    return false;
  skip_space(scan);
  found->value = scan->at;
  if (!value(scan, depth))
    return false;
  found->last = scan->at;
  return true;
}

static bool is_new(const struct member *members, size_t count)
{
  const struct member *last = &members[count];
  for (size_t i = 0; i < count; i++)
    if (members[i].length == last->length &&
        memcmp(members[i].key, last->key, last->length) == 0)
      return false;
  return true;
}

/* The members of an object; their number, or -1. */
static int object(struct scan *scan, int depth, struct member *members)
{
  size_t count = 0;
  scan->at++;
  if (skip_space(scan) == '}') {
    scan->at++;
    return 0;
  }
  for (;;) {
    if (count == MEMBERS_MAX)
      return fail(scan, "too many members"), -1;
    if (!member(scan, depth, &members[count]))
      return -1;
    if (!is_new(members, count))
      return fail(scan, "a key stands twice"), -1;
    count++;
    if (skip_space(scan) == '}') {
      scan->at++;
      return (int)count;
    }
    if (!take(scan, ',', "',' or '}' expected"))
      return -1;
  }
}

static bool inner_object(struct scan *scan, int depth)
{
  struct member members[MEMBERS_MAX];
  return object(scan, depth, members) >= 0;
}

static bool value(struct scan *scan, int depth)
{
  if (depth > DEEPEST)
    return fail(scan, "nested too deep");
  switch (skip_space(scan)) {
  case '{':
    return inner_object(scan, depth + 1);
  case '[':
    return array(scan, depth + 1);
  case '"':
    return string(scan);
  case 't':
    return literal(scan, "true");
  case 'f':
    return literal(scan, "false");
  case 'n':
    return literal(scan, "null");
  case -1:
    return fail(scan, "the text ends in a value");
  default:
    return number(scan);
  }
}

static void push_places(lua_State *L, const char *text,
                        const struct member *members, int count)
{
  lua_createtable(L, count * 4, 0);
  for (int i = 0; i < count; i++) {
    const struct member *one = &members[i];
    lua_pushlstring(L, one->key, one->length);
    lua_rawseti(L, -2, i * 4 + 1);
    lua_pushinteger(L, one->first - text + 1);
    lua_rawseti(L, -2, i * 4 + 2);
    lua_pushinteger(L, one->value - text + 1);
    lua_rawseti(L, -2, i * 4 + 3);
    lua_pushinteger(L, one->last - text);
    lua_rawseti(L, -2, i * 4 + 4);
  }
}

int cb_lua_json_members(lua_State *L)
{
  size_t length;
  struct member members[MEMBERS_MAX];
  const char *text = luaL_checklstring(L, 1, &length);
  struct scan scan = {.at = text, .end = text + length};
  int count = -1;

  if (skip_space(&scan) == '{')
    count = object(&scan, 1, members);
  else
    fail(&scan, "object expected");
  if (count >= 0 && skip_space(&scan) != -1)
    fail(&scan, "more than one value");
  if (scan.why) {
    lua_pushnil(L);
    lua_pushfstring(L, "column %d: %s", (int)(scan.at - text) + 1, scan.why);
    return 2;
  }
  push_places(L, text, members, count);
  return 1;
}
