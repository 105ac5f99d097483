-- Rings on one CPU: nothing travels, so this is what their code costs.
local cbench = require "cbench"

local rte_st = { "rte", sync = "st" }

local kinds = {
  "nop", "spsc", "ff", { "ptr_ring", locked = false },
  { "alf", sync = "sp" }, rte_st, { "ck", sync = "sp" },
  "ptr_ring", { "alf", sync = "mp" }, { "rte", sync = "mt" },
  { "rte", sync = "rts" }, { "rte", sync = "hts" }, { "ck", sync = "mp" },
  "vyukov", { "vyukov", claim = "single" }, "spinlock", "mutex",
}

local inlined = cbench.scenario {
  title     = "Rings on one CPU",
  about     = "What do an element in and out cost, burst by burst?",
  params    = { ring = kinds, burst = { 1, 8, 32, 256 } },
  workload  = cbench.workload.ring_pair,
  reference = { ring = rte_st },
  across    = "burst",
  time      = 12,
  reading   = "nop is the loop alone. From nop to ck{sync=sp} one thread a "
    .. "side, below it any number. A ring that can only move one element at a "
    .. "time (ck, ff, ptr_ring, vyukov{claim=single}) gains nothing by bursts.",
}

local pointers = cbench.scenario {
  title     = "Rings behind pointers",
  about     = "What does a caller pay who does not know the kind of ring?",
  params    = {
    ring  = { "nop", "spsc", "ff", rte_st, { "rte", sync = "mt" }, "vyukov" },
    burst = { 1, 32 },
    via   = { "inline", "pointer" },
  },
  columns   = { "burst", "ring", "via", "typical", "fast", "ns", "ratio",
                "interval" },
  workload  = cbench.workload.ring_pair,
  reference = { via = "inline" },
  time      = 6,
  reading   = "Each row behind a pointer is compared to the same ring inlined "
    .. "into the loop.",
}

return { inlined, pointers }
