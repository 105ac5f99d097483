-- What coroutines take of a CPU when each I/O request is one: not what an
-- operation costs, but its share of the time between two requests.
local cbench = require "cbench"
local derive, workload = cbench.derive, cbench.workload

local rates = { { "100K", 1e5 }, { "300K", 3e5 }, { "1M", 1e6 }, { "5M", 5e6 } }

-- Requests in flight, and what each touches of its stack.
local alive, touched = 64, 1024

local touch = workload.stack {
  name = "touch", backend = "call", bytes = touched,
}

local makers = {
  enter   = function (backend)
    return workload.lifecycle { backend = backend }
  end,
  yield   = function (backend) return workload.yield { backend = backend } end,
  stack   = function (backend)
    return workload.stack {
      backend = backend, bytes = touched, coroutines = alive,
    }
  end,
  request = function (backend)
    return workload.request { backend = backend }
  end,
}

-- How often a request does it: it is entered, waits and is entered again.
local times = { enter = 2, yield = 1, stack = 2 }

local function typical(row)
  return row and row.ns and row.ns.typical
end

-- By part, the ns of one: less a call, as the authors of the calculation had
-- it; of the stack what is left of a visit without its yield and without what
-- it touches anyhow.
local function costs(results, backend)
  local row, call = {}, typical(results["call"])
  for _, record in ipairs(results) do
    if record.params.backend == backend and record.params.part then
      row[record.params.part] = typical(record)
    end
  end
  if not call then return {} end
  local stack = row.stack and row.yield and typical(results["touch"])
    and row.stack - row.yield - typical(results["touch"])
  return {
    enter = row.enter and row.enter - call,
    yield = row.yield and row.yield - call,
    stack = stack and math.max(stack, 0),
    request = row.request and row.request - call,
  }
end

local function cost(row, results)
  return costs(results, row.params.backend)[row.params.part]
end

local columns = {
  "backend", "part", "ns",
  { "each", cost },
  { "an I/O", function (row)
    local part = row.params.part
    return part and ("x %d"):format(times[part] or 1)
  end },
}
for _, rate in ipairs(rates) do
  columns[#columns + 1] = { "% at " .. rate[1], function (row, results)
    local one = cost(row, results)
    local often = times[row.params.part] or 1
    return one and derive.share(one * often, rate[2]) * 100
  end }
end

-- The whole calculation for one back end, a sentence.
local function sentence(results, backend)
  local one = costs(results, backend)
  if not (one.enter and one.yield and one.stack) then return nil end
  local sum, shares = 2 * one.enter + one.yield + 2 * one.stack, {}
  for i, rate in ipairs(rates) do
    shares[i] = ("%.2f"):format(derive.share(sum, rate[2]) * 100)
  end
  return ("%s: 2 x %.1f + %.1f + 2 x %.1f = %.1f ns an I/O, %s %% of a CPU; "
    .. "one CPU does at most %.2fM a second; under 1 %% where the device takes "
    .. "%.1f us or more."):format(backend, one.enter, one.yield, one.stack, sum,
    table.concat(shares, ", "), derive.max_rate(sum) / 1e6, sum / 0.01 / 1e3)
end

local function sentences(results)
  local lines, seen = {}, {}
  for _, row in ipairs(results) do
    local backend = not row.reference and row.params.backend
    if backend and not seen[backend] then
      seen[backend] = true
      lines[#lines + 1] = sentence(results, backend)
    end
  end
  return lines
end

local function iops(results)
  return table.concat(sentences(results), "\n") .. "\n"
end

local function reading(results)
  local lines = sentences(results)
  lines[#lines + 1] = ("each = ns less a call (of the stack: what one of %d "
    .. "coroutines that touch %d bytes loses on a call that touches as much), "
    .. "%% at = share of a CPU at so many I/O a second, in the order of the "
    .. "lines above. request is all but the stacks, measured as a whole.")
    :format(alive, touched)
  return table.concat(lines, "\n")
end

return cbench.scenario {
  title     = "Share of a CPU",
  about     = "What do the coroutines of so many I/O requests a second take?",
  params    = {
    backend = { "ucontext", "asm" },
    part    = { "enter", "yield", "stack", "request" },
  },
  workload  = function (p) return makers[p.part](p.backend) end,
  reference = function (p) return p.part == "stack" and touch or "call" end,
  columns   = columns,
  time      = 6,
  formats   = { iops = iops },
  reading   = reading,
}
