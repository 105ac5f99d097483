/* sum.c - a plug-in for the tests: the workload `sum`, which adds up what comes
 * out of a ring of any kind, and the lock `naive`. -DSLOW makes it slower,
 * -DBROKEN one that must be refused. */
#include <cbench/plugin.h>

#include <errno.h>
#include <stdlib.h>

struct state {
  struct cb_role role;
  struct cb_ring *ring;
  uint64_t given, taken;
};

static uint64_t run(void *opaque, unsigned thread, uint64_t n)
{
  struct state *state = opaque;
  (void)thread;
  for (uint64_t i = 1; i <= n; i++) {
    uint64_t value = 0;
    state->ring->ops->enqueue(state->ring, i);
    state->ring->ops->dequeue(state->ring, &value);
#ifdef SLOW
    for (int j = 0; j < 50; j++)
      __asm__ __volatile__("" : : : "memory");
#endif
    state->given += i;
    state->taken += value;
  }
  return n;
}

static int check(void *opaque, uint64_t operations, struct cb_error *error)
{
  struct state *state = opaque;
  (void)operations;
  if (state->given != state->taken)
    return cb_fail(error, -EINVAL, "sums differ");
  return 0;
}

static void destroy(struct cb_workload *workload)
{
  struct state *state = workload->state;
  cb_ring_destroy(state->ring);
  free(state);
}

static int create(const struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  struct state *state = calloc(1, sizeof *state);
  if (!state)
    return cb_fail(error, -ENOMEM, "out of memory");
  state->ring = cb_ring_create(cb_spec_spec(spec, "ring"), error);
  if (!state->ring) {
    free(state);
    return -EINVAL;
  }
  state->role = (struct cb_role){.name = "adder", .threads = 1, .run = run};
  *workload = (struct cb_workload){.operation = "in, out and added",
                                   .state = state,
                                   .roles = &state->role,
                                   .role_count = 1,
                                   .check = check,
                                   .destroy = destroy};
  return 0;
}

static const struct cb_option options[] = {
    {.name = "ring",
     .type = CB_KIND,
     .preset = "spsc",
     .choices = "ring", /* the family */
     .help = "the ring"},
    {.name = "lock",
     .type = CB_KIND,
     .preset = "naive", /* of this plug-in */
     .choices = "lock",
     .help = "not used"},
    {.name = NULL}};

static const struct cb_workload_kind sum = {.kind.name = "sum",
                                            .kind.summary = "adds",
                                            .kind.options = options,
                                            .create = create};

static const struct cb_lock_kind naive = {.kind.name = "naive",
                                          .kind.summary = "no lock"};

#if !defined BROKEN
CB_PLUGIN("sum", CB_PLUGIN_KIND(workload, sum), CB_PLUGIN_KIND(lock, naive));
#else
static const struct cb_plugin_kind kinds[] = {
    {BROKEN == 4 ? "wheel" : "workload", &sum.kind,
     sizeof sum + (BROKEN == 3 ? 8 : 0)},
    CB_PLUGIN_KIND(lock, naive),
    {NULL, NULL, 0}};
CB_API const struct cb_plugin cb_plugin = {CB_PLUGIN_ABI + (BROKEN == 1),
                                           (unsigned)sizeof cb_plugin_host +
                                               (BROKEN == 2 ? 8 : 0),
                                           "sum", kinds, &cb_plugin_host};
#endif
