/* drive.h - runs a workload once as measuring would, with no clock: every
 * thread of every role does its share of n operations, then the proof. */
#ifndef CB_TEST_DRIVE_H
#define CB_TEST_DRIVE_H

#include "test.h"

#include <pthread.h>
#include <stdlib.h>

struct drive_thread {
  const struct cb_workload *workload;
  const struct cb_role *role;
  unsigned thread;
  uint64_t n, done;
  int status;
  struct cb_error error;
  pthread_barrier_t *start;
  pthread_t id;
};

static void *drive_main(void *argument)
{
  struct drive_thread *self = argument;
  void *state = self->workload->state;
  if (self->role->begin)
    self->status = self->role->begin(state, self->thread, &self->error);
  pthread_barrier_wait(self->start);
  if (self->status == 0)
    self->done = self->role->run(state, self->thread, self->n);
  if (self->role->end)
    self->role->end(state, self->thread);
  return NULL;
}

static unsigned drive_threads(const struct cb_workload *workload)
{
  unsigned count = 0;
  for (size_t i = 0; i < workload->role_count; i++)
    count += workload->roles[i].threads;
  return count;
}

static uint64_t drive_batch(const struct cb_workload *workload, uint64_t n)
{
  unsigned count = drive_threads(workload), next = 0;
  struct drive_thread *threads = calloc(count, sizeof *threads);
  pthread_barrier_t start;
  uint64_t done = 0;

  assert_non_null(threads);
  assert_int_equal(pthread_barrier_init(&start, NULL, count), 0);
  for (size_t i = 0; i < workload->role_count; i++)
    for (unsigned j = 0; j < workload->roles[i].threads; j++) {
      threads[next] = (struct drive_thread){.workload = workload,
                                            .role = &workload->roles[i],
                                            .thread = j,
                                            .n = n,
                                            .start = &start};
      assert_int_equal(
          pthread_create(&threads[next].id, NULL, drive_main, &threads[next]),
          0);
      next++;
    }
  for (unsigned i = 0; i < count; i++) {
    assert_int_equal(pthread_join(threads[i].id, NULL), 0);
    assert_int_equal(threads[i].status, 0);
    done += threads[i].done;
  }
  pthread_barrier_destroy(&start);
  free(threads);
  return done;
}

/* Two batches of n, set up and proved: the proof's result. */
static inline int drive(const struct cb_workload *workload, uint64_t n,
                        struct cb_error *error)
{
  static const struct cb_control control;
  uint64_t done = 0;
  int status = 0;
  error->text[0] = '\0';
  if (workload->setup)
    status = workload->setup(workload->state, &control, error);
  for (int batch = 0; batch < 2 && status == 0; batch++) {
    if (workload->prepare)
      status = workload->prepare(workload->state, n, error);
    if (status == 0)
      done += drive_batch(workload, n);
  }
  if (status == 0 && workload->check)
    status = workload->check(workload->state, done, error);
  if (workload->teardown)
    workload->teardown(workload->state);
  return status;
}

#endif
