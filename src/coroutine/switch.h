/*
 * switch.h - the assembly: switch_x86_64.S and switch_aarch64.S.
 *
 * A switch exchanges contexts with coroutine->sp: what it finds there runs on,
 * what ran is left there. The callee-saved registers stand on the stack that is
 * left. enter returns what the next yield was given as value, and yield 0.
 *
 * enter calls `to` on the coroutine's stack: its resume where there is a
 * context, and the entry itself where there is none yet, only an empty stack.
 * When that has returned the coroutine has ended, and enter returns
 * CB_TERMINATE. A fresh coroutine begins with the control bits of the floating
 * point unit of whoever enters it.
 */
#ifndef CB_COROUTINE_SWITCH_H
#define CB_COROUTINE_SWITCH_H

#include "coroutine/backend.h"

int cb_switch_enter(struct cb_coroutine *coroutine, cb_entry *to);
cb_entry cb_switch_resume;
int cb_switch_yield(struct cb_coroutine *coroutine, int value);
/* The same, and the control bits of the floating point unit. */
int cb_switch_fpu_enter(struct cb_coroutine *coroutine, cb_entry *to);
cb_entry cb_switch_fpu_resume;
int cb_switch_fpu_yield(struct cb_coroutine *coroutine, int value);

typedef void cb_run(struct cb_coroutine *coroutine);

/* Each leaves in the coroutine a context in which `run`, which must not
 * return, is called with it by the first switch: by cb_switch_enter, by
 * cb_switch_fpu_enter (the control bits are the caller's of now), by the switch
 * of backend_inline.c. For the first two run may be NULL: then the stack is
 * left empty, for an enter that calls the entry. */
void cb_switch_prepare(struct cb_coroutine *coroutine, cb_run *run);
void cb_switch_fpu_prepare(struct cb_coroutine *coroutine, cb_run *run);
void cb_switch_inline_prepare(struct cb_coroutine *coroutine, cb_run *run);

/* A configure for the back ends that switch by assembly: -ENOTSUP when the
 * process runs with a shadow stack, which these switches do not keep. */
int cb_switch_configure(const struct cb_spec *spec, int *setting,
                        struct cb_error *error);

#endif
