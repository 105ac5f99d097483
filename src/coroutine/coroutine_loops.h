/*
 * coroutine_loops.h - the whole measured loops of a coroutine back end.
 *
 * Include it with CB_BACKEND defined as the back end's name, after
 *
 *   int NAME_enter_raw(struct cb_coroutine *)   switches to the coroutine
 *   int NAME_yield(void)                        switches back
 *
 * with the checks and bookkeeping of coroutine.h in both. A loop then contains
 * the switch itself, not a pointer to it: the same operation through a pointer
 * can cost several times as much. NAME_loops is what the back end's struct
 * points to.
 *
 * Why "raw": a processor predicts where a `ret` goes from the `call`s before
 * it. After a change of stacks that is wrong, and costs more than the switch.
 * So the out-of-line functions that switch end in a jump (a sibling call), and
 * the test for a coroutine that ended stands here, inlined in the loop.
 */
#include "coroutine_ops.h"

#define CB_PASTE_(a, b) a##b
#define CB_PASTE(a, b) CB_PASTE_(a, b)
#define CB_FN(name) CB_PASTE(CB_BACKEND, name)

/* A back end whose enter is inlined can hand the coroutine on in a register,
 * so that the enterer need not load it again; it takes the address of the
 * enterer's variable. */
#ifndef CB_ENTER_RAW
#define CB_ENTER_RAW(at) CB_FN(_enter_raw)(*(at))
#endif
/* And one that can be told who enters need not ask each time. */
#ifndef CB_ENTER_FROM
#define CB_ENTER_FROM(at, self) ((void)(self), CB_ENTER_RAW(at))
#endif

CB_HOT int CB_FN(_enter)(struct cb_coroutine **at)
{
  int action = CB_ENTER_RAW(at);
  if (action == CB_TERMINATE)
    cb_give(*at);
  return action;
}

/* A coroutine for the work, or NULL, which is noted there. */
CB_HOT struct cb_coroutine *CB_FN(_new)(struct cb_coroutine_work *work,
                                        cb_entry *entry)
{
  struct cb_coroutine *coroutine =
      cb_take(work->pool, entry, work, &work->error);
  if (CB_UNLIKELY(!coroutine))
    work->status = work->error.code;
  return coroutine;
}

/* ---- bodies ---- */

static void CB_FN(_empty)(void *opaque)
{
  struct cb_coroutine_work *work = (struct cb_coroutine_work *)opaque;
  work->ended++;
}

static void CB_FN(_once)(void *opaque)
{
  struct cb_coroutine_work *work = (struct cb_coroutine_work *)opaque;
  work->entered++;
  CB_FN(_yield)();
  work->ended++;
}

static void CB_FN(_nest)(void *opaque)
{
  struct cb_coroutine_work *work = (struct cb_coroutine_work *)opaque;
  work->entered++;
  if (++work->level < work->depth) {
    struct cb_coroutine *child = CB_FN(_new)(work, CB_FN(_nest));
    if (CB_LIKELY(child))
      CB_FN(_enter)(&child);
  }
  work->ended++;
}

/* One store in each line of so many bytes below. */
CB_OUT_OF_LINE void CB_FN(_touch)(size_t bytes)
{
  char *block = (char *)__builtin_alloca(bytes);
  for (size_t i = 0; i < bytes; i += 64)
    __atomic_store_n(&block[i], (char)1, __ATOMIC_RELAXED);
}

static void CB_FN(_visited)(void *opaque)
{
  struct cb_coroutine_work *work = (struct cb_coroutine_work *)opaque;
  while (!work->stop) {
    work->entered++;
    CB_FN(_yield)();
  }
  work->ended++;
}

static void CB_FN(_touching)(void *opaque)
{
  struct cb_coroutine_work *work = (struct cb_coroutine_work *)opaque;
  while (!work->stop) {
    work->entered++;
    CB_FN(_touch)(work->bytes);
    CB_FN(_yield)();
  }
  work->ended++;
}

/* ---- loops ---- */

/* Lets every coroutine that begin made end. */
static void CB_FN(_end)(struct cb_coroutine_work *work)
{
  work->stop = true;
  for (size_t i = 0; i < work->count && work->coroutines[i]; i++) {
    struct cb_coroutine *coroutine = work->coroutines[i];
    int action = CB_FN(_enter)(&coroutine);
    work->coroutines[i] = NULL;
    if (action != CB_TERMINATE)
      work->status = action < 0 ? action : -EPROTO;
  }
}

static int CB_FN(_begin)(struct cb_coroutine_work *work)
{
  cb_entry *entry = work->bytes ? CB_FN(_touching) : CB_FN(_visited);
  work->stop = false;
  work->next = 0;
  for (size_t i = 0; i < work->count; i++) {
    work->coroutines[i] = CB_FN(_new)(work, entry);
    if (!work->coroutines[i]) {
      CB_FN(_end)(work);
      return work->error.code;
    }
  }
  return 0;
}

/* The first trip makes sure that this thread has something to enter from. */
static uint64_t CB_FN(_loop_yield)(struct cb_coroutine_work *work, uint64_t n)
{
  struct cb_coroutine *coroutine = work->coroutines[0], *self;
  uint64_t done;
  int action;
  if (n == 0 || CB_FN(_enter)(&coroutine) != CB_YIELD)
    return 0;
  self = CB_CURRENT();
  for (done = 1; done < n; done++) {
    action = CB_ENTER_FROM(&coroutine, self);
    if (CB_LIKELY(action == CB_YIELD))
      continue;
    if (action == CB_TERMINATE)
      cb_give(coroutine);
    break;
  }
  return done;
}

static uint64_t CB_FN(_loop_lifecycle)(struct cb_coroutine_work *work,
                                       uint64_t n)
{
  uint64_t done;
  for (done = 0; done < n; done++) {
    struct cb_coroutine *coroutine = CB_FN(_new)(work, CB_FN(_empty));
    if (!coroutine || CB_FN(_enter)(&coroutine) != CB_TERMINATE)
      break;
  }
  return done;
}

static uint64_t CB_FN(_loop_request)(struct cb_coroutine_work *work, uint64_t n)
{
  uint64_t done;
  for (done = 0; done < n; done++) {
    struct cb_coroutine *coroutine = CB_FN(_new)(work, CB_FN(_once));
    if (!coroutine || CB_FN(_enter)(&coroutine) != CB_YIELD ||
        CB_FN(_enter)(&coroutine) != CB_TERMINATE)
      break;
  }
  return done;
}

/* Whole nests, until n coroutines or more were done. */
static uint64_t CB_FN(_loop_nesting)(struct cb_coroutine_work *work, uint64_t n)
{
  uint64_t done = 0;
  while (done < n) {
    struct cb_coroutine *coroutine = CB_FN(_new)(work, CB_FN(_nest));
    work->level = 0;
    if (!coroutine || CB_FN(_enter)(&coroutine) != CB_TERMINATE)
      break;
    done += work->level;
    if (work->level < work->depth)
      break;
  }
  return done;
}

static uint64_t CB_FN(_loop_create)(struct cb_coroutine_work *work, uint64_t n)
{
  struct cb_pool *pool = work->pool;
  uint64_t done;
  for (done = 0; done < n; done++) {
    struct cb_coroutine *coroutine = pool->make(pool, &work->error);
    if (!coroutine) {
      work->status = work->error.code;
      break;
    }
    pool->destroy(pool, coroutine);
    work->ended++;
  }
  return done;
}

/* Round robin over all coroutines. */
static uint64_t CB_FN(_loop_stack)(struct cb_coroutine_work *work, uint64_t n)
{
  size_t next = work->next;
  uint64_t done;
  for (done = 0; done < n; done++) {
    struct cb_coroutine *coroutine = work->coroutines[next];
    if (CB_FN(_enter)(&coroutine) != CB_YIELD)
      break;
    if (++next == work->count)
      next = 0;
  }
  work->next = next;
  return done;
}

/* ---- a line of items ---- */

/* Enters the next of an item's nest; while that waits, so does this one. */
CB_HOT void CB_FN(_line_below)(struct cb_coroutine_line *line, cb_entry *entry)
{
  struct cb_coroutine *child = cb_take(line->pool, entry, line, &line->error);
  int action;
  if (CB_UNLIKELY(!child)) {
    line->status = line->error.code;
    return;
  }
  while ((action = CB_ENTER_RAW(&child)) == CB_YIELD)
    CB_FN(_yield)();
  if (CB_LIKELY(action == CB_TERMINATE))
    cb_give(child);
  else
    line->status = action;
}

static void CB_FN(_line_item)(void *opaque)
{
  struct cb_coroutine_line *line = (struct cb_coroutine_line *)opaque;
  uint64_t item = line->item;
  line->entered++;
  if (CB_UNLIKELY(++line->level < line->depth)) {
    bool outermost = line->level == 1;
    CB_FN(_line_below)(line, CB_FN(_line_item));
    if (outermost)
      line->done[line->done_count++] = item;
  } else {
    bool alone = line->depth == 1;
    if (line->bytes)
      CB_FN(_touch)(line->bytes);
    for (uint64_t left = line->yields; left; left--)
      CB_FN(_yield)();
    if (CB_LIKELY(alone))
      line->done[line->done_count++] = item;
  }
  line->ended++;
}

/* Keeps a coroutine that waits, frees one that ended. */
CB_HOT bool CB_FN(_line_keep)(struct cb_coroutine_line *line, int action,
                              struct cb_coroutine *coroutine)
{
  if (CB_LIKELY(action == CB_YIELD)) {
    line->waiting[line->tail & line->mask] = coroutine;
    line->tail++;
  } else if (CB_LIKELY(action == CB_TERMINATE)) {
    cb_give(coroutine);
  } else {
    line->status = action;
    return false;
  }
  return true;
}

static uint32_t CB_FN(_line_start)(struct cb_coroutine_line *line,
                                   const uint64_t *items, uint32_t n)
{
  uint32_t done;
  for (done = 0; done < n; done++) {
    struct cb_coroutine *coroutine =
        cb_take(line->pool, CB_FN(_line_item), line, &line->error);
    if (CB_UNLIKELY(!coroutine)) {
      line->status = line->error.code;
      break;
    }
    line->item = items[done];
    line->level = 0;
    int action = CB_ENTER_RAW(&coroutine);
    if (CB_UNLIKELY(!CB_FN(_line_keep)(line, action, coroutine)))
      break;
  }
  return done;
}

static uint32_t CB_FN(_line_resume)(struct cb_coroutine_line *line, uint32_t n)
{
  uint32_t done;
  for (done = 0; done < n; done++) {
    struct cb_coroutine *coroutine = line->waiting[line->head & line->mask];
    line->head++;
    int action = CB_ENTER_RAW(&coroutine);
    if (CB_UNLIKELY(!CB_FN(_line_keep)(line, action, coroutine)))
      break;
  }
  return done;
}

static const struct cb_coroutine_loops CB_FN(_loops) = {
    CB_FN(_begin),          CB_FN(_end),          CB_FN(_loop_yield),
    CB_FN(_loop_lifecycle), CB_FN(_loop_request), CB_FN(_loop_nesting),
    CB_FN(_loop_create),    CB_FN(_loop_stack),   CB_FN(_line_start),
    CB_FN(_line_resume)};

#undef CB_FN
