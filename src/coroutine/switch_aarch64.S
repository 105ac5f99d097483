/*
 * switch_aarch64.S - the switch for the AAPCS64.
 *
 * The last instruction is a plain branch, not `ret`, and enter calls what shall
 * run, for the reasons told in switch_x86_64.S. x18 belongs to the platform and
 * is left alone.
 */
#ifdef __aarch64__

/* In struct cb_coroutine, and of enum cb_action. */
#define COROUTINE_SP 0
#define COROUTINE_CALLER 24
#define COROUTINE_ENTRY 32
#define COROUTINE_OPAQUE 40
#define ENDED 2
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

/* The frame of struct frame in switch.c; the word at 160 is for the FPCR. */
#define FRAME_RULES                                                            \
  .cfi_def_cfa_offset FRAME;                                                   \
  .cfi_rel_offset x29, 0;                                                      \
  .cfi_rel_offset x30, 8;                                                      \
  .cfi_rel_offset x19, 16;                                                     \
  .cfi_rel_offset x20, 24;                                                     \
  .cfi_rel_offset x21, 32;                                                     \
  .cfi_rel_offset x22, 40;                                                     \
  .cfi_rel_offset x23, 48;                                                     \
  .cfi_rel_offset x24, 56;                                                     \
  .cfi_rel_offset x25, 64;                                                     \
  .cfi_rel_offset x26, 72;                                                     \
  .cfi_rel_offset x27, 80;                                                     \
  .cfi_rel_offset x28, 88

#define SAVE                                                                   \
  stp x29, x30, [sp, #-FRAME]!;                                                \
  .cfi_def_cfa_offset FRAME;                                                   \
  .cfi_rel_offset x29, 0;                                                      \
  .cfi_rel_offset x30, 8;                                                      \
  stp x19, x20, [sp, #16];                                                     \
  stp x21, x22, [sp, #32];                                                     \
  stp x23, x24, [sp, #48];                                                     \
  stp x25, x26, [sp, #64];                                                     \
  stp x27, x28, [sp, #80];                                                     \
  stp d8, d9, [sp, #96];                                                       \
  stp d10, d11, [sp, #112];                                                    \
  stp d12, d13, [sp, #128];                                                    \
  stp d14, d15, [sp, #144];                                                    \
  FRAME_RULES

#define EXCHANGE                                                               \
  mov x9, sp;                                                                  \
  ldr x10, [x0, #COROUTINE_SP];                                                \
  str x9, [x0, #COROUTINE_SP];                                                 \
  mov sp, x10

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

/* The floating point control register. */
#define SAVE_CONTROL                                                           \
  mrs x11, fpcr;                                                               \
  str x11, [sp, #160]

#define RESTORE_CONTROL                                                        \
  ldr x11, [sp, #160];                                                         \
  msr fpcr, x11

/* x0 is the coroutine, x1 what to call; the rest as in switch_x86_64.S. */
#define ENTER_AND_END                                                          \
  mov x19, x0;                                                                 \
  EXCHANGE;                                                                    \
  .cfi_remember_state;                                                         \
  .cfi_undefined x30;                                                          \
  mov x29, xzr;                                                                \
  ldr x0, [x19, #COROUTINE_OPAQUE];                                            \
  blr x1;                                                                      \
  mrs x9, tpidr_el0;                                                           \
  adrp x10, :gottprel:cb_here_tls;                                             \
  ldr x10, [x10, :gottprel_lo12:cb_here_tls];                                  \
  ldr x11, [x19, #COROUTINE_CALLER];                                           \
  mov x12, #ENDED;                                                             \
  str x11, [x9, x10];                                                          \
  str x12, [x19, #COROUTINE_CALLER];                                           \
  mov x0, x19;                                                                 \
  EXCHANGE;                                                                    \
  mov w0, #TERMINATE;                                                          \
  .cfi_restore_state

/* int cb_switch_enter(struct cb_coroutine *x0, cb_entry *x1) */
FUNCTION(cb_switch_enter)
  SAVE
  ENTER_AND_END
  RESTORE_AND_GO
END(cb_switch_enter)

FUNCTION(cb_switch_fpu_enter)
  SAVE
  SAVE_CONTROL
  ENTER_AND_END
  RESTORE_CONTROL
  RESTORE_AND_GO
END(cb_switch_fpu_enter)

/* Where a coroutine that had yielded goes on. */
FUNCTION(cb_switch_resume)
  FRAME_RULES
  mov w0, wzr
  RESTORE_AND_GO
END(cb_switch_resume)

FUNCTION(cb_switch_fpu_resume)
  FRAME_RULES
  mov w0, wzr
  RESTORE_CONTROL
  RESTORE_AND_GO
END(cb_switch_fpu_resume)

/* int cb_switch_yield(struct cb_coroutine *x0, int w1) */
FUNCTION(cb_switch_yield)
  SAVE
  EXCHANGE
  mov w0, w1
  RESTORE_AND_GO
END(cb_switch_yield)

FUNCTION(cb_switch_fpu_yield)
  SAVE
  SAVE_CONTROL
  EXCHANGE
  mov w0, w1
  RESTORE_CONTROL
  RESTORE_AND_GO
END(cb_switch_fpu_yield)

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
