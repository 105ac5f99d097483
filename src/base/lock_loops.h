/*
 * lock_loops.h - a lock kind's functions behind pointers and its whole
 * measured loops. Include it after lock_NAME.h with LOCK defined as NAME; then
 * LOCK_FUNCTIONS names them all for the kind's struct.
 */
#include "base/lock.h"

#define LOCK_PASTE_(a, b, c) a##b##c
#define LOCK_PASTE(a, b, c) LOCK_PASTE_(a, b, c)
#define LOCK_OP(name) LOCK_PASTE(cb_, LOCK, _##name)
#define LOCK_FN(name) LOCK_PASTE(LOCK, _, name)
#define LOCK_TYPE struct LOCK_PASTE(cb_, LOCK, )

_Static_assert(sizeof(LOCK_TYPE) <= CB_LOCK_SIZE &&
                   sizeof(struct cb_lock_node) <= CB_LOCK_NODE_SIZE,
               "too little room");

static void LOCK_FN(init)(void *lock)
{
  LOCK_OP(init)(lock);
}

static bool LOCK_FN(trylock)(void *lock, void *node)
{
  return LOCK_OP(trylock)(lock, node, CB_ORDER_ACQREL);
}

static void LOCK_FN(lock)(void *lock, void *node)
{
  LOCK_OP(lock)(lock, node, CB_ORDER_ACQREL);
}

static void LOCK_FN(unlock)(void *lock, void *node)
{
  LOCK_OP(unlock)(lock, node, CB_ORDER_ACQREL);
}

static void LOCK_FN(pairs)(void *lock, uint64_t n)
{
  struct cb_lock_node node;
  for (uint64_t i = 0; i < n; i++) {
    LOCK_OP(lock)(lock, &node, CB_ORDER_ACQREL);
    /* Keeps the loop of a lock that does nothing. */
    atomic_signal_fence(memory_order_seq_cst);
    LOCK_OP(unlock)(lock, &node, CB_ORDER_ACQREL);
  }
}

static uint64_t LOCK_FN(counted)(void *lock, uint64_t n, uint64_t *counter,
                                 const struct cb_control *control)
{
  struct cb_lock_node node;
  uint64_t done = 0;
  while (done < n &&
         !atomic_load_explicit(&control->stop, memory_order_relaxed)) {
    LOCK_OP(lock)(lock, &node, CB_ORDER_ACQREL);
    ++*counter;
    LOCK_OP(unlock)(lock, &node, CB_ORDER_ACQREL);
    done++;
  }
  return done;
}

#define LOCK_FUNCTIONS                                                         \
  .init = LOCK_FN(init), .trylock = LOCK_FN(trylock), .lock = LOCK_FN(lock),   \
  .unlock = LOCK_FN(unlock), .pairs = LOCK_FN(pairs),                          \
  .counted = LOCK_FN(counted)
