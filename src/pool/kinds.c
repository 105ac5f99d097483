#include "pool/kinds.h"

#include "pool/pool.h"

static const struct cb_kind *const kinds[] = {
    &cb_pool_none.kind,          &cb_pool_mutex.kind,
    &cb_pool_local.kind,         &cb_pool_release.kind,
    &cb_pool_release_stash.kind, &cb_pool_batch.kind,
    &cb_pool_batch_spare.kind,   NULL,
};

const struct cb_family cb_pool_family = {
    .name = "pool", .kinds = kinds, .size = sizeof(struct policy)};
