/*
 * ticks.h - reading the counter that times everything.
 *
 * A begin waits for the instructions before it, so that none of them is timed;
 * an end waits for the instructions of the batch and lets none of those after
 * it start early. The frequency is not read by CPUID, which a hypervisor traps.
 */
#ifndef CB_BASE_TICKS_H
#define CB_BASE_TICKS_H

#include "config.h"

#include <stdint.h>
#include <time.h>

#if defined CB_ASM && defined __x86_64__

#define CB_TICKS_SOURCE "tsc"

static inline uint64_t cb_ticks_begin(void)
{
  uint32_t low, high;
  __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
  return (uint64_t)high << 32 | low;
}

static inline uint64_t cb_ticks_end(void)
{
  uint32_t low, high;
  __asm__ volatile("rdtscp\n\tlfence"
                   : "=a"(low), "=d"(high)
                   :
                   : "rcx", "memory");
  return (uint64_t)high << 32 | low;
}

/* The counter as it stands, in any order with what surrounds it: cheaper, and
 * what software that keeps its own accounts reads. */
static inline uint64_t cb_ticks_now(void)
{
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

#elif defined CB_ASM && defined __aarch64__

#define CB_TICKS_SOURCE "cntvct"

static inline uint64_t cb_ticks_begin(void)
{
  uint64_t ticks;
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  return ticks;
}

static inline uint64_t cb_ticks_end(void)
{
  uint64_t ticks;
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb"
                   : "=r"(ticks)
                   :
                   : "memory");
  return ticks;
}

static inline uint64_t cb_ticks_now(void)
{
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

#else

#define CB_TICKS_SOURCE "clock_gettime"

/* Nanoseconds; the call itself orders enough for its resolution. */
static inline uint64_t cb_ticks_begin(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t cb_ticks_end(void)
{
  return cb_ticks_begin();
}

static inline uint64_t cb_ticks_now(void)
{
  return cb_ticks_begin();
}

#endif

/* Seconds of the system's steady clock: for budgets, not for figures. */
static inline double cb_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
