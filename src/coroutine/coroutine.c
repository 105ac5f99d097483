/* coroutine.c - the public functions, for coroutines of any back end. */
#include "coroutine/here.h"

struct cb_coroutine *cb_coroutine_create(struct cb_pool *pool, cb_entry *entry,
                                         void *opaque, struct cb_error *error)
{
  if (!pool || !entry) {
    cb_fail(error, -EINVAL, "a %s is wanted", pool ? "function" : "pool");
    return NULL;
  }
  return cb_take(pool, entry, opaque, error);
}

int cb_coroutine_switch(struct cb_coroutine *coroutine)
{
  return coroutine->backend->enter(coroutine);
}

void cb_coroutine_release(struct cb_coroutine *coroutine)
{
  cb_give(coroutine);
}

int cb_coroutine_yield(void)
{
  struct cb_coroutine *self = cb_here()->current;
  return self ? self->backend->yield() : -EPERM;
}

struct cb_coroutine *cb_coroutine_self(void)
{
  struct cb_here *here = cb_here();
  if (!here->current && cb_thread_begin(NULL) < 0)
    return NULL;
  return here->current;
}

bool cb_in_coroutine(void)
{
  struct cb_coroutine *self = cb_here()->current;
  return self && cb_is_entered(self);
}

bool cb_coroutine_entered(const struct cb_coroutine *coroutine)
{
  return cb_is_entered(coroutine);
}

int cb_coroutine_refused(struct cb_coroutine *coroutine)
{
  if (!cb_here()->current) {
    int status = cb_thread_begin(NULL);
    return status < 0 ? status : coroutine->backend->enter(coroutine);
  }
  return coroutine->caller == CB_ENDED ? -ESRCH : -EBUSY;
}

int cb_coroutine_destroy(struct cb_coroutine *coroutine)
{
  if (cb_is_entered(coroutine))
    return -EBUSY;
  if (coroutine->caller == CB_ENDED)
    return coroutine->pool ? -ESRCH : -EINVAL;
  coroutine->pool->destroy(coroutine->pool, coroutine);
  return 0;
}

const struct cb_stack *cb_coroutine_stack(const struct cb_coroutine *coroutine)
{
  return coroutine->pool ? &coroutine->stack : NULL;
}

const char *cb_coroutine_message(int status)
{
  switch (status) {
  case -EBUSY:
    return "Co-routine re-entered recursively";
  case -EPERM:
    return "Co-routine is yielding to no one";
  case -ESRCH:
    return "Co-routine has ended";
  case -EINVAL:
    return "the leader of a thread cannot be entered";
  case -ENOMEM:
    return "out of memory";
  default:
    return status < 0 ? "unknown error" : "no error";
  }
}
