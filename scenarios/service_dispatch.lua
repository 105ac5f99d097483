-- What the service_perf_autotest of DPDK asks, and what its reviewers asked of
-- it: alone and contended, with what an operation costs beside it.
local cbench = require "cbench"
local derive, workload = cbench.derive, cbench.workload

-- How a service is run.
local ways = {
  safe     = { mt_safe = true },
  unsafe   = { mt_safe = false },
  unlocked = { mt_safe = false, serialize = false },
  racy     = { mt_safe = false, serialize = false, allow_race = true },
}

-- Who else is there.
local others = {
  ["1"]     = {},
  ["2"]     = { contenders = 1 },
  ["apart"] = { contenders = 1, apart = true },
}

local function merged(...)
  local all = {}
  for _, one in ipairs { ... } do
    for key, value in pairs(one) do all[key] = value end
  end
  return all
end

local function run(p)
  if not (ways[p.service] and others[p.lcores]) then
    error("service is safe, unsafe, unlocked or racy, lcores 1, 2 or apart", 0)
  elseif p.service == "unlocked" and p.lcores == "2" then
    return nil, "a race, not measured unless service=racy asks for it"
  end
  return workload.service_run(merged(ways[p.service], others[p.lcores],
    { stats = p.stats }))
end

local function where(p)
  if p.service == "unlocked" then
    return p.stats == "off" and p.lcores ~= "apart"
  elseif p.lcores == "apart" then
    return p.service == "safe" and p.stats == "off"
  elseif p.lcores == "2" then
    return p.stats == "off" or p.stats == "time"
  end
  return true
end

-- Ticks from one run to the next, on whichever lcore.
local function per_run(row)
  local done = row.counters.done
  return done and done > 0 and row.ticks.typical / done or nil
end

local function share(name)
  return function (row)
    local value = row.counters[name]
    return value and row.threads > 1 and ("%.0f %%"):format(value * 100) or nil
  end
end

-- The row of those parameters that has figures; or nil and why it has none.
local function find(results, service, stats)
  local row = results:find { service = service, stats = stats, lcores = "1" }
  if row and row.ticks then return row end
  return nil, row and row.reason or "left out"
end

-- The line that test prints, in its words: what it calls cycles are ticks.
local function line(results, title, service)
  local off, reason = find(results, service, "off")
  local time = find(results, service, "time")
  if not off or not time then
    reason = reason or select(2, find(results, service, "time"))
    return ("    perf test for %s: skipped (%s)"):format(title, reason)
  end
  return ("    perf test for %s, no stats: %.1f, with stats %.1f cycles/call")
    :format(title, off.ticks.typical, time.ticks.typical)
end

local function delta_line(results)
  local safe, unsafe = find(results, "safe", "off"),
    find(results, "unsafe", "off")
  local delta = safe and unsafe and derive.delta(unsafe, safe)
  if not delta then return nil end
  local interval = delta.low and (" [%.2f, %.2f]"):format(delta.low, delta.high)
    or " (no interval from so few processes)"
  return ("unsafe - safe: %.2f%s ticks, the price of the lock"):format(delta.value,
    interval)
end

local function elapsed_line(results)
  return ("%.1f s"):format(results.meta.elapsed_s or 0)
end

local function dpdk(results)
  local lines = {
    line(results, "MT Safe", "safe"), line(results, "MT Unsafe", "unsafe"),
  }
  local delta = delta_line(results)
  lines[#lines + 1] = delta and "    " .. delta
  lines[#lines + 1] = ("    cycles: ticks of the %s, as in that test; %s")
    :format(results.meta.clock.source, elapsed_line(results))
  return table.concat(lines, "\n") .. "\n"
end

-- The functional checks that every row had to pass before it was measured.
local function guards_line(results)
  local names, seen = {}, { proof = true }
  for _, row in ipairs(results) do
    for _, check in ipairs(row.checks or {}) do
      if not seen[check.name] then names[#names + 1] = check.name end
      seen[check.name] = true
    end
  end
  return #names > 0 and "guarded by " .. table.concat(names, ", ") .. "." or nil
end

local explained = {
  "safe: several lcores may be inside; unsafe: a lock lets one in; unlocked: "
    .. "unsafe without it.",
  "lcores 2: another runs the same service; apart: one of its own. success: "
    .. "attempts that got in.",
  "per run: ticks from one run to the next, on whichever lcore. fairness: the "
    .. "fewer by the more.",
  "stats count: calls by result; time: also two tick reads a run; chain: one.",
}

return cbench.scenario {
  title    = "Service dispatch",
  about    = "What does it cost to run a service on an application lcore?",
  params   = {
    service = { "safe", "unsafe", "unlocked" },
    stats   = { "off", "count", "time", "chain" },
    lcores  = { "1", "2", "apart" },
  },
  where    = where,
  workload = run,
  columns  = { "service", "lcores", "stats", "fast", "typical", "p90",
               "ratio", "interval", { "success", share "success" },
               { "per run", per_run }, { "fairness", share "fairness" } },
  time     = 14,
  formats  = { dpdk = dpdk },
  reading  = function (results)
    local lines = { delta_line(results) }
    table.move(explained, 1, #explained, #lines + 1, lines)
    lines[#lines + 1] = guards_line(results)
    return table.concat(lines, "\n")
  end,
}
