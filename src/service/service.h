/*
 * service.h - what a set of services is made of.
 *
 * Three kinds of readers meet here, and each thing has one writer:
 *
 *  control   the calls that register, map, start, stop and ask. They hold the
 *            set's mutex, and never while they wait for a callback.
 *  lcores    threads that run services. They hold no mutex, count nothing that
 *            is shared, and look up everything through pointers that control
 *            publishes.
 *
 * A service is runnable when its word says so: generation, registered,
 * component and application state in one 64-bit load. A handle is the same
 * generation and the slot, so a stale handle fails the very comparison that a
 * stopped service fails.
 *
 * What an lcore's loop visits is the packed list of its runnable services, not
 * a mask: control makes it anew whenever a state changes, so a stopped service
 * costs nothing and slots far apart cost as much as neighbours. The lcore says
 * which list it is in (`using`), and control frees the others.
 *
 * An lcore says where it is (`current` in its loop, `inside` in its cell of a
 * service for other runs) by a plain store, then looks at the word again.
 * Control clears the word, makes every thread of the process pass a barrier
 * (quiesce.c), and then looks where they are. One of the two must see the
 * other: this is what makes quiescence exact without a fence on the run path.
 */
#ifndef CB_SERVICE_SERVICE_H
#define CB_SERVICE_SERVICE_H

#include "cbench.h"

#include "base/cpu.h"
#include "base/order.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

enum { CB_SERVICES_MOST = 4096, CB_LCORES_MOST = 1024, CB_STATS_MODES = 4 };

/* The low half of a service's word; the high half is the generation. */
enum {
  WORD_REGISTERED = 1,
  WORD_COMPONENT = 2,
  WORD_APPLICATION = 4,
  WORD_RUNNABLE = 7
};

struct cell;
typedef int (*service_run_function)(struct cb_lcore *lcore, struct cell *cell,
                                    uint64_t id, bool serialize, int *result);

/* One lcore's account of one service; only that lcore writes the atomics. */
struct cell {
  _Alignas(
      CB_APART) _Atomic uint32_t inside; /* runs in progress, the loop's not */
  bool mapped;                           /* control's */
  struct service *service;               /* never changes */
  _Atomic uint64_t calls, idle, errors, ticks;
  _Atomic uint64_t longest; /* ticks of one call */
};

struct totals {
  uint64_t calls, idle, errors, ticks, longest;
};

/* What is owed to whoever registered a service, once it is gone. */
struct farewell {
  void (*release)(void *argument);
  void *argument;
  struct farewell *next;
};

/* A slot of the registry. It is never freed before the set, so that a stale
 * pointer to it is harmless. */
struct service {
  /* Read by every run. */
  _Alignas(CB_APART) _Atomic uint64_t word;
  cb_service_call call;
  void *argument;
  bool mt_safe;
  _Atomic uint32_t stats; /* enum cb_stats */
  _Atomic(service_run_function) run;
  /* Written by every serialised run. */
  _Alignas(CB_APART) unsigned char lock[CB_APART];
  /* Control's. */
  uint32_t slot;
  bool leaving; /* unregistered, its last callback not yet back */
  bool mapped_check;
  bool ever_mapped;
  struct farewell *farewell;
  struct totals base;     /* at registration or the last reset */
  struct totals departed; /* of lcores that are gone */
  char name[CB_SERVICE_NAME_SIZE];
};

/* One lcore's cells by slot. It grows by replacement; those replaced are kept
 * until the lcore goes, because a run may still look into one. */
struct cells {
  uint32_t capacity;
  struct cells *older;
  _Atomic(struct cell *) at[];
};

/* A runnable service in an lcore's list. wanted is the word that allows a
 * call; control zeroes it when it takes the service out of a list in use. */
struct item {
  struct service *service;
  struct cell *cell;
  _Atomic uint64_t wanted;
};

struct list {
  uint64_t (*spin)(struct cb_lcore *lcore, const struct list *list,
                   uint64_t passes);
  struct list *older; /* retired before this one */
  size_t count;
  struct item items[];
};

enum want { WANT_STOPPED, WANT_RUNNING };

enum role { ROLE_APPLICATION, ROLE_SERVICE, ROLE_LEAVING };

struct cb_lcore {
  /* Written by control, read by the lcore. */
  _Alignas(CB_APART) _Atomic(struct list *) list;
  _Atomic(struct cells *) cells;
  _Atomic uint32_t want; /* enum want */
  struct cb_services *set;
  /* Written by the lcore. */
  _Alignas(CB_APART) _Atomic(struct service *) current;
  _Atomic(struct list *) using;
  _Atomic uint64_t loops;
  uint64_t called;    /* runs of built-in callbacks */
  int unwanted;       /* where results go that nobody asked for */
  uint64_t last_tick; /* end of the last call, for CB_STATS_CHAIN; 0: none */
  void *local;        /* the user's, see cb_lcore_local */
  void (*local_release)(void *local);
  /* Control's. */
  _Alignas(CB_APART) struct cb_lcore *next;
  enum role role;
  unsigned number;
  bool guest; /* leaves no trace in statistics */
  int cpu;    /* CB_LCORE_ANYWHERE, CB_LCORE_CALLER or a CPU */
  pthread_t thread;
  bool has_thread;
  struct list *retired;
  uint64_t loops_base, ticks_base;
  /* Under the mutex of the set, with the set's condition. */
  bool launch, quit;
  int pinned; /* 1 until the thread has tried, then 0 or an errno */
  struct cb_error error;
  _Atomic bool active; /* from start until the thread has left its loop */
  _Atomic bool gone;   /* the thread ends */
};

/* The loops instantiated for one lock kind and one order. */
struct variant {
  service_run_function run[CB_STATS_MODES];
  void (*repeat[CB_STATS_MODES])(struct cb_lcore *lcore, uint64_t id,
                                 bool serialize, uint64_t n,
                                 struct cb_run_tally *tally);
  /* The last serves a list of several modes. */
  uint64_t (*spin[CB_STATS_MODES + 1])(struct cb_lcore *lcore,
                                       const struct list *list,
                                       uint64_t passes);
};

struct cb_services {
  pthread_mutex_t mutex;
  pthread_cond_t changed; /* some lcore's launch, quit or pinned */
  const struct cb_lock_kind *lock;
  const char *order;
  const struct variant *variant;
  bool membarrier;
  struct service **slots;
  struct service *spare; /* the next slot, where making it failed half way */
  uint32_t slot_count, slot_capacity, registered;
  struct cb_lcore *lcores; /* of every role, by number, applications last */
  struct farewell *farewells;
  unsigned departing; /* services and lcores that the sweep waits for */
};

/* ---- what the run path looks up */

static inline uint64_t cb_service_wanted(uint64_t id)
{
  return (id & ~(uint64_t)UINT32_MAX) | WORD_RUNNABLE;
}

/* Why a run was refused: a handle of another generation, or a service that may
 * not run. */
static inline int cb_service_refusal(const struct service *service, uint64_t id)
{
  uint64_t word = atomic_load_explicit(&service->word, memory_order_relaxed);
  bool known = word >> 32 == id >> 32 && word & WORD_REGISTERED;
  return known ? -ENOEXEC : -EINVAL;
}

/* NULL for a number that no service ever had. */
CB_INLINE struct cell *cb_service_cell(const struct cb_lcore *lcore,
                                       uint64_t id)
{
  struct cells *cells =
      atomic_load_explicit(&lcore->cells, memory_order_acquire);
  uint32_t slot = (uint32_t)id;
  if (slot >= cells->capacity)
    return NULL;
  return atomic_load_explicit(&cells->at[slot], memory_order_acquire);
}

/* ---- for control, with the mutex held unless they say otherwise */

/* set.c: take the mutex and sweep; release the mutex, then the arguments of
 * services that are gone. */
void cb_services_enter(struct cb_services *set);
void cb_services_leave(struct cb_services *set);
/* Removes what has come to rest: lcores that are gone, services whose last
 * callback is back. */
void cb_services_sweep(struct cb_services *set);

/* The names that the set was created with. Without the mutex. */
const char *cb_services_lock(const struct cb_services *set);
const char *cb_services_order(const struct cb_services *set);

/* Would a run of it be admitted? Is it mapped to a service lcore? Both take the
 * mutex; false for a stale handle. */
bool cb_service_is_runnable(struct cb_services *set, uint64_t id);
bool cb_service_is_mapped(struct cb_services *set, uint64_t id);

/* registry.c: the service of the handle, or NULL with -EINVAL in error; the
 * second finds one that was unregistered from inside its callback, too. */
struct service *cb_services_find(struct cb_services *set, uint64_t id,
                                 struct cb_error *error);
struct service *cb_services_find_leaving(struct cb_services *set, uint64_t id,
                                         struct cb_error *error);
/* Did the handle once name a service that is gone? */
bool cb_services_was(const struct cb_services *set, uint64_t id);
uint64_t cb_services_id(const struct service *service);
bool cb_service_is_registered(const struct service *service);
void cb_service_finish(struct cb_services *set, struct service *service);
/* Service lcores that it is mapped to. */
unsigned cb_service_lcores(const struct cb_services *set,
                           const struct service *service);
/* What cb_service_runstate_get says. */
bool cb_service_may_run(const struct cb_services *set,
                        const struct service *service);

/* lists.c: cells for every pair, lists from states. */
int cb_cells_reserve(struct cb_lcore *lcore, uint32_t capacity);
int cb_cells_add(struct cb_lcore *lcore, struct service *service);
void cb_cells_free(struct cb_lcore *lcore);
/* That of a slot which has been reserved; never NULL when the slot is taken. */
struct cell *cb_cells_get(const struct cb_lcore *lcore, uint32_t slot);
/* Makes the lcore's list anew. -ENOMEM leaves one that is right but for what
 * should have been added. */
int cb_lists_publish(struct cb_lcore *lcore);
/* The same for every lcore that has the service mapped. */
int cb_lists_publish_service(struct cb_services *set,
                             const struct service *service);
void cb_lists_free(struct cb_lcore *lcore);

/* quiesce.c: after a word or an item was cleared, makes every announcement
 * from before visible. */
void cb_quiesce_barrier(const struct cb_services *set);
bool cb_quiesce_available(void);
/* An lcore that is inside the service, or NULL. */
struct cb_lcore *cb_quiesce_inside(const struct cb_services *set,
                                   const struct service *service);
/* The name of a service that the lcore is inside of, or NULL. Takes no lock. */
const char *cb_lcore_inside(const struct cb_lcore *lcore);
/* Is the calling thread inside the service? */
bool cb_quiesce_self(const struct cb_services *set,
                     const struct service *service);
/* -ETIMEDOUT with a sentence that names what the lcore is in. */
int cb_quiesce_blame(const struct cb_lcore *lcore, double seconds,
                     struct cb_error *error);
/* One turn of a wait, without the mutex. */
void cb_quiesce_wait(unsigned *turns);

/* lcore.c: as cb_lcore_attach, for a thread whose runs shall not show in the
 * statistics, now and later. Takes the mutex, as the next does not. */
struct cb_lcore *cb_lcore_attach_guest(struct cb_services *set,
                                       struct cb_error *error);
/* Runs of built-in callbacks on it, or on the service lcore of that number;
 * asked while it runs none. */
uint64_t cb_lcore_called(const struct cb_lcore *lcore);
uint64_t cb_services_called(struct cb_services *set, unsigned number);
/* cb_lcore_passes in three parts, for who makes them in pieces: claims a
 * service lcore without a thread of its own for the calling thread (NULL: it
 * has one, or another thread has it), makes passes, gives it back. */
struct cb_lcore *cb_lcore_claim(struct cb_services *set, unsigned number);
uint64_t cb_lcore_make_passes(struct cb_lcore *lcore, uint64_t n);
void cb_lcore_unclaim(struct cb_lcore *lcore);
/* The service lcore of that number, or NULL. */
struct cb_lcore *cb_services_lcore(struct cb_services *set, unsigned number);
/* Ends its service: it is freed by the sweep after it has come to rest. */
void cb_lcore_dismiss(struct cb_lcore *lcore);
bool cb_lcore_at_rest(const struct cb_lcore *lcore);
void cb_lcore_free(struct cb_lcore *lcore);

/* stats.c */
struct totals cb_service_totals(const struct cb_services *set,
                                const struct service *service);
void cb_service_reset(struct cb_services *set, struct service *service);
void cb_service_choose(struct cb_services *set, struct service *service,
                       enum cb_stats stats);
/* Keeps the counts of a cell that is about to be freed. */
void cb_service_bequeath(struct service *service, const struct cell *cell);

#endif
