/*
 * cbench.h - the whole C API of libcbench.
 *
 * What a primitive costs, in ticks, on this machine. The sections follow the
 * floors of the library: errors, kinds and options, ticks, coroutines, pools,
 * rings, services, workloads and measuring. A section uses only those above it.
 *
 * Conventions that hold everywhere:
 *  - A function that can fail returns 0 or a negative errno, or NULL; it takes
 *    a `struct cb_error *` last, which may be NULL, and leaves one sentence in
 *    it. The library never prints, exits or aborts.
 *  - Sizes are in bytes, times in ticks unless a name says otherwise, counts
 *    are 64-bit.
 *  - An object belongs to whoever created it. Two threads may use two objects
 *    at once; a section says when two threads may use one.
 */
#ifndef CBENCH_H
#define CBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define CB_API __attribute__((visibility("default")))
#define CB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CB_API
#define CB_PRINTF(text, first)
#endif

/* ---- errors -------------------------------------------------------------- */

/* Why a call failed: a negative errno and one sentence without a full stop. */
struct cb_error {
  int code;
  char text[244];
};

/* Fills error (NULL is allowed) and returns code, so that a failing function
 * can say `return cb_fail(error, -EINVAL, "...")`. */
CB_API int cb_fail(struct cb_error *error, int code, const char *format, ...)
    CB_PRINTF(3, 4);

/* The version of the library, as "0.1.0". */
CB_API const char *cb_version(void);

/* ---- kinds and their options --------------------------------------------- */

/* What an option's value is. */
enum cb_type {
  CB_INTEGER, /* whole number within [min, max] */
  CB_NUMBER,  /* finite number within [min, max] */
  CB_BOOLEAN,
  CB_STRING,
  CB_CHOICE, /* one of the words in choices, "spin|pause|yield" */
  CB_KIND    /* a kind of another family, with its own options */
};

/* One option of a kind: what is checked, shown by help and completed. A list
 * of options ends with one whose name is NULL. */
struct cb_option {
  const char *name;
  enum cb_type type;
  const char *preset;             /* default, written as a script would */
  double min, max;                /* of CB_INTEGER and CB_NUMBER, inclusive */
  const char *choices;            /* of CB_CHOICE, separated by '|' */
  const struct cb_family *family; /* of CB_KIND */
  const char *help;               /* one line, with the unit */
};

enum cb_kind_flags {
  CB_KIND_COMPARISON = 1, /* a row to compare with; nothing is created on it */
  CB_KIND_INTERPRETER = 2 /* figures contain a Lua interpreter */
};

/* What every kind of every family starts with (its member is named `kind`). */
struct cb_kind {
  const char *name; /* an identifier */
  const char *summary;
  const struct cb_option *options;
  unsigned flags; /* enum cb_kind_flags */
};

/* A family of kinds: "backend", "pool", "ring", "lock", "workload". */
struct cb_family {
  const char *name;
  const struct cb_kind *const *kinds; /* built in, ends with NULL */
};

/* All families, ends with NULL. */
CB_API const struct cb_family *const *cb_families(void);
/* NULL when there is none of that name. */
CB_API const struct cb_family *cb_family_find(const char *name);
/* The kinds of a family in table order, built in first, then those added; NULL
 * past the last. */
CB_API const struct cb_kind *cb_kind_at(const struct cb_family *family,
                                        size_t index);
/* Adds a kind that lives as long as the process (of a plug-in, of a host).
 * -EEXIST when the family has one of that name. Any thread. */
CB_API int cb_kind_add(const struct cb_family *family,
                       const struct cb_kind *kind, struct cb_error *error);
/* The kind of that name, NULL with a sentence that suggests the nearest. */
CB_API const struct cb_kind *cb_kind_find(const struct cb_family *family,
                                          const char *name,
                                          struct cb_error *error);

/* A kind with a value for each of its options: what a script writes as "spsc"
 * or { "spsc", size = 64 }. Made with every option at its default. Not shared
 * between threads while it is changed. */
struct cb_spec;

CB_API struct cb_spec *cb_spec_create(const struct cb_family *family,
                                      const char *kind, struct cb_error *error);
CB_API void cb_spec_destroy(struct cb_spec *spec);
CB_API const struct cb_kind *cb_spec_kind(const struct cb_spec *spec);

/* The setters check type and range; -EINVAL names option, value and range (or
 * the nearest option), -ENOENT an unknown option or kind. */
CB_API int cb_spec_set_integer(struct cb_spec *spec, const char *option,
                               int64_t value, struct cb_error *error);
CB_API int cb_spec_set_number(struct cb_spec *spec, const char *option,
                              double value, struct cb_error *error);
CB_API int cb_spec_set_boolean(struct cb_spec *spec, const char *option,
                               bool value, struct cb_error *error);
/* Also sets a choice, and a kind by name with its defaults. */
CB_API int cb_spec_set_string(struct cb_spec *spec, const char *option,
                              const char *value, struct cb_error *error);
/* Takes over the child, also when it fails. */
CB_API int cb_spec_set_spec(struct cb_spec *spec, const char *option,
                            struct cb_spec *child, struct cb_error *error);
/* Lends a living object (a ring, a pool) in place of one made afresh; it must
 * outlive the spec. The kind in the spec stays the object's kind. */
CB_API void cb_spec_lend(struct cb_spec *spec, void *object);

/* The getters want the name of an option of the right type; anything else is
 * a fault of the caller (asserted). */
CB_API int64_t cb_spec_integer(const struct cb_spec *spec, const char *option);
CB_API double cb_spec_number(const struct cb_spec *spec, const char *option);
CB_API bool cb_spec_boolean(const struct cb_spec *spec, const char *option);
CB_API const char *cb_spec_string(const struct cb_spec *spec,
                                  const char *option);
CB_API const struct cb_spec *cb_spec_spec(const struct cb_spec *spec,
                                          const char *option);
/* The object lent, or NULL. */
CB_API void *cb_spec_object(const struct cb_spec *spec);

/* ---- locks --------------------------------------------------------------- */

struct cb_control;

/* Bytes for a lock of any kind, aligned to a line of 64 bytes, and for a
 * caller's place in a lock's queue, aligned to a pointer. A place lives from
 * lock to unlock, belongs to one lock at a time and needs no initialising. */
#define CB_LOCK_SIZE 64
#define CB_LOCK_NODE_SIZE 32

/* A kind of the family "lock": a mutual exclusion that spins, and yields its
 * CPU while it waits long. lock points at CB_LOCK_SIZE bytes, node at
 * CB_LOCK_NODE_SIZE. Taking a lock twice on one thread never returns. */
struct cb_lock_kind {
  struct cb_kind kind;
  unsigned threads; /* most that may use one lock at once, 0 for no limit */
  void (*init)(void *lock);
  bool (*trylock)(void *lock, void *node);
  void (*lock)(void *lock, void *node);
  void (*unlock)(void *lock, void *node);
  /* n times lock and unlock with nothing in between. */
  void (*pairs)(void *lock, uint64_t n);
  /* The same, adding 1 to counter inside, until n are done (the result) or
   * control says stop. */
  uint64_t (*counted)(void *lock, uint64_t n, uint64_t *counter,
                      const struct cb_control *control);
};

/* ---- workloads ----------------------------------------------------------- */

/* One role of a workload: `threads` threads that each call run. run does n
 * operations, with nothing of the harness inside, and returns how many it
 * really did: fewer when it had to stop (ring full, stop flag). thread counts
 * from 0 within the role. */
struct cb_role {
  const char *name;
  unsigned threads;
  uint64_t (*run)(void *state, unsigned thread, uint64_t n);
  /* Optional: called on the role's thread before its first batch and after its
   * last, untimed. */
  int (*begin)(void *state, unsigned thread, struct cb_error *error);
  void (*end)(void *state, unsigned thread);
};

enum cb_counter_type {
  CB_COUNT, /* grows for ever: reported as the growth during timed rounds */
  CB_SHARE, /* grows for ever: reported as growth per operation, a fraction */
  CB_GAUGE  /* reported as it stands after the last round */
};

struct cb_counter {
  const char *name; /* a constant */
  enum cb_counter_type type;
  double value;
};

/* What measuring tells a workload, for loops that could wait for ever: they
 * look at stop (relaxed) whenever they had to wait. */
struct cb_control {
#ifdef __cplusplus
  uint32_t stop;
#else
  _Atomic uint32_t stop;
#endif
};

/* A piece of measurable work: all that measuring knows of it. Functions that
 * are NULL are skipped. setup, prepare, check, counters and teardown run on
 * the thread that measures, while no role runs. */
struct cb_workload {
  const char *operation; /* what one operation is, for people */
  void *state;
  const struct cb_role *roles; /* at least one */
  size_t role_count;
  unsigned flags;     /* CB_KIND_INTERPRETER */
  uint64_t batch_max; /* most operations in one batch, 0 for no limit */
  int (*setup)(void *state, const struct cb_control *control,
               struct cb_error *error);
  /* Before every batch, untimed: n operations of each thread will follow. */
  int (*prepare)(void *state, uint64_t n, struct cb_error *error);
  /* The proof, after the last batch: operations is the sum that all run calls
   * since setup returned. A negative return fails the row with its sentence. */
  int (*check)(void *state, uint64_t operations, struct cb_error *error);
  size_t (*counters)(void *state, struct cb_counter *counters, size_t capacity);
  void (*teardown)(void *state);
  /* Frees state and whatever create allocated, setup done or not. */
  void (*destroy)(struct cb_workload *workload);
};

/* A kind of the family "workload". create checks what single options cannot
 * (combinations) and allocates; it starts nothing. */
struct cb_workload_kind {
  struct cb_kind kind;
  int (*create)(const struct cb_spec *spec, struct cb_workload *workload,
                struct cb_error *error);
};

#ifdef __cplusplus
}
#endif
#endif
