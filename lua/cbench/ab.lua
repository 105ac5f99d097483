--- Two builds of cbench, or two plug-ins, against each other.
-- The same rows are measured by processes of both sides in the order ABBA, so
-- that a drift of the machine meets both alike. Of each process counts the
-- fast end (10th percentile) of its batches: unlike the median it does not
-- depend on how long the machine was in its slow mode. Each pair of
-- neighbouring processes gives one ratio, B over A; across the pairs stand the
-- same intervals and words as everywhere.
local import, core = ...

local measure = import "measure"
local processes = import "processes"
local results = import "results"

local ab = {}

-- A sample in a flat list: fork, round, n, ticks, wall, causes, two canaries.
local FIELDS = 8

-- Reduces the rounds of one process to one sample: the fast end, as ticks of a
-- million operations.
local function fast_sample(flat, pair)
  if #flat == 0 then return {} end
  local estimate = core.analyse({ { samples = flat } }, {})[1]
  local ticks = math.floor(estimate.fast * 1e6 + 0.5)
  return { pair, 0, 1000000, ticks, ticks, 0, flat[7], flat[8] }
end

local function append(list, flat)
  table.move(flat, 1, #flat, #list + 1, list)
end

local worse = processes.worse

-- Adds what one process of a side found to what is known of that side.
local function collect(side, raw, pair)
  for i, row in ipairs(raw.rows) do
    local sum = side[i]
    if not sum then
      sum = { samples = {}, fast = {}, status = row.status,
        reason = row.reason, idle = row.idle, rounds = 0 }
      side[i] = sum
    end
    processes.join_status(sum, row)
    sum.op, sum.n, sum.threads = row.op, row.n, row.threads
    sum.rounds = sum.rounds + #row.samples // FIELDS
    append(sum.samples, row.samples)
    append(sum.fast, fast_sample(row.samples, pair))
  end
end

-- Each side has its own functional checks, once.
local function one_process(sides, which, options, seconds, pair)
  local side = sides[which]
  local raw, message, number = processes.start(side.program, side.rows, {
    seconds = seconds, rounds = options.rounds, seed = options.seed + pair,
    fork = pair,
    guard_seconds = pair == 0 and processes.guard_seconds(seconds) or nil,
  }, side.plugin)
  if not raw then
    local row = number and side.rows[number].name .. ": " or ""
    return nil, ("%s: %s%s"):format(which, row, message)
  end
  collect(side, raw, pair)
  processes.keep_guards(side.rows, raw)
  return raw
end

-- Both of a pair share the length of the batches that the first one found.
local function measure_pairs(sides, options)
  local begun, hz = core.now(), core.clock().hz
  local function clock() return (core.now() - begun) / hz end
  local overhead, done = 0.02, 0
  for pair = 0, options.forks - 1 do
    if pair > 0 and (core.stop_signal() or clock() > options.time) then
      break
    end
    local order = pair % 2 == 0 and { "A", "B" } or { "B", "A" }
    for turn, which in ipairs(order) do
      if options.progress then
        options.progress { phase = "rounds", fork = pair + 1,
          forks = options.forks, elapsed = clock(), seconds = options.time }
      end
      local before = clock()
      local todo = 2 * (options.forks - pair) - turn + 1
      local seconds = (options.time - before) / todo - overhead
      local raw, message = one_process(sides, which, options,
        math.max(seconds, 1e-3), pair)
      if not raw then return nil, message end
      overhead = math.max(clock() - before - raw.elapsed, 1e-3)
      processes.keep_batches(sides.A.rows, raw)
      processes.keep_batches(sides.B.rows, raw)
    end
    done = pair + 1
  end
  return done, clock()
end

local function record_of(row, a, b, options, count)
  local one = { name = row.name, params = row.params, op = b.op,
    workload = row.descriptor.kind, order = row.descriptor.order,
    unit = "ticks/op", threads = b.threads, iterations = b.n,
    same_workload = true,
    forks = options.done }
  local status = worse[a.status] > worse[b.status] and a or b
  one.status, one.reason = status.status, status.reason
  if worse[one.status] > 1 then return one end
  local analysed = core.analyse({
    { samples = b.fast, reference = 2 }, { samples = a.fast },
    { samples = b.samples }, { samples = a.samples },
  }, { min_effect = (options.min_effect or 2) / 100, compared = count })
  local ratio, hz = analysed[1].ratio, core.clock().hz
  ratio.to = "A"
  one.ratio = ratio
  one.ticks = { fast = analysed[3].fast, typical = analysed[3].typical,
    p90 = analysed[3].p90, min = analysed[3].min, max = analysed[3].max }
  one.ns = {}
  for key, value in pairs(one.ticks) do one.ns[key] = value / hz * 1e9 end
  one.old = { fast = analysed[4].fast, typical = analysed[4].typical }
  one.rounds = b.rounds
  return one
end

local function columns()
  return {
    { "A fast", function (row) return row.old and row.old.fast end },
    { "B fast", function (row) return row.ticks and row.ticks.fast end },
    "ratio", "interval", "verdict",
  }
end

local function view(sides)
  local described = core.machine()
  return {
    machine = described.machine, build = described.build,
    clock = core.clock(), view = { reference = "A", columns = columns() },
    notes = { "A is " .. sides.A.name, "B is " .. sides.B.name },
    reading = "Each pair of neighbouring processes gives one ratio of the "
      .. "fast ends, B over A; above 1, B is slower.",
  }
end

--- Measures the rows of a scenario by both sides.
-- @param rows what `scenario:rows()` gives
-- @param sides { A = { program, plugin, name }, B = ... }
-- @param options time, forks (pairs of processes), rounds, seed, min_effect,
-- threads, cpus, place
-- @return results whose ratios are B over A; or nil and a sentence
function ab.run(rows, sides, options)
  local kept = {}
  sides.A.rows, sides.B.rows = {}, {}
  for _, row in ipairs(rows) do
    if not row.rides and not row.refused then
      local placed, message = measure.placed(row.descriptor, options)
      if not placed then return nil, message end
      kept[#kept + 1] = row
      for _, side in pairs(sides) do
        side.rows[#kept] = processes.row(placed, row.name)
      end
    end
  end
  if #kept == 0 then return nil, "no row can be measured" end
  options.seed = options.seed or core.now() & 0x7fffffff
  options.time = options.time or 10
  options.forks = options.forks or 10
  core.arm_signals()
  local done, elapsed = measure_pairs(sides, options)
  local signal = core.stop_signal()
  core.disarm_signals()
  if not done then return nil, elapsed end
  options.done = done
  local records = {}
  for i, row in ipairs(kept) do
    records[i] = record_of(row, sides.A[i], sides.B[i], options, #kept)
  end
  local meta = view(sides)
  meta.forks, meta.elapsed_s, meta.seed = done, elapsed, options.seed
  meta.partial, meta.signal = signal and true, signal
  meta.options = { time = options.time, forks = options.forks,
    seed = options.seed, min_effect = options.min_effect or 2 }
  return results.new(records, meta)
end

--- A side of the comparison from a word: a program, or a plug-in (.so) that
-- this program loads.
function ab.side(word)
  local file, message = io.open(word, "rb")
  if not file then return nil, message end
  local magic = file:read(4)
  file:close()
  if magic ~= "\127ELF" then
    return nil, word .. ": neither a program nor a plug-in"
  end
  if word:match "%.so$" then
    local path = word:find("/", 1, true) and word or "./" .. word
    return { program = processes.program(), plugin = path, name = word }
  end
  if not word:find("/", 1, true) then word = "./" .. word end
  return { program = word, name = word }
end

return ab
