/*
 * services.h - what the workloads of services share: the options, a call, and
 * the functional checks that stand before their figures.
 */
#ifndef CB_WORKLOAD_SERVICES_H
#define CB_WORKLOAD_SERVICES_H

#include "cbench.h"

#include "base/locks.h"
#include "workload/calls.h"

/* The family whose objects are live services; its only kind, "live", cannot be
 * made by name. */
extern const struct cb_family cb_service_family;

/* A functional check, by the name that DPDK's test suite gives it. It runs on
 * a fresh set with this lock and this memory order, shakes hands instead of
 * waiting, and needs no CPU of its own. */
struct cb_service_check {
  const char *name;
  int (*run)(struct cb_services *set, struct cb_error *error);
};

extern const struct cb_service_check
    cb_check_start_stop,    /* runs when it may, not when it may not */
    cb_check_app_mt_safe,   /* two lcores are inside at once */
    cb_check_app_mt_unsafe, /* the second is told -EBUSY */
    cb_check_attr_get;      /* statistics count every call by its result */

/* 0, or a negative errno with a sentence that names the check and says that it
 * failed or that it was skipped, and why. */
int cb_service_check(const struct cb_service_check *check, const char *lock,
                     const char *order, struct cb_error *error);

/* What a row asks to be measured. */
struct cb_service_subject {
  struct cb_call call;
  const char *name; /* of its kind */
  bool mt_safe;
  enum cb_stats stats;
  const char *lock;
  char order[8];
};

/* Reads SERVICE_MT_SAFE_OPTION and SERVICE_OPTIONS, and makes the call. */
int cb_service_subject_make(struct cb_service_subject *subject,
                            const struct cb_spec *spec, struct cb_error *error);
/* Registers a service for it, named by its call and a number; its component is
 * ready. */
int cb_service_subject_add(const struct cb_service_subject *subject,
                           struct cb_services *set, unsigned number, bool run,
                           uint64_t *id, struct cb_error *error);

/* What a workload's guard does: that check, and where there are statistics that
 * of their counts, too. The other writes their names. */
int cb_service_guard(const struct cb_service_subject *subject,
                     const struct cb_service_check *check,
                     struct cb_error *error);
void cb_service_guards(const struct cb_service_subject *subject,
                       const struct cb_service_check *check, char *names,
                       size_t size);

/* Fails a proof: of `what` there are so many, not as many as there should be.
 */
int cb_service_differ(struct cb_error *error, const char *what, uint64_t got,
                      uint64_t wanted);

/* For a workload's blame: names the service that the lcore (NULL: none) is
 * inside of. False when it is inside none. */
bool cb_service_blame(const struct cb_lcore *lcore, struct cb_error *why);

/* The choices of the option "stats", and their index. */
#define CB_STATS_CHOICES "off|count|time|chain"
enum cb_stats cb_stats_of(const char *choice);

/* Options, to be listed in the kind. */
#define SERVICE_MT_SAFE_OPTION                                                 \
  {                                                                            \
    .name = "mt_safe", .type = CB_BOOLEAN, .preset = "true",                   \
    .help = "two lcores may be inside at once; else a lock excludes"           \
  }
#define SERVICE_RUN_OPTIONS                                                    \
  {.name = "stats",                                                            \
   .type = CB_CHOICE,                                                          \
   .preset = "off",                                                            \
   .choices = CB_STATS_CHOICES,                                                \
   .help = "what each run records (chain: one reading of the counter)"},       \
      {.name = "lock",                                                         \
       .type = CB_KIND,                                                        \
       .preset = "ttas",                                                       \
       .family = &cb_lock_family,                                              \
       .help = "the lock around what is not mt_safe"},                         \
  {                                                                            \
    .name = "order", .type = CB_CHOICE, .preset = "acqrel",                    \
    .choices = "acqrel|seqcst|fence", .help = "memory order of the run path"   \
  }
#define SERVICE_OPTIONS                                                        \
  SERVICE_RUN_OPTIONS,                                                         \
  {                                                                            \
    .name = "call", .type = CB_KIND, .preset = "nop",                          \
    .family = &cb_call_family, .help = "what the service does"                 \
  }

#endif
