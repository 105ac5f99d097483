/* service.h - services and the lcores that run them. */
#ifndef CBENCH_SERVICE_H
#define CBENCH_SERVICE_H

#include "cbench/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Services and the lcores that run them, with the semantics of DPDK's
 * rte_service (22.11 and 26.07): the same calls, checked in the same order,
 * with the same codes. A set is an object; two sets share nothing.
 *
 * A service is a callback with a name. It is called while its component is
 * ready (cb_service_component_set) and the application wants it
 * (cb_service_runstate_set), by the service lcores it is mapped to, and by
 * application lcores through cb_service_run. An lcore is a thread: a service
 * lcore has one of its own, an application lcore is the thread that attached.
 *
 * Beyond the original: a callback's result reaches the caller, quiescence is
 * exact for application lcores too, statistics count every thread, a name is
 * registered once, and a handle that went stale is told from its successor.
 *
 * Any thread may make a control call, a callback included; cb_service_run and
 * its relatives belong to the thread of the lcore they are given. */
struct cb_services;
struct cb_lcore;

/* 0 for work done, -EAGAIN when there was none, anything else for an error;
 * statistics tell the three apart. lcore is where it runs. */
typedef int (*cb_service_call)(void *argument, struct cb_lcore *lcore);

/* What each run records: nothing; calls by result; also ticks, by two readings
 * of the counter; also ticks, by one reading that ends this call and begins
 * the next (right where calls follow each other, as on a service lcore). */
enum cb_stats { CB_STATS_OFF, CB_STATS_COUNT, CB_STATS_TIME, CB_STATS_CHAIN };

#define CB_SERVICE_NAME_SIZE 64 /* with the final zero */

struct cb_service {
  const char *name; /* copied */
  cb_service_call call;
  void *argument;
  bool mt_safe; /* two lcores may be inside at once */
  enum cb_stats stats;
  /* Optional: called with argument once the service is gone and no callback
   * of it runs; by whoever made the control call that noticed. */
  void (*release)(void *argument);
};

/* lock names a kind of the family "lock" (NULL: ttas), taken around the calls
 * of services that are not mt_safe; order the memory order of the run path:
 * "acqrel" (NULL), "seqcst" or "fence". */
CB_API struct cb_services *
cb_services_create(const char *lock, const char *order, struct cb_error *error);
/* Stops every lcore, waits up to so many seconds for their callbacks, releases
 * everything, application lcores included. -ETIMEDOUT names the service that
 * did not return, and the lcore: the set lives on, stopped, and can be
 * destroyed later. -EBUSY when an application lcore is inside a callback. */
CB_API int cb_services_destroy(struct cb_services *set, double seconds,
                               struct cb_error *error);
/* How the set knows that a service is at rest: "membarrier", or "fence" where
 * the kernel has none or the memory order makes it superfluous. */
CB_API const char *cb_services_quiescence(const struct cb_services *set);

/* Registers, stopped, under the lowest free number; *id (may be NULL) becomes
 * its handle: the number and, in the upper half, how often that number was
 * used before. -EINVAL without callback or with a name that is empty, too
 * long or has control characters, -EEXIST, -ENOSPC (4096 services), -ENOMEM. */
CB_API int cb_service_register(struct cb_services *set,
                               const struct cb_service *service, uint64_t *id,
                               struct cb_error *error);
/* -EINVAL for an unknown or stale handle (as in every call below), -EBUSY with
 * nothing changed while a callback of it runs. From inside that callback: 0,
 * the handle is stale at once, the rest happens when the callback is back. */
CB_API int cb_service_unregister(struct cb_services *set, uint64_t id,
                                 struct cb_error *error);
CB_API unsigned cb_service_count(struct cb_services *set);
/* -EINVAL without name or id, -ENODEV. */
CB_API int cb_service_by_name(struct cb_services *set, const char *name,
                              uint64_t *id, struct cb_error *error);
/* Copies the name. */
CB_API int cb_service_name(struct cb_services *set, uint64_t id,
                           char name[CB_SERVICE_NAME_SIZE],
                           struct cb_error *error);
/* 1 or 0. */
CB_API int cb_service_mt_safe(struct cb_services *set, uint64_t id,
                              struct cb_error *error);

CB_API int cb_service_component_set(struct cb_services *set, uint64_t id,
                                    bool ready, struct cb_error *error);
CB_API int cb_service_runstate_set(struct cb_services *set, uint64_t id,
                                   bool run, struct cb_error *error);
/* 1 when both states are set and, unless that check is off, the service is
 * mapped to a service lcore. */
CB_API int cb_service_runstate_get(struct cb_services *set, uint64_t id,
                                   struct cb_error *error);
CB_API int cb_service_mapped_check_set(struct cb_services *set, uint64_t id,
                                       bool check, struct cb_error *error);
/* 1 while a callback of it runs on any lcore. Exact: after a stop, an unmap or
 * an unregister has returned, and this has been 0 once, it stays 0. */
CB_API int cb_service_active(struct cb_services *set, uint64_t id,
                             struct cb_error *error);
/* Waits until it is not active; 0 at once for one that is unregistered and
 * gone. -ETIMEDOUT names service and lcore, -EDEADLK from inside the callback
 * that it would wait for. */
CB_API int cb_service_quiesce(struct cb_services *set, uint64_t id,
                              double seconds, struct cb_error *error);

/* Statistics from now on. What was counted stays. */
CB_API int cb_service_stats_set(struct cb_services *set, uint64_t id,
                                enum cb_stats stats, struct cb_error *error);
/* Sums over all lcores since registration or reset. Ticks are those of calls
 * that had work. The longest call is known in the modes that take time; a
 * reset may miss one that is just ending. */
enum cb_service_attr {
  CB_SERVICE_TICKS,
  CB_SERVICE_CALLS,
  CB_SERVICE_IDLE_CALLS,
  CB_SERVICE_ERROR_CALLS,
  CB_SERVICE_LONGEST
};
CB_API int cb_service_attr_get(struct cb_services *set, uint64_t id,
                               unsigned attr, uint64_t *value,
                               struct cb_error *error);
CB_API int cb_service_attr_reset_all(struct cb_services *set, uint64_t id,
                                     struct cb_error *error);

/* -EINVAL also for a number that is no service lcore's. */
CB_API int cb_service_map_set(struct cb_services *set, uint64_t id,
                              unsigned lcore, bool map, struct cb_error *error);
CB_API int cb_service_map_get(struct cb_services *set, uint64_t id,
                              unsigned lcore, struct cb_error *error);

/* Makes lcore number (0 to 1023) a service lcore with a thread pinned to cpu,
 * a floating one, or none of its own (cb_lcore_passes). -EINVAL out of range,
 * -EALREADY, then -EINVAL for a CPU that this process may not use. */
#define CB_LCORE_ANYWHERE (-1)
#define CB_LCORE_CALLER (-2)
CB_API int cb_lcore_add(struct cb_services *set, unsigned number, int cpu,
                        struct cb_error *error);
/* -EBUSY while it runs. */
CB_API int cb_lcore_del(struct cb_services *set, unsigned number,
                        struct cb_error *error);
/* -EALREADY; -EBUSY while it has not yet come back from an earlier run. */
CB_API int cb_lcore_start(struct cb_services *set, unsigned number,
                          struct cb_error *error);
/* Asks it to stop after this pass: see cb_lcore_active and cb_lcore_join.
 * -EALREADY, also for a number that is no service lcore's; -EBUSY when it is
 * the only lcore of a service that may run. */
CB_API int cb_lcore_stop(struct cb_services *set, unsigned number,
                         struct cb_error *error);
/* 1 from start until it has left its loop. */
CB_API int cb_lcore_active(struct cb_services *set, unsigned number,
                           struct cb_error *error);
/* Waits until it is not active. -ETIMEDOUT names the service that it is in,
 * -EBUSY when nobody has stopped it, -EDEADLK on the lcore itself. */
CB_API int cb_lcore_join(struct cb_services *set, unsigned number,
                         double seconds, struct cb_error *error);
CB_API unsigned cb_lcore_count(struct cb_services *set);
/* The numbers, ascending: their count, or -ENOMEM when that exceeds size, or
 * -EINVAL without numbers. */
CB_API int cb_lcore_list(struct cb_services *set, unsigned *numbers,
                         size_t size);
/* Services mapped to it. -EINVAL out of range, -ENOTSUP for one that is no
 * service lcore (so in the two calls below). */
CB_API int cb_lcore_count_services(struct cb_services *set, unsigned number,
                                   struct cb_error *error);
enum cb_lcore_attr { CB_LCORE_LOOPS, CB_LCORE_TICKS };
CB_API int cb_lcore_attr_get(struct cb_services *set, unsigned number,
                             unsigned attr, uint64_t *value,
                             struct cb_error *error);
CB_API int cb_lcore_attr_reset_all(struct cb_services *set, unsigned number,
                                   struct cb_error *error);
/* Unmaps everything, stops and deletes every service lcore. */
CB_API int cb_lcore_reset_all(struct cb_services *set);
/* Starts all service lcores, maps the services to them in turn and runs them.
 * -ENOTSUP when there is no service lcore. */
CB_API int cb_services_start_with_defaults(struct cb_services *set,
                                           struct cb_error *error);

/* What rte_service_dump prints, with ticks: one service, or all of them and
 * the lcores (CB_SERVICE_ALL). Writes at most size bytes with the final zero;
 * *length (may be NULL) is what it takes. */
#define CB_SERVICE_ALL UINT64_MAX
CB_API int cb_service_dump(struct cb_services *set, uint64_t id, char *text,
                           size_t size, size_t *length, struct cb_error *error);

/* Makes the calling thread an application lcore of the set, until it detaches
 * (-EBUSY from inside a callback). A thread may be one of several sets. */
CB_API struct cb_lcore *cb_lcore_attach(struct cb_services *set,
                                        struct cb_error *error);
CB_API int cb_lcore_detach(struct cb_lcore *lcore, struct cb_error *error);

/* Calls the service once, on this lcore. -EINVAL; -ENOEXEC when it may not
 * run; -EBUSY when it is not mt_safe, serialize is set and another lcore is
 * inside. Else 0, and *result (may be NULL) is the callback's own result. An
 * unserialised run of a service that is not mt_safe excludes nobody. */
CB_API int cb_service_run(struct cb_lcore *lcore, uint64_t id, bool serialize,
                          int *result);
/* n such runs in one loop, counted by outcome. */
struct cb_run_tally {
  uint64_t done, busy, refused; /* refused: -EINVAL and -ENOEXEC */
  uint64_t idle, errors;        /* of those done: -EAGAIN; other than 0 */
};
CB_API void cb_service_repeat(struct cb_lcore *lcore, uint64_t id,
                              bool serialize, uint64_t n,
                              struct cb_run_tally *tally);
/* Up to n passes of a service lcore that was added with CB_LCORE_CALLER, on
 * the calling thread: ends early when it is stopped. The passes done. */
CB_API uint64_t cb_lcore_passes(struct cb_services *set, unsigned number,
                                uint64_t n);

/* For callbacks: the number of the service lcore, -1 on an application lcore;
 * and a pointer of the callbacks' own by lcore, released when the lcore goes,
 * on its own thread where it has one. One that is replaced is not released. */
CB_API int cb_lcore_number(const struct cb_lcore *lcore);
CB_API void *cb_lcore_local(const struct cb_lcore *lcore);
CB_API void cb_lcore_local_set(struct cb_lcore *lcore, void *local,
                               void (*release)(void *local));

/* A callback with its argument, made from a spec; argument is freed by release
 * where there is one. */
struct cb_call {
  cb_service_call call;
  void *argument;
  void (*release)(void *argument);
  bool mt_safe;   /* may serve a service that is mt_safe */
  bool uncounted; /* does not count its runs, as the built-in ones do */
};

/* A kind of the family "call". create gets a call that is all zero. */
struct cb_call_kind {
  struct cb_kind kind;
  int (*create)(const struct cb_spec *spec, struct cb_call *call,
                struct cb_error *error);
};

/* A service that lives elsewhere, as the only kind, "live", of the family
 * "service" lends it (cb_spec_lend) to the workload `service_run`. */
struct cb_service_handle {
  struct cb_services *set;
  uint64_t id;
  unsigned flags;  /* CB_KIND_INTERPRETER */
  bool own_thread; /* its callback may run on the calling thread only */
  /* Optional: lets a callback that does not return end by an error, until it is
   * called with false. On any thread. */
  void (*interrupt)(struct cb_service_handle *handle, bool on);
};

#ifdef __cplusplus
}
#endif
#endif
