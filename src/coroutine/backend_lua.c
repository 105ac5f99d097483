/*
 * backend_lua.c - a row to compare with: a coroutine of Lua's own. Its loops
 * need an interpreter, so the floor that has one provides them.
 */
#include "coroutine/kinds.h"

static struct cb_coroutine_loops loops;

void cb_backend_lua_provide(const struct cb_coroutine_loops *provided)
{
  loops = *provided;
}

const struct cb_backend cb_backend_lua = {
    .kind.name = "lua",
    .kind.summary = "a coroutine of Lua's own, resumed from C",
    .kind.flags = CB_KIND_COMPARISON | CB_KIND_INTERPRETER,
    .loops = &loops};
