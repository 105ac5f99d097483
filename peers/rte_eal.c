/*
 * rte_eal.c - starts DPDK's environment, once, when a workload that needs it is
 * about to be measured.
 *
 * It wants no huge pages, devices, root or shared files. What it does to the
 * process besides is undone: it pins the calling thread, whose affinity is put
 * back; it prints, so its log is caught and neither stdout nor stderr is open
 * to it meanwhile; it makes a folder, which is removed. It cannot be started
 * twice in a process nor started again after it was stopped, so it stays, idle,
 * to the end.
 */
#include "dpdk.h"

#include <cbench/plugin.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_service.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static enum { NOT_YET, RUNS, FAILED } state;
static struct cb_error failure; /* when it FAILED */

/* ---- what it writes ---- */

struct caught {
  char *text; /* of its log */
  size_t size;
  FILE *log;
  int out, err; /* our stdout and stderr, meanwhile */
};

static int divert(int to, int null)
{
  int kept = dup(to);
  if (kept >= 0 && null >= 0)
    dup2(null, to);
  return kept;
}

static void put_back(int kept, int to)
{
  if (kept < 0)
    return;
  dup2(kept, to);
  close(kept);
}

static void catch_output(struct caught *caught)
{
  fflush(stdout);
  caught->log = open_memstream(&caught->text, &caught->size);
  if (caught->log)
    rte_openlog_stream(caught->log);
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  caught->out = divert(STDOUT_FILENO, null);
  caught->err = divert(STDERR_FILENO, null);
  if (null >= 0)
    close(null);
}

/* The log's stream stays, since DPDK keeps it, but nothing is logged later. */
static void release_output(struct caught *caught)
{
  fflush(stdout);
  put_back(caught->out, STDOUT_FILENO);
  put_back(caught->err, STDERR_FILENO);
  if (caught->log)
    fflush(caught->log);
  rte_log_set_global_level(RTE_LOG_EMERG);
}

/* The last line of the log. */
static const char *last_line(struct caught *caught)
{
  if (!caught->text)
    return rte_strerror(rte_errno);
  size_t length = strlen(caught->text);
  while (length && caught->text[length - 1] == '\n')
    caught->text[--length] = '\0';
  char *line = strrchr(caught->text, '\n');
  return length ? (line ? line + 1 : caught->text) : rte_strerror(rte_errno);
}

/* ---- what it leaves behind ---- */

static void remove_folder(const char *path)
{
  DIR *folder = opendir(path);
  struct dirent *entry;
  while (folder && (entry = readdir(folder)))
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      unlinkat(dirfd(folder), entry->d_name, 0);
  if (folder)
    closedir(folder);
  rmdir(path);
}

/* Its folder, and the one that holds those of all DPDK programs when ours was
 * the only one. */
static void remove_runtime(void)
{
  const char *path = rte_eal_get_runtime_dir();
  char parent[200];
  if (!path || !strstr(path, "/cbench-"))
    return;
  remove_folder(path);
  snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(path, '/') - path),
           path);
  rmdir(parent);
}

static void stop(void)
{
  rte_service_lcore_stop(PEER_WORKER_LCORE);
  rte_eal_mp_wait_lcore();
  rte_eal_cleanup();
  remove_runtime();
}

/* ---- starting it ---- */

static int initialise(void)
{
  int cpus[2] = {0, 0};
  char prefix[40], lcores[60];
  if (cb_cpus_allowed(cpus, 2) < 2)
    cpus[1] = cpus[0];
  snprintf(prefix, sizeof prefix, "--file-prefix=cbench-%ld", (long)getpid());
  snprintf(lcores, sizeof lcores, "--lcores=%d@%d,%d@%d", PEER_MAIN_LCORE,
           cpus[0], PEER_WORKER_LCORE, cpus[1]);
  char *words[] = {(char *)"cbench",
                   (char *)"--no-huge",
                   (char *)"--no-pci",
                   (char *)"--no-telemetry",
                   (char *)"--no-shconf",
                   prefix,
                   (char *)"-m",
                   (char *)"64",
                   lcores,
                   NULL};
  return rte_eal_init(sizeof words / sizeof *words - 1, words);
}

static void start(void)
{
  cpu_set_t affinity;
  struct caught caught = {.text = NULL};
  bool known = sched_getaffinity(0, sizeof affinity, &affinity) == 0;
  catch_output(&caught);
  int status = initialise();
  int code = rte_errno;
  release_output(&caught);
  if (known)
    sched_setaffinity(0, sizeof affinity, &affinity);
  if (status >= 0) {
    state = RUNS;
    remove_runtime();
    atexit(stop);
    return;
  }
  state = FAILED;
  if (code == EALREADY)
    cb_fail(&failure, -EBUSY,
            "this program has started DPDK itself: its services are left "
            "alone");
  else
    cb_fail(&failure, -EIO, "DPDK does not start: %.150s", last_line(&caught));
}

int peer_eal_start(struct cb_error *error)
{
  pthread_mutex_lock(&starting);
  if (state == NOT_YET)
    start();
  bool runs = state == RUNS;
  pthread_mutex_unlock(&starting);
  return runs ? 0 : cb_fail(error, failure.code, "%s", failure.text);
}

int peer_lcore_begin(bool *registered, struct cb_error *error)
{
  *registered = rte_lcore_id() == LCORE_ID_ANY;
  if (*registered && rte_thread_register() < 0) {
    *registered = false;
    return cb_fail(error, -rte_errno, "DPDK takes no further thread: %s",
                   rte_strerror(rte_errno));
  }
  return 0;
}

void peer_lcore_end(bool registered)
{
  if (registered)
    rte_thread_unregister();
}
