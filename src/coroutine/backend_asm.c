/* backend_asm.c - the switch in assembly, called. */
#include "coroutine/kinds.h"

#if CB_HAVE_SWITCH

#define CB_BACKEND asm
#define ASM_SWITCH(name) cb_switch_##name
#include "coroutine/asm.h"

const struct cb_backend cb_backend_asm = {
    .kind.name = "asm",
    .kind.summary = "assembly, called; the floating point control bits are "
                    "shared with the thread",
    .size = sizeof(struct cb_coroutine),
    .configure = cb_switch_configure,
    .prepare = asm_prepare,
    .enter = asm_enter_raw,
    .yield = asm_yield,
    .loops = &asm_loops};

#endif
