/*
 * switch_x86_64.S - the switch for the System V ABI on x86-64.
 *
 * The last instruction is a jump through a register, not `ret`: the processor
 * predicts a `ret` from the calls it has seen, and those belong to the other
 * stack. It is `notrack` because it lands behind a call in compiled code,
 * where no endbr64 stands. What is entered by a call or from a fresh context
 * starts with one. A shadow stack is not kept, so this object does not declare
 * that it could run with one, and that keeps the whole program off it.
 *
 * Enter and yield have a switch each, of the same instructions: a jump of its
 * own goes to one place again and again, one that both share would go to and
 * fro, and to foresee that a processor needs its history of branches.
 */
#ifdef __x86_64__

/* In struct cb_coroutine, and of enum cb_action. */
#define COROUTINE_SP 0
#define COROUTINE_CALLER 24
#define COROUTINE_ENTRY 32
#define COROUTINE_OPAQUE 40
#define ENDED 1
#define TERMINATE 2

#define SAVE                                                                   \
  pushq %rbp;                                                                  \
  .cfi_adjust_cfa_offset 8;                                                    \
  .cfi_rel_offset rbp, 0;                                                      \
  pushq %rbx;                                                                  \
  .cfi_adjust_cfa_offset 8;                                                    \
  .cfi_rel_offset rbx, 0;                                                      \
  pushq %r12;                                                                  \
  .cfi_adjust_cfa_offset 8;                                                    \
  .cfi_rel_offset r12, 0;                                                      \
  pushq %r13;                                                                  \
  .cfi_adjust_cfa_offset 8;                                                    \
  .cfi_rel_offset r13, 0;                                                      \
  pushq %r14;                                                                  \
  .cfi_adjust_cfa_offset 8;                                                    \
  .cfi_rel_offset r14, 0;                                                      \
  pushq %r15;                                                                  \
  .cfi_adjust_cfa_offset 8;                                                    \
  .cfi_rel_offset r15, 0

#define EXCHANGE(coroutine)                                                    \
  movq COROUTINE_SP(coroutine), %rdx;                                          \
  movq %rsp, COROUTINE_SP(coroutine);                                          \
  movq %rdx, %rsp

#define RESTORE_AND_GO                                                         \
  popq %r15;                                                                   \
  .cfi_adjust_cfa_offset -8;                                                   \
  .cfi_restore r15;                                                            \
  popq %r14;                                                                   \
  .cfi_adjust_cfa_offset -8;                                                   \
  .cfi_restore r14;                                                            \
  popq %r13;                                                                   \
  .cfi_adjust_cfa_offset -8;                                                   \
  .cfi_restore r13;                                                            \
  popq %r12;                                                                   \
  .cfi_adjust_cfa_offset -8;                                                   \
  .cfi_restore r12;                                                            \
  popq %rbx;                                                                   \
  .cfi_adjust_cfa_offset -8;                                                   \
  .cfi_restore rbx;                                                            \
  popq %rbp;                                                                   \
  .cfi_adjust_cfa_offset -8;                                                   \
  .cfi_restore rbp;                                                            \
  popq %rcx;                                                                   \
  .cfi_adjust_cfa_offset -8;                                                   \
  .cfi_register rip, rcx;                                                      \
  notrack jmp *%rcx

#define FUNCTION(name)                                                         \
  .globl name;                                                                 \
  .hidden name;                                                                \
  .type name, @function;                                                       \
  .p2align 5;                                                                  \
  name:                                                                        \
  .cfi_startproc;                                                              \
  endbr64

#define END(name)                                                              \
  .cfi_endproc;                                                                \
  .size name, . - name

  .text

/* int NAME(struct cb_coroutine *rdi, int esi) */
#define SWITCH(name)                                                           \
  FUNCTION(name);                                                              \
  SAVE;                                                                        \
  movl %esi, %eax;                                                             \
  EXCHANGE(%rdi);                                                              \
  RESTORE_AND_GO;                                                              \
  END(name)

SWITCH(cb_switch_enter)
SWITCH(cb_switch_yield)

/* The same. mxcsr and the x87 control word stand below the registers. */
#define SWITCH_FPU(name)                                                       \
  FUNCTION(name);                                                              \
  SAVE;                                                                        \
  subq $8, %rsp;                                                               \
  .cfi_adjust_cfa_offset 8;                                                    \
  stmxcsr (%rsp);                                                              \
  fnstcw 4(%rsp);                                                              \
  movl %esi, %eax;                                                             \
  EXCHANGE(%rdi);                                                              \
  ldmxcsr (%rsp);                                                              \
  fldcw 4(%rsp);                                                               \
  addq $8, %rsp;                                                               \
  .cfi_adjust_cfa_offset -8;                                                   \
  RESTORE_AND_GO;                                                              \
  END(name)

SWITCH_FPU(cb_switch_fpu_enter)
SWITCH_FPU(cb_switch_fpu_yield)

/* One life: rbx is the coroutine. Its entry is called from here and the switch
 * that ends it is part of this, because a call that is left by a jump stays
 * among those that the processor will take returns for: with one such call on
 * each side no return of a body in a nest is predicted right. */
#define LIVE                                                                   \
  .cfi_undefined rip;                                                          \
  .cfi_undefined rbp;                                                          \
  movq COROUTINE_OPAQUE(%rbx), %rdi;                                           \
  callq *COROUTINE_ENTRY(%rbx);                                                \
  movq cb_here_tls@gottpoff(%rip), %rax;                                       \
  movq COROUTINE_CALLER(%rbx), %rdx;                                           \
  movq %rdx, %fs:(%rax);                                                       \
  movq $ENDED, COROUTINE_CALLER(%rbx)

/* Leaves the frame that the next life begins with. Of its registers only rbx
 * is asked for. */
#define PARK(name)                                                             \
  leaq name(%rip), %rcx;                                                       \
  subq $56, %rsp;                                                              \
  .cfi_adjust_cfa_offset 56;                                                   \
  movl $TERMINATE, %eax;                                                       \
  movq %rcx, 48(%rsp);                                                         \
  movq %rbx, 32(%rsp)

FUNCTION(cb_switch_live)
  LIVE
  PARK(cb_switch_live)
  EXCHANGE(%rbx)
  RESTORE_AND_GO
END(cb_switch_live)

FUNCTION(cb_switch_fpu_live)
  LIVE
  PARK(cb_switch_fpu_live)
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  EXCHANGE(%rbx)
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  RESTORE_AND_GO
END(cb_switch_fpu_live)

/* The first frame of a coroutine that is run by a function: rbx is the
 * coroutine, r12 what to run. The undefined rip ends a backtrace here. */
FUNCTION(cb_switch_start)
  .cfi_undefined rip
  .cfi_undefined rbp
  movq %rbx, %rdi
  callq *%r12
  ud2
END(cb_switch_start)

/* The same for the inline switch, which comes with the coroutine in rdi; what
 * to run stands on the stack. */
FUNCTION(cb_switch_inline_start)
  .cfi_undefined rip
  .cfi_undefined rbp
  xorl %ebp, %ebp
  callq *(%rsp)
  ud2
END(cb_switch_inline_start)

/* Landing pads yes (1), shadow stack no (2). */
  .section .note.gnu.property, "a"
  .p2align 3
  .long 4, 16, 5
  .asciz "GNU"
  .long 0xc0000002, 4, 1, 0
#endif

  .section .note.GNU-stack, "", %progbits
