/*
 * document.c - a libFuzzer target: whatever stands in a baseline or in other
 * files of results, reading it gives results or a sentence.
 *
 *   make check-fuzz-json    (clang; the corpus is kept in fuzz-json/)
 *
 * What is done with an input is said in reader.lua, which FUZZ_READER names.
 */
#include "lua/module.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static lua_State *L;
static char path[] = "/tmp/cbench-fuzz-XXXXXX";

static void remove_file(void)
{
  unlink(path);
  lua_close(L);
}

static void die(void)
{
  fprintf(stderr, "document: %s\n", lua_tostring(L, -1));
  abort();
}

static void start(void)
{
  int file = mkstemp(path);
  if (file < 0)
    abort();
  close(file);
  L = luaL_newstate();
  luaL_openlibs(L);
  luaL_requiref(L, "cbench", luaopen_cbench, 0);
  const char *reader = getenv("FUZZ_READER");
  if (!reader || luaL_loadfile(L, reader) != LUA_OK)
    die();
  lua_pushstring(L, path);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK)
    die();
  lua_replace(L, 1);
  lua_settop(L, 1);
  atexit(remove_file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (!L)
    start();
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
    abort();
  lua_pushvalue(L, 1);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK)
    die();
  return 0;
}
