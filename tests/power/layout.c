/*
 * layout.c - a plug-in of three workloads whose code stands PAD bytes further
 * on than it would. Built several times with different PAD, the same source is
 * at other addresses, and nothing else differs.
 */
#include <cbench/plugin.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef PAD
#define PAD 0
#endif
#define TEXT(value) #value
#define STRING(value) TEXT(value)

struct state {
  struct cb_role role;
  uint64_t word, done;
  pthread_mutex_t mutex;
};

/* Moves all that follows in the text of this file. */
__asm__(".pushsection .text\n\t.skip " STRING(PAD) "\n\t.popsection");

static __attribute__((noinline)) void decrement(uint64_t *word)
{
  __asm__("" : "+r"(word));
  (*word)--;
}

#define EIGHT(statement)                                                       \
  statement;                                                                   \
  statement;                                                                   \
  statement;                                                                   \
  statement;                                                                   \
  statement;                                                                   \
  statement;                                                                   \
  statement;                                                                   \
  statement

/* Short operations are unrolled, as cbench's own, and functions begin with a
 * line: a loop of one call may take half as long again when it straddles two,
 * and that is no noise. */
static uint64_t run_call(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  for (uint64_t i = 0; i < n; i++) {
    EIGHT(decrement(&state->word));
  }
  state->done += n;
  return n;
}

static uint64_t run_chain(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  uint64_t x = state->word;
  (void)thread;
  for (uint64_t i = 0; i < n; i++) {
    EIGHT(x += n; __asm__("" : "+r"(x)));
    EIGHT(x += n; __asm__("" : "+r"(x)));
  }
  state->word = x;
  state->done += n;
  return n;
}

/* A mutex twice, and memory taken and given back. */
static uint64_t run_mutex(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  for (uint64_t i = 0; i < n; i++) {
    pthread_mutex_lock(&state->mutex);
    pthread_mutex_unlock(&state->mutex);
    uint64_t *block = malloc(64);
    if (!block)
      return i;
    *block = i;
    __asm__ __volatile__("" : : "r"(block) : "memory");
    free(block);
    pthread_mutex_lock(&state->mutex);
    pthread_mutex_unlock(&state->mutex);
  }
  state->done += n;
  return n;
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  const struct state *state = opaque;
  if (state->done != operations)
    return cb_fail(error, -EINVAL, "operations are missing");
  return 0;
}

static void destroy(struct cb_workload *workload)
{
  free(workload->state);
}

static int create_with(uint64_t (*run)(void *, unsigned, uint64_t),
                       struct cb_workload *workload, struct cb_error *error)
{
  struct state *state = calloc(1, sizeof *state);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  pthread_mutex_init(&state->mutex, NULL);
  state->role = (struct cb_role){.name = "worker", .threads = 1, .run = run};
  *workload = (struct cb_workload){.operation = "one turn",
                                   .state = state,
                                   .roles = &state->role,
                                   .role_count = 1,
                                   .check = check,
                                   .destroy = destroy};
  return 0;
}

#define DEFINE_KIND(word)                                                      \
  static int create_##word(const struct cb_spec *spec,                         \
                           struct cb_workload *workload,                       \
                           struct cb_error *error)                             \
  {                                                                            \
    (void)spec;                                                                \
    return create_with(run_##word, workload, error);                           \
  }                                                                            \
  static const struct cb_option options_##word[] = {{.name = NULL}};           \
  static const struct cb_workload_kind kind_##word = {                         \
      .kind = {.name = #word,                                                  \
               .summary = "the same at another address",                       \
               .options = options_##word},                                     \
      .create = create_##word}

DEFINE_KIND(call);
DEFINE_KIND(chain);
DEFINE_KIND(mutex);

CB_PLUGIN("layout", CB_PLUGIN_KIND(workload, kind_call),
          CB_PLUGIN_KIND(workload, kind_chain),
          CB_PLUGIN_KIND(workload, kind_mutex));
