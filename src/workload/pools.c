#include "workload/pools.h"

#include <errno.h>
#include <string.h>

static enum cb_guard guard_of(const char *name)
{
  enum cb_guard guard = CB_GUARD_AUTO;
  while (strcmp(cb_guard_name(guard), name) != 0)
    guard++;
  return guard;
}

/* A stack size left at its preset goes with every pool. */
static int borrow(struct workload_pool *self, const struct cb_spec *spec,
                  struct cb_pool *pool, struct cb_error *error)
{
  const struct cb_kind *wanted = cb_spec_kind(cb_spec_spec(spec, "backend"));
  const struct cb_kind *own = cb_pool_backend(pool);
  size_t size = (size_t)cb_spec_integer(spec, "stack_size");
  struct cb_stack_options stack;
  cb_pool_stack(pool, &stack);
  if (own != wanted)
    return cb_fail(error, -EINVAL,
                   "option 'pool': its coroutines have the back end '%s', not "
                   "'%s'",
                   own->name, wanted->name);
  if (size != CB_STACK_PRESET && size != stack.size)
    return cb_fail(error, -EINVAL,
                   "option 'pool': its coroutines have stacks of %zu bytes, "
                   "not %zu",
                   stack.size, size);
  self->pool = pool;
  self->lent = true;
  return 0;
}

static int make(struct workload_pool *self, const struct cb_spec *spec,
                const struct cb_spec *policy, struct cb_error *error)
{
  struct cb_error trouble = {.code = -ENOMEM};
  struct cb_pool_options options = {
      .policy = policy,
      .backend = cb_spec_spec(spec, "backend"),
      .stack = {.size = (size_t)cb_spec_integer(spec, "stack_size"),
                .guard = guard_of(cb_spec_string(spec, "guard")),
                .colour = cb_spec_boolean(spec, "colour")}};
  self->pool = cb_pool_create(&options, &trouble);
  return self->pool ? 0 : cb_fail(error, trouble.code, "%s", trouble.text);
}

int cb_workload_pool_init(struct workload_pool *self,
                          const struct cb_spec *spec, bool has_policy,
                          struct cb_error *error)
{
  *self = (struct workload_pool){0};
  if (has_policy) {
    const struct cb_spec *policy = cb_spec_spec(spec, "pool");
    struct cb_pool *lent = cb_spec_object(policy);
    return lent ? borrow(self, spec, lent, error)
                : make(self, spec, policy, error);
  }
  struct cb_spec *none = cb_spec_create(&cb_pool_family, "none", error);
  int status = none ? make(self, spec, none, error) : -ENOMEM;
  cb_spec_destroy(none);
  return status;
}

void cb_workload_pool_free(struct workload_pool *self)
{
  if (self->pool && !self->lent)
    cb_pool_destroy(self->pool, NULL);
}

void cb_workload_pool_setup(struct workload_pool *self)
{
  cb_pool_stats(self->pool, &self->before);
}

void cb_workload_pool_teardown(struct workload_pool *self)
{
  struct cb_pool_stats now;
  cb_pool_trim(self->pool, self->before.idle);
  cb_pool_stats(self->pool, &now);
  if (now.idle < self->before.idle)
    cb_pool_prefill(self->pool, self->before.idle - now.idle, NULL);
}

int cb_workload_pool_check(const struct workload_pool *self,
                           struct cb_error *error)
{
  struct cb_pool_stats stats;
  cb_pool_stats(self->pool, &stats);
  if (stats.live != self->before.live)
    return cb_fail(error, -EPROTO, "%llu coroutines have not ended",
                   (unsigned long long)(stats.live - self->before.live));
  if (stats.fresh != stats.deleted + stats.live + stats.idle)
    return cb_fail(error, -EPROTO,
                   "the pool made %llu coroutines, but deleted %llu and keeps "
                   "%llu",
                   (unsigned long long)stats.fresh,
                   (unsigned long long)stats.deleted,
                   (unsigned long long)(stats.live + stats.idle));
  return 0;
}

size_t cb_workload_pool_counters(const struct workload_pool *self,
                                 struct cb_counter *list, size_t capacity)
{
  struct cb_pool_stats stats;
  cb_pool_stats(self->pool, &stats);
  const struct cb_counter all[] = {
      {"new", CB_SHARE, (double)stats.fresh},
      {"hits_local", CB_COUNT, (double)stats.hits_local},
      {"hits_global", CB_COUNT, (double)stats.hits_global},
      {"deleted", CB_COUNT, (double)stats.deleted},
      {"idle", CB_GAUGE, (double)stats.idle},
      {"peak", CB_GAUGE, (double)stats.peak}};
  size_t count = sizeof all / sizeof all[0];
  if (count > capacity)
    count = capacity;
  memcpy(list, all, count * sizeof all[0]);
  return count;
}
