#include "workload/kinds.h"

static const struct cb_kind *const kinds[] = {
    &cb_workload_lock.kind,
    NULL,
};

const struct cb_family cb_workload_family = {.name = "workload",
                                             .kinds = kinds};
