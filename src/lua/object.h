/*
 * object.h - what the userdata of every family have in common.
 *
 * A live ring, pool or service set can stand wherever a kind can be named. Its
 * userdata starts with struct cb_lua_object and its metatable is called
 * "cbench." and the family's name; so one helper recognises them all.
 */
#ifndef CB_LUA_OBJECT_H
#define CB_LUA_OBJECT_H

#include "cbench.h"

#include <lauxlib.h>
#include <lua.h>

struct cb_lua_object {
  void *object; /* NULL once it is closed */
  const struct cb_kind *kind;
  unsigned uses; /* by what runs on: close refuses while there is one */
};

#endif
