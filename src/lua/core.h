/*
 * core.h - functions of the table `core` that live in files of their own.
 *
 * Each is a lua_CFunction; the Lua half of the module sees them as core.NAME.
 */
#ifndef CB_LUA_CORE_H
#define CB_LUA_CORE_H

#include <lua.h>

/* core.nearest(word, names): the name that word is a misspelling of, or nil. */
int cb_lua_nearest(lua_State *L);

/* core.json_encode(value [, order]): compact JSON. Keys stand in the order of
 * the list `order`, then by the alphabet. */
int cb_lua_json_encode(lua_State *L);
/* core.json_decode(text): the value, or nil and a sentence. */
int cb_lua_json_decode(lua_State *L);
/* core.json_array(table): marks the table, so that it is an array when empty;
 * returns it. */
int cb_lua_json_array(lua_State *L);

/* core.json_members(text): where the members of the one object in the text
 * stand: a flat list of key, first octet of the key's quotes, first and last
 * octet of the value; or nil and a sentence. Keys with escapes stay escaped. */
int cb_lua_json_members(lua_State *L);
/* Length of the UTF-8 sequence at text, 0 when there is none. */
size_t cb_lua_utf8_length(const unsigned char *text, size_t left);

/* core.output(path, mode): a file to be written; mode is "whole" or "append".
 * The object, or nil, a sentence and the name of the error. */
int cb_lua_output(lua_State *L);

/* core.load_plugin(path [, prefix]): an entry of core.plugins(), or nil, a
 * sentence and the name of the error. */
int cb_lua_load_plugin(lua_State *L);
/* core.plugins(): a list of { path, prefix, name, { family, name }, ... }. */
int cb_lua_plugins(lua_State *L);
/* core.plugin_folder(): where plug-ins are installed. */
int cb_lua_plugin_folder(lua_State *L);

#endif
