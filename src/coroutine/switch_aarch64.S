/*
 * switch_aarch64.S - the switch for the AAPCS64.
 *
 * The last instruction is a plain branch, not `ret`, and enter and yield have
 * one each, for the reasons told in switch_x86_64.S. x18 belongs to the
 * platform and is left alone.
 */
#ifdef __aarch64__

/* In struct cb_coroutine, and of enum cb_action. */
#define COROUTINE_SP 0
#define COROUTINE_CALLER 24
#define COROUTINE_ENTRY 32
#define COROUTINE_OPAQUE 40
#define ENDED 1
#define TERMINATE 2
#define FRAME 176

#define FUNCTION(name)                                                         \
  .globl name;                                                                 \
  .hidden name;                                                                \
  .type name, %function;                                                       \
  .p2align 5;                                                                  \
  name:                                                                        \
  .cfi_startproc;                                                              \
  hint #34 /* bti c */

#define END(name)                                                              \
  .cfi_endproc;                                                                \
  .size name, . - name

/* The frame of struct cb_switch_frame; the first word is for the FPCR. */
#define SAVE                                                                   \
  stp x29, x30, [sp, #-FRAME]!;                                                \
  .cfi_adjust_cfa_offset FRAME;                                                \
  .cfi_rel_offset x29, 0;                                                      \
  .cfi_rel_offset x30, 8;                                                      \
  stp x19, x20, [sp, #16];                                                     \
  .cfi_rel_offset x19, 16;                                                     \
  .cfi_rel_offset x20, 24;                                                     \
  stp x21, x22, [sp, #32];                                                     \
  .cfi_rel_offset x21, 32;                                                     \
  .cfi_rel_offset x22, 40;                                                     \
  stp x23, x24, [sp, #48];                                                     \
  .cfi_rel_offset x23, 48;                                                     \
  .cfi_rel_offset x24, 56;                                                     \
  stp x25, x26, [sp, #64];                                                     \
  .cfi_rel_offset x25, 64;                                                     \
  .cfi_rel_offset x26, 72;                                                     \
  stp x27, x28, [sp, #80];                                                     \
  .cfi_rel_offset x27, 80;                                                     \
  .cfi_rel_offset x28, 88;                                                     \
  stp d8, d9, [sp, #96];                                                       \
  stp d10, d11, [sp, #112];                                                    \
  stp d12, d13, [sp, #128];                                                    \
  stp d14, d15, [sp, #144]

#define EXCHANGE                                                               \
  mov x9, sp;                                                                  \
  ldr x10, [x0, #COROUTINE_SP];                                                \
  str x9, [x0, #COROUTINE_SP];                                                 \
  mov sp, x10;                                                                 \
  mov w0, w1

#define RESTORE_AND_GO                                                         \
  ldp d14, d15, [sp, #144];                                                    \
  ldp d12, d13, [sp, #128];                                                    \
  ldp d10, d11, [sp, #112];                                                    \
  ldp d8, d9, [sp, #96];                                                       \
  ldp x27, x28, [sp, #80];                                                     \
  ldp x25, x26, [sp, #64];                                                     \
  ldp x23, x24, [sp, #48];                                                     \
  ldp x21, x22, [sp, #32];                                                     \
  ldp x19, x20, [sp, #16];                                                     \
  ldp x29, x30, [sp], #FRAME;                                                  \
  .cfi_def_cfa_offset 0;                                                       \
  br x30

  .text

/* int NAME(struct cb_coroutine *x0, int w1) */
#define SWITCH(name)                                                           \
  FUNCTION(name);                                                              \
  SAVE;                                                                        \
  EXCHANGE;                                                                    \
  RESTORE_AND_GO;                                                              \
  END(name)

SWITCH(cb_switch_enter)
SWITCH(cb_switch_yield)

/* The same, and the floating point control register. */
#define SWITCH_FPU(name)                                                       \
  FUNCTION(name);                                                              \
  SAVE;                                                                        \
  mrs x11, fpcr;                                                               \
  str x11, [sp, #160];                                                         \
  EXCHANGE;                                                                    \
  ldr x11, [sp, #160];                                                         \
  msr fpcr, x11;                                                               \
  RESTORE_AND_GO;                                                              \
  END(name)

SWITCH_FPU(cb_switch_fpu_enter)
SWITCH_FPU(cb_switch_fpu_yield)

/* One life, as in switch_x86_64.S: x19 is the coroutine. */
#define LIVE                                                                   \
  .cfi_undefined x30;                                                          \
  ldp x1, x0, [x19, #COROUTINE_ENTRY];                                         \
  blr x1;                                                                      \
  mrs x9, tpidr_el0;                                                           \
  adrp x10, :gottprel:cb_here_tls;                                             \
  ldr x10, [x10, :gottprel_lo12:cb_here_tls];                                  \
  ldr x11, [x19, #COROUTINE_CALLER];                                           \
  mov x12, #ENDED;                                                             \
  str x11, [x9, x10];                                                          \
  str x12, [x19, #COROUTINE_CALLER];                                           \
  mov x0, x19;                                                                 \
  mov w1, #TERMINATE

/* Leaves the frame that the next life begins with. Of its registers only x19
 * is asked for. */
#define PARK(name)                                                             \
  adr x12, name;                                                               \
  sub sp, sp, #FRAME;                                                          \
  stp xzr, x12, [sp];                                                          \
  str x19, [sp, #16]

FUNCTION(cb_switch_live)
  LIVE
  PARK(cb_switch_live)
  EXCHANGE
  RESTORE_AND_GO
END(cb_switch_live)

FUNCTION(cb_switch_fpu_live)
  LIVE
  PARK(cb_switch_fpu_live)
  mrs x11, fpcr
  str x11, [sp, #160]
  EXCHANGE
  ldr x11, [sp, #160]
  msr fpcr, x11
  RESTORE_AND_GO
END(cb_switch_fpu_live)

/* The first frame of a coroutine that is run by a function: x19 is the
 * coroutine, x20 what to run. The undefined x30 ends a backtrace here. */
FUNCTION(cb_switch_start)
  .cfi_undefined x30
  mov x0, x19
  blr x20
  brk #1
END(cb_switch_start)

/* The same for the inline switch, which comes with the coroutine in x0; what to
 * run stands on the stack. */
FUNCTION(cb_switch_inline_start)
  .cfi_undefined x30
  ldr x1, [sp]
  mov x29, #0
  blr x1
  brk #1
END(cb_switch_inline_start)
#endif

  .section .note.GNU-stack, "", %progbits
