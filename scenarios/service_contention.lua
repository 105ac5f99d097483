local cbench = require "cbench"

local ways = {
  safe   = { mt_safe = true },
  unsafe = { mt_safe = false },
}

local function run(p)
  if not ways[p.service] or not math.tointeger(p.lcores) or p.lcores < 1 then
    error("service is safe or unsafe, lcores 1, 2 or more", 0)
  end
  return cbench.workload.service_run {
    mt_safe = ways[p.service].mt_safe, per = "success",
    call = p.inside == 0 and "nop" or { "spin", ticks = p.inside },
    contenders = p.lcores - 1,
  }
end

local function share(name)
  return function (row)
    local value = row.counters[name]
    return value and row.threads > 1 and ("%.0f %%"):format(value * 100) or nil
  end
end

return cbench.scenario {
  title     = "Service contention",
  about     = "Does a second lcore on the same service help, or get in the way?",
  params    = {
    service = { "safe", "unsafe" },
    inside  = { 0, 300, 1000 },
    lcores  = { 1, 2 },
  },
  workload  = run,
  reference = { lcores = 1 },
  columns   = { "service", "inside", "lcores", "typical", "p90", "ratio",
                "interval", { "success", share "success" },
                { "fairness", share "fairness" } },
  time      = 12,
  reading   = "Ticks from one run to the next, whichever lcore had it; so many "
    .. "of them the callback is inside.\n"
    .. "Ideal with 2 lcores: x 0.5 where safe; x 1 where unsafe, because a lock "
    .. "lets one in at a time.\n"
    .. "success: attempts of an lcore that got in. fairness: the fewer runs by "
    .. "the more.",
}
