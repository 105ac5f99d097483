--- What pictures want to know of results: which rows have figures, which
-- parameters tell them apart, how far a figure can be believed.
local import = ...
local check = import "check"
local figure = import "figure"

local data = {}

--- Whether the row has figures to draw.
function data.has_figures(record)
  local good = record.status == "ok" or record.status == "partial"
  local ticks = good and record.ticks
  return type(ticks) == "table" and type(ticks.typical) == "number" and
    ticks.typical > 0
end

--- The rows that were asked for, without those that rode along.
-- @return rows with figures, and how many have none
function data.rows(part)
  local rows, without = {}, 0
  for _, record in ipairs(part) do
    if not record.reference then
      if data.has_figures(record) then
        rows[#rows + 1] = record
      else
        without = without + 1
      end
    end
  end
  return rows, without
end

--- The unit of the rows' figures: "ticks/op".
function data.unit(rows)
  local unit
  for _, record in ipairs(rows) do
    if unit and record.unit ~= unit then return "ticks/op" end
    unit = record.unit
  end
  return type(unit) == "string" and unit or "ticks/op"
end

-- ---- parameters

local function parameter_names(part, rows)
  local view = part.meta.view
  if view and view.parameters and #view.parameters > 0 then
    return view.parameters
  end
  local seen, names = {}, {}
  for _, record in ipairs(rows) do
    local order = record.order or check.keys(record.params or {})
    for _, name in ipairs(order) do
      if not seen[name] then names[#names + 1] = name end
      seen[name] = true
    end
  end
  return names
end

local function values_of(rows, name)
  local list, seen = {}, {}
  for _, record in ipairs(rows) do
    local value = (record.params or {})[name]
    local key = value ~= nil and figure.value(value)
    if key and not seen[key] then
      seen[key] = true
      list[#list + 1] = value
    end
  end
  return list
end

local function all_numbers(list)
  for _, value in ipairs(list) do
    if type(value) ~= "number" then return false end
  end
  return #list > 0
end

--- The parameters that differ between the rows, in the table's order: a list
-- of { name, values, numeric }.
function data.varying(part, rows)
  local list = {}
  for _, name in ipairs(parameter_names(part, rows)) do
    local values = values_of(rows, name)
    if #values > 1 then
      list[#list + 1] = { name = name, values = values,
                          numeric = all_numbers(values) }
    end
  end
  return list
end

--- What tells a row apart: the values of the parameters named, or its name.
function data.label(record, parameters)
  local words = {}
  for _, parameter in ipairs(parameters) do
    local value = (record.params or {})[parameter.name]
    if value ~= nil then
      local text = figure.value(value)
      words[#words + 1] = parameter.numeric and
        parameter.name .. "=" .. text or text
    end
  end
  return #words > 0 and table.concat(words, " ") or record.name
end

-- ---- figures of single processes

--- Sorts, and gives the value in the middle.
function data.median(values)
  table.sort(values)
  local n = #values
  if n == 0 then return nil end
  return (values[(n + 1) // 2] + values[n // 2 + 1]) / 2
end

--- The value below which so large a share of the sorted values lie.
function data.quantile(sorted, share)
  local at = 1 + share * (#sorted - 1)
  local low = math.floor(at)
  local high = math.min(low + 1, #sorted)
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low)
end

local function is_round(sample)
  local n, ticks = sample.n, sample.ticks
  return type(n) == "number" and n > 0 and type(ticks) == "number" and
    ticks > 0 and math.type(sample.fork) == "integer"
end

local function read_forks(samples)
  local list, by_fork = {}, {}
  for _, sample in ipairs(samples) do
    if is_round(sample) then
      local one = by_fork[sample.fork]
      if not one then
        one = { fork = sample.fork, rounds = {} }
        by_fork[sample.fork] = one
        list[#list + 1] = one
      end
      one.rounds[#one.rounds + 1] = sample
    end
  end
  table.sort(list, function (a, b) return a.fork < b.fork end)
  return list
end

-- Several pictures ask for the same rounds.
local known_forks = setmetatable({}, { __mode = "k" })

--- The rounds of a row by process: a list of { fork, rounds }, a round being a
-- sample { n, ticks, cause, round }. It is shared: not to be changed.
function data.forks(record)
  local samples = record.samples
  if not samples then return {} end
  known_forks[samples] = known_forks[samples] or read_forks(samples)
  return known_forks[samples]
end

--- What an operation of the round took.
function data.cost(round)
  return round.ticks / round.n
end

-- Costs of a process' rounds: of clean ones, of those that only a slow host
-- disturbed, and of all others.
local function sort_out(rounds)
  local clean, slow, other = {}, {}, {}
  for _, round in ipairs(rounds) do
    local cause = round.cause
    local list = not cause and clean or cause == "host-slow" and slow or other
    list[#list + 1] = round.ticks / round.n
  end
  return { clean = clean, slow = slow, other = other }
end

local function pool(sorted, which)
  local all = {}
  for _, one in ipairs(sorted) do
    table.move(one[which], 1, #one[which], #all + 1, all)
  end
  return all
end

-- The estimator's rule: rounds of a slow host count as clean unless the
-- operation itself is slower in them.
local few, felt = 5, 1.05

local function feels_host(sorted)
  local slow = pool(sorted, "slow")
  if #slow < few then return false end
  local clean = pool(sorted, "clean")
  if #clean == 0 then return false end
  local fast = #clean < few and data.range(clean) or data.median(clean)
  return data.median(slow) > felt * fast
end

-- A process that had no clean round speaks by all that it had.
local function median_of(one, felt_by_it)
  local list = one.clean
  local function add(more) table.move(more, 1, #more, #list + 1, list) end
  if not felt_by_it then add(one.slow) end
  if #list == 0 then
    add(one.slow)
    add(one.other)
  end
  return data.median(list)
end

local function medians(forks)
  local sorted, list = {}, {}
  for i, one in ipairs(forks) do sorted[i] = sort_out(one.rounds) end
  local felt_by_it = feels_host(sorted)
  for i, one in ipairs(sorted) do list[i] = median_of(one, felt_by_it) end
  table.sort(list)
  return list
end

-- How far in from both ends one may go among n values and still have the
-- median between with 95 %.
local function order_statistic(n)
  local tail, term, k = 0, 0.5 ^ n, 0
  repeat
    k = k + 1
    tail = tail + term
    term = term * (n - k + 1) / k
  until 1 - 2 * (tail + term) < 0.95
  return k
end

local function spread(record)
  local list = medians(data.forks(record))
  local n = #list
  if n >= 8 then
    local k = order_statistic(n)
    return list[k], list[n + 1 - k], "order"
  elseif n >= 3 then
    return list[1], list[n], "range"
  end
  local ticks = record.ticks
  return ticks.fast or ticks.min or ticks.typical, ticks.p90 or ticks.typical,
    "rounds"
end

--- An interval of the row's typical cost: between order statistics of its
-- processes' medians, from all of them where they are fewer than eight; without
-- processes from the fast end of its rounds to the ninth tenth. It always holds
-- the typical cost itself, which speaks for all clean rounds together and can
-- lie beyond when processes had unequal numbers of those.
-- @return low, high and what it is
function data.interval(record)
  local low, high, kind = spread(record)
  local typical = record.ticks.typical
  return math.min(low, typical), math.max(high, typical), kind
end

local interval_words = {
  order = "bars: 95 % interval over the processes' medians",
  range = "bars: from the lowest to the highest median of a process",
  rounds = "bars: from the fast to the 90 % round",
}

--- What the bars of a picture are.
-- @param kinds set of third results of `data.interval`
function data.interval_words(kinds)
  for _, kind in ipairs { "rounds", "range", "order" } do
    if kinds[kind] then return interval_words[kind] end
  end
end

-- ---- keys and axes

--- What a key of these entries needs to be given room.
function data.key(labels)
  local longest = 4
  for _, label in ipairs(labels) do
    longest = math.max(longest, utf8.len(label) or #label)
  end
  return { longest = math.min(longest, 40), entries = #labels }
end

--- Whether a logarithmic axis serves the positive values better.
function data.wants_log(low, high)
  return low > 0 and high / low >= 20
end

--- Smallest and largest number of a list.
function data.range(values)
  local low, high = math.huge, -math.huge
  for _, value in ipairs(values) do
    low, high = math.min(low, value), math.max(high, value)
  end
  return low, high
end

--- "3 rows have no figure and are not shown", or nothing.
function data.without_words(count)
  if count == 0 then return "" end
  return count == 1 and ". One row has no figure and is not shown" or
    (". %d rows have no figure and are not shown"):format(count)
end

return data
