/*
 * annotate.h - telling sanitizers and Valgrind about stacks.
 *
 * Every switch is announced on the side that leaves and confirmed on the side
 * that arrives. Without a sanitizer all of it compiles to nothing, which the
 * functions that must end in a jump rely on; under one they do not.
 */
#ifndef CB_COROUTINE_ANNOTATE_H
#define CB_COROUTINE_ANNOTATE_H

#include "coroutine/backend.h"

#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/memcheck.h>
#endif

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define CB_WITH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define CB_WITH_TSAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define CB_WITH_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define CB_WITH_TSAN 1
#endif

#if defined CB_WITH_ASAN || defined CB_WITH_TSAN
#define CB_ANNOTATED 1
#endif

#ifdef CB_WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CB_WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* The enterer leaves its stack; what it gets back goes to cb_back_outside. */
CB_HOT void *cb_leave_outside(struct cb_coroutine *coroutine)
{
  void *fake = NULL;
  (void)coroutine;
#ifdef CB_WITH_ASAN
  const struct cb_stack *stack = &coroutine->stack;
  __sanitizer_start_switch_fiber(&fake, stack->low,
                                 (size_t)(stack->top - stack->low));
#endif
#ifdef CB_WITH_TSAN
  coroutine->marks.outside_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(coroutine->marks.fiber, 0);
#endif
  return fake;
}

CB_HOT void cb_back_outside(void *fake)
{
  (void)fake;
#ifdef CB_WITH_ASAN
  __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

/* The coroutine leaves its stack: to yield, or for good. */
CB_HOT void *cb_leave_inside(struct cb_coroutine *self, bool ends)
{
  void *fake = NULL;
  (void)self;
  (void)ends;
#ifdef CB_WITH_ASAN
  __sanitizer_start_switch_fiber(ends ? NULL : &fake, self->marks.outside_low,
                                 self->marks.outside_size);
#endif
#ifdef CB_WITH_TSAN
  __tsan_switch_to_fiber(self->marks.outside_fiber, 0);
#endif
  return fake;
}

/* It runs on its stack: from the start with NULL, else with what it got. */
CB_HOT void cb_back_inside(struct cb_coroutine *self, void *fake)
{
  (void)self;
  (void)fake;
#ifdef CB_WITH_ASAN
  __sanitizer_finish_switch_fiber(fake, &self->marks.outside_low,
                                  &self->marks.outside_size);
#endif
}

/* Frames on the stack that were left are about to be used again. */
CB_HOT void cb_revive(const struct cb_coroutine *coroutine)
{
  (void)coroutine;
#ifdef VALGRIND_MAKE_MEM_DEFINED
  const struct cb_stack *stack = &coroutine->stack;
  VALGRIND_MAKE_MEM_DEFINED(stack->low, stack->top - stack->low);
#endif
}

CB_HOT bool cb_under_valgrind(void)
{
#ifdef RUNNING_ON_VALGRIND
  return RUNNING_ON_VALGRIND != 0;
#else
  return false;
#endif
}

/* Code of the enterer, on its own stack or a borrowed one, does something in
 * the name of the coroutine. */
CB_HOT void *cb_visit_inside(struct cb_coroutine *coroutine)
{
  (void)coroutine;
#ifdef CB_WITH_TSAN
  void *fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(coroutine->marks.fiber, 0);
  return fiber;
#else
  return NULL;
#endif
}

CB_HOT void cb_end_visit(void *fiber)
{
  (void)fiber;
#ifdef CB_WITH_TSAN
  __tsan_switch_to_fiber(fiber, 0);
#endif
}

#endif
