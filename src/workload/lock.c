/*
 * lock.c - the workload `lock`: lock and unlock.
 *
 * Alone, nothing stands between the two. With several threads each holder adds
 * 1 to a plain counter of theirs, which is the row's proof: a lock that lets
 * two in loses counts.
 */
#include "cbench.h"

#include "base/cpu.h"
#include "base/locks.h"
#include "base/memory.h"
#include "workload/kinds.h"

#include <errno.h>
#include <stdlib.h>

struct state {
  _Alignas(CB_APART) unsigned char lock[CB_APART];
  uint64_t counter; /* beside the lock, under it */
  _Alignas(CB_APART) const struct cb_lock_kind *kind;
  const struct cb_control *control;
  struct cb_role role;
};

static uint64_t run_alone(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  state->kind->pairs(state->lock, n);
  return n;
}

static uint64_t run_counted(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  return state->kind->counted(state->lock, n, &state->counter, state->control);
}

static int setup(void *opaque, const struct cb_control *control,
                 struct cb_error *error)
{
  struct state *state = opaque;
  (void)error;
  state->control = control;
  state->counter = 0;
  state->kind->init(state->lock);
  return 0;
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  struct state *state = opaque;
  unsigned char place[CB_LOCK_NODE_SIZE] __attribute__((aligned(16)));
  if (!state->kind->trylock(state->lock, place))
    return cb_fail(error, -EBUSY, "the lock is still held");
  state->kind->unlock(state->lock, place);
  if (state->role.threads > 1 && state->counter != operations)
    return cb_fail(error, -EINVAL, "%llu counts inside for %llu operations",
                   (unsigned long long)state->counter,
                   (unsigned long long)operations);
  return 0;
}

static void destroy(struct cb_workload *workload)
{
  free(workload->state);
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  const struct cb_lock_kind *kind =
      (const struct cb_lock_kind *)cb_spec_kind(cb_spec_spec(spec, "lock"));
  unsigned threads = (unsigned)cb_spec_integer(spec, "threads");
  if (kind->threads && threads > kind->threads)
    return cb_fail(error, -ENOTSUP,
                   "option 'threads': the lock '%s' serves %u thread%s, not %u",
                   kind->kind.name, kind->threads,
                   kind->threads == 1 ? "" : "s", threads);

  struct state *state = cb_memory_apart(sizeof *state);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  state->kind = kind;
  state->role = (struct cb_role){.name = "locker",
                                 .threads = threads,
                                 .run = threads == 1 ? run_alone : run_counted};
  *workload = (struct cb_workload){
      .operation = threads == 1 ? "lock, unlock"
                                : "lock, count, unlock; all threads on one",
      .state = state,
      .roles = &state->role,
      .role_count = 1,
      .setup = setup,
      .check = check,
      .destroy = destroy};
  return 0;
}

static const struct cb_option options[] = {
    {.name = "lock",
     .type = CB_KIND,
     .preset = "ttas",
     .family = &cb_lock_family,
     .help = "the kind of lock"},
    {.name = "threads",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 1,
     .max = 256,
     .help = "threads that want the same lock"},
    {.name = NULL}};

const struct cb_workload_kind cb_workload_lock = {
    .kind.name = "lock",
    .kind.summary = "lock and unlock, alone or in contention",
    .kind.options = options,
    .create = create};
