/* cpu.h - hints to the processor and to the compiler. */
#ifndef CB_BASE_CPU_H
#define CB_BASE_CPU_H

/* Data of different threads stands this far apart: two 64-byte lines, because
 * x86 fetches lines in pairs. */
#define CB_APART 128

/* What a hot loop is made of, also where the compiler is asked for size. */
#define CB_INLINE static inline __attribute__((always_inline))

/* One turn of a busy wait: lets a hardware sibling run. */
CB_INLINE void cb_cpu_pause(void)
{
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  /* isb waits about as long as x86's pause does; yield is a no-op there. */
  __asm__ __volatile__("isb" ::: "memory");
#endif
}

#if defined __SANITIZE_THREAD__
#define CB_TSAN 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define CB_TSAN 1
#endif
#endif
#ifndef CB_TSAN
#define CB_TSAN 0
#endif

#endif
