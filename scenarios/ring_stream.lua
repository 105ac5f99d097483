local cbench = require "cbench"

return cbench.scenario {
  title     = "Rings from CPU to CPU",
  about     = "What does each element of a stream cost, burst by burst?",
  params    = {
    ring  = {
      "spsc", "ff", { "ptr_ring", locked = false }, { "alf", sync = "sp" },
      { "rte", sync = "st" }, { "ck", sync = "sp" }, "ptr_ring",
      { "alf", sync = "mp" }, { "rte", sync = "mt" }, { "rte", sync = "rts" },
      { "rte", sync = "hts" }, { "ck", sync = "mp" }, "vyukov", "spinlock",
      "mutex",
    },
    burst = { 1, 8, 32, 256 },
  },
  workload  = cbench.workload.ring_stream,
  reference = "cacheline",
  across    = "burst",
  time      = 15,
  reading   = "cacheline is the way of one line to the other CPU and back at "
    .. "that moment: it is what changes from minute to minute, and ratios to "
    .. "it change less.",
}
