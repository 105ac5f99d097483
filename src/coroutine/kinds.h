/* kinds.h - the back ends there are, best first. */
#ifndef CB_COROUTINE_KINDS_H
#define CB_COROUTINE_KINDS_H

#include "config.h"

#include "coroutine/backend.h"

#if defined CB_ASM &&                                                          \
    (defined __x86_64__ && !defined __ILP32__ || defined __aarch64__)
#define CB_HAVE_SWITCH 1
#define CB_BACKEND_PRESET "asm"
#else
#define CB_HAVE_SWITCH 0
#define CB_BACKEND_PRESET "ucontext"
#endif

extern const struct cb_backend cb_backend_inline, cb_backend_asm,
    cb_backend_asm_fpu, cb_backend_ucontext, cb_backend_sigaltstack,
    cb_backend_swapcontext, cb_backend_call, cb_backend_lua;
extern const struct cb_family cb_backend_family;

/* The loops of the comparison `lua` need an interpreter, so they come from
 * above; before this is called the kind has none. */
void cb_backend_lua_provide(const struct cb_coroutine_loops *loops);

#endif
