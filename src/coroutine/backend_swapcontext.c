/*
 * backend_swapcontext.c - created by makecontext, switched by swapcontext: what
 * the C library offers ready-made. It saves the signal mask by a system call in
 * every switch, which is most of its cost, and the floating point control bits.
 */
#include "coroutine/kinds.h"

#include "coroutine/annotate.h"
#include "coroutine/here.h"

#include <ucontext.h>

struct swapper {
  struct cb_coroutine coroutine;
  ucontext_t inside, outside;
  int action; /* swapcontext carries no value */
};

static struct swapper *swapper_of(struct cb_coroutine *coroutine)
{
  return (struct swapper *)(void *)coroutine;
}

#ifdef CB_WITH_ASAN
/* The runtime's swapcontext prints that it is not fully supported; with the
 * switches announced it is, so its two halves are called instead. */
CB_OUT_OF_LINE void swap(ucontext_t *from, const ucontext_t *to)
{
  bool _Atomic back = false;
  getcontext(from);
  if (!back) {
    back = true;
    setcontext(to);
  }
}
#else
CB_HOT void swap(ucontext_t *from, const ucontext_t *to)
{
  swapcontext(from, to);
}
#endif

CB_OUT_OF_LINE int swapcontext_enter_raw(struct cb_coroutine *coroutine)
{
  if (!cb_begin_enter(coroutine))
    return CB_REFUSED(coroutine);
  struct swapper *swapper = swapper_of(coroutine);
  void *fake = cb_leave_outside(coroutine);
  swap(&swapper->outside, &swapper->inside);
  cb_back_outside(fake);
  return swapper->action;
}

CB_OUT_OF_LINE int swapcontext_yield(void)
{
  struct cb_coroutine *self = cb_begin_yield();
  if (!self)
    return -EPERM;
  struct swapper *swapper = swapper_of(self);
  void *fake = cb_leave_inside(self, false);
  swapper->action = CB_YIELD;
  swap(&swapper->inside, &swapper->outside);
  cb_back_inside(self, fake);
  return 0;
}

/* makecontext passes ints, and a pointer may be two of them. */
static void swapcontext_run(unsigned low, unsigned high)
{
  uint64_t address = (uint64_t)high << 32 | low;
  struct swapper *swapper = (struct swapper *)(uintptr_t)address;
  struct cb_coroutine *self = &swapper->coroutine;
  for (;;) {
    cb_back_inside(self, NULL);
    self->entry(self->opaque);
    cb_begin_end(self);
    cb_leave_inside(self, true);
    swapper->action = CB_TERMINATE;
    swap(&swapper->inside, &swapper->outside);
  }
}

static int swapcontext_prepare(struct cb_coroutine *coroutine, int setting,
                               struct cb_error *error)
{
  struct swapper *swapper = swapper_of(coroutine);
  uint64_t address = (uintptr_t)swapper;
  ucontext_t *context = &swapper->inside;

  (void)setting;
  if (getcontext(context) < 0)
    return cb_fail(error, -errno, "getcontext failed");
  context->uc_link = NULL;
  context->uc_stack.ss_sp = coroutine->stack.low;
  context->uc_stack.ss_size =
      (size_t)(coroutine->stack.top - coroutine->stack.low);
  makecontext(context, (void (*)(void))swapcontext_run, 2, (unsigned)address,
              (unsigned)(address >> 32));
  return 0;
}

#define CB_BACKEND swapcontext
#include "coroutine/coroutine_loops.h"

const struct cb_backend cb_backend_swapcontext = {
    .kind.name = "swapcontext",
    .kind.summary = "the C library's own switch; saves the signal mask by two "
                    "system calls a round trip",
    .size = sizeof(struct swapper),
    .stack_min = 16384,
    .prepare = swapcontext_prepare,
    .enter = swapcontext_enter_raw,
    .yield = swapcontext_yield,
    .loops = &swapcontext_loops};
