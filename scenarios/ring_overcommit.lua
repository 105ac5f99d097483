-- More threads than CPUs: what counts is the tail. A thread that lost its CPU
-- in the middle of an operation may hold up all others.
local cbench = require "cbench"

-- As many producers as there are CPUs, and as many consumers.
local function cpus()
  local count = 0
  local allowed = cbench.machine().machine.cpus_allowed
  for first, last in tostring(allowed):gmatch "(%d+)%-?(%d*)" do
    count = count + (tonumber(last) or first) - first + 1
  end
  return math.max(1, math.min(32, count // 1))
end

return cbench.scenario {
  title     = "Rings with more threads than CPUs",
  about     = "How bad does it get when a thread has to wait for a CPU?",
  params    = {
    ring = {
      "vyukov", "ptr_ring", { "rte", sync = "rts" }, { "rte", sync = "hts" },
      { "rte", sync = "mt" }, { "alf", sync = "mp" }, { "ck", sync = "mp" },
      "spinlock", "mutex",
    },
    wait    = { "pause", "yield" },
    threads = cpus,
  },
  columns   = { "ring", "wait", "typical", "p90", "max",
                { "max/typical", function (row)
                  return row.ticks and row.ticks.max / row.ticks.typical
                end } },
  roles     = false,
  workload  = function (p)
    local ring = type(p.ring) == "table" and p.ring or { p.ring }
    local waiting = { ring[1] }
    for key, value in pairs(ring) do waiting[key] = value end
    if cbench.kinds("ring", ring[1], "wait") then waiting.wait = p.wait end
    return cbench.workload.ring_stream {
      ring = waiting, producers = p.threads, consumers = p.threads,
      wait = p.wait, cap = 0.5,
    }
  end,
  reference = "cacheline",
  time      = 15,
  reading   = "Ticks of a consumer's element, the time without a CPU included, "
    .. "with as many producers and as many consumers as there are CPUs; a "
    .. "batch takes some 25 ms, several time slices, and max is the worst. "
    .. "yield gives the CPU away where pause waits out its slice; a batch of "
    .. "more than half a second is a convoy.",
}
