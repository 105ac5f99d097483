local cbench = require "cbench"

return cbench.scenario {
  title     = "Rings as letter boxes",
  about     = "How long is one element on its way to another CPU and back?",
  params    = {
    ring = {
      "ff", "spsc", { "ptr_ring", locked = false }, { "alf", sync = "sp" },
      { "rte", sync = "st" }, { "ck", sync = "sp" },
      "vyukov", "ptr_ring", { "alf", sync = "mp" }, { "rte", sync = "mt" },
      { "rte", sync = "rts" }, { "rte", sync = "hts" }, { "ck", sync = "mp" },
      "spinlock", "mutex",
    },
    wait = { "pause" },
  },
  columns   = { "ring", "wait", "typical", "p90", "ns", "ratio", "interval" },
  roles     = false,
  workload  = cbench.workload.ring_pingpong,
  reference = "cacheline",
  time      = 12,
  reading   = "Two rings, one each way, and nothing overlaps. cacheline is "
    .. "the same round trip of a bare line; below 1 is a ring that asks for "
    .. "the line of its answer while it waits.",
}
