-- What the pipeline promises: that putting coroutines, pools, rings and
-- services together costs little more than the parts, and that an open loop
-- keeps its rate.
local cbench = require "cbench"
local workload = cbench.workload

local function chain(source, options)
  return workload.pipeline {
    name = options.name, wait = options.wait,
    source,
    { "ring", ring = "spsc", burst = 32 },
    { "service", lcores = 0 },
    { "coroutine", backend = options.backend or "asm", pool = options.pool },
    { "ring", ring = "spsc", burst = 32 },
    { "sink" },
  }
end

local function closed(options)
  return chain({ "source", depth = 32 }, options)
end

-- What one item does: it starts and ends, goes through two rings and a
-- thirty-second of a service's run, and is a request with as many others in
-- flight as it has here.
local parts = {
  { "start and end" }, { "ring pair", 2 }, { "service run", 1 / 32 },
  { "request, 32 in flight" },
}

-- Items a second that the closed loop carries; until that is known, in lists
-- of rows, any number does.
local carried = 1e6

local function open(source, options)
  source.rate, source.depth = math.floor(carried / 2), 1024
  options.wait = "pause"
  return chain(source, options)
end

return {
  title = "Limits of pipelines",
  about = "Is a pipeline what its parts are, and does it keep its rate?",
  cbench.scenario {
    title     = "Limits: pipeline",
    about     = "Is the whole little more than the sum of its parts?",
    workload  = {
      workload.pipeline { name = "start and end", { "source" }, { "sink" } },
      workload.ring_pair { name = "ring pair", ring = "spsc", burst = 32 },
      workload.service_run { name = "service run" },
      workload.request { name = "request, 32 in flight", backend = "asm",
                         burst = 32 },
      closed { name = "whole" },
      closed { name = "inline", backend = "inline" },
      closed { name = "pool off", pool = "none" },
    },
    reference = function (_, name)
      return (name == "inline" or name == "pool off") and "whole" or "call"
    end,
    limit     = function (_, name, row, results)
      if name ~= "whole" then return nil end
      return 1.3, cbench.derive.sum_ratio(row, results, parts)
    end,
    columns   = { "name", "typical", "to", "ratio", "interval", "limit",
      "state" },
    time      = 8,
    reading   = "whole: one thread, bursts of 32, two enters and one yield an "
      .. "item; its parts are the first row, two of the second, a "
      .. "thirty-second of the third and one of the fourth.",
  },
  cbench.scenario {
    title     = "Limits: open loop",
    about     = "Does an open loop at half of saturation keep its rate?",
    params    = { load = { 0.5 } },
    workload  = function () return open({ "source" }, {}) end,
    setup     = function ()
      -- Where it cannot be measured, neither can the row.
      local good, result = pcall(cbench.measure, closed {}, { time = 0.3 })
      carried = good and result and result.per_second or carried
    end,
    reference = function ()
      return workload.pipeline {
        name = "pace", wait = "pause",
        { "source", rate = math.floor(carried / 2) }, { "sink" },
      }
    end,
    limit     = 1.01,
    time      = 4,
    reading   = "pace: items at the same rate with nothing to do. A ratio of 1 "
      .. "is the rate asked, reached.",
  },
}
