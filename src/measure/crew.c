/*
 * crew.c - the threads of a variant that has several.
 *
 * Between batches they sleep on a condition, so that a variant whose turn it is
 * not costs the others nothing. For a batch they are woken, and meet once more
 * at a barrier that spins: waking takes longer than many a batch, and only who
 * has been seen to run starts at the same time as the others. Where there are
 * more threads than CPUs the spinning gives way.
 */
#include "config.h"

#include "measure/runner.h"

#include "base/memory.h"
#include "base/topology.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum command { BEGIN, RUN, QUIT };

struct cb_crew {
  struct cb_slot *slots;
  unsigned threads; /* wanted */
  unsigned started;
  void *state;
  pthread_mutex_t mutex;
  pthread_cond_t wake, finished;
  /* Under the mutex: the order of the day, and who is through with it. */
  uint64_t day;
  enum command command;
  uint64_t n;
  unsigned done;
  /* How many have reached the barrier of this batch. */
  _Alignas(CB_APART) atomic_uint ready;
};

/* Waits until all are there; true when the CPU had to be given away. */
static bool meet(struct cb_crew *crew)
{
  enum { PATIENCE = 500 };
  bool yielded = false;
  unsigned spins = 0;
  atomic_fetch_add_explicit(&crew->ready, 1, memory_order_acq_rel);
  while (atomic_load_explicit(&crew->ready, memory_order_acquire) <
         crew->threads) {
    if (++spins <= PATIENCE) {
      cb_cpu_pause();
    } else {
      sched_yield();
      yielded = true;
    }
  }
  return yielded;
}

static void begin(struct cb_slot *slot)
{
  if (cb_pin(slot->cpu, &slot->error) == 0)
    cb_slot_begin(slot, slot->crew->state);
}

static void obey(struct cb_slot *slot, enum command command, uint64_t n)
{
  if (command == BEGIN)
    begin(slot);
  else if (command == RUN)
    cb_slot_batch(slot, slot->crew->state, n, meet);
  else
    cb_slot_end(slot, slot->crew->state);
}

static void *work(void *argument)
{
  struct cb_slot *slot = argument;
  struct cb_crew *crew = slot->crew;
  enum command command = BEGIN;

  for (uint64_t day = 0; command != QUIT;) {
    pthread_mutex_lock(&crew->mutex);
    while (crew->day == day)
      pthread_cond_wait(&crew->wake, &crew->mutex);
    day = crew->day;
    command = crew->command;
    uint64_t n = crew->n;
    pthread_mutex_unlock(&crew->mutex);

    obey(slot, command, n);

    pthread_mutex_lock(&crew->mutex);
    if (++crew->done == crew->started)
      pthread_cond_signal(&crew->finished);
    pthread_mutex_unlock(&crew->mutex);
  }
  return NULL;
}

static void command_all(struct cb_crew *crew, enum command command, uint64_t n)
{
  atomic_store_explicit(&crew->ready, 0, memory_order_relaxed);
  pthread_mutex_lock(&crew->mutex);
  crew->command = command;
  crew->n = n;
  crew->done = 0;
  crew->day++;
  pthread_cond_broadcast(&crew->wake);
  while (crew->done < crew->started)
    pthread_cond_wait(&crew->finished, &crew->mutex);
  pthread_mutex_unlock(&crew->mutex);
}

struct cb_crew *cb_crew_create(struct cb_slot *slots, unsigned threads,
                               void *state)
{
  struct cb_crew *crew = cb_memory_apart(sizeof *crew);
  if (!crew)
    return NULL;
  crew->slots = slots;
  crew->threads = threads;
  crew->state = state;
  pthread_mutex_init(&crew->mutex, NULL);
  pthread_cond_init(&crew->wake, NULL);
  pthread_cond_init(&crew->finished, NULL);
  return crew;
}

/* Signals of the program are for its own threads; only those that a fault
 * raises, profilers use and the watchdog sends reach the crew. */
static void block_signals(sigset_t *before)
{
  sigset_t set;
  sigfillset(&set);
  sigdelset(&set, SIGURG);
  sigdelset(&set, SIGPROF);
  sigdelset(&set, SIGSEGV);
  sigdelset(&set, SIGBUS);
  sigdelset(&set, SIGILL);
  sigdelset(&set, SIGFPE);
  pthread_sigmask(SIG_SETMASK, &set, before);
}

static int start_threads(struct cb_crew *crew)
{
  enum { STACK = 2 << 20 };
  int status = 0;
  sigset_t before;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  block_signals(&before);
  while (crew->started < crew->threads && status == 0) {
    struct cb_slot *slot = &crew->slots[crew->started];
    slot->crew = crew;
    status = pthread_create(&slot->id, &attributes, work, slot);
    crew->started += status == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return -status;
}

int cb_crew_start(struct cb_crew *crew, struct cb_error *error)
{
  int status = start_threads(crew);
  if (status < 0)
    return cb_fail(error, status, "cannot start thread %u of %u: %s",
                   crew->started + 1, crew->threads, strerror(-status));
  command_all(crew, BEGIN, 0);
  for (unsigned i = 0; i < crew->threads; i++)
    if (crew->slots[i].error.code < 0) {
      if (error)
        *error = crew->slots[i].error;
      return crew->slots[i].error.code;
    }
  return 0;
}

void cb_crew_run(struct cb_crew *crew, uint64_t n)
{
  command_all(crew, RUN, n);
}

void cb_crew_stop(struct cb_crew *crew)
{
  command_all(crew, QUIT, 0);
  for (unsigned i = 0; i < crew->started; i++)
    pthread_join(crew->slots[i].id, NULL);
  pthread_cond_destroy(&crew->finished);
  pthread_cond_destroy(&crew->wake);
  pthread_mutex_destroy(&crew->mutex);
  free(crew);
}
