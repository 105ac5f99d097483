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

/* Of that the current coroutine, one instruction less than by the address.
 * Volatile, and so in order among each other and with the switches. */
static inline __attribute__((always_inline)) struct cb_coroutine *
cb_current(void)
{
  struct cb_coroutine *current;
  __asm__ __volatile__("movq cb_here_tls@gottpoff(%%rip), %0\n\t"
                       "movq %%fs:(%0), %0"
                       : "=r"(current));
  return current;
}

static inline __attribute__((always_inline)) void
cb_set_current(struct cb_coroutine *current)
{
  uint64_t offset;
  __asm__ __volatile__("movq cb_here_tls@gottpoff(%%rip), %0\n\t"
                       "movq %1, %%fs:(%0)"
                       : "=&r"(offset)
                       : "r"(current));
}

/* The same in two steps, for what reads it and then sets it. */
typedef uint64_t cb_place;
static inline __attribute__((always_inline)) struct cb_coroutine *
cb_current_at(cb_place *place)
{
  struct cb_coroutine *current;
  __asm__ __volatile__("movq cb_here_tls@gottpoff(%%rip), %1\n\t"
                       "movq %%fs:(%1), %0"
                       : "=r"(current), "=&r"(*place));
  return current;
}

static inline __attribute__((always_inline)) void
cb_set_current_at(cb_place place, struct cb_coroutine *current)
{
  __asm__ __volatile__("movq %1, %%fs:(%0)" : : "r"(place), "r"(current));
}
#define CB_CURRENT cb_current
#define CB_SET_CURRENT cb_set_current
#define CB_CURRENT_AT cb_current_at
#define CB_SET_CURRENT_AT cb_set_current_at
_Static_assert(offsetof(struct cb_here, current) == 0, "the assembly says so");
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
