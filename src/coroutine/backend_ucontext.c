/*
 * backend_ucontext.c - created by makecontext, switched by sigsetjmp, as QEMU's
 * default does (util/coroutine-ucontext.c): swapcontext would make two system
 * calls a round trip for the signal mask.
 */
#include "coroutine/jump.h"

#include "coroutine/kinds.h"

#include <ucontext.h>

/* makecontext passes ints, and a pointer may be two of them. */
static void trampoline(unsigned low, unsigned high)
{
  uint64_t address = (uint64_t)high << 32 | low;
  jump_park((struct jumper *)(uintptr_t)address);
}

static void start(struct jumper *jumper, const ucontext_t *context)
{
  if (sigsetjmp(jumper->outside, 0) == 0) {
    jumper->fake_outside = cb_leave_outside(&jumper->coroutine);
    setcontext(context);
  }
  cb_back_outside(jumper->fake_outside);
}

static int ucontext_prepare(struct cb_coroutine *coroutine, int setting,
                            struct cb_error *error)
{
  struct jumper *jumper = jumper_of(coroutine);
  uint64_t address = (uintptr_t)jumper;
  ucontext_t context;

  (void)setting;
  if (getcontext(&context) < 0)
    return cb_fail(error, -errno, "getcontext failed");
  context.uc_link = NULL;
  context.uc_stack.ss_sp = coroutine->stack.low;
  context.uc_stack.ss_size =
      (size_t)(coroutine->stack.top - coroutine->stack.low);
  makecontext(&context, (void (*)(void))trampoline, 2, (unsigned)address,
              (unsigned)(address >> 32));
  start(jumper, &context);
  return 0;
}

CB_HOT int ucontext_enter_raw(struct cb_coroutine *coroutine)
{
  return jump_enter(coroutine);
}

CB_HOT int ucontext_yield(void)
{
  return jump_yield();
}

#define CB_BACKEND ucontext
#include "coroutine/coroutine_loops.h"

const struct cb_backend cb_backend_ucontext = {
    .kind.name = "ucontext",
    .kind.summary = "created by makecontext, switched by sigsetjmp, as QEMU's "
                    "default",
    .size = sizeof(struct jumper),
    .stack_min = 16384,
    .prepare = ucontext_prepare,
    .enter = jump_enter,
    .yield = jump_yield,
    .loops = &ucontext_loops};
