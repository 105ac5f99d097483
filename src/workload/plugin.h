/*
 * plugin.h - kinds of your own in a shared object; installed as
 * cbench/plugin.h. C11 and C++.
 *
 * A plug-in is one or more kinds (a ring, a lock, a workload, ...), each the
 * same struct that the built-in ones are, and one line:
 *
 *   CB_PLUGIN("mine", CB_PLUGIN_KIND(ring, mine_kind));
 *
 * It is built with -shared -fPIC, exports the one symbol `cb_plugin` and does
 * not link libcbench: what it calls of it (cb_fail, cb_spec_integer, ...) it
 * reaches through a table that its host fills when it is loaded; the macros
 * below make that look like the plain call. So it uses the library that loaded
 * it, whichever way that was loaded itself, and shares its threads' state.
 *
 * An option of type CB_KIND or CB_LIST cannot name its family by address here.
 * It says .choices = "ring" instead.
 *
 * The host works on copies of the kinds: a function that gets a spec finds the
 * kind it was called for by cb_spec_kind, perhaps under a name with a prefix.
 * A plug-in is never unloaded.
 */
#ifndef CBENCH_PLUGIN_H
#define CBENCH_PLUGIN_H

#include "cbench.h"

/* Counts whenever the layout of a struct in the installed headers changes, or
 * what a field means. A host loads plug-ins of its own ABI only. */
#define CB_PLUGIN_ABI 3

/* What the host lends. Grows at its end within one ABI: size says how much of
 * it there is. The functions are those of cbench.h without `cb_`. */
struct cb_host {
  size_t size; /* 0 until the plug-in is loaded */
  const char *(*version)(void);
  int (*fail)(struct cb_error *error, int code, const char *format, ...)
      CB_PRINTF(3, 4);

  const struct cb_family *(*family_find)(const char *name);
  const struct cb_kind *(*kind_at)(const struct cb_family *family,
                                   size_t index);
  const struct cb_kind *(*kind_find)(const struct cb_family *family,
                                     const char *name, struct cb_error *error);

  struct cb_spec *(*spec_create)(const struct cb_family *family,
                                 const char *kind, struct cb_error *error);
  void (*spec_destroy)(struct cb_spec *spec);
  int (*spec_set_integer)(struct cb_spec *spec, const char *option,
                          int64_t value, struct cb_error *error);
  int (*spec_set_number)(struct cb_spec *spec, const char *option, double value,
                         struct cb_error *error);
  int (*spec_set_boolean)(struct cb_spec *spec, const char *option, bool value,
                          struct cb_error *error);
  int (*spec_set_string)(struct cb_spec *spec, const char *option,
                         const char *value, struct cb_error *error);
  const struct cb_kind *(*spec_kind)(const struct cb_spec *spec);
  int64_t (*spec_integer)(const struct cb_spec *spec, const char *option);
  double (*spec_number)(const struct cb_spec *spec, const char *option);
  bool (*spec_boolean)(const struct cb_spec *spec, const char *option);
  const char *(*spec_string)(const struct cb_spec *spec, const char *option);
  const struct cb_spec *(*spec_spec)(const struct cb_spec *spec,
                                     const char *option);
  void *(*spec_object)(const struct cb_spec *spec);

  const struct cb_clock *(*clock)(void);
  uint64_t (*now)(void);
  size_t (*cpus_allowed)(int *cpus, size_t capacity);

  struct cb_ring *(*ring_create)(const struct cb_spec *spec,
                                 struct cb_error *error);
  void (*ring_destroy)(struct cb_ring *ring);
  uint64_t (*ring_drain)(struct cb_ring *ring, cb_ring_drop *drop,
                         void *context);

  /* A thread's struct cb_here (cbench/backend.h) lies so many bytes from its
   * thread pointer. */
  ptrdiff_t here_offset;
  struct cb_here *(*here)(void);
  int (*coroutine_refused)(struct cb_coroutine *coroutine);
  struct cb_coroutine *(*coroutine_create)(struct cb_pool *pool,
                                           cb_entry *entry, void *opaque,
                                           struct cb_error *error);
  int (*coroutine_switch)(struct cb_coroutine *coroutine);
  void (*coroutine_release)(struct cb_coroutine *coroutine);
  int (*coroutine_yield)(void);
  int (*coroutine_destroy)(struct cb_coroutine *coroutine);
  struct cb_pool *(*pool_create)(const struct cb_pool_options *options,
                                 struct cb_error *error);
  int (*pool_destroy)(struct cb_pool *pool, struct cb_error *error);
  int (*pool_prefill)(struct cb_pool *pool, size_t n, struct cb_error *error);
  void (*pool_stats)(struct cb_pool *pool, struct cb_pool_stats *stats);

  void *(*ring_allocate)(size_t head, uint64_t slots, size_t slot_size,
                         struct cb_error *error);
  int (*ring_power_of_two)(const char *kind, int64_t size, int64_t smallest,
                           const char *advice, struct cb_error *error);
};

struct cb_plugin_kind {
  const char *family;
  const struct cb_kind *kind;
  size_t size; /* of the kind's struct */
};

/* The one symbol. abi stays the first member for ever. */
struct cb_plugin {
  unsigned abi;
  unsigned host_size; /* what the plug-in knows of struct cb_host */
  const char *name;
  const struct cb_plugin_kind *kinds; /* ends with a NULL family */
  struct cb_host *host;               /* the plug-in's own, for the host */
};

/* ---- for plug-ins only ---- */
#ifndef CB_PLUGIN_LOADER

#ifdef __cplusplus
#define CB_PLUGIN_DECLARE extern "C"
#else
#define CB_PLUGIN_DECLARE extern
#endif

/* One in the whole shared object, however many files it is made of. */
CB_PLUGIN_DECLARE
__attribute__((weak, visibility("hidden"))) struct cb_host cb_plugin_host;
__attribute__((weak)) struct cb_host cb_plugin_host;

/* family is a bare word, object the kind's struct. */
#define CB_PLUGIN_KIND(family, object)                                         \
  {                                                                            \
#family, &(object).kind, sizeof(object)                                    \
  }

#define CB_PLUGIN(name, ...)                                                   \
  static const struct cb_plugin_kind cb_plugin_kinds[] = {__VA_ARGS__,         \
                                                          {NULL, NULL, 0}};    \
  CB_PLUGIN_DECLARE CB_API const struct cb_plugin cb_plugin;                   \
  const struct cb_plugin cb_plugin = {CB_PLUGIN_ABI,                           \
                                      (unsigned)sizeof cb_plugin_host, name,   \
                                      cb_plugin_kinds, &cb_plugin_host}

#define cb_version (cb_plugin_host.version)
#define cb_fail (cb_plugin_host.fail)
#define cb_family_find (cb_plugin_host.family_find)
#define cb_kind_at (cb_plugin_host.kind_at)
#define cb_kind_find (cb_plugin_host.kind_find)
#define cb_spec_create (cb_plugin_host.spec_create)
#define cb_spec_destroy (cb_plugin_host.spec_destroy)
#define cb_spec_set_integer (cb_plugin_host.spec_set_integer)
#define cb_spec_set_number (cb_plugin_host.spec_set_number)
#define cb_spec_set_boolean (cb_plugin_host.spec_set_boolean)
#define cb_spec_set_string (cb_plugin_host.spec_set_string)
#define cb_spec_kind (cb_plugin_host.spec_kind)
#define cb_spec_integer (cb_plugin_host.spec_integer)
#define cb_spec_number (cb_plugin_host.spec_number)
#define cb_spec_boolean (cb_plugin_host.spec_boolean)
#define cb_spec_string (cb_plugin_host.spec_string)
#define cb_spec_spec (cb_plugin_host.spec_spec)
#define cb_spec_object (cb_plugin_host.spec_object)
/* With its parentheses: struct cb_clock stays what it is. */
#define cb_clock() (cb_plugin_host.clock())
#define cb_now (cb_plugin_host.now)
#define cb_cpus_allowed (cb_plugin_host.cpus_allowed)
#define cb_ring_create (cb_plugin_host.ring_create)
#define cb_ring_destroy (cb_plugin_host.ring_destroy)
#define cb_ring_drain (cb_plugin_host.ring_drain)
#define cb_ring_allocate (cb_plugin_host.ring_allocate)
#define cb_ring_power_of_two (cb_plugin_host.ring_power_of_two)
#define cb_coroutine_create (cb_plugin_host.coroutine_create)
#define cb_coroutine_switch (cb_plugin_host.coroutine_switch)
#define cb_coroutine_release (cb_plugin_host.coroutine_release)
#define cb_coroutine_yield (cb_plugin_host.coroutine_yield)
#define cb_coroutine_destroy (cb_plugin_host.coroutine_destroy)
#define cb_pool_create (cb_plugin_host.pool_create)
#define cb_pool_destroy (cb_plugin_host.pool_destroy)
#define cb_pool_prefill (cb_plugin_host.pool_prefill)
#define cb_pool_stats(pool, stats) (cb_plugin_host.pool_stats(pool, stats))

/* What cbench/coroutine_ops.h wants. A coroutine may go on on another thread,
 * so the thread is asked for anew each time, which the volatile says. */
#define CB_HERE cb_plugin_here
#define CB_REFUSED (cb_plugin_host.coroutine_refused)

static inline __attribute__((always_inline, unused)) struct cb_here *
cb_plugin_here(void)
{
#if defined __x86_64__ && !defined __ILP32__
  struct cb_here *here;
  __asm__ __volatile__("movq %%fs:0, %0\n\t"
                       "addq %1, %0"
                       : "=&r"(here)
                       : "m"(cb_plugin_host.here_offset)
                       : "cc");
  return here;
#elif defined __aarch64__
  char *thread;
  __asm__ __volatile__("mrs %0, tpidr_el0" : "=r"(thread));
  return (struct cb_here *)(void *)(thread + cb_plugin_host.here_offset);
#else
  return cb_plugin_host.here();
#endif
}

#endif
#endif
