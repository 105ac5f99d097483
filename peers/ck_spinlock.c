/*
 * ck_spinlock.c - the spin locks of Concurrency Kit that fit a plain lock and
 * unlock: fas (exchange), cas, dec, ticket, mcs. They only spin: with more
 * threads than CPUs a hand-over can take a time slice.
 */
#include "ck.h"

#include <cbench/plugin.h>

#include <ck_spinlock.h>
#include <stdatomic.h>

/* The loops are those of the built-in locks. */
#define LOOPS(NAME)                                                            \
  static void NAME##_pairs(void *opaque, uint64_t n)                           \
  {                                                                            \
    struct NAME##_place place;                                                 \
    for (uint64_t i = 0; i < n; i++) {                                         \
      NAME##_lock(opaque, &place);                                             \
      __asm__ __volatile__("" : : : "memory");                                 \
      NAME##_unlock(opaque, &place);                                           \
    }                                                                          \
  }                                                                            \
  static uint64_t NAME##_counted(void *opaque, uint64_t n, uint64_t *counter,  \
                                 const struct cb_control *control)             \
  {                                                                            \
    struct NAME##_place place;                                                 \
    uint64_t done = 0;                                                         \
    while (done < n &&                                                         \
           !atomic_load_explicit(&control->stop, memory_order_relaxed)) {      \
      NAME##_lock(opaque, &place);                                             \
      ++*counter;                                                              \
      NAME##_unlock(opaque, &place);                                           \
      done++;                                                                  \
    }                                                                          \
    return done;                                                               \
  }                                                                            \
  const struct cb_lock_kind peer_ck_##NAME = {                                 \
      .kind.name = "ck_" #NAME,                                                \
      .kind.summary = "the real ck_spinlock_" #NAME " of Concurrency Kit",     \
      .init = NAME##_init,                                                     \
      .trylock = NAME##_trylock,                                               \
      .lock = NAME##_lock,                                                     \
      .unlock = NAME##_unlock,                                                 \
      .pairs = NAME##_pairs,                                                   \
      .counted = NAME##_counted,                                               \
  }

#define WITHOUT_PLACE(NAME)                                                    \
  _Static_assert(sizeof(ck_spinlock_##NAME##_t) <= CB_LOCK_SIZE, "too big");   \
  struct NAME##_place {                                                        \
    char unused;                                                               \
  };                                                                           \
  static inline void NAME##_init(void *lock)                                   \
  {                                                                            \
    ck_spinlock_##NAME##_init(lock);                                           \
  }                                                                            \
  static inline bool NAME##_trylock(void *lock, void *place)                   \
  {                                                                            \
    (void)place;                                                               \
    return ck_spinlock_##NAME##_trylock(lock);                                 \
  }                                                                            \
  static inline void NAME##_lock(void *lock, void *place)                      \
  {                                                                            \
    (void)place;                                                               \
    ck_spinlock_##NAME##_lock(lock);                                           \
  }                                                                            \
  static inline void NAME##_unlock(void *lock, void *place)                    \
  {                                                                            \
    (void)place;                                                               \
    ck_spinlock_##NAME##_unlock(lock);                                         \
  }                                                                            \
  LOOPS(NAME)

WITHOUT_PLACE(fas);
WITHOUT_PLACE(cas);
WITHOUT_PLACE(dec);
WITHOUT_PLACE(ticket);

/* Its lock is the tail of a queue of places. */
struct mcs_place {
  ck_spinlock_mcs_context_t context;
};
_Static_assert(sizeof(struct mcs_place) <= CB_LOCK_NODE_SIZE, "too big");

static inline void mcs_init(void *lock)
{
  ck_spinlock_mcs_init(lock);
}

static inline bool mcs_trylock(void *lock, void *place)
{
  return ck_spinlock_mcs_trylock(lock, place);
}

static inline void mcs_lock(void *lock, void *place)
{
  ck_spinlock_mcs_lock(lock, place);
}

static inline void mcs_unlock(void *lock, void *place)
{
  ck_spinlock_mcs_unlock(lock, place);
}
LOOPS(mcs);
