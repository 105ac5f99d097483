-- The pools of QEMU's coroutines in the order of their history, on the
-- operation that their authors measured.
local cbench = require "cbench"
local derive = cbench.derive

local designs = { "mutex", "release", "release_stash", "batch", "batch_spare" }

local before = {}
for i, design in ipairs(designs) do before[design] = designs[i - 1] end

-- Of the row, operations and seconds of all its undisturbed rounds (of all
-- rounds when there is no other). Threads work at the same time.
local function sums(row, hz)
  local clean = { n = 0, ticks = 0 }
  local all = { n = 0, ticks = 0 }
  for _, sample in ipairs(row.samples or {}) do
    for _, sum in ipairs { all, not sample.cause and clean or nil } do
      sum.n, sum.ticks = sum.n + sample.n, sum.ticks + sample.ticks
    end
  end
  local sum = clean.n > 0 and clean or all
  return sum.n, sum.ticks / hz / (row.threads or 1)
end

-- What the row does more than the row before it in the same table.
local function gain(row)
  local ratio = row.ratio
  if not ratio or not before[row.params.pool] or ratio.to == row.name then
    return nil
  end
  return ("%+.1f %%"):format(derive.gain(ratio.value, 1) * 100)
end

local function heading(row)
  local threads, prefill = row.params.threads, row.params.prefill
  return ("%s, back end %s, %s:"):format(
    threads == 1 and "1 thread" or threads .. " threads", row.params.backend,
    prefill == 0 and "no prefill" or "prefill " .. prefill)
end

-- The line of test-coroutine, and what that is to the line above.
local function line_of(row, n, seconds, rate)
  local line = ("%-14sRun operation %d iterations %f s, %dK operations/s, "
    .. "%d ns per coroutine"):format(row.params.pool, n, seconds,
    n // seconds // 1000, seconds * row.threads * 1e9 // n)
  if not rate then return line end
  return ("%s (%+.1f %%)"):format(line, derive.gain(rate, n / seconds) * 100)
end

local function qemu(results)
  local hz, lines, last, rate = results.meta.clock.hz, {}, nil, nil
  for _, row in ipairs(results) do
    local n, seconds = sums(row, hz)
    if n > 0 and not row.reference then
      local head = heading(row)
      if head ~= last then
        lines[#lines + 1] = head
        last, rate = head, nil
      end
      lines[#lines + 1] = line_of(row, n, seconds, rate)
      rate = n / seconds
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return cbench.scenario {
  title     = "Pools of coroutines, by date",
  about     = "What did each design of QEMU's coroutine pool gain over the one "
    .. "before?",
  params    = {
    backend = { "ucontext" },
    threads = { 1, 2 },
    prefill = { 0, 300 },
    pool    = designs,
  },
  workload  = cbench.workload.request,
  reference = function (p)
    return before[p.pool] and { pool = before[p.pool] } or false
  end,
  columns   = { "backend", "threads", "prefill", "pool", "ns", "per_second",
                { "gain", gain }, "interval", "verdict", "new" },
  time      = 12,
  formats   = { qemu = qemu },
  reading   = "gain = operations a second more than with the design in the row "
    .. "above, from QEMU's pool until 2014 (mutex) by its patches 1 to 6 of "
    .. "that year (release), all 7 (release_stash) and its design of 2024 "
    .. "(batch) to ours. The stash is used only while the release list is full, "
    .. "so prefill = coroutines that each thread has given to the pool before.",
}
