/*
 * ticks.c - how fast the counter runs and what reading it costs.
 *
 * The kernel knows the frequency of the TSC and tells it in the first page of
 * any perf event, as the multiplier and shift that turn ticks to nanoseconds.
 * Where that page is refused, half a millisecond against the raw clock give
 * some parts in 100,000, and no figure here needs more.
 */
#include "base/ticks.h"

#include "cbench.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef HAVE_LINUX_PERF_EVENT_H
#include <linux/perf_event.h>
#endif

uint64_t cb_now(void)
{
  return cb_ticks_begin();
}

#if defined CB_ASM && defined __aarch64__

static void find_frequency(struct cb_clock *clock)
{
  uint64_t hz;
  __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
  clock->hz = (double)hz;
  clock->basis = "register";
}

#elif defined CB_ASM && defined __x86_64__

/* 0 when the kernel does not tell. */
static double kernel_frequency(void)
{
  double hz = 0;
#ifdef HAVE_LINUX_PERF_EVENT_H
  struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                       .size = sizeof attributes,
                                       .config = PERF_COUNT_SW_DUMMY,
                                       .exclude_kernel = 1,
                                       .exclude_hv = 1};
  size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
  int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1,
                        PERF_FLAG_FD_CLOEXEC);
  if (fd < 0)
    return 0;
  void *page = mmap(NULL, page_size, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (page == MAP_FAILED)
    return 0;
  /* ns = ticks * mult >> shift */
  const struct perf_event_mmap_page *told = page;
  if (told->cap_user_time && told->time_mult && told->time_shift < 64)
    hz = 1e9 * (double)(UINT64_C(1) << told->time_shift) / told->time_mult;
  munmap(page, page_size);
#endif
  return hz;
}

struct moment {
  uint64_t ticks;
  double seconds;
};

/* Both clocks at one moment: of several tries the one with the least between
 * the two readings of the counter. */
static struct moment read_both(void)
{
  struct moment best = {0, 0};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 16; i++) {
    struct timespec raw;
    uint64_t before = cb_ticks_begin();
    clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
    uint64_t after = cb_ticks_end();
    if (after - before < least) {
      least = after - before;
      best.ticks = before + least / 2;
      best.seconds = (double)raw.tv_sec + (double)raw.tv_nsec * 1e-9;
    }
  }
  return best;
}

static void find_frequency(struct cb_clock *clock)
{
  clock->basis = "kernel";
  clock->hz = kernel_frequency();
  if (clock->hz > 0)
    return;
  clock->basis = "measured";
  struct moment start = read_both(), stop;
  do
    stop = read_both();
  while (stop.seconds - start.seconds < 0.0005);
  clock->hz =
      (double)(stop.ticks - start.ticks) / (stop.seconds - start.seconds);
}

#else

static void find_frequency(struct cb_clock *clock)
{
  clock->hz = 1e9;
  clock->basis = "unit";
}

#endif

/* The least of many pairs. A counter coarser than that shows none of them, and
 * tells only what all took together. */
static double find_cost(void)
{
  enum { PAIRS = 2000 };
  uint64_t least = UINT64_MAX, first = cb_ticks_begin(), last = first;
  for (int i = 0; i < PAIRS; i++) {
    uint64_t before = cb_ticks_begin();
    last = cb_ticks_end();
    least = last - before < least ? last - before : least;
  }
  return least > 0 ? (double)least : (double)(last - first) / PAIRS;
}

static struct cb_clock the_clock = {.source = CB_TICKS_SOURCE};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_clock(void)
{
  find_frequency(&the_clock);
  the_clock.cost = find_cost();
}

const struct cb_clock *cb_clock(void)
{
  pthread_once(&once, find_clock);
  return &the_clock;
}
