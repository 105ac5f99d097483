local cbench = require "cbench"
local workload = cbench.workload

return cbench.scenario {
  title    = "Function call",
  about    = "What do the smallest things cost: a call, an atomic, a look at "
    .. "the clock?",
  workload = {
    workload.call { name = "call" },
    workload.throughput { name = "100 independent adds", adds = 100 },
    workload.chain { name = "100 dependent adds", adds = 100 },
    workload.atomic { name = "atomic add" },
    workload.lock { name = "lock and unlock" },
    workload.clock { name = "read of the tick counter" },
  },
  time     = 3,
  reading  = "All other scenarios are read against the call. An atomic is "
    .. "dear because it waits for the stores before it; a tick counter, read "
    .. "so that nothing is reordered around it, costs more than most of what "
    .. "it measures: so batches are timed and never single operations.",
}
