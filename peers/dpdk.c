/* dpdk.c - DPDK's own rte_ring and rte_service as kinds. */
#include "dpdk.h"

#include <cbench/plugin.h>

CB_PLUGIN("dpdk", CB_PLUGIN_KIND(ring, peer_rte_ring),
          CB_PLUGIN_KIND(workload, peer_rte_service_run),
          CB_PLUGIN_KIND(workload, peer_rte_service_loop));
