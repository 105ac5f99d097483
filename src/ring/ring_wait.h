/*
 * ring_wait.h - how loops over rings are written so that the usual way through
 * them is short, and how a thread waits at a ring; C11 and C++. Part of
 * ring_loops.h, which includes it.
 */
#ifndef CB_RING_WAIT_H
#define CB_RING_WAIT_H

#include "cbench.h"

#include <sched.h>
#ifndef __cplusplus
#include <stdatomic.h>
#endif

#define CB_RING_INLINE static inline __attribute__((always_inline))
#define CB_RING_APART static __attribute__((noinline, unused))

/* Keep what seldom happens out of line: on the usual way a loop has one taken
 * branch, its own. */
#define CB_RING_RARELY(condition) __builtin_expect(condition, 0)
#define CB_RING_MOSTLY(condition) __builtin_expect(condition, 1)

/* The compiler must have the value and knows nothing about it any more. */
#define CB_RING_OPAQUE(value) __asm__("" : "+r"(value))

/* In one arm of a condition: makes it a branch, which is predicted, where a
 * conditional move would make what follows wait for the comparison. */
#define CB_RING_BRANCH() __asm__ __volatile__("")

#if defined __x86_64__ || defined __i386__
#define CB_RING_PAUSE() __builtin_ia32_pause()
#elif defined __aarch64__
/* isb waits about as long as x86's pause does; yield is a no-op there. */
#define CB_RING_PAUSE() __asm__ __volatile__("isb" ::: "memory")
#else
#define CB_RING_PAUSE() ((void)0)
#endif

/* Failed polls after which CB_WAIT_PAUSE pauses longer, so that the other side
 * has its line to itself for a while, and CB_WAIT_YIELD gives way. */
#define CB_RING_STREAK 16
#define CB_RING_LONG_PAUSE 8
#define CB_RING_PATIENCE 64

CB_RING_INLINE bool cb_ring_stopped(const struct cb_control *control)
{
  if (!control)
    return false;
#ifdef __cplusplus
  return __atomic_load_n(&control->stop, __ATOMIC_RELAXED) != 0;
#else
  return atomic_load_explicit(&control->stop, memory_order_relaxed) != 0;
#endif
}

/* One failed poll, streak of which went before it. Returns the streak now, or
 * 0 when told to stop. */
CB_RING_APART uint32_t cb_ring_wait(const struct cb_control *control,
                                    enum cb_wait how, uint32_t streak)
{
  if (how == CB_WAIT_NEVER || cb_ring_stopped(control))
    return 0;
  if (how == CB_WAIT_YIELD && streak >= CB_RING_PATIENCE) {
    sched_yield();
    return streak;
  }
  if (how != CB_WAIT_SPIN)
    for (int i = streak < CB_RING_STREAK || how == CB_WAIT_YIELD
                     ? CB_RING_LONG_PAUSE - 1
                     : 0;
         i < CB_RING_LONG_PAUSE; i++)
      CB_RING_PAUSE();
  return streak < CB_RING_PATIENCE ? streak + 1 : streak;
}

/* The same for a loop that found its ring full or empty. */
CB_RING_APART uint32_t cb_ring_pass_wait(struct cb_ring_pass *pass,
                                         uint32_t streak)
{
  pass->polls++;
  return cb_ring_wait(pass->control, pass->wait, streak);
}

/* The same in line as long as the answer may be on its way: a call more between
 * two looks is a part of what a round trip takes. */
CB_RING_INLINE uint32_t cb_ring_pass_look(struct cb_ring_pass *pass,
                                          uint32_t streak)
{
  if (pass->wait != CB_WAIT_PAUSE || streak >= CB_RING_STREAK ||
      cb_ring_stopped(pass->control))
    return cb_ring_pass_wait(pass, streak);
  pass->polls++;
  CB_RING_PAUSE();
  return streak + 1;
}

#endif
