/*
 * boost_context.c - Boost.Context's fcontext as a back end: the assembly that
 * its fibers and Boost.Coroutine2 stand on, called by its plain C symbols.
 *
 * jump_fcontext saves what the ABI wants saved, the floating point control
 * bits included, pushes it on the stack it leaves and hands the new context the
 * old one's address, which then has to be stored. Enter, yield and the checks
 * around them are those of every back end here and inlined in the loops, so a
 * row shows the cost of the jump and of what its interface asks for.
 */
#include <cbench/plugin.h>

#include <cbench/coroutine_ops.h>

/* boost/context/detail/fcontext.hpp declares these in C++ only. */
typedef void *fcontext_t;
struct transfer {
  fcontext_t from;
  void *data;
};
struct transfer jump_fcontext(fcontext_t to, void *data);
fcontext_t make_fcontext(void *top, size_t size, void (*run)(struct transfer));

CB_HOT int boost_enter_raw(struct cb_coroutine *coroutine)
{
  if (!cb_begin_enter(coroutine))
    return CB_REFUSED(coroutine);
  struct transfer back = jump_fcontext(coroutine->sp, coroutine);
  coroutine->sp = back.from;
  return (int)(intptr_t)back.data;
}

CB_HOT int boost_yield(void)
{
  struct cb_coroutine *self = cb_begin_yield();
  if (!self)
    return -EPERM;
  struct transfer back = jump_fcontext(self->sp, (void *)(intptr_t)CB_YIELD);
  self->sp = back.from;
  return 0;
}

static void run(struct transfer entered)
{
  struct cb_coroutine *self = (struct cb_coroutine *)entered.data;
  for (;;) {
    self->sp = entered.from;
    self->entry(self->opaque);
    cb_begin_end(self);
    entered = jump_fcontext(self->sp, (void *)(intptr_t)CB_TERMINATE);
  }
}

static int prepare(struct cb_coroutine *coroutine, int setting,
                   struct cb_error *error)
{
  (void)setting;
  (void)error;
  coroutine->sp =
      make_fcontext(coroutine->stack.top,
                    (size_t)(coroutine->stack.top - coroutine->stack.low), run);
  return 0;
}

#define CB_BACKEND boost
#include <cbench/coroutine_loops.h>

static int enter_by_pointer(struct cb_coroutine *coroutine)
{
  return boost_enter_raw(coroutine);
}

static int yield_by_pointer(void)
{
  return boost_yield();
}

static const struct cb_backend boost = {
    .kind.name = "boost_context",
    .kind.summary = "the real Boost.Context: jump_fcontext",
    .size = sizeof(struct cb_coroutine),
    .prepare = prepare,
    .enter = enter_by_pointer,
    .yield = yield_by_pointer,
    .loops = &boost_loops,
};

CB_PLUGIN("boost_context", CB_PLUGIN_KIND(backend, boost));
