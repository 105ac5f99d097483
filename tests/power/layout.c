/*
 * layout.c - a plug-in of three workloads whose code stands PAD bytes further
 * on than it would. Built several times with different PAD, the same source is
 * at other addresses, and nothing else differs.
 */
#include <cbench/plugin.h>

#include <errno.h>
#include <stdlib.h>

#ifndef PAD
#define PAD 0
#endif
#define TEXT(value) #value
#define STRING(value) TEXT(value)

struct state {
  struct cb_role role;
  uint64_t word, done;
  uint64_t table[256];
};

/* Moves all that follows in the text of this file. */
__asm__(".pushsection .text\n\t.skip " STRING(PAD) "\n\t.popsection");

static __attribute__((noinline)) void decrement(uint64_t *word)
{
  __asm__("" : "+r"(word));
  (*word)--;
}

static uint64_t run_call(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  for (uint64_t i = 0; i < n; i++)
    decrement(&state->word);
  state->done += n;
  return n;
}

/* A branch that depends on data, and a table. */
static uint64_t run_mix(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  uint64_t x = state->word | 1;
  (void)thread;
  for (uint64_t i = 0; i < n; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    if (x & 0x30)
      state->table[x & 255] += i;
    else
      state->table[x >> 8 & 255] ^= x;
  }
  state->word = x;
  state->done += n;
  return n;
}

/* Memory taken and given back. */
static uint64_t run_heap(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t *block = malloc(64);
    if (!block)
      return i;
    *block = i;
    __asm__ __volatile__("" : : "r"(block) : "memory");
    free(block);
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
DEFINE_KIND(mix);
DEFINE_KIND(heap);

CB_PLUGIN("layout", CB_PLUGIN_KIND(workload, kind_call),
          CB_PLUGIN_KIND(workload, kind_mix),
          CB_PLUGIN_KIND(workload, kind_heap));
