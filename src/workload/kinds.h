/* kinds.h - the workloads of this floor, one line each. */
#ifndef CB_WORKLOAD_KINDS_H
#define CB_WORKLOAD_KINDS_H

#include "cbench.h"

extern const struct cb_workload_kind cb_workload_call;
extern const struct cb_workload_kind cb_workload_chain;
extern const struct cb_workload_kind cb_workload_throughput;
extern const struct cb_workload_kind cb_workload_atomic;
extern const struct cb_workload_kind cb_workload_lock;
extern const struct cb_workload_kind cb_workload_clock;
extern const struct cb_workload_kind cb_workload_cacheline;
extern const struct cb_workload_kind cb_workload_yield;
extern const struct cb_workload_kind cb_workload_lifecycle;
extern const struct cb_workload_kind cb_workload_nesting;
extern const struct cb_workload_kind cb_workload_create;
extern const struct cb_workload_kind cb_workload_request;
extern const struct cb_workload_kind cb_workload_stack;
extern const struct cb_workload_kind cb_workload_pool_pair;
extern const struct cb_workload_kind cb_workload_pool_handover;
extern const struct cb_workload_kind cb_workload_ring_pair;
extern const struct cb_workload_kind cb_workload_ring_parallel;
extern const struct cb_workload_kind cb_workload_ring_stream;
extern const struct cb_workload_kind cb_workload_ring_pingpong;
extern const struct cb_workload_kind cb_workload_service_run;
extern const struct cb_workload_kind cb_workload_service_loop;
extern const struct cb_workload_kind cb_workload_pipeline;
extern const struct cb_workload_kind cb_workload_c;

extern const struct cb_family cb_workload_family;

#endif
