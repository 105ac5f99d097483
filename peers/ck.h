/* ck.h - the kinds of the plug-in ck. */
#ifndef PEER_CK_H
#define PEER_CK_H

#include <cbench.h>

extern const struct cb_ring_kind peer_ck_ring;
extern const struct cb_lock_kind peer_ck_fas, peer_ck_cas, peer_ck_dec,
    peer_ck_ticket, peer_ck_mcs;

#endif
