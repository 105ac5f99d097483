/* lock_none.h - always free: the row that the others are compared with, and
 * the lock of work that needs none. */
#ifndef CB_BASE_LOCK_NONE_H
#define CB_BASE_LOCK_NONE_H

#include "base/lock.h"

struct cb_none {
  char nothing;
};

CB_INLINE void cb_none_init(struct cb_none *lock)
{
  lock->nothing = 0;
}

CB_INLINE bool cb_none_trylock(struct cb_none *lock, struct cb_lock_node *node,
                               enum cb_order order)
{
  (void)lock, (void)node, (void)order;
  return true;
}

CB_INLINE void cb_none_lock(struct cb_none *lock, struct cb_lock_node *node,
                            enum cb_order order)
{
  (void)lock, (void)node, (void)order;
}

CB_INLINE void cb_none_unlock(struct cb_none *lock, struct cb_lock_node *node,
                              enum cb_order order)
{
  (void)lock, (void)node, (void)order;
}

#endif
