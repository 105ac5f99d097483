#include "coroutine/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct cb_thread {
  struct cb_coroutine leader;
  pthread_mutex_t mutex; /* for belongings */
  struct cb_belonging *belongings;
};

/* In cb_here.pool_id: this thread has given up what it had. */
#define THREAD_ENDED UINT64_MAX

__thread struct cb_here cb_here_tls;

static pthread_mutex_t threads_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int key_status;

#if !defined CB_ASM ||                                                         \
    !(defined __x86_64__ && !defined __ILP32__) && !defined __aarch64__
__attribute__((noinline)) struct cb_here *cb_here(void)
{
  struct cb_here *here = &cb_here_tls;
  /* Without this an optimiser could see that the answer never changes. */
  __asm__ __volatile__("" : "+r"(here));
  return here;
}
#endif

/* ---- the leader ---- */

static int leader_enter(struct cb_coroutine *leader)
{
  (void)leader;
  return -EINVAL;
}

static int leader_yield(void)
{
  return -EPERM;
}

static const struct cb_backend leader_backend = {
    .kind.name = "thread", .enter = leader_enter, .yield = leader_yield};

/* ---- beginning and ending ---- */

static void thread_end(void *opaque)
{
  struct cb_thread *thread = opaque;

  cb_threads_lock();
  for (struct cb_belonging *belonging; (belonging = thread->belongings);) {
    cb_thread_remove(belonging);
    belonging->leave(belonging);
  }
  cb_threads_unlock();
  *cb_here() = (struct cb_here){.pool_id = THREAD_ENDED};
  pthread_mutex_destroy(&thread->mutex);
  free(thread);
}

static void make_key(void)
{
  key_status = pthread_key_create(&key, thread_end);
}

int cb_thread_begin(struct cb_error *error)
{
  struct cb_here *here = cb_here();
  if (here->thread)
    return 0;
  if (here->pool_id == THREAD_ENDED)
    return cb_fail(error, -ESRCH, "this thread is ending");

  pthread_once(&key_once, make_key);
  if (key_status)
    return cb_fail(error, -key_status, "no thread-specific key: %s",
                   strerror(key_status));
  struct cb_thread *thread = calloc(1, sizeof *thread);
  if (!thread || pthread_setspecific(key, thread)) {
    free(thread);
    return cb_fail(error, -ENOMEM, "out of memory");
  }
  pthread_mutex_init(&thread->mutex, NULL);
  thread->leader.backend = &leader_backend;
  thread->leader.caller = CB_ENDED; /* not to be entered */
  here->thread = thread;
  here->current = &thread->leader;
  return 0;
}

/* ---- belongings ---- */

struct cb_belonging *cb_thread_find(uint64_t owner)
{
  struct cb_thread *thread = cb_here()->thread;
  pthread_mutex_lock(&thread->mutex);
  struct cb_belonging *belonging = thread->belongings;
  while (belonging && belonging->owner != owner)
    belonging = belonging->next;
  pthread_mutex_unlock(&thread->mutex);
  return belonging;
}

void cb_thread_add(struct cb_belonging *belonging)
{
  struct cb_thread *thread = cb_here()->thread;
  pthread_mutex_lock(&thread->mutex);
  belonging->thread = thread;
  belonging->next = thread->belongings;
  thread->belongings = belonging;
  pthread_mutex_unlock(&thread->mutex);
}

void cb_thread_remove(struct cb_belonging *belonging)
{
  struct cb_thread *thread = belonging->thread;
  pthread_mutex_lock(&thread->mutex);
  struct cb_belonging **link = &thread->belongings;
  while (*link != belonging)
    link = &(*link)->next;
  *link = belonging->next;
  pthread_mutex_unlock(&thread->mutex);
}

void cb_threads_lock(void)
{
  pthread_mutex_lock(&threads_mutex);
}

void cb_threads_unlock(void)
{
  pthread_mutex_unlock(&threads_mutex);
}
