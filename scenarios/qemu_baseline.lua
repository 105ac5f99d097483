-- The four measurements of QEMU's test-coroutine and what its authors derive
-- from them: each time per operation less the time of a plain call.
local cbench = require "cbench"
local derive, workload = cbench.derive, cbench.workload

local depth = 1000

-- What is derived from a row, and the row.
local derived = {
  { "yield", "yield" }, { "enter", "lifecycle" }, { "allocation", "nesting" },
}

-- Operations and seconds of the undisturbed rounds of a row (of all rounds
-- when there is no other), summed up as that program does.
local function sums(row, hz)
  local clean = { n = 0, ticks = 0 }
  local all = { n = 0, ticks = 0 }
  for _, sample in ipairs(row.samples or {}) do
    for _, sum in ipairs { all, not sample.cause and clean or nil } do
      sum.n, sum.ticks = sum.n + sample.n, sum.ticks + sample.ticks
    end
  end
  local sum = clean.n > 0 and clean or all
  return sum.n, sum.ticks / hz
end

-- name = { operations, seconds }, without rows that have no figures.
local function measured(results)
  local hz, rows = results.meta.clock.hz, {}
  for _, row in ipairs(results) do
    local n, seconds = sums(row, hz)
    if n > 0 then rows[row.workload] = { n, seconds } end
  end
  return rows
end

local function derived_lines(results)
  local rows, lines = measured(results), {}
  for _, one in ipairs(derived) do
    local title, row = one[1], rows[one[2]]
    if row and rows.call then
      local ns = derive.per_op(row[2], row[1], rows.call[2], rows.call[1])
      lines[#lines + 1] = ns > 0 and ("%s: %.1f ns"):format(title, ns)
        or title .. ": below resolution"
    end
  end
  return lines
end

local function qemu(results)
  local rows, lines = measured(results), {}
  local function add(format, row, ...)
    if row then lines[#lines + 1] = format:format(...) end
  end
  local life, nest = rows.lifecycle, rows.nesting
  local yield, call = rows.yield, rows.call
  add("Lifecycle %d iterations: %f s", life, life and life[1],
    life and life[2])
  add("Nesting %d iterations of %d depth each: %f s", nest,
    nest and nest[1] // depth, depth, nest and nest[2])
  add("Yield %d iterations: %f s", yield, yield and yield[1],
    yield and yield[2])
  add("Function call %d iterations: %f s", call, call and call[1],
    call and call[2])
  for _, line in ipairs(derived_lines(results)) do
    lines[#lines + 1] = line
  end
  return table.concat(lines, "\n") .. "\n"
end

return cbench.scenario {
  title    = "QEMU's coroutine test",
  about    = "What does a coroutine operation cost, beside a function call?",
  params   = {
    backend  = { "ucontext" },
    workload = { "call", "yield", "lifecycle", "nesting" },
  },
  columns  = { "workload", "backend" },
  workload = function (p)
    local pool = { "batch_spare", size = 64, batch = 16 }
    local parameters = {
      call      = {},
      yield     = { backend = p.backend },
      lifecycle = { backend = p.backend, pool = pool },
      nesting   = { backend = p.backend, pool = pool, depth = depth },
    }
    return workload[p.workload](parameters[p.workload])
  end,
  time     = 4,
  formats  = { qemu = qemu },
  reading  = function (results)
    return "less the call: " .. table.concat(derived_lines(results), ", ")
      .. ".\nnesting is deeper than its pool of 64, so most of its coroutines "
      .. "are really created (new)."
  end,
}
