/* dpdk.h - what the files of the plug-in dpdk share. */
#ifndef PEER_DPDK_H
#define PEER_DPDK_H

#include <cbench.h>

extern const struct cb_ring_kind peer_rte_ring;
extern const struct cb_workload_kind peer_rte_service_run,
    peer_rte_service_loop;

/* The lcores that EAL has here: the thread that started it, and a worker. */
enum { PEER_MAIN_LCORE = 0, PEER_WORKER_LCORE = 1 };

/* Starts DPDK's environment (EAL) unless it runs already. The first call may
 * take 100 ms. Any thread. -EBUSY: the host program has started one itself;
 * -EIO, with what EAL says of it. */
int peer_eal_start(struct cb_error *error);

/* The calling thread may call rte_service from now on, and no longer. false:
 * it was an lcore already, and stays one. */
int peer_lcore_begin(bool *registered, struct cb_error *error);
void peer_lcore_end(bool registered);

#endif
