/*
 * switch.h - the assembly: switch_x86_64.S and switch_aarch64.S.
 *
 * A switch exchanges contexts with coroutine->sp: what it finds there runs on,
 * what ran is left there. The other side gets 0 as the result of its own call
 * from enter, and value from yield. The callee-saved registers stand on the
 * stack that is left.
 *
 * begin enters a coroutine that has no context yet, only an empty stack: it
 * calls the entry there and returns CB_TERMINATE when that has returned, or
 * what the first yield says. The control bits of the floating point unit are
 * those of whoever begins it.
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
 * left empty, for begin. */
void cb_switch_prepare(struct cb_coroutine *coroutine, cb_run *run);
void cb_switch_fpu_prepare(struct cb_coroutine *coroutine, cb_run *run);
void cb_switch_inline_prepare(struct cb_coroutine *coroutine, cb_run *run);

/* A configure for the back ends that switch by assembly: -ENOTSUP when the
 * process runs with a shadow stack, which these switches do not keep. */
int cb_switch_configure(const struct cb_spec *spec, int *setting,
                        struct cb_error *error);

#endif
