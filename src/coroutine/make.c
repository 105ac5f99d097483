#include "config.h"

#include "coroutine/make.h"

#include "coroutine/annotate.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, FIBERS_MAX = 5000 };

int cb_recipe_init(struct cb_recipe *recipe, const struct cb_spec *backend,
                   const struct cb_stack_options *stack, struct cb_error *error)
{
  const struct cb_kind *kind = cb_spec_kind(backend);
  if (kind->flags & CB_KIND_COMPARISON)
    return cb_fail(error, -EINVAL,
                   "the back end '%s' is a row to compare with; nothing can be "
                   "created on it",
                   kind->name);

  *recipe = (struct cb_recipe){.backend = (const struct cb_backend *)kind,
                               .stack = *stack};
  if (recipe->stack.size == 0)
    recipe->stack.size = CB_STACK_PRESET;
  if (recipe->stack.size < CB_STACK_MIN || recipe->stack.size > CB_STACK_MAX)
    return cb_fail(error, -EINVAL,
                   "option 'stack_size': %zu is out of range [%zu, %zu]",
                   recipe->stack.size, CB_STACK_MIN, CB_STACK_MAX);
  if (recipe->stack.size < recipe->backend->stack_min)
    recipe->stack.size = recipe->backend->stack_min;
  if (!recipe->backend->configure)
    return 0;
  return recipe->backend->configure(backend, &recipe->setting, error);
}

#ifdef CB_WITH_TSAN
static atomic_int fibers;

/* The runtime dies, rather than fails, at 8128 threads and fibres, and before
 * that when the mappings of their traces run out. */
static int mark(struct cb_coroutine *coroutine, struct cb_error *error)
{
  if (atomic_fetch_add_explicit(&fibers, 1, memory_order_relaxed) >=
      FIBERS_MAX) {
    atomic_fetch_sub_explicit(&fibers, 1, memory_order_relaxed);
    return cb_fail(error, -ENOMEM,
                   "ThreadSanitizer's runtime holds %d coroutines at most",
                   FIBERS_MAX);
  }
  coroutine->marks.fiber = __tsan_create_fiber(0);
  return 0;
}

static void unmark(struct cb_coroutine *coroutine)
{
  __tsan_destroy_fiber(coroutine->marks.fiber);
  atomic_fetch_sub_explicit(&fibers, 1, memory_order_relaxed);
}
#else
static int mark(struct cb_coroutine *coroutine, struct cb_error *error)
{
  (void)error;
#ifdef VALGRIND_STACK_REGISTER
  coroutine->marks.valgrind_id =
      VALGRIND_STACK_REGISTER(coroutine->stack.low, coroutine->stack.top);
#else
  (void)coroutine;
#endif
  return 0;
}

static void unmark(struct cb_coroutine *coroutine)
{
#ifdef VALGRIND_STACK_DEREGISTER
  VALGRIND_STACK_DEREGISTER(coroutine->marks.valgrind_id);
#endif
#ifdef CB_WITH_ASAN
  /* Frames that never returned left their red zones. */
  ASAN_UNPOISON_MEMORY_REGION(coroutine->stack.base, coroutine->stack.mapped);
#endif
  (void)coroutine;
}
#endif

struct cb_coroutine *cb_coroutine_make(const struct cb_recipe *recipe,
                                       unsigned index, struct cb_error *error)
{
  const struct cb_backend *backend = recipe->backend;
  size_t size = (backend->size + LINE - 1) / LINE * LINE;
  struct cb_coroutine *coroutine = aligned_alloc(LINE, size);
  if (!coroutine) {
    cb_fail(error, -ENOMEM, "out of memory");
    return NULL;
  }
  memset(coroutine, 0, size);
  coroutine->backend = backend;
  coroutine->caller = CB_ENDED;
  if (cb_stack_map(&coroutine->stack, &recipe->stack, index, error) < 0)
    goto no_stack;
  if (mark(coroutine, error) < 0)
    goto no_mark;
  if (backend->prepare(coroutine, recipe->setting, error) == 0)
    return coroutine;

  unmark(coroutine);
no_mark:
  cb_stack_unmap(&coroutine->stack);
no_stack:
  free(coroutine);
  return NULL;
}

void cb_coroutine_unmake(struct cb_coroutine *coroutine)
{
  unmark(coroutine);
  cb_stack_unmap(&coroutine->stack);
  free(coroutine);
}
