/* kinds.c - the ring kinds: ours, the imitations, the controls. */
#include "ring/ring.h"

static const struct cb_kind *const kinds[] = {
    &cb_ring_spsc.kind,     &cb_ring_ff.kind,        &cb_ring_vyukov.kind,
    &cb_ring_ptr_ring.kind, &cb_ring_skb_array.kind, &cb_ring_alf.kind,
    &cb_ring_rte.kind,      &cb_ring_ck.kind,        &cb_ring_mutex.kind,
    &cb_ring_spinlock.kind, &cb_ring_nop.kind,       NULL,
};

const struct cb_family cb_ring_family = {
    .name = "ring", .kinds = kinds, .size = sizeof(struct cb_ring_kind)};
