/* switch.c - the first context of a coroutine, as the assembly wants it. */
#include "coroutine/switch.h"
#include "coroutine/kinds.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if CB_HAVE_SWITCH

void cb_switch_start(void);
void cb_switch_inline_start(void);

_Static_assert(offsetof(struct cb_coroutine, sp) == 0 &&
                   offsetof(struct cb_coroutine, caller) == 24 &&
                   offsetof(struct cb_coroutine, entry) == 32 &&
                   offsetof(struct cb_coroutine, opaque) == 40 &&
                   offsetof(struct cb_here, current) == 0 && CB_TERMINATE == 2,
               "the assembly says so");

#ifdef __x86_64__
/* What a switch pops, lowest address first. Above it is nothing: rsp is then
 * the top of the stack, a multiple of 64 (the ABI wants one of 16). */
struct frame {
  uint64_t r15, r14, r13, r12, rbx, rbp;
  void (*rip)(void);
};

static struct frame *new_frame(struct cb_coroutine *coroutine, cb_run *run)
{
  struct frame *frame = (struct frame *)(void *)coroutine->stack.top - 1;
  memset(frame, 0, sizeof *frame);
  frame->rbx = (uint64_t)(uintptr_t)coroutine;
  frame->r12 = (uint64_t)(uintptr_t)run;
  frame->rip = cb_switch_start;
  return frame;
}

void cb_switch_prepare(struct cb_coroutine *coroutine, cb_run *run)
{
  coroutine->sp =
      run ? (void *)new_frame(coroutine, run) : coroutine->stack.top;
}

void cb_switch_fpu_prepare(struct cb_coroutine *coroutine, cb_run *run)
{
  if (!run) {
    coroutine->sp = coroutine->stack.top;
    return;
  }
  struct frame *frame = new_frame(coroutine, run);
  uint32_t *control = (uint32_t *)(void *)frame - 2;
  __asm__("stmxcsr %0" : "=m"(control[0]));
  control[1] = 0;
  __asm__("fnstcw %0" : "=m"(*(uint16_t *)&control[1]));
  coroutine->sp = control;
}

#elif defined __aarch64__
/* What a switch restores, lowest address first. */
struct frame {
  uint64_t x29;
  void (*x30)(void);
  uint64_t x19, x20, x21_x28[8], d8_d15[8], fpcr, padding;
};
_Static_assert(sizeof(struct frame) == 176, "the assembly says so");

static void prepare(struct cb_coroutine *coroutine, cb_run *run)
{
  if (!run) {
    coroutine->sp = coroutine->stack.top;
    return;
  }
  struct frame *frame = (struct frame *)(void *)coroutine->stack.top - 1;
  memset(frame, 0, sizeof *frame);
  frame->x19 = (uint64_t)(uintptr_t)coroutine;
  frame->x20 = (uint64_t)(uintptr_t)run;
  frame->x30 = cb_switch_start;
  __asm__("mrs %0, fpcr" : "=r"(frame->fpcr));
  coroutine->sp = frame;
}

void cb_switch_prepare(struct cb_coroutine *coroutine, cb_run *run)
{
  prepare(coroutine, run);
}

void cb_switch_fpu_prepare(struct cb_coroutine *coroutine, cb_run *run)
{
  prepare(coroutine, run);
}
#endif

void cb_switch_inline_prepare(struct cb_coroutine *coroutine, cb_run *run)
{
  cb_run **sp = (cb_run **)(void *)coroutine->stack.top - 2;
  sp[0] = run;
  sp[1] = NULL;
  coroutine->sp = sp;
  coroutine->pc = (void *)(uintptr_t)cb_switch_inline_start;
}

int cb_switch_configure(const struct cb_spec *spec, int *setting,
                        struct cb_error *error)
{
  (void)spec;
  (void)setting;
  (void)error;
#if defined __x86_64__ && defined SYS_arch_prctl
  enum { ARCH_SHSTK_STATUS = 0x5005 };
  unsigned long features = 0;
  if (syscall(SYS_arch_prctl, ARCH_SHSTK_STATUS, &features) == 0 &&
      features & 1)
    return cb_fail(error, -ENOTSUP,
                   "this process runs with a shadow stack, which assembly "
                   "does not switch; the back end 'swapcontext' does");
#endif
  return 0;
}

#endif
