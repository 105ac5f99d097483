/*
 * service_call.c - Lua as a service's callback.
 *
 * A function belongs to one Lua state, so it runs on that state's thread only.
 * A chunk given as text is loaded anew by every lcore, into a state of the
 * lcore's own: what the chunk keeps in globals stays there from run to run and
 * is shared with nobody. Its values are handed over as text too.
 */
#include "lua/services.h"

#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a callback's first result says: false is "no work", a whole number is
 * the result itself, all else is work done. */
static int result_of(lua_State *L, int index)
{
  if (lua_isboolean(L, index) && !lua_toboolean(L, index))
    return -EAGAIN;
  if (lua_isinteger(L, index)) {
    lua_Integer value = lua_tointeger(L, index);
    return value >= INT32_MIN && value <= INT32_MAX ? (int)value : -ERANGE;
  }
  return 0;
}

/* ---- functions */

static int call_function(void *argument, struct cb_lcore *lcore)
{
  struct cb_lua_function *self = argument;
  lua_State *L = self->caller ? self->caller : self->own;
  bool keep = self->keep;
  (void)lcore;
  self->keep = false;
  if (!lua_checkstack(L, 4))
    return -ENOMEM;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &self->function_key);
  int status = lua_pcall(L, 0, 1, 0);
  int result = status == LUA_OK ? result_of(L, -1) : -EIO;
  self->status = status;
  if (!keep)
    lua_pop(L, 1);
  return result;
}

static void end_function(lua_State *L, lua_Debug *debug)
{
  (void)debug;
  luaL_error(L, "interrupted");
}

/* Setting a hook is the one thing that Lua lets others do to a state that runs.
 */
void cb_lua_function_interrupt(struct cb_lua_function *self, bool on)
{
  lua_State *L = self->caller ? self->caller : self->own;
  lua_sethook(L, on ? end_function : NULL, on ? LUA_MASKCOUNT : 0, on);
}

static void release_function(void *argument)
{
  struct cb_lua_function *self = argument;
  lua_State *own = self->own;
  lua_pushnil(own);
  lua_rawsetp(own, LUA_REGISTRYINDEX, &self->function_key);
  lua_pushnil(own);
  lua_rawsetp(own, LUA_REGISTRYINDEX, &self->own_key);
  free(self);
}

struct cb_lua_function *cb_lua_function_call(lua_State *L, int index,
                                             struct cb_call *call)
{
  index = lua_absindex(L, index);
  struct cb_lua_function *self = calloc(1, sizeof *self);
  if (!self)
    luaL_error(L, "out of memory");
  /* From here on an error of Lua's (out of memory) loses those few bytes. */
  self->own = lua_newthread(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &self->own_key);
  lua_pushvalue(L, index);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &self->function_key);
  *call = (struct cb_call){.call = call_function,
                           .argument = self,
                           .release = release_function,
                           .mt_safe = true,
                           .uncounted = true};
  return self;
}

/* ---- chunks */

struct cb_lua_code {
  uint64_t serial; /* never used twice, unlike an address */
  char *source, *values;
  _Atomic bool interrupt;
  pthread_mutex_t mutex; /* of error */
  char error[200];
};

/* The states of one lcore, in a list. */
struct lcore_state {
  struct lcore_state *next;
  uint64_t serial;
  lua_State *L; /* the chunk is its only stack element; NULL: it has failed */
};

static void release_states(void *local)
{
  struct lcore_state *state = local, *next;
  for (; state; state = next) {
    next = state->next;
    if (state->L)
      lua_close(state->L);
    free(state);
  }
}

static void keep_error(struct cb_lua_code *code, const char *text)
{
  pthread_mutex_lock(&code->mutex);
  if (!code->error[0])
    snprintf(code->error, sizeof code->error, "%s", text);
  pthread_mutex_unlock(&code->mutex);
}

void cb_lua_code_error(struct cb_lua_code *code, char *text, size_t size)
{
  pthread_mutex_lock(&code->mutex);
  snprintf(text, size, "%s", code->error);
  pthread_mutex_unlock(&code->mutex);
}

void cb_lua_code_interrupt(struct cb_lua_code *code, bool on)
{
  code->interrupt = on;
}

/* Where a state finds its code, for the hook. */
static struct cb_lua_code **code_of(lua_State *L)
{
  return lua_getextraspace(L);
}

static void stop_hook(lua_State *L, lua_Debug *debug)
{
  (void)debug;
  if ((*code_of(L))->interrupt)
    luaL_error(L, "interrupted");
}

static const char *message_of(lua_State *L)
{
  const char *text = lua_tostring(L, -1);
  return text ? text : "(error object is not a string)";
}

/* In a protected call, with the code as its argument: leaves the chunk. Its
 * values are globals. */
static int prepare_state(lua_State *L)
{
  enum { INSTRUCTIONS = 10000 };
  const struct cb_lua_code *code = lua_touserdata(L, 1);
  luaL_openlibs(L);
  if (luaL_loadbufferx(L, code->values, strlen(code->values), "=values", "t"))
    return lua_error(L);
  lua_call(L, 0, 1);
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, 2);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, 3);
  }
  if (luaL_loadbufferx(L, code->source, strlen(code->source), "=code", "t"))
    return lua_error(L);
  lua_sethook(L, stop_hook, LUA_MASKCOUNT, INSTRUCTIONS);
  return 1;
}

static lua_State *open_state(struct cb_lua_code *code)
{
  lua_State *L = luaL_newstate();
  if (!L) {
    keep_error(code, "out of memory");
    return NULL;
  }
  *code_of(L) = code;
  lua_pushcfunction(L, prepare_state);
  lua_pushlightuserdata(L, code);
  if (lua_pcall(L, 1, 1, 0) == LUA_OK)
    return L;
  keep_error(code, message_of(L));
  lua_close(L);
  return NULL;
}

static lua_State *state_of(struct cb_lua_code *code, struct cb_lcore *lcore)
{
  struct lcore_state *first = cb_lcore_local(lcore), *state = first;
  while (state && state->serial != code->serial)
    state = state->next;
  if (state)
    return state->L;
  state = calloc(1, sizeof *state);
  if (!state)
    return NULL;
  *state = (struct lcore_state){first, code->serial, open_state(code)};
  cb_lcore_local_set(lcore, state, release_states);
  return state->L;
}

static int call_code(void *argument, struct cb_lcore *lcore)
{
  struct cb_lua_code *code = argument;
  lua_State *L = state_of(code, lcore);
  if (!L)
    return -EIO;
  lua_pushvalue(L, 1);
  int status = lua_pcall(L, 0, 1, 0);
  int result = status == LUA_OK ? result_of(L, -1) : -EIO;
  if (status != LUA_OK)
    keep_error(code, message_of(L));
  lua_settop(L, 1);
  return result;
}

static void release_code(void *argument)
{
  struct cb_lua_code *code = argument;
  pthread_mutex_destroy(&code->mutex);
  free(code->source);
  free(code->values);
  free(code);
}

/* ---- values as text */

/* Text that grows in a userdata at a fixed place on the stack, so that an error
 * while it is made loses nothing. */
struct text {
  lua_State *L;
  int slot;
  char *at;
  size_t length, size;
};

static void add(struct text *text, const char *more, size_t length)
{
  if (text->length + length + 1 > text->size) {
    size_t size = (text->length + length + 1) * 2;
    char *at = lua_newuserdatauv(text->L, size, 0);
    if (text->length)
      memcpy(at, text->at, text->length);
    lua_replace(text->L, text->slot);
    text->at = at;
    text->size = size;
  }
  memcpy(text->at + text->length, more, length);
  text->length += length;
  text->at[text->length] = '\0';
}

static void add_text(struct text *text, const char *more)
{
  add(text, more, strlen(more));
}

static void add_string(struct text *text, int index)
{
  size_t size;
  const char *octets = lua_tolstring(text->L, index, &size);
  add_text(text, "\"");
  for (size_t i = 0; i < size; i++) {
    char escape[8];
    snprintf(escape, sizeof escape, "\\%03u", (unsigned char)octets[i]);
    add_text(text, escape);
  }
  add_text(text, "\"");
}

static void add_number(struct text *text, int index)
{
  char digits[64];
  double number = lua_tonumber(text->L, index);
  if (lua_isinteger(text->L, index)) /* hexadecimal has no overflow */
    snprintf(digits, sizeof digits, "0x%llx",
             (unsigned long long)lua_tointeger(text->L, index));
  else if (isnan(number))
    snprintf(digits, sizeof digits, "(0/0)");
  else if (isinf(number))
    snprintf(digits, sizeof digits, number < 0 ? "-1e9999" : "1e9999");
  else
    snprintf(digits, sizeof digits, "%a", number);
  add_text(text, digits);
}

static void add_table(struct text *text, int index, int depth);

/* The value at index; key is where it stands, for the message. */
static void add_value(struct text *text, int index, int depth, int key)
{
  lua_State *L = text->L;
  switch (lua_type(L, index)) {
  case LUA_TBOOLEAN:
    add_text(text, lua_toboolean(L, index) ? "true" : "false");
    break;
  case LUA_TNUMBER:
    add_number(text, index);
    break;
  case LUA_TSTRING:
    add_string(text, index);
    break;
  case LUA_TTABLE:
    add_table(text, index, depth + 1);
    break;
  default:
    lua_pushfstring(L,
                    "option 'values': '%s' is a %s, which no other Lua "
                    "state can have",
                    luaL_tolstring(L, key, NULL), luaL_typename(L, index));
    luaL_argerror(L, 2, lua_tostring(L, -1));
  }
}

static void add_table(struct text *text, int index, int depth)
{
  lua_State *L = text->L;
  if (depth > 20)
    luaL_argerror(L, 2,
                  "option 'values': tables more than 20 deep, or a "
                  "cycle");
  luaL_checkstack(L, 8, "values");
  add_text(text, "{");
  lua_pushnil(L);
  while (lua_next(L, index)) {
    int value = lua_gettop(L);
    add_text(text, "[");
    add_value(text, value - 1, depth, value - 1);
    add_text(text, "]=");
    add_value(text, value, depth, value - 1);
    add_text(text, ",");
    lua_settop(L, value - 1);
  }
  add_text(text, "}");
}

/* "return {...}", in a userdata that is left on the stack. */
static const char *values_text(lua_State *L, int values)
{
  struct text text = {.L = L};
  lua_pushnil(L);
  text.slot = lua_gettop(L);
  add_text(&text, "return ");
  if (lua_isnil(L, values))
    add_text(&text, "{}");
  else
    add_table(&text, values, 0);
  return text.at;
}

/* ---- a chunk as a callback */

static struct cb_lua_code *new_code(const char *source, const char *values)
{
  static _Atomic uint64_t serials;
  struct cb_lua_code *code = calloc(1, sizeof *code);
  if (!code)
    return NULL;
  code->serial = ++serials;
  code->source = strdup(source);
  code->values = strdup(values);
  if (code->source && code->values &&
      pthread_mutex_init(&code->mutex, NULL) == 0)
    return code;
  free(code->source);
  free(code->values);
  free(code);
  return NULL;
}

struct cb_lua_code *cb_lua_code_call(lua_State *L, const char *source,
                                     int values, struct cb_call *call)
{
  if (luaL_loadbufferx(L, source, strlen(source), "=code", "t") != LUA_OK)
    luaL_argerror(L, 2, lua_tostring(L, -1));
  lua_pop(L, 1);
  if (!lua_isnil(L, values) && !lua_istable(L, values))
    luaL_argerror(L, 2, "option 'values': table expected");
  struct cb_lua_code *code = new_code(source, values_text(L, values));
  lua_pop(L, 1);
  if (!code)
    luaL_error(L, "out of memory");
  *call = (struct cb_call){.call = call_code,
                           .argument = code,
                           .release = release_code,
                           .mt_safe = true,
                           .uncounted = true};
  return code;
}
