/*
 * here.h - this thread's struct cb_here.
 *
 * A coroutine may go on on another thread, so the address of thread-local data
 * must be found anew after every switch, while compilers believe that it never
 * changes within a function. Asking by asm volatile each time settles that at
 * no cost; without asm an out-of-line function does.
 */
#ifndef CB_COROUTINE_HERE_H
#define CB_COROUTINE_HERE_H

#include "config.h"

#include "coroutine/backend.h"

#define CB_HERE cb_here
#define CB_REFUSED cb_coroutine_refused

extern __thread struct cb_here cb_here_tls
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

#if defined CB_ASM && defined __x86_64__ && !defined __ILP32__
static inline __attribute__((always_inline)) struct cb_here *cb_here(void)
{
  struct cb_here *here;
  __asm__ __volatile__("movq %%fs:0, %0\n\t"
                       "addq cb_here_tls@gottpoff(%%rip), %0"
                       : "=r"(here)
                       :
                       : "cc");
  return here;
}
#elif defined CB_ASM && defined __aarch64__
static inline __attribute__((always_inline)) struct cb_here *cb_here(void)
{
  struct cb_here *here;
  unsigned long offset;
  __asm__ __volatile__("mrs %0, tpidr_el0\n\t"
                       "adrp %1, :gottprel:cb_here_tls\n\t"
                       "ldr %1, [%1, :gottprel_lo12:cb_here_tls]\n\t"
                       "add %0, %0, %1"
                       : "=&r"(here), "=&r"(offset));
  return here;
}
#else
struct cb_here *cb_here(void);
#endif

/* Why the coroutine was not entered; on a thread's first use makes its leader
 * and enters after all. */
int cb_coroutine_refused(struct cb_coroutine *coroutine);

/* This thread's leader made, here->thread set: 0, -ENOMEM, or -ESRCH when the
 * thread is ending and its leader gone. */
int cb_thread_begin(struct cb_error *error);

#include "coroutine/coroutine_ops.h"

#endif
