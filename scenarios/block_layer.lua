-- The way of a request through a block layer, part by part: submitted through a
-- ring, taken in bursts by a service, run in a pooled coroutine that yields
-- while the device works, and back through a ring. A closed loop: depth is how
-- many requests are in flight.
local cbench = require "cbench"
local pipeline = cbench.workload.pipeline

local function chain(p)
  return pipeline {
    { "source", depth = p.depth },
    { "ring", ring = "spsc", burst = p.burst or 32 },
    { "service", lcores = p.lcores or 0, stats = p.stats },
    { "coroutine", backend = p.backend or "asm", pool = p.pool },
    { "ring", ring = "spsc", burst = p.burst or 32 },
    { "sink" },
  }
end

local function layers(p)
  return chain { depth = p.depth, stats = "chain" }:layers()
end

-- With its first coroutine on a thread of its own the CPU of a row would not
-- be that of the row above, so all layers are on one.
local names = { "direct", "+ ring", "+ service", "+ statistics",
  "+ coroutine", "+ yield" }

return {
  cbench.scenario {
    title     = "Block layer",
    about     = "What does each part of a block layer add to a request?",
    params    = { depth = { 1, 4, 32 }, layer = names },
    workload  = function (p) return layers(p)[p.layer] end,
    reference = { layer = "direct" },
    columns   = { "depth", "layer",
      table.unpack(layers { depth = 1 }.columns) },
    time      = 12,
    reading   = "delta = what the layer adds to the row above; N/s = share of "
      .. "one CPU that the whole takes at that rate. The ring moves 32 at once "
      .. "where so many are in flight: that is why depth pays.",
  },
  cbench.scenario {
    title     = "Block layer: back ends",
    about     = "What do the coroutines' switches make of a request?",
    params    = {
      backend = { "inline", "asm", "asm_fpu", "ucontext", "sigaltstack",
        "swapcontext" },
      depth = { 1, 32 },
    },
    workload  = chain,
    reference = { backend = "asm" },
    time      = 6,
    reading   = "Two enters, one yield and one end an item; all else is the "
      .. "same.",
  },
  cbench.scenario {
    title     = "Block layer: pools",
    about     = "Why do coroutine pools exist?",
    params    = { pool = { "batch_spare", "none" }, depth = { 1, 32 } },
    workload  = chain,
    reference = { pool = "batch_spare" },
    columns   = { "pool", "depth", "typical", "ns", "ratio", "interval",
      "new", "per_second" },
    time      = 3,
    reading   = "Without a pool each request maps a stack, faults it in and "
      .. "unmaps it.",
  },
  cbench.scenario {
    title     = "Block layer: lcores",
    about     = "What does it cost to leave the requests to another CPU?",
    params    = { lcores = { 0, 1 }, depth = { 1, 4, 32 } },
    workload  = chain,
    reference = { lcores = 0 },
    time      = 6,
    reading   = "lcores = 0: all on one CPU. With one, a request goes to the "
      .. "lcore's CPU and back; the cost of that is shared by those in flight.",
  },
}
