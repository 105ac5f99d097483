--- The arithmetic by which published threads read their figures.
local import = ...
local fit = import "fit"

local derive = {}

local function number(value, name)
  if math.type(value) == nil or value ~= value then
    error(("derive: %s: number expected, got %s"):format(name,
      value ~= value and "nan" or type(value)), 3)
  end
  return value
end

local function positive(value, name)
  if number(value, name) <= 0 then
    error(("derive: %s: %s is not above 0"):format(name, tostring(value)), 3)
  end
  return value
end

--- What one operation costs without the loop around it, in nanoseconds: the
-- baseline's time, scaled to the same number of iterations, is subtracted.
-- @param seconds of the measured loop
-- @param iterations of the measured loop
-- @param baseline_seconds of the baseline's loop
-- @param baseline_iterations of the baseline's loop
function derive.per_op(seconds, iterations, baseline_seconds,
                       baseline_iterations)
  return (number(seconds, "seconds") / positive(iterations, "iterations") -
    number(baseline_seconds, "baseline_seconds") /
    positive(baseline_iterations, "baseline_iterations")) * 1e9
end

--- The share of one CPU's time that an operation of so many nanoseconds
-- takes when it is done at so many a second, as a fraction.
function derive.share(ns, rate)
  return number(ns, "ns") * number(rate, "rate") / 1e9
end

--- How many operations of so many nanoseconds one CPU can do in a second.
function derive.max_rate(ns)
  return 1e9 / positive(ns, "ns")
end

--- How much more is done after than before, as a fraction: 0.305 is +30.5 %.
-- Both are rates (operations a second); for times, swap them.
function derive.gain(before, after)
  return number(after, "after") / positive(before, "before") - 1
end

-- The samples of a record that the caller gave.
local function samples_of(row, name)
  local samples = type(row) == "table" and (rawget(row, "samples") or {})
  if type(samples) ~= "table" then
    error(("derive: %s: a record with samples expected, got %s"):format(name,
      type(row)), 3)
  end
  for i, sample in ipairs(samples) do
    for _, key in ipairs { "fork", "round", "n", "ticks" } do
      if type(sample) ~= "table" or type(sample[key]) ~= "number" then
        error(("derive: %s: sample %d has no %s"):format(name, i, key), 3)
      end
    end
  end
  return samples
end

-- By process and round: ticks per operation.
local function by_round(samples)
  local rounds = {}
  for _, sample in ipairs(samples) do
    if sample.n > 0 then
      rounds[sample.fork .. "/" .. sample.round] = sample.ticks / sample.n
    end
  end
  return rounds
end

--- What one row costs more than another of the same run, in ticks per
-- operation: the median of the differences of rounds measured side by side.
-- @param row,other records of one run
-- @return { value, low, high }, an interval across processes where there are
-- six or more; or nil when the two have no round in common
function derive.delta(row, other)
  local samples = samples_of(row, "row")
  local theirs, by_process = by_round(samples_of(other, "other")), {}
  for _, sample in ipairs(samples) do
    local pair = theirs[sample.fork .. "/" .. sample.round]
    if pair and sample.n > 0 then
      local list = by_process[sample.fork] or {}
      by_process[sample.fork] = list
      list[#list + 1] = sample.ticks / sample.n - pair
    end
  end
  local medians = {}
  for _, list in pairs(by_process) do
    medians[#medians + 1] = fit.median(list)
  end
  if #medians == 0 then return nil end
  return fit.bounded(fit.median(medians), medians)
end

local function check_record(value, what)
  local ticks = type(value) == "table" and value.ticks
  if type(value) ~= "table" or (ticks ~= nil and (type(ticks) ~= "table" or
      type(ticks.typical or 0) ~= "number")) then
    error(("derive: sum_ratio: %s: a record expected, got %s"):format(what,
      type(value)), 4)
  end
  if value.samples ~= nil then samples_of(value, what) end
end

-- A row that was stopped before its first full round has none.
local function typical(record)
  return record.ticks and record.ticks.typical
end

local function check_parts(results, parts)
  if type(results) ~= "table" or type(parts) ~= "table" then
    error("derive: sum_ratio: results and a list of parts expected", 3)
  end
  for i, part in ipairs(parts) do
    local times = type(part) == "table" and part[2]
    if type(part) ~= "table" or part[1] == nil or
        (times ~= nil and type(times) ~= "number") then
      error(("derive: sum_ratio: part %d: { name, times } expected"):format(i),
        3)
    end
    local record = results[part[1]]
    if record then check_record(record, tostring(part[1])) end
  end
end

-- The sum of the parts in ticks, in each process and typically; nil where one
-- of them has no figure.
local function sum_of(parts, results)
  local sum, by_process = 0, {}
  for i, part in ipairs(parts) do
    local record, times = results[part[1]], part[2] or 1
    if not record then
      error(("derive: sum_ratio: there is no row '%s'"):format(
        tostring(part[1])), 3)
    elseif not typical(record) then
      return nil
    end
    sum = sum + typical(record) * times
    for process, ticks in pairs(fit.by_process(record)) do
      local before = i == 1 and 0 or by_process[process]
      by_process[process] = before and before + ticks * times
    end
  end
  return sum, by_process
end

--- How many times as long a row takes as parts of it that were measured alone.
-- @param row a record
-- @param results that hold the parts
-- @param parts a list of { name of a row, how often it is part of one operation
-- (1) }
-- @return { to = "sum of parts", value, low, high } for `limit` of a scenario;
-- nil when a row has no figure. The interval is that of the processes' ratios.
function derive.sum_ratio(row, results, parts)
  check_parts(results, parts)
  check_record(row, "row")
  local sum, by_process = sum_of(parts, results)
  if not (sum and typical(row)) then return nil end
  local ratios = {}
  for process, ticks in pairs(fit.by_process(row)) do
    if by_process[process] then
      ratios[#ratios + 1] = ticks / by_process[process]
    end
  end
  local ratio = fit.bounded(typical(row) / sum, ratios)
  ratio.to = "sum of parts"
  return ratio
end

return derive
