#include "coroutine/kinds.h"

static const struct cb_kind *const kinds[] = {
#if CB_HAVE_SWITCH
    &cb_backend_inline.kind,      &cb_backend_asm.kind,
    &cb_backend_asm_fpu.kind,
#endif
    &cb_backend_ucontext.kind,    &cb_backend_sigaltstack.kind,
    &cb_backend_swapcontext.kind, &cb_backend_call.kind,
    &cb_backend_lua.kind,         NULL,
};

static const char *const left_out[] = {
#if !CB_HAVE_SWITCH
    "inline",
    "asm",
    "asm_fpu",
#endif
    NULL,
};

const struct cb_family cb_backend_family = {.name = "backend",
                                            .kinds = kinds,
                                            .size = sizeof(struct cb_backend),
                                            .left_out = left_out};
