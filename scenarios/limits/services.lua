-- What running a service may cost, as ratios measured side by side: exits 3
-- when one of them is exceeded.
local cbench = require "cbench"
local workload = cbench.workload

local function run(name, values)
  values.name = name
  return workload.service_run(values)
end

local function loop(name, values)
  values.name = name
  return workload.service_loop(values)
end

-- Reads the counter as often as the statistics of a timed run do: twice.
local reads_twice = { "spin", ticks = 0 }
local long = { "spin", ticks = 1000 }

-- name = { reference, the highest ratio }
local limits = {
  ["mt-safe"]                     = { "call", 3 },
  ["mt-unsafe"]                   = { "mt-safe", 1.5 },
  ["statistics: time"]            = { "run, 2 tick reads", 1.05 },
  ["pass, 64 mapped"]  = { "pass, 1 mapped", 1.2 },
  ["pass, ids 0 and 63"]          = { "pass, ids 0 and 1", 1.1 },
  ["mt-safe, 2 lcores"]         = { "mt-safe", 2.5 },
  ["2 lcores, own service"]  = { "mt-safe", 1.1 },
  ["1000 ticks, 2 lcores"] = { "1000 ticks", 1.1 },
}

local function short_state(row)
  local state = row.limit and row.limit.state
  return state == "not resolved" and "open" or state
end

return cbench.scenario {
  title     = "Limits of services",
  about     = "Does running a service cost as little as it should?",
  workload  = {
    workload.call { name = "call" },
    workload.throughput { name = "adds" },
    workload.throughput { name = "adds, 2 threads", threads = 2 },
    run("mt-safe", { mt_safe = true }),
    run("mt-unsafe", { mt_safe = false }),
    run("run, 2 tick reads", { call = reads_twice }),
    run("statistics: time", { stats = "time" }),
    loop("pass, 1 mapped", { services = 1, running = 1 }),
    loop("pass, 64 mapped", { services = 64, running = 1 }),
    loop("pass, ids 0 and 1", { services = 2, running = 2 }),
    loop("pass, ids 0 and 63", { services = 2, running = 2, ids = "sparse" }),
    run("mt-safe, 2 lcores", { contenders = 1 }),
    run("2 lcores, own service", { contenders = 1, apart = true }),
    run("1000 ticks", { mt_safe = false, call = long }),
    run("1000 ticks, 2 lcores", { mt_safe = false, call = long,
      contenders = 1, per = "success" }),
  },
  reference = function (_, name)
    if name == "adds, 2 threads" then return "adds" end
    return limits[name] and limits[name][1] or "call"
  end,
  limit     = function (_, name)
    return limits[name] and limits[name][2]
  end,
  columns   = { "name", "typical", "to", "ratio", "interval", "limit",
                { "state", short_state } },
  time      = 12,
  reading   = "pass: one of a service lcore; one service runs, with ids two. "
    .. "open: the interval holds the limit.\n"
    .. "Adds share nothing: what two threads lose there no service can win "
    .. "back.\n"
    .. "Last row: not mt-safe; ticks from one run to the next, on whichever "
    .. "lcore.",
}
