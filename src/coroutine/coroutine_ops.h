/*
 * coroutine_ops.h - what enter, yield and the end of a coroutine do besides
 * switching, and taking from and giving to a pool: inline, for back ends and
 * their loops.
 *
 * Two things come from outside, by macros: CB_HERE(), this thread's struct
 * cb_here, found anew each time, and CB_REFUSED(coroutine), the status for an
 * enter that was refused. In the library they are in coroutine/here.h; a
 * plug-in takes them from its host.
 */
#ifndef CB_COROUTINE_OPS_H
#define CB_COROUTINE_OPS_H

#include "backend.h"

/* The current coroutine, where there is no shorter way to it; and with what
 * serves to set it next, as long as no switch lies between. */
#ifndef CB_CURRENT
#define CB_CURRENT() (CB_HERE()->current)
#define CB_SET_CURRENT(coroutine) ((void)(CB_HERE()->current = (coroutine)))
typedef struct cb_here *cb_place;
#define CB_CURRENT_AT(place) ((*(place) = CB_HERE())->current)
#define CB_SET_CURRENT_AT(place, coroutine)                                    \
  ((void)((place)->current = (coroutine)))
#endif

/* False: it may not be entered; return CB_REFUSED(coroutine). */
CB_HOT bool cb_begin_enter(struct cb_coroutine *coroutine)
{
  cb_place place;
  struct cb_coroutine *from = CB_CURRENT_AT(&place);
  if (CB_UNLIKELY(!from || !cb_may_enter(coroutine)))
    return false;
  coroutine->caller = from;
  CB_SET_CURRENT_AT(place, coroutine);
  return true;
}

/* The coroutine that yields, or NULL: return -EPERM. The caller is cleared
 * before the switch: once that is done, the caller may be gone. */
CB_HOT struct cb_coroutine *cb_begin_yield(void)
{
  cb_place place;
  struct cb_coroutine *self = CB_CURRENT_AT(&place);
  if (CB_UNLIKELY(!self || !cb_is_entered(self)))
    return NULL;
  CB_SET_CURRENT_AT(place, self->caller);
  self->caller = NULL;
  return self;
}

CB_HOT void cb_begin_end(struct cb_coroutine *self)
{
  CB_SET_CURRENT(self->caller);
  self->caller = CB_ENDED;
}

/* ---- pools ---- */

CB_HOT struct cb_coroutine *cb_pop(struct cb_pool_local *local)
{
  struct cb_coroutine *coroutine = local->first;
  local->first = coroutine->next;
  cb_set(&local->count, local->count - 1);
  return coroutine;
}

CB_HOT void cb_push(struct cb_pool_local *local, struct cb_coroutine *coroutine)
{
  coroutine->next = local->first;
  local->first = coroutine;
  cb_set(&local->count, local->count + 1);
}

/* A coroutine to run entry(opaque), out of the pool if it has one. */
CB_HOT struct cb_coroutine *cb_take(struct cb_pool *pool, cb_entry *entry,
                                    void *opaque, struct cb_error *error)
{
  struct cb_here *here = CB_HERE();
  struct cb_pool_local *local = here->local;
  struct cb_coroutine *coroutine;
  if (CB_LIKELY(here->pool_id == pool->id && local->count > local->low)) {
    coroutine = cb_pop(local);
    cb_count_one(&local->taken);
  } else {
    coroutine = pool->get(pool, error);
    if (!coroutine)
      return NULL;
  }
  coroutine->entry = entry;
  coroutine->opaque = opaque;
  coroutine->caller = CB_FRESH;
  return coroutine;
}

/* Gives one that ended back. Whoever entered it does this, after the switch:
 * nobody can free the stack he runs on. */
CB_HOT void cb_give(struct cb_coroutine *coroutine)
{
  struct cb_pool *pool = coroutine->pool;
  struct cb_here *here = CB_HERE();
  struct cb_pool_local *local = here->local;
  if (CB_LIKELY(here->pool_id == pool->id && local->count < local->high)) {
    cb_push(local, coroutine);
    cb_count_one(&local->put);
  } else {
    pool->put(pool, coroutine);
  }
}

#endif
