/*
 * backend_inline.c - the switch inlined where it is used.
 *
 * To the compiler it is one asm statement that overwrites every register, so
 * the compiler saves what is live at that place and no more. Stack pointer and
 * the place to go on are kept in the coroutine, its own beside its enterer's
 * (nothing is exchanged, nothing has to be held while it is), and so the red
 * zone below the stack pointer of a leaf function stays whole. Both sides pass
 * the same coroutine in the same register: what is loaded is what the other
 * side left.
 *
 * What bounds a round trip is how often a value goes through memory from one
 * switch to the next, and then how many instructions there are. So the
 * coroutine stays in its register for the enterer's next use, the current
 * coroutine is read and written where it is, not by its address, and a loop
 * says itself who it is that enters.
 */
#include "config.h"

#include "coroutine/kinds.h"

#include "coroutine/annotate.h"
#include "coroutine/here.h"
#include "coroutine/switch.h"

#if CB_HAVE_SWITCH

_Static_assert(offsetof(struct cb_coroutine, sp) == 0 &&
                   offsetof(struct cb_coroutine, pc) == 8 &&
                   offsetof(struct cb_coroutine, from_sp) == 16 &&
                   offsetof(struct cb_coroutine, from_pc) == 48 &&
                   offsetof(struct cb_here, current) == 0,
               "the assembly says so");

/* INLINE_SWITCH(name, sp, pc, to_sp, to_pc) defines a switch that leaves the
 * running context in the coroutine's fields sp and pc and goes to the other
 * one. `value` is what the other side gets. The jump is notrack, as that of
 * switch_x86_64.S: a landing pad would be one instruction more a switch. */

#ifdef __x86_64__

#ifdef __AVX512F__
#define CLOBBERS_AVX512                                                        \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",    \
      "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31",  \
      "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define CLOBBERS_AVX512
#endif

/* A compiler that uses rbp as frame pointer does not let it be overwritten;
 * it then goes below the red zone. */
#if defined CB_FREE_FRAME_POINTER && defined __OPTIMIZE__
#define SAVE_RBP
#define RESTORE_RBP
#define CLOBBERS_RBP , "rbp"
#else
#define SAVE_RBP "leaq -128(%%rsp), %%rsp\n\tpushq %%rbp\n\t"
#define RESTORE_RBP "\n\tpopq %%rbp\n\tleaq 128(%%rsp), %%rsp"
#define CLOBBERS_RBP
#endif

#define INLINE_SWITCH(name, sp, pc, to_sp, to_pc)                              \
  CB_HOT int name(struct cb_coroutine **at, int value)                         \
  {                                                                            \
    struct cb_coroutine *coroutine = *at;                                      \
    __asm__ __volatile__(                                                      \
        SAVE_RBP "leaq 1f(%%rip), %%rsi\n\t"                                   \
                 "movq %%rsp, " #sp "(%%rdi)\n\t"                              \
                 "movq %%rsi, " #pc "(%%rdi)\n\t"                              \
                 "movq " #to_sp "(%%rdi), %%rsp\n\t"                           \
                 "notrack jmp *" #to_pc "(%%rdi)\n\t"                          \
                 ".p2align 4\n"                                                \
                 "1:" RESTORE_RBP                                              \
        : "+D"(coroutine), "+a"(value)                                         \
        :                                                                      \
        : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13",  \
          "r14", "r15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)",     \
          "st(6)", "st(7)", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",    \
          "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",  \
          "xmm14", "xmm15" CLOBBERS_AVX512 CLOBBERS_RBP, "cc", "memory");      \
    *at = coroutine;                                                           \
    return value;                                                              \
  }

#elif defined __aarch64__

#define INLINE_SWITCH(name, sp, pc, to_sp, to_pc)                              \
  CB_HOT int name(struct cb_coroutine **at, int value)                         \
  {                                                                            \
    register struct cb_coroutine *x0 __asm__("x0") = *at;                      \
    register int w1 __asm__("w1") = value;                                     \
    __asm__ __volatile__(                                                      \
        "stp x29, xzr, [sp, #-16]!\n\t"                                        \
        "mov x2, sp\n\t"                                                       \
        "adr x3, 1f\n\t"                                                       \
        "str x2, [x0, #" #sp "]\n\t"                                           \
        "str x3, [x0, #" #pc "]\n\t"                                           \
        "ldr x4, [x0, #" #to_sp "]\n\t"                                        \
        "ldr x5, [x0, #" #to_pc "]\n\t"                                        \
        "mov sp, x4\n\t"                                                       \
        "br x5\n"                                                              \
        "1:\thint #36\n\t" /* bti j */                                         \
        "ldp x29, xzr, [sp], #16"                                              \
        : "+r"(x0), "+r"(w1)                                                   \
        :                                                                      \
        : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", \
          "x13", "x14", "x15", "x16", "x17", "x19", "x20", "x21", "x22",       \
          "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2",   \
          "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",       \
          "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",       \
          "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",       \
          "v31", "cc", "memory");                                              \
    *at = x0;                                                                  \
    return w1;                                                                 \
  }

#endif

INLINE_SWITCH(switch_enter, 16, 48, 0, 8)
INLINE_SWITCH(switch_yield, 0, 8, 16, 48)

/* `from` is the current coroutine, of a thread that has one. */
CB_HOT int inline_enter_from(struct cb_coroutine **at,
                             struct cb_coroutine *from)
{
  if (CB_UNLIKELY(!cb_may_enter(*at)))
    return CB_REFUSED(*at);
  (*at)->caller = from;
  CB_SET_CURRENT(*at);
  void *fake = cb_leave_outside(*at);
  int action = switch_enter(at, 0);
  cb_back_outside(fake);
  return action;
}

CB_HOT int inline_enter_raw(struct cb_coroutine **at)
{
  struct cb_coroutine *from = CB_CURRENT();
  return CB_LIKELY(from) ? inline_enter_from(at, from) : CB_REFUSED(*at);
}

CB_HOT int inline_yield(void)
{
  struct cb_coroutine *self = cb_begin_yield();
  if (!self)
    return -EPERM;
  void *fake = cb_leave_inside(self, false);
  int status = switch_yield(&self, CB_YIELD);
  cb_back_inside(self, fake);
  return status;
}

static void inline_run(struct cb_coroutine *self)
{
  for (;;) {
    cb_back_inside(self, NULL);
    self->entry(self->opaque);
    cb_begin_end(self);
    cb_leave_inside(self, true);
    switch_yield(&self, CB_TERMINATE);
  }
}

static int inline_prepare(struct cb_coroutine *coroutine, int setting,
                          struct cb_error *error)
{
  (void)setting;
  (void)error;
  cb_switch_inline_prepare(coroutine, inline_run);
  return 0;
}

#define CB_BACKEND inline
#define CB_ENTER_RAW(at) inline_enter_raw(at)
#define CB_ENTER_FROM(at, self) inline_enter_from(at, self)
#include "coroutine/coroutine_loops.h"

/* The single operations, for callers that have only a pointer. */
CB_OUT_OF_LINE int inline_enter_called(struct cb_coroutine *coroutine)
{
  return inline_enter_raw(&coroutine);
}

CB_OUT_OF_LINE int inline_yield_called(void)
{
  return inline_yield();
}

const struct cb_backend cb_backend_inline = {
    .kind.name = "inline",
    .kind.summary = "assembly in the place of use, saving only what is live; "
                    "floating point as asm",
    .size = sizeof(struct cb_coroutine),
    .configure = cb_switch_configure,
    .prepare = inline_prepare,
    .enter = inline_enter_called,
    .yield = inline_yield_called,
    .loops = &inline_loops};

#endif
