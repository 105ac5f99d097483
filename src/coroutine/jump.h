/*
 * jump.h - switching by sigsetjmp and siglongjmp, for the back ends ucontext
 * and sigaltstack, which differ in how a coroutine gets onto its stack. The
 * signal mask is not touched (its system call would be most of the cost).
 *
 * Jumping to another stack is beyond what the standard promises but works with
 * every C library this is built on, except that _FORTIFY_SOURCE makes it abort
 * ("longjmp causes uninitialized stack frame"). Distributions set it on the
 * command line, so it is unset here, and this header is included first.
 *
 * Include it with CB_BACKEND defined, between two parts of the back end: it
 * defines NAME_run, which the new stack must call, and the loops.
 */
#ifndef CB_COROUTINE_JUMP_H
#define CB_COROUTINE_JUMP_H

#undef _FORTIFY_SOURCE

#include "coroutine/here.h"

#include "coroutine/annotate.h"

#include <setjmp.h>

struct jumper {
  struct cb_coroutine coroutine;
  sigjmp_buf inside, outside; /* where it, and where its enterer, goes on */
  void *fake_inside, *fake_outside; /* for annotations; no locals, because
                                       those would not survive the jump */
};

static struct jumper *jumper_of(struct cb_coroutine *coroutine)
{
  return (struct jumper *)(void *)coroutine;
}

/* In all of these a buffer is filled before the switch is announced, because
 * ThreadSanitizer keeps buffers by fibre. */
static int jump_enter(struct cb_coroutine *coroutine)
{
  if (!cb_begin_enter(coroutine))
    return CB_REFUSED(coroutine);
  struct jumper *jumper = jumper_of(coroutine);
  int action = sigsetjmp(jumper->outside, 0);
  if (action == 0) {
    jumper->fake_outside = cb_leave_outside(coroutine);
    siglongjmp(jumper->inside, 1);
  }
  cb_back_outside(jumper->fake_outside);
  return action;
}

static int jump_yield(void)
{
  struct cb_coroutine *self = cb_begin_yield();
  if (!self)
    return -EPERM;
  struct jumper *jumper = jumper_of(self);
  if (sigsetjmp(jumper->inside, 0) == 0) {
    jumper->fake_inside = cb_leave_inside(self, false);
    siglongjmp(jumper->outside, CB_YIELD);
  }
  cb_back_inside(self, jumper->fake_inside);
  return 0;
}

/* The trampoline's loop. Every turn begins by an enter. */
static void jump_run(struct jumper *jumper)
{
  struct cb_coroutine *self = &jumper->coroutine;
  for (;;) {
    cb_back_inside(self, NULL);
    self->entry(self->opaque);
    cb_begin_end(self);
    if (sigsetjmp(jumper->inside, 0) == 0) {
      cb_leave_inside(self, true);
      siglongjmp(jumper->outside, CB_TERMINATE);
    }
  }
}

/* What the new stack calls, its first frame being made: leaves the context
 * that the first enter jumps to, goes back to whoever is making the coroutine
 * and waits in jumper->outside, and on that enter runs. */
static void jump_park(struct jumper *jumper)
{
  cb_back_inside(&jumper->coroutine, NULL);
  if (sigsetjmp(jumper->inside, 0) == 0) {
    cb_leave_inside(&jumper->coroutine, true);
    siglongjmp(jumper->outside, 1);
  }
  jump_run(jumper);
}

#endif
