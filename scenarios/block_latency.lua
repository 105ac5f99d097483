-- Requests at a given rate, whatever becomes of those before: latency from the
-- moment at which each was due, against the rate, up to saturation and beyond.
-- What saturates is found first, in a closed loop.
local cbench = require "cbench"
local workload = cbench.workload

local function chain(p, source)
  return workload.pipeline {
    source,
    { "ring", ring = "spsc", size = 1024, burst = 32 },
    { "service", lcores = p.lcores },
    { "coroutine", backend = p.backend },
    { "device", ticks = p.device },
    { "ring", ring = "spsc", size = 1024, burst = 32 },
    { "sink" },
    -- Giving the CPU away would make the source late.
    wait = "pause",
  }
end

-- Items a second of the closed loop, by what it depends on. Until they are
-- known (in lists of rows) any number does.
local carried = {}

local function key(p)
  return ("%s/%s/%s"):format(p.backend, p.lcores, p.device)
end

local function saturation(p)
  return carried[key(p)] or 1e6
end

local function find_saturation(p)
  -- Where it cannot be measured, neither can the rows.
  local good, result = pcall(cbench.measure,
    chain(p, { "source", depth = 256 }), { time = 0.4 })
  if good and result and result.status == "ok" then
    carried[key(p)] = result.per_second
  end
end

local params = {
  load = { 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.1 },
  backend = { "asm" }, lcores = { 0 }, device = { 2000 },
}

local function list(value)
  return type(value) == "table" and value or { value }
end

local function offered(row)
  return row.params.stages[1].rate
end

return cbench.scenario {
  title    = "Block latency",
  about    = "How long does a request take, by how busy the block layer is?",
  params   = params,
  workload = function (p)
    local rate = math.floor(saturation(p) * p.load)
    return chain(p, { "source", rate = rate, depth = 1024 })
  end,
  setup    = function (given)
    for _, backend in ipairs(list(given.backend or params.backend)) do
      for _, lcores in ipairs(list(given.lcores or params.lcores)) do
        for _, device in ipairs(list(given.device or params.device)) do
          find_saturation { backend = backend, lcores = lcores,
                            device = device }
        end
      end
    end
  end,
  reference = function () return false end,
  columns  = {
    "load", "backend", "lcores", "device",
    { "offered/s", function (row)
      return ("%.0fk"):format(offered(row) / 1e3)
    end },
    { "reached", function (row)
      return ("%.1f %%"):format(row.per_second / offered(row) * 100)
    end },
    "p50", "p99", "p999", "latency.max",
    { "late", function (row)
      return ("%.1f %%"):format(row.counters.late * 100)
    end },
  },
  time     = 12,
  reading  = "load = share of what a closed loop carries. Latency counts from "
    .. "when a request was due, late starts included; late = started after the "
    .. "next one was due. A CPU that is taken away shows in p99.9 and max.",
}
