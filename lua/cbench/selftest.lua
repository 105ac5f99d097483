--- `cbench selftest`: can this machine's figures be trusted?
-- Known answers, the same work against itself, and what measuring costs. Each
-- line says what was measured and what was expected of it.
local import, core = ...

local figure = import "figure"
local measure = import "measure"
local workload = import "workload"

local selftest = {}

-- What the rows are, and which row each is compared to.
local function describe()
  local make = workload.constructors
  local list = {
    make.chain { adds = 1000 }, make.chain { adds = 2000 },
    make.throughput { adds = 1000 }, make.throughput { adds = 2000 },
    make.call {}, make.call { name = "call again" },
    make.atomic {}, make.atomic { name = "atomic again" },
    make.chain { adds = 1000, name = "chain again" },
  }
  return list, { 1, 1, 3, 3, 5, 5, 7, 7, 1 }
end

local function interval(ratio)
  return ratio.low and figure.interval(ratio.low, ratio.high)
    or "no interval"
end

local function known_answer(row, what)
  local ratio = row.ratio
  local good = ratio.value >= 1.99 and ratio.value <= 2.01
  return { what, ("2000 adds take %s times as long as 1000 (%s)"):format(
    figure.significant(ratio.value, 4), interval(ratio)),
    "1.99 to 2.01", good }
end

local function same_again(row, what)
  local ratio = row.ratio
  local good = ratio.verdict ~= "faster" and ratio.verdict ~= "slower"
  return { "A/A", ("%s against itself: %s (%s)"):format(what, ratio.verdict,
    interval(ratio)), "not faster, not slower", good }
end

local function clock_line(clock)
  local ns = clock.cost / clock.hz * 1e9
  return { "clock", ("%s, %s (%s); a pair of reads around nothing costs %s "
    .. "ticks, %s ns"):format(clock.source, figure.frequency(clock.hz),
    clock.basis, figure.significant(clock.cost), figure.significant(ns)),
    "at most 1000 ns", ns <= 1000 }
end

-- In a batch stand two reads of the clock and n operations, nothing else.
local function harness_line(clock, row)
  local ns = clock.cost / clock.hz * 1e9 / row.iterations
  return { "harness", ("%s ns an operation of `call` (%d in a batch)"):format(
    figure.significant(ns), row.iterations), "at most 0.1 ns", ns <= 0.1 }
end

local function noise_line(meta)
  local parts = {}
  for name, share in pairs(meta.noise.causes) do
    parts[#parts + 1] = ("%s %s"):format(name, figure.share(share))
  end
  table.sort(parts)
  local causes = #parts > 0 and " (" .. table.concat(parts, ", ") .. ")" or ""
  return { "canary", ("noise: %s%s"):format(meta.noise.verdict, causes),
    "not void", meta.noise.verdict ~= "void" }
end

local function counters_line()
  local events = core.perf and core.perf() or
    { reason = "this build has none" }
  if events.available then
    return { "counters", table.concat(events.names, ", "), "", true }
  end
  return { "counters", "none: " .. events.reason, "", true }
end

local function failed_rows(records)
  local lines = {}
  for _, row in ipairs(records) do
    if row.status ~= "ok" or not row.ratio then
      lines[#lines + 1] = { row.name, ("%s: %s"):format(row.status,
        row.reason or "not compared"), "ok", false }
    end
  end
  return lines
end

--- Measures. Returns the lines { what, found, expected, good } and the run's
-- meta, or nil and a sentence.
-- @param options time (5 seconds), forks (10), seed, progress
function selftest.run(options)
  local list, references = describe()
  local records, meta = measure.run(list, {
    time = options.time or 5, forks = options.forks or 10,
    seed = options.seed, progress = options.progress, reference = references,
  })
  if not records then return nil, meta end
  local lines = failed_rows(records)
  if #lines > 0 then return lines, meta end
  local clock = core.clock()
  return {
    clock_line(clock), harness_line(clock, records[5]),
    known_answer(records[2], "chain"), known_answer(records[4], "throughput"),
    same_again(records[6], "call"), same_again(records[8], "atomic"),
    same_again(records[9], "chain"), noise_line(meta), counters_line(),
  }, meta
end

--- The lines as a text, and whether all is well.
function selftest.text(lines)
  local out, good = {}, true
  for i, line in ipairs(lines) do
    local expected = line[3] ~= "" and (" [%s]"):format(line[3]) or ""
    out[i] = ("%-11s %-4s  %s%s"):format(line[1], line[4] and "ok" or "FAIL",
      line[2], expected)
    good = good and line[4]
  end
  return table.concat(out, "\n") .. "\n", good
end

return selftest
