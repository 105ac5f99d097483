/*
 * switch_x86_64.S - the switch for the System V ABI on x86-64.
 *
 * The last instruction is a jump through a register, not `ret`: the processor
 * predicts a `ret` from the calls it has seen, and those belong to the other
 * stack. It is `notrack` because it lands behind a call in compiled code,
 * where no endbr64 stands. What is called through a pointer starts with one,
 * the switches are reached by direct jumps. A shadow stack is not kept, so this
 * object does not declare that it could run with one, and that keeps the whole
 * program off it.
 *
 * Enter goes to the coroutine's stack and calls what shall run there: the entry
 * of a fresh coroutine, which so needs no context made up for it, or the place
 * where one that yielded resumes. That this is called, and its return address
 * thrown away, is for the processor: it has the calls of the enterer in mind,
 * and the next `ret` of the coroutine, when that is its entry's, would be
 * predicted wrong, which costs more than two switches. After a call that has
 * the same return address as the entry's, because it is the same instruction,
 * it is predicted right.
 *
 * Yield has a jump of its own: one that both directions share would go to and
 * fro, and to foresee that a processor needs its history of branches.
 */
#ifdef __x86_64__

/* In struct cb_coroutine, and of enum cb_action. */
#define COROUTINE_SP 0
#define COROUTINE_CALLER 24
#define COROUTINE_ENTRY 32
#define COROUTINE_OPAQUE 40
#define ENDED 2
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
  .cfi_startproc

#define END(name)                                                              \
  .cfi_endproc;                                                                \
  .size name, . - name

  .text

/* mxcsr and the x87 control word stand below the registers. */
#define SAVE_CONTROL                                                           \
  subq $8, %rsp;                                                               \
  .cfi_adjust_cfa_offset 8;                                                    \
  stmxcsr (%rsp);                                                              \
  fnstcw 4(%rsp)

#define RESTORE_CONTROL                                                        \
  ldmxcsr (%rsp);                                                              \
  fldcw 4(%rsp);                                                               \
  addq $8, %rsp;                                                               \
  .cfi_adjust_cfa_offset -8

/* rdi is the coroutine, rsi what to call. When the entry returns the coroutine
 * has ended: its stack is empty again and whoever entered it last goes on. The
 * undefined rip ends a backtrace here, as rbp does for those who follow that.
 */
#define ENTER_AND_END                                                          \
  movq %rdi, %rbx;                                                             \
  EXCHANGE(%rbx);                                                              \
  .cfi_remember_state;                                                         \
  .cfi_undefined rip;                                                          \
  .cfi_undefined rbp;                                                          \
  movq COROUTINE_OPAQUE(%rbx), %rdi;                                           \
  xorl %ebp, %ebp;                                                             \
  callq *%rsi;                                                                 \
  movq cb_here_tls@gottpoff(%rip), %rax;                                       \
  movq COROUTINE_CALLER(%rbx), %rdx;                                           \
  movq %rdx, %fs:(%rax);                                                       \
  movq $ENDED, COROUTINE_CALLER(%rbx);                                         \
  movl $TERMINATE, %eax;                                                       \
  EXCHANGE(%rbx);                                                              \
  .cfi_restore_state

/* Drops the return address, and what else is below the registers that yield
 * has saved. */
#define RESUME(at)                                                             \
  .cfi_def_cfa rsp, at + 56;                                                   \
  .cfi_offset rbp, -16;                                                        \
  .cfi_offset rbx, -24;                                                        \
  .cfi_offset r12, -32;                                                        \
  .cfi_offset r13, -40;                                                        \
  .cfi_offset r14, -48;                                                        \
  .cfi_offset r15, -56;                                                        \
  movq at(%rsp), %r15;                                                         \
  movq at + 8(%rsp), %r14;                                                     \
  movq at + 16(%rsp), %r13;                                                    \
  movq at + 24(%rsp), %r12;                                                    \
  movq at + 32(%rsp), %rbx;                                                    \
  movq at + 40(%rsp), %rbp;                                                    \
  movq at + 48(%rsp), %rcx;                                                    \
  leaq at + 56(%rsp), %rsp;                                                    \
  .cfi_def_cfa_offset 0;                                                       \
  .cfi_register rip, rcx;                                                      \
  xorl %eax, %eax;                                                             \
  notrack jmp *%rcx

/* int cb_switch_enter(struct cb_coroutine *rdi, cb_entry *rsi) */
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

FUNCTION(cb_switch_resume)
  endbr64
  RESUME(8)
END(cb_switch_resume)

FUNCTION(cb_switch_fpu_resume)
  endbr64
  ldmxcsr 8(%rsp)
  fldcw 12(%rsp)
  RESUME(16)
END(cb_switch_fpu_resume)

/* int cb_switch_yield(struct cb_coroutine *rdi, int esi) */
FUNCTION(cb_switch_yield)
  SAVE
  movl %esi, %eax
  EXCHANGE(%rdi)
  RESTORE_AND_GO
END(cb_switch_yield)

FUNCTION(cb_switch_fpu_yield)
  SAVE
  SAVE_CONTROL
  movl %esi, %eax
  EXCHANGE(%rdi)
  RESTORE_CONTROL
  RESTORE_AND_GO
END(cb_switch_fpu_yield)

/* The first frame of a coroutine that is run by a function: rbx is the
 * coroutine, r12 what to run. The undefined rip ends a backtrace here. */
FUNCTION(cb_switch_start)
  endbr64
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
