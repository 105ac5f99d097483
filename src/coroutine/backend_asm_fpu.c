/* backend_asm_fpu.c - the switch in assembly, with the control bits of the
 * floating point unit, which the ABI lets a function call preserve. */
#include "coroutine/kinds.h"

#if CB_HAVE_SWITCH

#define CB_BACKEND asm_fpu
#define ASM_SWITCH(name) cb_switch_fpu_##name
#include "coroutine/asm.h"

const struct cb_backend cb_backend_asm_fpu = {
    .kind.name = "asm_fpu",
    .kind.summary = "assembly, called; each coroutine has its own floating "
                    "point control bits",
    .size = sizeof(struct cb_coroutine),
    .configure = cb_switch_configure,
    .prepare = asm_fpu_prepare,
    .enter = asm_fpu_enter_raw,
    .yield = asm_fpu_yield,
    .loops = &asm_fpu_loops};

#endif
