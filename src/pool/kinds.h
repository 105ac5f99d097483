/* kinds.h - the pool policies there are. */
#ifndef CB_POOL_KINDS_H
#define CB_POOL_KINDS_H

#include "cbench.h"

struct policy;
extern const struct policy cb_pool_none, cb_pool_mutex, cb_pool_local,
    cb_pool_release, cb_pool_release_stash, cb_pool_batch, cb_pool_batch_spare;
#define CB_POOL_PRESET "batch_spare"

extern const struct cb_family cb_pool_family;

#endif
