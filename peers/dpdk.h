/* dpdk.h - what the files of the plug-in dpdk share. */
#ifndef PEER_DPDK_H
#define PEER_DPDK_H

#include <cbench.h>

extern const struct cb_ring_kind peer_rte_ring;

#endif
