/*
 * quiesce.c - knowing, not guessing, that no callback of a service runs.
 *
 * A run announces itself by a plain store and then loads the service's word; a
 * control call clears the word and then loads the announcements. On its own
 * that is Dekker's pattern without its fences, and both could miss the other.
 * The fence of the run path is replaced by membarrier: when it returns, every
 * thread of the process has passed a full barrier since the word was cleared.
 * So a run whose announcement is not visible now will see the cleared word,
 * and a run that saw the old word has its announcement visible now.
 *
 * Where the kernel has no such call, runs go the way of the order `seqcst`:
 * they announce by sequentially consistent stores, and control needs a fence
 * only.
 */
#include "service/service.h"

#include "base/ticks.h"

#include <linux/membarrier.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long membarrier(int command)
{
  return syscall(SYS_membarrier, command, 0, 0);
}

bool cb_quiesce_available(void)
{
  long commands = membarrier(MEMBARRIER_CMD_QUERY);
  return commands > 0 && commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED &&
         membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

void cb_quiesce_barrier(const struct cb_services *set)
{
  if (set->membarrier) {
    /* The registration belongs to the address space: a forked child has to
     * make its own. */
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0 &&
        cb_quiesce_available())
      membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    return;
  }
  cb_order_fence(CB_ORDER_FENCE);
}

static bool is_inside(const struct cb_lcore *lcore,
                      const struct service *service)
{
  if (atomic_load(&lcore->current) == service)
    return true;
  const struct cell *cell = cb_cells_get(lcore, service->slot);
  return cell && atomic_load(&cell->inside);
}

struct cb_lcore *cb_quiesce_inside(const struct cb_services *set,
                                   const struct service *service)
{
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (is_inside(lcore, service))
      return lcore;
  return NULL;
}

const char *cb_lcore_inside(const struct cb_lcore *lcore)
{
  const struct service *service = atomic_load(&lcore->current);
  const struct cells *cells =
      atomic_load_explicit(&lcore->cells, memory_order_acquire);
  for (uint32_t slot = 0; slot < cells->capacity && !service; slot++) {
    const struct cell *cell =
        atomic_load_explicit(&cells->at[slot], memory_order_acquire);
    if (cell && atomic_load(&cell->inside))
      service = cell->service;
  }
  return service ? service->name : NULL;
}

bool cb_quiesce_self(const struct cb_services *set,
                     const struct service *service)
{
  for (struct cb_lcore *lcore = set->lcores; lcore; lcore = lcore->next)
    if (is_inside(lcore, service) &&
        pthread_equal(lcore->thread, pthread_self()))
      return true;
  return false;
}

/* A callback that is about to return returns in microseconds; one that works
 * for long need not be watched by a busy CPU, which may be the one it needs. */
void cb_quiesce_wait(unsigned *turns)
{
  static const struct timespec nap = {.tv_nsec = 100000};
  ++*turns;
  if (*turns < 100)
    cb_cpu_pause();
  else if (*turns < 1000)
    sched_yield();
  else
    nanosleep(&nap, NULL);
}

static const char *where(const struct cb_lcore *lcore, char *text, size_t size)
{
  if (lcore->role == ROLE_APPLICATION)
    return "an application lcore";
  snprintf(text, size, "lcore %u", lcore->number);
  return text;
}

int cb_quiesce_blame(const struct cb_lcore *lcore, double seconds,
                     struct cb_error *error)
{
  char text[32];
  const struct service *service = atomic_load(&lcore->current);
  if (!service)
    return cb_fail(error, -ETIMEDOUT, "%s has not stopped for %.3g s",
                   where(lcore, text, sizeof text), seconds);
  return cb_fail(error, -ETIMEDOUT,
                 "the callback of service '%s' has not returned for %.3g s "
                 "on %s",
                 service->name, seconds, where(lcore, text, sizeof text));
}

/* 0 when at rest, 1 when not yet, else what ends the wait. */
static int look(struct cb_services *set, uint64_t id, double seconds, bool late,
                struct cb_error *error)
{
  char text[32];
  struct service *service = cb_services_find_leaving(set, id, error);
  if (!service)
    return cb_services_was(set, id) ? 0 : -EINVAL;
  if (cb_quiesce_self(set, service))
    return cb_fail(error, -EDEADLK,
                   "the service '%s' would wait for its own callback",
                   service->name);
  const struct cb_lcore *lcore = cb_quiesce_inside(set, service);
  if (!lcore || !late)
    return lcore ? 1 : 0;
  return cb_fail(error, -ETIMEDOUT,
                 "the callback of service '%s' has not returned for %.3g s "
                 "on %s",
                 service->name, seconds, where(lcore, text, sizeof text));
}

int cb_service_quiesce(struct cb_services *set, uint64_t id, double seconds,
                       struct cb_error *error)
{
  double deadline = cb_seconds() + seconds;
  bool late = false;
  for (unsigned turns = 0;; cb_quiesce_wait(&turns)) {
    cb_services_enter(set);
    int status = look(set, id, seconds, late, error);
    cb_services_leave(set);
    if (status <= 0)
      return status;
    late = cb_seconds() >= deadline;
  }
}

int cb_service_active(struct cb_services *set, uint64_t id,
                      struct cb_error *error)
{
  cb_services_enter(set);
  struct service *service = cb_services_find_leaving(set, id, error);
  int status = service ? cb_quiesce_inside(set, service) != NULL : -EINVAL;
  cb_services_leave(set);
  return status;
}
