/*
 * call_coroutine_resume.c - the callback `coroutine_resume`: enters a coroutine
 * that yields at once, the way a poller runs a request that waits.
 *
 * One coroutine for the service: it may be entered by one lcore after another,
 * never by two at once.
 */
#include "workload/calls.h"

#include "service/calls.h"
#include "workload/pools.h"

#include <errno.h>
#include <stdlib.h>

struct resume {
  struct cb_pool *pool;
  bool own;
  struct cb_coroutine *coroutine;
};

static void body(void *argument)
{
  (void)argument;
  while (cb_coroutine_yield() == 0)
    ;
}

static int resume(void *argument, struct cb_lcore *lcore)
{
  struct resume *self = argument;
  cb_call_count(lcore);
  int action = cb_coroutine_enter(self->coroutine);
  return action == CB_YIELD ? 0 : action;
}

static void release(void *argument)
{
  struct resume *self = argument;
  if (self->coroutine)
    cb_coroutine_destroy(self->coroutine);
  if (self->own && self->pool)
    cb_pool_destroy(self->pool, NULL);
  free(self);
}

static int fill(struct resume *self, const struct cb_spec *spec,
                struct cb_error *error)
{
  const struct cb_spec *policy = cb_spec_spec(spec, "pool");
  const struct cb_pool_options options = {
      .policy = policy,
      .backend = cb_spec_spec(spec, "backend"),
      .stack.size = (size_t)cb_spec_integer(spec, "stack_size")};
  self->pool = cb_spec_object(policy);
  self->own = !self->pool;
  if (self->own)
    self->pool = cb_pool_create(&options, error);
  if (self->pool)
    self->coroutine = cb_coroutine_create(self->pool, body, NULL, error);
  return self->coroutine ? 0 : -EINVAL;
}

static int create(const struct cb_spec *spec, struct cb_call *call,
                  struct cb_error *error)
{
  struct resume *self = calloc(1, sizeof *self);
  if (!self)
    return cb_fail(error, -ENOMEM, "out of memory");
  if (fill(self, spec, error) < 0) {
    release(self);
    return error && error->code < 0 ? error->code : -EINVAL;
  }
  *call =
      (struct cb_call){.call = resume, .argument = self, .release = release};
  return 0;
}

static const struct cb_option options[] = {
    BACKEND_OPTION,
    POOL_OPTION,
    {.name = "stack_size",
     .type = CB_INTEGER,
     .preset = "65536",
     .min = (double)CB_STACK_MIN,
     .max = (double)CB_STACK_MAX,
     .help = "bytes of the coroutine's stack, without its guard"},
    {.name = NULL}};

const struct cb_call_kind cb_call_coroutine_resume = {
    .kind.name = "coroutine_resume",
    .kind.summary = "enters a coroutine, which yields",
    .kind.options = options,
    .create = create};
