/*
 * base.h - what all of cbench stands on: errors, kinds with their options,
 * the stop flag, locks, ticks, CPUs, and facts of the machine.
 */
#ifndef CBENCH_BASE_H
#define CBENCH_BASE_H

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
  CB_KIND,   /* a kind of another family, with its own options */
  CB_LIST    /* several of them, in order */
};

/* One option of a kind: what is checked, shown by help and completed. A list
 * of options ends with one whose name is NULL. */
struct cb_option {
  const char *name;
  enum cb_type type;
  /* Default, written as a script would; NULL: there is none. That of a list is
   * for scripts only: in a new spec a list is empty. */
  const char *preset;
  double min, max;                /* of CB_INTEGER and CB_NUMBER, inclusive */
  const char *choices;            /* of CB_CHOICE, separated by '|' */
  const struct cb_family *family; /* of CB_KIND and CB_LIST */
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
  size_t size;                        /* of a kind's whole struct */
  /* Names of kinds that this build had to leave out, ends with NULL; NULL when
   * there are none. */
  const char *const *left_out;
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
/* The kind of that name. NULL with a sentence that suggests the nearest
 * (-ENOENT), or says that only other builds have it (-ENOTSUP). */
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
/* Puts a kind at the end of a list; takes over the child, also when it fails. */
CB_API int cb_spec_append(struct cb_spec *spec, const char *option,
                          struct cb_spec *child, struct cb_error *error);
/* The same kind with the same values; an object that was lent is lent again.
 * NULL: out of memory. */
CB_API struct cb_spec *cb_spec_copy(const struct cb_spec *spec,
                                    struct cb_error *error);
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
/* NULL where the option has no default and was not set. */
CB_API const struct cb_spec *cb_spec_spec(const struct cb_spec *spec,
                                          const char *option);
/* Kinds in a list, and the one at index, from 0. */
CB_API size_t cb_spec_count(const struct cb_spec *spec, const char *option);
CB_API const struct cb_spec *cb_spec_at(const struct cb_spec *spec,
                                        const char *option, size_t index);
/* The object lent, or NULL. */
CB_API void *cb_spec_object(const struct cb_spec *spec);

/* ---- stopping ------------------------------------------------------------ */

/* What ends loops that could wait for ever: they look at stop (relaxed)
 * whenever they had to wait. */
struct cb_control {
#ifdef __cplusplus
  uint32_t stop;
#else
  _Atomic uint32_t stop;
#endif
};

/* ---- locks --------------------------------------------------------------- */

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

/* ---- ticks and CPUs ------------------------------------------------------ */

/* The counter that times everything. A tick is one step of it (of the TSC on
 * x86-64, of the generic timer on aarch64), never a cycle of the core. */
struct cb_clock {
  const char *source; /* "tsc", "cntvct" or "clock_gettime" */
  const char
      *basis;  /* how hz is known: "kernel", "register", "measured", "unit" */
  double hz;   /* ticks per second */
  double cost; /* ticks of one begin and end around nothing */
};

/* The same for the whole process. The first call may take 1 ms, where the
 * frequency must be measured. Any thread. */
CB_API const struct cb_clock *cb_clock(void);
/* Reads the counter, in order with the instructions before it. */
CB_API uint64_t cb_now(void);

/* CPUs that this process may use, ascending, by the numbers of the system.
 * Stores at most capacity of them and returns how many there are. Read once, by
 * the first call of any function here, so that a pinned thread sees them all.
 */
CB_API size_t cb_cpus_allowed(int *cpus, size_t capacity);
/* -EINVAL names the first that is not among the allowed. */
CB_API int cb_cpus_check(const int *cpus, size_t count, struct cb_error *error);
/* CPUs for threads that shall stand to each other as place says:
 *   same     all on one CPU            smt      on the threads of one core
 *   cache    on cores of one cache     package  on packages in turn
 *   spread   as far apart as can be; more threads than CPUs share them
 * NULL is spread. Fills cpus[threads]. -EINVAL: no such place; -ENOTSUP: the
 * machine (or a build without hwloc) does not have it. The first call that
 * needs the topology takes 3 to 120 ms. */
CB_API int cb_cpus_place(const char *place, unsigned threads, int *cpus,
                         struct cb_error *error);

/* ---- machine and build --------------------------------------------------- */

/* One thing that is known of the machine ("machine"), of this library
 * ("build") or of the moment ("state"). */
struct cb_fact {
  const char *group;
  const char *name;
  const char *text; /* NULL: a number */
  double number;    /* NaN: not known */
};

/* What there is to say about where figures were measured. Reads only, and never
 * fails for a file that is not there. Machine and build have a fact
 * "fingerprint": absolute figures of two machines are comparable when theirs
 * are equal. With topology also counts cores, caches and packages, which
 * takes up to 120 ms; NULL with -ENOMEM. */
struct cb_machine;
CB_API struct cb_machine *cb_machine_read(bool topology,
                                          struct cb_error *error);
/* Lives as long as the description; ends with a NULL name. */
CB_API const struct cb_fact *cb_machine_facts(const struct cb_machine *machine);
CB_API void cb_machine_destroy(struct cb_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
