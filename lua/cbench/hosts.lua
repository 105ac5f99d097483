--- Comparing hosts: is it so on every machine?
--
-- Each host measured how its rows stand to their reference, side by side in
-- the same rounds; these ratios can be pooled, times of different machines
-- never. A host is to the pool what a process is to a host: each gives one
-- value, and from the values comes the interval, by the same rule. So two
-- hosts decide nothing, and one that went astray among ten widens nothing; it
-- is named instead.
local import, core = ...
local figure = import "figure"
local gather = import "gather"
local results = import "results"

local hosts = {}

-- ---- reading

local Reader = {}
Reader.__index = Reader

local function host_of(run)
  local machine = type(run.machine) == "table" and run.machine or {}
  return type(run.host) == "string" and run.host or
    type(machine.host) == "string" and machine.host or "unknown host"
end

local function fact(run, group, name)
  local facts = type(run[group]) == "table" and run[group] or {}
  return type(facts[name]) ~= "table" and facts[name] or nil
end

function Reader:host(run)
  local name = host_of(run)
  local host = self.hosts[name]
  if not host then
    host = { name = name, machine = fact(run, "machine", "fingerprint"),
             cpu = fact(run, "machine", "cpu"),
             build = fact(run, "build", "fingerprint"),
             version = fact(run, "build", "version") }
    self.hosts[name] = host
    self.host_order[#self.host_order + 1] = host
  end
  return host
end

function Reader:entry(row, run)
  local key = tostring(run.scenario) .. "\0" .. row:raw "name"
  local entry = self.rows[key]
  if not entry then
    entry = { name = row:value "name", params = row:value "params",
              op = row:value "op", unit = row:value "unit",
              order = row:value "order", workload = row:value "workload",
              same_workload = row:value "same_workload", values = {},
              by_host = {} }
    self.rows[key] = entry
    self.row_order[#self.row_order + 1] = entry
  end
  return entry
end

local function numbers(list, ...)
  for _, key in ipairs { ... } do
    if type(list[key]) ~= "number" or list[key] <= 0 then return false end
  end
  return true
end

local function is_ratio(ratio)
  return type(ratio) == "table" and type(ratio.to) == "string"
    and numbers(ratio, "value")
end

-- What one rank says of one row; rows compared to themselves say nothing.
function Reader:visit(row, run)
  if row:raw "reference" == "true" then return end
  self.title = self.title or run.title
  self.options = self.options or run.options
  local host, entry = self:host(run), self:entry(row, run)
  local status, ratio = row:value "status", row:value "ratio"
  entry.reason = entry.reason or row:value "reason"
  if row:raw "duplicate" or (status ~= "ok" and status ~= "partial") or
      not is_ratio(ratio) then
    return
  end
  if ratio.to == entry.name then
    entry.is_reference = true
    return
  end
  entry.to = entry.to or ratio.to
  if entry.to ~= ratio.to then return end
  local own = entry.by_host[host.name]
  if not own then
    own = { host = host, ranks = {} }
    entry.by_host[host.name] = own
    entry.values[#entry.values + 1] = own
  end
  ratio.ticks = (row:value "ticks" or {}).typical
  own.ranks[#own.ranks + 1] = ratio
end

-- ---- one host's say

local function median(values)
  table.sort(values)
  local n = #values
  return (values[(n + 1) // 2] + values[n // 2 + 1]) / 2
end

-- Several ranks on one host are one host: the median of what they say, and an
-- interval that holds all of theirs.
local function pool_ranks(own)
  local logs, ticks = {}, {}
  for i, ratio in ipairs(own.ranks) do
    logs[i] = math.log(ratio.value)
    if type(ratio.ticks) == "number" then ticks[#ticks + 1] = ratio.ticks end
    if numbers(ratio, "low", "high") then
      own.low = math.min(own.low or ratio.low, ratio.low)
      own.high = math.max(own.high or ratio.high, ratio.high)
    end
  end
  own.log = median(logs)
  own.value = math.exp(own.log)
  own.ticks = #ticks > 0 and median(ticks) or nil
end

-- Without intervals of their own two values are as far apart as they are.
local function overlap(a, b)
  return (a.low or a.value) <= (b.high or b.value) and
    (b.low or b.value) <= (a.high or a.value)
end

-- A host disagrees when no other is near: farther from each than the smallest
-- effect that counts, its interval touching none of theirs.
local function disagrees(values, i, effect)
  for k, other in ipairs(values) do
    local distance = math.abs(values[i].log - other.log)
    if k ~= i and (distance <= math.log(1 + effect) or
        overlap(values[i], other)) then
      return false
    end
  end
  return #values > 1
end

local function find_dissent(values, effect)
  local list = {}
  for i, own in ipairs(values) do
    if disagrees(values, i, effect) then list[#list + 1] = own end
  end
  return list
end

-- ---- all hosts together

-- Enough for an integer to hold a ratio with nine digits.
local scale = 1000000000

local few = {
  ["one process"] = "one host", ["two processes"] = "two hosts",
  ["no rounds in common"] = "no host",
}

-- The hosts' values as rounds: what the estimator does over processes it does
-- over hosts.
local function pool(values, options)
  local own, reference = {}, {}
  for i, one in ipairs(values) do
    local sample = { i, 1, scale, math.tointeger(
      math.floor(one.value * scale + 0.5)), 0, 0, 0, 0 }
    table.move(sample, 1, 8, #own + 1, own)
    table.move({ i, 1, scale, scale, 0, 0, 0, 0 }, 1, 8, #reference + 1,
      reference)
  end
  local ratio = core.analyse({ { samples = own, reference = 2 },
    { samples = reference } }, { min_effect = options.effect,
    compared = options.compared })[1].ratio
  return { value = ratio.value, low = ratio.low, high = ratio.high,
           level = ratio.level, verdict = ratio.verdict,
           reason = few[ratio.reason] or ratio.reason }
end

-- Times are pooled where machine and build are the same everywhere.
local function pool_ticks(values)
  local ticks, first = {}, values[1].host
  for i, own in ipairs(values) do
    if own.host.machine ~= first.machine or own.host.build ~= first.build or
        not first.machine or not own.ticks then
      return nil
    end
    ticks[i] = own.ticks
  end
  return median(ticks)
end

local function dissent_words(values, dissent)
  if #dissent == 0 then return "none" end
  if #values == 2 then return "both" end
  if #dissent == #values then return "all" end
  local names = {}
  for i, own in ipairs(dissent) do names[i] = own.host.name end
  return table.concat(names, ", ")
end

local function record_of(entry, options)
  local record = { name = entry.name, params = entry.params, op = entry.op,
    unit = entry.unit, order = entry.order, workload = entry.workload,
    same_workload = entry.same_workload }
  if #entry.values == 0 then
    record.status = "n/a"
    record.reason = type(entry.reason) == "string" and entry.reason or
      "no host has a ratio of it"
    return record
  end
  for _, own in ipairs(entry.values) do pool_ranks(own) end
  table.sort(entry.values, function (a, b) return a.log < b.log end)
  record.status = "ok"
  record.ratio = pool(entry.values, options)
  record.ratio.to = entry.to
  local ticks = pool_ticks(entry.values)
  record.ticks = ticks and { typical = ticks }
  local dissent = find_dissent(entry.values, options.effect)
  record.disagrees = dissent_words(entry.values, dissent)
  record.dissent, record.hosts = {}, {}
  for i, own in ipairs(dissent) do record.dissent[i] = own.host.name end
  core.json_array(record.dissent)
  for i, own in ipairs(entry.values) do
    record.hosts[i] = { host = own.host.name, ranks = #own.ranks,
      value = own.value, low = own.low, high = own.high, ticks = own.ticks }
  end
  return record
end

-- ---- in words

local function value_words(one)
  return ("%s %s"):format(one.host, figure.significant(one.value))
end

local function extreme(which)
  return function (row)
    local list = row.hosts
    return list and value_words(list[which == "lowest" and 1 or #list]) or nil
  end
end

local function columns(any_ticks, count)
  local list = { { "hosts", function (row)
    return row.hosts and ("%d of %d"):format(#row.hosts, count)
  end } }
  if any_ticks then list[2] = "typical" end
  return table.move({
    "ratio", "interval", "verdict", { "lowest", extreme "lowest" },
    { "highest", extreme "highest" },
    { "disagrees", function (row) return row.disagrees end },
  }, 1, 6, #list + 1, list)
end

-- Hosts by a fact, in sentences when they differ in it.
local function differing(list, key, shown)
  local groups, order = {}, {}
  for _, host in ipairs(list) do
    local value = tostring(host[key] or "unknown")
    if not groups[value] then
      groups[value] = { shown = tostring(host[shown] or "unknown") }
      order[#order + 1] = groups[value]
    end
    table.insert(groups[value], host.name)
  end
  if #order < 2 then return nil end
  for i, group in ipairs(order) do
    order[i] = ("%s (%s)"):format(table.concat(group, ", "), group.shown)
  end
  return table.concat(order, "; ")
end

local function dissent_note(records)
  local counts, order = {}, {}
  for _, record in ipairs(records) do
    for _, name in ipairs(record.dissent or {}) do
      if not counts[name] then order[#order + 1] = name end
      counts[name] = (counts[name] or 0) + 1
    end
  end
  if #order == 0 then return nil end
  for i, name in ipairs(order) do
    order[i] = ("%s in %d of %d rows"):format(name, counts[name], #records)
  end
  return "disagree with the others: " .. table.concat(order, ", ")
end

local function notes_of(list, records)
  local notes = {}
  local builds = differing(list, "build", "version")
  if builds then
    notes[#notes + 1] = "hosts with different builds: " .. builds
  end
  local machines = differing(list, "machine", "cpu")
  if machines then
    notes[#notes + 1] = ("machines of different kinds, so no times are "
      .. "pooled: %s"):format(machines)
  end
  notes[#notes + 1] = dissent_note(records)
  return notes
end

local function options_of(self, given)
  local run = type(self.options) == "table" and self.options or {}
  local percent = given.min_effect or tonumber(run.min_effect) or 2
  local compared = 0
  for _, entry in ipairs(self.row_order) do
    if #entry.values > 0 then compared = compared + 1 end
  end
  return { effect = percent / 100, compared = math.max(compared, 1) }
end

-- The parameters that all rows have; else rows go by their names.
local function parameters_of(records)
  local order = records[1].order
  if type(order) ~= "table" then return nil end
  for _, record in ipairs(records) do
    for _, name in ipairs(order) do
      if type(name) ~= "string" or (record.params or {})[name] == nil then
        return nil
      end
    end
    if record.workload ~= records[1].workload then return nil end
  end
  return order
end

--- Compares the hosts in files of results.
-- @param paths of files, merged or not
-- @param given `min_effect` in per cent
-- @param say function that is given sentences about what was left out
-- @return results, a row for each row of the files; or nil and a sentence
function hosts.compare(paths, given, say)
  local self = setmetatable({ hosts = {}, host_order = {}, rows = {},
    row_order = {} }, Reader)
  for _, path in ipairs(paths) do
    local good, message = gather.read(path, function (row, run)
      self:visit(row, run)
    end, say)
    if not good then return nil, message end
  end
  local records, any_ticks, options = {}, false, options_of(self, given)
  for _, entry in ipairs(self.row_order) do
    if not (entry.is_reference and #entry.values == 0) then
      local record = record_of(entry, options)
      records[#records + 1] = record
      any_ticks = any_ticks or record.ticks ~= nil
    end
  end
  if #records == 0 then return nil, "there is no row in the files" end
  return results.new(records, {
    title = ("%s, by host"):format(self.title or "Results"),
    notes = notes_of(self.host_order, records),
    view = { columns = columns(any_ticks, #self.host_order),
             parameters = parameters_of(records) },
    options = { min_effect = options.effect * 100 },
    reading = "ratio and interval are over the hosts, each by its own ratio; "
      .. "a host disagrees when it is near to no other.",
  })
end

return hosts
