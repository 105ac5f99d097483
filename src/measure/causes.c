/*
 * causes.c - why a batch may have been slow, by what the system counted.
 *
 * A batch is never judged by its own time: a slow batch without a cause is a
 * finding, not an outlier. The host taking the CPU away does not show as a
 * switch in a guest; it shows as time on the wall that the thread did not get.
 */
#include "config.h"

#include "measure/causes.h"

#include "base/ticks.h"
#include "cbench.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const double stolen_share = 0.02;

const char *cb_cause_name(unsigned index)
{
  static const char *const names[] = {"preempted", "migrated", "stolen",
                                      "throttled", "host-slow"};
  return index < CB_CAUSE_COUNT ? names[index] : NULL;
}

static uint64_t busy_time(void)
{
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void count_switches(struct cb_trace *trace)
{
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  trace->involuntary = usage.ru_nivcsw;
  trace->voluntary = usage.ru_nvcsw;
}

/* The clock of the thread is read outside the ticks on both sides, so that an
 * undisturbed batch seems to have had a little more than its time. */
void cb_trace_start(struct cb_trace *trace)
{
  count_switches(trace);
  trace->cpu = sched_getcpu();
  trace->busy = busy_time();
  trace->ticks = cb_ticks_begin();
}

uint32_t cb_trace_stop(const struct cb_trace *trace, double hz, double *busy)
{
  uint32_t causes = 0;
  struct cb_trace now;
  now.ticks = cb_ticks_end();
  now.busy = busy_time();
  now.cpu = sched_getcpu();
  count_switches(&now);

  double wall = (double)(now.ticks - trace->ticks);
  *busy = (double)(now.busy - trace->busy) * 1e-9 * hz;
  if (now.involuntary != trace->involuntary)
    causes |= CB_PREEMPTED;
  else if (now.voluntary == trace->voluntary &&
           wall - *busy > stolen_share * wall)
    causes |= CB_STOLEN;
  if (now.cpu != trace->cpu)
    causes |= CB_MIGRATED;
  return causes;
}

/* ---- quota --------------------------------------------------------------- */

static uint64_t read_counter(int file, const char *name)
{
  char text[1024];
  ssize_t size = pread(file, text, sizeof text - 1, 0);
  if (size <= 0)
    return 0;
  text[size] = '\0';
  const char *line = strstr(text, name);
  return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

/* The cpu.stat of the group named in one line of /proc/self/cgroup, which is
 * "0::/path" in the unified hierarchy and "N:cpu,cpuacct:/path" before it. */
static int open_group(const char *line)
{
  char path[1200];
  const char *controllers = strchr(line, ':');
  const char *group = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!group)
    return -1;
  int length = (int)strcspn(group + 1, "\n");
  bool unified = group == controllers + 1;
  if (!unified && strncmp(controllers, ":cpu", 4) != 0)
    return -1;
  snprintf(path, sizeof path, "/sys/fs/cgroup/%s%.*s/cpu.stat",
           unified ? "" : "cpu", length, group + 1);
  return open(path, O_RDONLY | O_CLOEXEC);
}

void cb_throttle_open(struct cb_throttle *throttle)
{
  char line[1024];
  *throttle = (struct cb_throttle){.file = -1};
  FILE *groups = fopen("/proc/self/cgroup", "re");
  while (groups && throttle->file < 0 && fgets(line, sizeof line, groups)) {
    int file = open_group(line);
    if (file < 0)
      continue;
    /* A group that never began a period has no quota. */
    if (read_counter(file, "nr_periods ") > 0)
      throttle->file = file;
    else
      close(file);
  }
  if (groups)
    fclose(groups);
  cb_throttle_check(throttle);
}

void cb_throttle_close(struct cb_throttle *throttle)
{
  if (throttle->file >= 0)
    close(throttle->file);
  throttle->file = -1;
}

uint32_t cb_throttle_check(struct cb_throttle *throttle)
{
  if (throttle->file < 0)
    return 0;
  uint64_t count = read_counter(throttle->file, "nr_throttled ");
  bool grown = count > throttle->count;
  throttle->count = count;
  return grown ? CB_THROTTLED : 0;
}
