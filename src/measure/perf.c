/*
 * perf.c - cycles and instructions, for those machines that count them.
 *
 * Ticks are not cycles, and only a counter of the processor can tell cycles. A
 * guest mostly has none, and a system may forbid them; then the figures are
 * absent, with one sentence why, and never zeros. Each event is opened by
 * itself, for a machine may have some of them; where there are more events
 * than registers the kernel takes turns, and the count is scaled by the time
 * it was really counting.
 *
 * The counters run all the time and are read around each batch, outside the
 * ticks.
 */
#include "config.h"

#include "measure/perf.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef HAVE_LINUX_PERF_EVENT_H
#include <linux/perf_event.h>
#endif

const char *cb_hardware_name(unsigned index)
{
  static const char *const names[] = {"cycles", "instructions", "cache_misses",
                                      "branch_misses"};
  return index < CB_HARDWARE_COUNT ? names[index] : NULL;
}

#ifdef HAVE_LINUX_PERF_EVENT_H

const struct cb_perf_event cb_perf_hardware[CB_HARDWARE_COUNT] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES}};

static int open_event(const struct cb_perf_event *event)
{
  struct perf_event_attr attributes = {.type = event->type,
                                       .size = sizeof attributes,
                                       .config = event->config,
                                       .read_format =
                                           PERF_FORMAT_TOTAL_TIME_ENABLED |
                                           PERF_FORMAT_TOTAL_TIME_RUNNING,
                                       .exclude_kernel = 1,
                                       .exclude_hv = 1};
  int file = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1,
                          PERF_FLAG_FD_CLOEXEC);
  return file >= 0 ? file : -errno;
}

#else

const struct cb_perf_event cb_perf_hardware[CB_HARDWARE_COUNT];

static int open_event(const struct cb_perf_event *event)
{
  (void)event;
  return -ENOSYS;
}

#endif

int cb_perf_open(struct cb_perf *perf, const struct cb_perf_event *events)
{
  int status = -ENOENT;
  bool any = false;
  for (int i = 0; i < CB_HARDWARE_COUNT; i++) {
    int file = open_event(&events[i]);
    perf->files[i] = file >= 0 ? file + 1 : 0;
    any |= file >= 0;
    /* Being forbidden says more than not being there. */
    if (file < 0 && (file == -EACCES || file == -EPERM || i == 0))
      status = file;
  }
  return any ? 0 : status;
}

void cb_perf_close(struct cb_perf *perf)
{
  for (int i = 0; i < CB_HARDWARE_COUNT; i++) {
    if (perf->files[i] > 0)
      close(perf->files[i] - 1);
    perf->files[i] = 0;
  }
}

void cb_perf_read(const struct cb_perf *perf, struct cb_perf_counts *counts)
{
  for (int i = 0; i < CB_HARDWARE_COUNT; i++) {
    /* As read_format asks: the count, time enabled, time running. */
    uint64_t told[3];
    counts->values[i] = NAN;
    if (perf->files[i] == 0 ||
        read(perf->files[i] - 1, told, sizeof told) != (ssize_t)sizeof told)
      continue;
    if (told[2] > 0)
      counts->values[i] = (double)told[0] * ((double)told[1] / (double)told[2]);
    else if (told[0] == 0)
      counts->values[i] = 0;
  }
}

/* ---- why not ------------------------------------------------------------- */

static char reason[160];
static bool absent, counted[CB_HARDWARE_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int paranoia(void)
{
  int level = -1;
  FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
  if (file) {
    if (fscanf(file, "%d", &level) != 1)
      level = -1;
    fclose(file);
  }
  return level;
}

static void try_once(void)
{
  struct cb_perf perf;
  int status = cb_perf_open(&perf, cb_perf_hardware);
  for (int i = 0; i < CB_HARDWARE_COUNT; i++)
    counted[i] = perf.files[i] > 0;
  cb_perf_close(&perf);
  absent = status < 0;
  if (status == -EACCES || status == -EPERM)
    snprintf(reason, sizeof reason,
             "not allowed (kernel.perf_event_paranoid is %d, or a container "
             "forbids it)",
             paranoia());
  else if (status == -ENOSYS)
    snprintf(reason, sizeof reason, "this system has no perf events");
  else if (status < 0)
    snprintf(reason, sizeof reason,
             "this machine shows no hardware counters (guests mostly do not): "
             "%s",
             strerror(-status));
}

const char *cb_hardware_absent(void)
{
  pthread_once(&once, try_once);
  return absent ? reason : NULL;
}

bool cb_hardware_counted(unsigned index)
{
  return !cb_hardware_absent() && index < CB_HARDWARE_COUNT && counted[index];
}
