-- Packets through rings and services, without coroutines: bursts are what makes
-- a hop cheap, and a second CPU is what makes it dear.
local cbench = require "cbench"
local pipeline = cbench.workload.pipeline

-- source, then `hops` times a ring and a service, then a ring and the sink
local function path(p)
  local stages = { { "source", depth = 256, burst = p.burst } }
  local function add(stage) stages[#stages + 1] = stage end
  for _ = 1, p.hops do
    add { "ring", ring = p.ring, size = 1024, burst = p.burst }
    add { "service", lcores = p.lcores or 0 }
  end
  add { "ring", ring = p.ring, size = 1024, burst = p.burst }
  add { "sink" }
  return pipeline(stages)
end

return {
  cbench.scenario {
    title     = "Packet path",
    about     = "What does a packet pay for each ring and service on its way?",
    params    = {
      ring = { "spsc", "rte", "vyukov" }, burst = { 1, 8, 32 },
      hops = { 0, 1, 2, 4 },
    },
    workload  = path,
    fit       = "hops",
    time      = 12,
    reading   = "One CPU does everything. fit: ticks for source and sink with "
      .. "one ring, and ticks for each hop (a service and a ring) more.",
  },
  cbench.scenario {
    title     = "Packet path: two CPUs",
    about     = "What does a packet pay for a service on another CPU?",
    params    = {
      ring = { "spsc", "rte", "vyukov" }, burst = { 1, 8, 32 },
      lcores = { 0, 1 }, hops = { 1 },
    },
    workload  = path,
    reference = { lcores = 0 },
    time      = 9,
    reading   = "lcores = 0: the same path on one CPU. With one lcore there "
      .. "are two CPUs at work, and the slower of the two sets the pace.",
  },
}
