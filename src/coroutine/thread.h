/*
 * thread.h - what a thread owns, and its giving that up when it ends.
 *
 * The first use of coroutines on a thread makes its struct cb_thread: the
 * leader, which stands for the thread as the caller of coroutines, and a list
 * of belongings, which are what pools keep for it. A belonging goes in one of
 * two ways, and cb_threads_lock is held in both: its thread ends (leave is
 * called on that thread), or its owner takes it back (cb_thread_remove).
 */
#ifndef CB_COROUTINE_THREAD_H
#define CB_COROUTINE_THREAD_H

#include "coroutine/here.h"

struct cb_belonging {
  struct cb_belonging *next;
  struct cb_thread *thread;
  uint64_t owner; /* a number never used twice */
  /* The thread ends: the belonging is off its list. */
  void (*leave)(struct cb_belonging *belonging);
};

/* The calling thread's belonging of that owner, or NULL. */
struct cb_belonging *cb_thread_find(uint64_t owner);
/* Adds one to the calling thread, which cb_thread_begin has prepared. */
void cb_thread_add(struct cb_belonging *belonging);
/* Takes one from whatever thread has it; cb_threads_lock is held. */
void cb_thread_remove(struct cb_belonging *belonging);

void cb_threads_lock(void);
void cb_threads_unlock(void);

#endif
