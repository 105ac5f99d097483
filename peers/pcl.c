/*
 * pcl.c - libpcl, the Portable Coroutine Library, as a back end. Debian builds
 * it on swapcontext, which saves the signal mask by a system call.
 *
 * Its functions need a state in each thread that uses them. A coroutine that
 * ends is parked in its own loop, as with every back end here, because
 * returning to libpcl would delete it. What it keeps of a coroutine lies in the
 * coroutine's stack, so that there is nothing of its own to free.
 */
#include <cbench/plugin.h>

#include <cbench/coroutine_ops.h>

#include <pcl.h>
#include <pthread.h>

struct peer {
  struct cb_coroutine coroutine;
  coroutine_t co;
  int action; /* co_resume carries no value */
};

static struct peer *peer_of(struct cb_coroutine *coroutine)
{
  return (struct peer *)(void *)coroutine;
}

/* ---- this thread's state of libpcl ---- */

static __thread bool begun;
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void end_thread(void *unused)
{
  (void)unused;
  co_thread_cleanup();
}

static void make_key(void)
{
  pthread_key_create(&at_end, end_thread);
}

static __attribute__((noinline)) bool begin_thread(void)
{
  pthread_once(&once, make_key);
  begun = co_thread_init() == 0 && pthread_setspecific(at_end, &begun) == 0;
  return begun;
}

/* ---- the back end ---- */

static int pcl_enter_raw(struct cb_coroutine *coroutine)
{
  if (CB_UNLIKELY(!begun) && !begin_thread())
    return -ENOMEM;
  if (!cb_begin_enter(coroutine))
    return CB_REFUSED(coroutine);
  struct peer *peer = peer_of(coroutine);
  co_call(peer->co);
  return peer->action;
}

static int pcl_yield(void)
{
  struct cb_coroutine *self = cb_begin_yield();
  if (!self)
    return -EPERM;
  peer_of(self)->action = CB_YIELD;
  co_resume();
  return 0;
}

static void run(void *opaque)
{
  struct peer *peer = (struct peer *)opaque;
  struct cb_coroutine *self = &peer->coroutine;
  for (;;) {
    self->entry(self->opaque);
    cb_begin_end(self);
    peer->action = CB_TERMINATE;
    co_resume();
  }
}

static int prepare(struct cb_coroutine *coroutine, int setting,
                   struct cb_error *error)
{
  struct peer *peer = peer_of(coroutine);
  (void)setting;
  if (!begun && !begin_thread())
    return cb_fail(error, -ENOMEM, "libpcl has no memory for this thread");
  peer->co = co_create(run, peer, coroutine->stack.low,
                       (int)(coroutine->stack.top - coroutine->stack.low));
  if (!peer->co)
    return cb_fail(error, -ENOMEM, "libpcl cannot create a coroutine");
  return 0;
}

#define CB_BACKEND pcl
#include <cbench/coroutine_loops.h>

static const struct cb_backend pcl = {
    .kind.name = "pcl",
    .kind.summary = "the real libpcl: swapcontext, with its system calls",
    .size = sizeof(struct peer),
    .stack_min = 16384,
    .prepare = prepare,
    .enter = pcl_enter_raw,
    .yield = pcl_yield,
    .loops = &pcl_loops,
};

CB_PLUGIN("pcl", CB_PLUGIN_KIND(backend, pcl));
