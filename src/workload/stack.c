/*
 * stack.c - the workload `stack`: what it costs that coroutines use their
 * stacks. N living coroutines are visited in turn; each touches so many bytes
 * of its stack, one store a line, and yields.
 */
#include "workload/coroutines.h"
#include "workload/kinds.h"

#include <errno.h>

/* For the frames around what is touched; and for a call, which has all of its
 * thread's stack, a quarter of what that usually is. */
enum { FRAMES = 2048, CALL_BYTES_MAX = 2 << 20 };

static bool proof(const struct coroutine_sums *sums)
{
  return sums->entered == sums->operations && sums->ended == sums->begun;
}

static int configure(const struct cb_spec *spec,
                     const struct cb_backend *backend,
                     struct cb_coroutine_work *work, struct cb_error *error)
{
  size_t size = (size_t)cb_spec_integer(spec, "stack_size");
  bool calls = backend->kind.flags & CB_KIND_COMPARISON;
  size_t most = calls ? CALL_BYTES_MAX : size - FRAMES;
  work->bytes = (size_t)cb_spec_integer(spec, "bytes");
  work->count = (size_t)cb_spec_integer(spec, "coroutines");
  if (work->bytes <= most)
    return 0;
  if (calls)
    return cb_fail(error, -ENOTSUP,
                   "option 'bytes': '%s' has the stack of its thread, at most "
                   "%zu bytes, not %zu",
                   backend->kind.name, most, work->bytes);
  return cb_fail(error, -EINVAL,
                 "option 'bytes': a stack of %zu bytes has room for %zu, not "
                 "%zu",
                 size, most, work->bytes);
}

static const struct coroutine_job job = {
    .operation = "one visit of one of the coroutines: enter, touch, yield",
    .loop = COROUTINE_LOOP(stack),
    .living = true,
    .configure = configure,
    .proof = proof};

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  return cb_coroutine_workload(&job, spec, workload, error);
}

static const struct cb_option options[] = {
    BACKEND_OPTION,
    {.name = "bytes",
     .type = CB_INTEGER,
     .preset = "1024",
     .min = 0,
     .max = (double)CB_STACK_MAX,
     .help = "bytes of its stack that a coroutine touches in a visit"},
    {.name = "coroutines",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 1,
     .max = 1000000,
     .help = "coroutines of a thread, visited in turn"},
    COROUTINE_THREADS_OPTION,
    STACK_OPTIONS,
    {.name = NULL}};

const struct cb_workload_kind cb_workload_stack = {
    .kind.name = "stack",
    .kind.summary = "visit coroutines that use their stacks",
    .kind.options = options,
    .create = create};
