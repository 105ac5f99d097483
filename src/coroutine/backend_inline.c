/*
 * backend_inline.c - the switch inlined where it is used.
 *
 * To the compiler it is one asm statement that overwrites every register, so
 * the compiler saves what is live at that place and no more. Stack pointer,
 * frame pointer (which no clobber list may name) and the place to go on are
 * kept in the coroutine, not on the stack, and so the red zone below the stack
 * pointer of a leaf function stays whole. Both sides pass the same coroutine in
 * the same register: what is loaded is what the other side left.
 *
 * What bounds a round trip then is how often a value goes through memory from
 * one switch to the next. So the coroutine stays in its register for the
 * enterer's next use, and the one who yields hands the enterer's own coroutine
 * over in a register: the enterer makes it current again.
 */
#include "coroutine/kinds.h"

#include "coroutine/annotate.h"
#include "coroutine/here.h"
#include "coroutine/switch.h"

#if CB_HAVE_SWITCH

_Static_assert(offsetof(struct cb_coroutine, sp) == 0 &&
                   offsetof(struct cb_coroutine, pc) == 8 &&
                   offsetof(struct cb_coroutine, fp) == 16,
               "the assembly says so");

#ifdef __x86_64__

#ifdef __AVX512F__
#define CLOBBERS_AVX512                                                        \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",    \
      "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31",  \
      "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define CLOBBERS_AVX512
#endif

CB_HOT int inline_switch(struct cb_coroutine **at, int value,
                         struct cb_coroutine **from)
{
  struct cb_coroutine *coroutine = *at, *back = *from;
  __asm__ __volatile__("movq (%%rdi), %%r8\n\t"
                       "movq 8(%%rdi), %%rcx\n\t"
                       "leaq 1f(%%rip), %%rsi\n\t"
                       "movq 16(%%rdi), %%rbx\n\t"
                       "movq %%rsp, (%%rdi)\n\t"
                       "movq %%rsi, 8(%%rdi)\n\t"
                       "movq %%rbp, 16(%%rdi)\n\t"
                       "movq %%r8, %%rsp\n\t"
                       "movq %%rbx, %%rbp\n\t"
                       "jmp *%%rcx\n\t"
                       ".p2align 4\n"
                       "1:\tendbr64"
                       : "+D"(coroutine), "+a"(value), "+d"(back)
                       :
                       : "rbx", "rcx", "rsi", "r8", "r9", "r10", "r11", "r12",
                         "r13", "r14", "r15", "st", "st(1)", "st(2)", "st(3)",
                         "st(4)", "st(5)", "st(6)", "st(7)", "xmm0", "xmm1",
                         "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                         "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                         "xmm15" CLOBBERS_AVX512, "cc", "memory");
  *at = coroutine;
  *from = back;
  return value;
}

#elif defined __aarch64__

CB_HOT int inline_switch(struct cb_coroutine **at, int value,
                         struct cb_coroutine **from)
{
  register struct cb_coroutine *x0 __asm__("x0") = *at;
  register int w1 __asm__("w1") = value;
  register struct cb_coroutine *x7 __asm__("x7") = *from;
  __asm__ __volatile__(
      "ldp x2, x3, [x0]\n\t"
      "ldr x4, [x0, #16]\n\t"
      "mov x5, sp\n\t"
      "adr x6, 1f\n\t"
      "stp x5, x6, [x0]\n\t"
      "str x29, [x0, #16]\n\t"
      "mov sp, x2\n\t"
      "mov x29, x4\n\t"
      "br x3\n"
      "1:\thint #36" /* bti j */
      : "+r"(x0), "+r"(w1), "+r"(x7)
      :
      : "x2", "x3", "x4", "x5", "x6", "x8", "x9", "x10", "x11", "x12", "x13",
        "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
        "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4",
        "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
        "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
        "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
  *at = x0;
  *from = x7;
  return w1;
}

#endif

CB_HOT int inline_enter_raw(struct cb_coroutine **at)
{
  if (!cb_begin_enter(*at))
    return CB_REFUSED(*at);
  void *fake = cb_leave_outside(*at);
  struct cb_coroutine *from = (*at)->caller;
  int action = inline_switch(at, 0, &from);
  CB_HERE()->current = from;
  cb_back_outside(fake);
  return action;
}

CB_HOT int inline_yield(void)
{
  struct cb_coroutine *self = CB_HERE()->current;
  if (CB_UNLIKELY(!self || !cb_is_entered(self)))
    return -EPERM;
  struct cb_coroutine *from = self->caller;
  self->caller = NULL;
  void *fake = cb_leave_inside(self, false);
  int status = inline_switch(&self, CB_YIELD, &from);
  cb_back_inside(self, fake);
  return status;
}

static void inline_run(struct cb_coroutine *self)
{
  for (;;) {
    cb_back_inside(self, NULL);
    self->entry(self->opaque);
    struct cb_coroutine *from = self->caller;
    self->caller = CB_ENDED;
    cb_leave_inside(self, true);
    inline_switch(&self, CB_TERMINATE, &from);
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
