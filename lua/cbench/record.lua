--- Result records: what a row of the table is made of.
-- The shape is in the manual. A record holds no figures unless its status is
-- "ok" or "partial".
local import, core = ...

local record = {}

local FIELDS = 8 -- integers of a sample in a flat list
-- With less overlap than this the threads hardly met, and the fast end of
-- their batches is the uncontended cost.
local OVERLAP = 0.8

local cause_names = { "preempted", "migrated", "stolen", "throttled",
  "host-slow" }

local function causes_text(bits)
  local names = {}
  for i, name in ipairs(cause_names) do
    if bits & (1 << (i - 1)) ~= 0 then names[#names + 1] = name end
  end
  return #names > 0 and table.concat(names, "+") or nil
end

local function sample_list(flat)
  local samples = {}
  for at = 1, #flat, FIELDS do
    samples[#samples + 1] = {
      fork = flat[at], round = flat[at + 1], n = flat[at + 2],
      ticks = flat[at + 3], cause = causes_text(flat[at + 5]),
    }
  end
  return samples
end

local function ticks_of(estimate, row)
  local ticks = { fast = estimate.fast, typical = estimate.typical,
    p90 = estimate.p90, min = estimate.min, max = estimate.max }
  if row.threads > 1 and row.overlap and row.overlap < OVERLAP then
    ticks.fast = nil
  end
  return ticks
end

local function in_nanoseconds(ticks, hz)
  local ns = {}
  for key, value in pairs(ticks) do ns[key] = value / hz * 1e9 end
  return ns
end

local function counters_of(row)
  local counters = {}
  for _, counter in ipairs(row.counters) do
    counters[counter.name] = counter.value
  end
  return counters
end

-- Percentiles of all processes together, in nanoseconds: of an open loop, from
-- the moment at which each operation was due.
local function latency_of(row, hz)
  if not row.latencies then return nil end
  local latency = core.percentiles(row.latencies)
  if latency.count == 0 then return nil end
  for key, ticks in pairs(latency) do
    if key ~= "count" then latency[key] = ticks / hz * 1e9 end
  end
  latency.unit = "ns"
  return latency
end

-- A row has figures only when what guards it has held.
local function checks_of(row)
  local checks = { { name = "proof", held = row.checked } }
  for name in (row.guards or ""):gmatch "%S+" do
    checks[#checks + 1] = { name = name, held = true }
  end
  return checks
end

local function noise_of(estimate)
  local causes = {}
  for name, share in pairs(estimate.shares) do
    if share > 0 then causes[name] = share end
  end
  return { verdict = estimate.noise, disturbed = estimate.disturbed,
    causes = causes }
end

-- `fast` is the quotient of the two fast figures: it says nothing by itself,
-- but two runs in different modes of the machine agree on it best.
local function ratio_of(estimate, other, to, own)
  if own then return { to = to, value = 1, fast = 1 } end
  local ratio = estimate.ratio
  if not ratio or not ratio.value then return nil end
  return { to = to, value = ratio.value, low = ratio.low, high = ratio.high,
    level = ratio.level, verdict = ratio.verdict, reason = ratio.reason,
    spread = ratio.spread,
    fast = estimate.fast and other.fast and estimate.fast / other.fast }
end

local function figures(into, row, estimate, hz)
  into.ticks = ticks_of(estimate, row)
  into.ns = in_nanoseconds(into.ticks, hz)
  into.per_second = estimate.per_second
  into.below_resolution = estimate.below_resolution or nil
  into.rounds = estimate.rounds
  into.noise = noise_of(estimate)
end

local function base(descriptor, name)
  local params = {}
  for _, key in ipairs(descriptor.order) do
    params[key] = descriptor.params[key]
  end
  return { name = name, workload = descriptor.kind, params = params,
    order = descriptor.order, unit = "ticks/op", cpus = descriptor.cpus,
    place = descriptor.place }
end

local function measured(into, row, estimate, hz)
  into.status, into.reason = row.status, row.reason
  into.op, into.threads = row.op, row.threads
  into.iterations, into.forks = row.n, row.forks
  into.interpreter = row.interpreter or nil
  into.own_n = row.own_n or nil
  if row.status ~= "ok" and row.status ~= "partial" then return end
  -- The time was up before its first batch: there is nothing to estimate.
  if #row.samples == 0 then return end
  figures(into, row, estimate, hz)
  into.counters = counters_of(row)
  into.latency = latency_of(row, hz)
  into.checks = checks_of(row)
  into.roles = row.threads > 1 and row.roles or nil
  into.overlap = row.threads > 1 and row.overlap or nil
  into.samples = sample_list(row.samples)
end

-- ---- the run as a whole

local function noise_of_run(records)
  local sums, count, worst, void = {}, 0, "ok", 0
  for _, one in ipairs(records) do
    if one.noise then
      count = count + 1
      if one.noise.verdict ~= "ok" then worst = "noisy" end
      if one.noise.verdict == "void" then void = void + 1 end
      for name, share in pairs(one.noise.causes) do
        sums[name] = (sums[name] or 0) + share
      end
      sums.disturbed = (sums.disturbed or 0) + (one.noise.disturbed or 0)
    end
  end
  local causes = {}
  for name, sum in pairs(sums) do causes[name] = sum / count end
  local disturbed = causes.disturbed or 0
  causes.disturbed = nil
  if count > 0 and void == count then worst = "void" end
  return { verdict = worst, causes = causes, disturbed = disturbed }
end

local function notes_of(work, raw, analysed)
  local notes = {}
  local own = {}
  for i, row in ipairs(work.rows) do
    local found = raw.rows[i]
    if found and found.own_n and #found.samples > 0 then
      own[#own + 1] = work.names[i]
    end
    local ratio = analysed[i] and analysed[i].ratio
    if row and ratio and ratio.rogue then
      notes[#notes + 1] = ("%s: process %d lies %.1f %% from the others")
        :format(work.names[i], ratio.rogue + 1, (ratio.farthest - 1) * 100)
    end
  end
  if #own > 0 then
    notes[#notes + 1] = "batches of their own length: "
      .. table.concat(own, ", ")
  end
  return notes
end

local function analyse(work, raw, options)
  local rows, compared = {}, 0
  for i = 1, #work.rows do
    local found = raw.rows[i]
    local usable = found and (found.status == "ok" or found.status == "partial")
    local to = work.references[i]
    local other = to and to ~= i and raw.rows[to]
    if usable and other and (other.status == "ok" or other.status == "partial")
    then
      compared = compared + 1
    else
      to = nil
    end
    rows[i] = { samples = usable and found.samples or {}, reference = to }
  end
  return core.analyse(rows, {
    min_effect = (options.min_effect or 2) / 100, compared = compared })
end

-- By a signal, or for lack of time.
local function is_partial(raw, records)
  if raw.signal then return true end
  for _, one in ipairs(records) do
    if one.status == "partial" then return true end
  end
  return nil
end

local function meta_of(work, raw, records, notes)
  local described = core.machine()
  local state, before = described.state, raw.before
  state.load_before, state.stolen_before_s = before.load, before.stolen_s
  return {
    machine = described.machine, build = described.build,
    state = state, clock = core.clock(), seed = raw.seed,
    started = os.date("!%Y-%m-%dT%H:%M:%SZ", raw.started),
    elapsed_s = raw.elapsed, stopped_by = raw.stopped_by, forks = raw.forks,
    rounds = raw.rounds,
    signal = raw.signal, noise = noise_of_run(records), notes = notes,
    options = { time = raw.options.time, rounds = raw.options.rounds,
      forks = raw.options.forks, seed = raw.seed,
      min_effect = raw.options.min_effect or 2 },
    damaged = raw.damaged or nil, count = work.count,
  }
end

--- Records of the rows asked for, and a table about the run; its field
-- `references` holds the records of rows that rode along.
function record.build(work, raw)
  local hz = core.clock().hz
  local analysed = analyse(work, raw, raw.options)
  local records, references, all = {}, {}, {}
  for i, row in ipairs(work.rows) do
    local one = base(row, work.names[i])
    if work.refused[i] then
      one.status, one.reason = "n/a", work.refused[i]
    else
      raw.rows[i].forks = raw.forks
      measured(one, raw.rows[i], analysed[i], hz)
      local to = work.references[i]
      if one.ticks and to then
        one.ratio = ratio_of(analysed[i], analysed[to], work.names[to],
          to == i)
        one.same_workload = work.rows[to].kind == row.kind or nil
      end
      one.stopped_by = raw.stopped_by
      if raw.signal and one.status == "ok" then one.status = "partial" end
    end
    local list = i <= work.count and records or references
    list[#list + 1] = one
    all[i] = one
  end
  local meta = meta_of(work, raw, records, notes_of(work, raw, analysed))
  meta.references, meta.partial = references, is_partial(raw, all)
  return records, meta
end

-- ---- a record on its own, as `cbench.measure(workload)` returns it

local record_meta = { __name = "cbench.result" }

function record_meta:__tostring()
  return tostring(import("results").new({ self }, self.meta and self:meta()))
end

--- The record with a metatable that prints it as a table of one row.
function record.object(one, meta)
  return setmetatable(one, {
    __name = record_meta.__name,
    __index = { meta = function () return meta end },
    __tostring = record_meta.__tostring,
  })
end

return record
