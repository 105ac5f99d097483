/*
 * asm.h - a back end that calls a switch in assembly. Include it with
 * CB_BACKEND defined as its name and ASM_SWITCH(name) as the function of
 * switch.h that enters, yields or prepares; it includes the loops.
 *
 * Without a sanitizer the annotations vanish and each function ends in a jump
 * to the switch.
 */
#include "coroutine/here.h"

#include "coroutine/annotate.h"
#include "coroutine/switch.h"

#define ASM_PASTE_(a, b) a##b
#define ASM_PASTE(a, b) ASM_PASTE_(a, b)
#define ASM_FN(name) ASM_PASTE(CB_BACKEND, name)

/* With nothing to announce the assembly calls the entry of a fresh coroutine
 * itself; otherwise that is resumed, too, in its trampoline. */
#ifdef CB_ANNOTATED
#define ASM_CALLS_ENTRY false
#else
#define ASM_CALLS_ENTRY true
#endif

CB_OUT_OF_LINE int ASM_FN(_enter_raw)(struct cb_coroutine *coroutine)
{
  bool begins = ASM_CALLS_ENTRY && coroutine->caller == CB_FRESH;
  if (!cb_begin_enter(coroutine))
    return CB_REFUSED(coroutine);
  void *fake = cb_leave_outside(coroutine);
  int action = ASM_SWITCH(enter)(coroutine, begins ? coroutine->entry
                                                   : ASM_SWITCH(resume));
  cb_back_outside(fake);
  return action;
}

CB_OUT_OF_LINE int ASM_FN(_yield)(void)
{
  struct cb_coroutine *self = cb_begin_yield();
  if (!self)
    return -EPERM;
  void *fake = cb_leave_inside(self, false);
  int status = ASM_SWITCH(yield)(self, CB_YIELD);
  cb_back_inside(self, fake);
  return status;
}

#ifdef CB_ANNOTATED
/* The trampoline: parked in its switch, it begins the next life of a pooled
 * coroutine by going round. */
static void ASM_FN(_run)(struct cb_coroutine *self)
{
  for (;;) {
    cb_back_inside(self, NULL);
    self->entry(self->opaque);
    cb_begin_end(self);
    cb_leave_inside(self, true);
    ASM_SWITCH(yield)(self, CB_TERMINATE);
  }
}
#define ASM_RUN ASM_FN(_run)
#else
#define ASM_RUN NULL
#endif

static int ASM_FN(_prepare)(struct cb_coroutine *coroutine, int setting,
                            struct cb_error *error)
{
  (void)setting;
  (void)error;
  ASM_SWITCH(prepare)(coroutine, ASM_RUN);
  return 0;
}

#include "coroutine/coroutine_loops.h"
