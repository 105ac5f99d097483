#include "workload/kinds.h"

static const struct cb_kind *const kinds[] = {
    &cb_workload_call.kind,
    &cb_workload_chain.kind,
    &cb_workload_throughput.kind,
    &cb_workload_atomic.kind,
    &cb_workload_lock.kind,
    &cb_workload_clock.kind,
    &cb_workload_cacheline.kind,
    &cb_workload_yield.kind,
    &cb_workload_lifecycle.kind,
    &cb_workload_request.kind,
    &cb_workload_nesting.kind,
    &cb_workload_create.kind,
    &cb_workload_stack.kind,
    &cb_workload_pool_pair.kind,
    &cb_workload_pool_handover.kind,
    &cb_workload_ring_pair.kind,
    &cb_workload_ring_parallel.kind,
    &cb_workload_ring_stream.kind,
    &cb_workload_ring_pingpong.kind,
    &cb_workload_service_run.kind,
    &cb_workload_service_loop.kind,
    &cb_workload_pipeline.kind,
    &cb_workload_c.kind,
    NULL,
};

const struct cb_family cb_workload_family = {
    .name = "workload",
    .kinds = kinds,
    .size = sizeof(struct cb_workload_kind)};
