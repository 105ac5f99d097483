/*
 * backend_call.c - a row to compare with: where a coroutine would be entered, a
 * function is called, noinline, with the same body. No stack is switched, so
 * there is nothing to yield and nothing to create.
 */
#include "coroutine/kinds.h"

CB_OUT_OF_LINE void call_visited(struct cb_coroutine_work *work)
{
  work->entered++;
}

CB_OUT_OF_LINE void call_empty(struct cb_coroutine_work *work)
{
  work->ended++;
}

CB_OUT_OF_LINE void call_nest(struct cb_coroutine_work *work)
{
  work->entered++;
  if (++work->level < work->depth)
    call_nest(work);
  work->ended++;
}

CB_OUT_OF_LINE void call_touch(struct cb_coroutine_work *work)
{
  char *block = __builtin_alloca(work->bytes);
  for (size_t i = 0; i < work->bytes; i += 64)
    __atomic_store_n(&block[i], (char)1, __ATOMIC_RELAXED);
  work->entered++;
}

static int call_begin(struct cb_coroutine_work *work)
{
  (void)work;
  return 0;
}

/* As if each of the coroutines had ended. */
static void call_end(struct cb_coroutine_work *work)
{
  work->ended += work->count;
}

static uint64_t call_loop_yield(struct cb_coroutine_work *work, uint64_t n)
{
  for (uint64_t i = 0; i < n; i++)
    call_visited(work);
  return n;
}

static uint64_t call_loop_lifecycle(struct cb_coroutine_work *work, uint64_t n)
{
  for (uint64_t i = 0; i < n; i++)
    call_empty(work);
  return n;
}

static uint64_t call_loop_nesting(struct cb_coroutine_work *work, uint64_t n)
{
  uint64_t done = 0;
  while (done < n) {
    work->level = 0;
    call_nest(work);
    done += work->level;
  }
  return done;
}

static uint64_t call_loop_stack(struct cb_coroutine_work *work, uint64_t n)
{
  for (uint64_t i = 0; i < n; i++)
    call_touch(work);
  return n;
}

/* A request is one run of a body too. */
static uint64_t call_loop_request(struct cb_coroutine_work *work, uint64_t n)
{
  for (uint64_t i = 0; i < n; i++)
    call_visited(work);
  work->ended += n;
  return n;
}

static const struct cb_coroutine_loops loops = {.begin = call_begin,
                                                .end = call_end,
                                                .yield = call_loop_yield,
                                                .lifecycle =
                                                    call_loop_lifecycle,
                                                .request = call_loop_request,
                                                .nesting = call_loop_nesting,
                                                .stack = call_loop_stack};

const struct cb_backend cb_backend_call = {
    .kind.name = "call",
    .kind.summary = "a function call with the same body",
    .kind.flags = CB_KIND_COMPARISON,
    .loops = &loops};
