--- Joining the results of many runs into one document.
--
-- Rows go from the files into the document as they come; what stays in memory
-- is which rows there were. Nothing is lost silently: what is missing, stands
-- twice or was cut is said in sentences, on the way and in the document.
local import, core = ...
local document = import "document"
local gather = import "gather"

local merge = {}

-- A size beyond this is no size; the list of who is missing stays bounded.
local most_ranks = 100000

-- What a row came out as, so that copies can be told from other rows of the
-- same name.
local function outcome_of(row)
  return table.concat({ row:raw "status" or "", row:raw "ticks" or "",
                        row:raw "ratio" or "" }, "\0")
end

local Merger = {}
Merger.__index = Merger

-- ---- runs, hosts, ranks

local function host_of(run)
  local machine = type(run.machine) == "table" and run.machine or {}
  local host = run.host or machine.host
  return type(host) == "string" and host or "unknown host"
end

local function print_of(run, group)
  local facts = type(run[group]) == "table" and run[group] or {}
  return tostring(facts.fingerprint or "unknown")
end

-- What is known of a run (a launch of all ranks).
function Merger:launch(run)
  local name = tostring(run.run or "unknown")
  local launch = self.launches[name]
  if not launch then
    launch = { name = name, ranks = {}, order = {} }
    self.launches[name] = launch
    self.launch_order[#self.launch_order + 1] = launch
  end
  return launch
end

function Merger:host(run)
  local name = host_of(run)
  local host = self.hosts[name]
  if not host then
    host = { host = name, machine = print_of(run, "machine"),
             build = print_of(run, "build"), rows = 0 }
    self.hosts[name] = host
    self.host_order[#self.host_order + 1] = host
  end
  return host
end

-- The rank that a run's rows come from, or nil. A rank that comes from two
-- hosts is none.
function Merger:rank(run, path)
  local rank = math.tointeger(run.rank)
  local launch, host = self:launch(run), host_of(run)
  if not rank then return nil end
  launch.size = math.max(launch.size or 0,
    math.min(math.tointeger(run.size) or 0, most_ranks))
  local known = launch.ranks[rank]
  if not known then
    known = { rank = rank, host = host, path = path, rows = 0 }
    launch.ranks[rank] = known
    launch.order[#launch.order + 1] = known
  elseif known.host ~= host and not known.twice then
    known.twice = true
    self:say(("rank %d of run %s comes from two hosts: %s (%s) and %s (%s)")
      :format(rank, launch.name, known.host, known.path, host, path))
  end
  return known
end

-- ---- rows

-- Where the rows of a run were measured, as members of each.
local function place_text(run)
  local parts = {}
  for i, key in ipairs { "run", "rank" } do
    parts[i] = run[key] ~= nil and
      (',"%s":%s'):format(key, core.json_encode(run[key])) or ""
  end
  return ('%s,"host":%s}'):format(table.concat(parts),
    core.json_encode(host_of(run)))
end

-- What the rows of one run in one file have in common.
function Merger:group(pending, run, path)
  local group = pending[run]
  if not group then
    group = { run = run, rows = {}, host = self:host(run),
      rank = self:rank(run, path), tail = place_text(run),
      key = table.concat({ tostring(run.run), host_of(run),
        tostring(run.rank), tostring(run.scenario), tostring(run.started) },
        "\0") }
    pending[run] = group
    pending[#pending + 1] = group
  end
  return group
end

-- "copy" for a row that stands in the document already, "twice" for another of
-- the same name, nil for a new one.
function Merger:repeats(group, row, path)
  local seen = self.seen[group.key]
  if not seen then
    seen = { outcomes = {}, paths = {} }
    self.seen[group.key] = seen
  end
  local name = row:raw "name"
  local known = seen.outcomes[name]
  if not known then
    seen.outcomes[name], seen.paths[name] = outcome_of(row), path
    return nil
  end
  return known == outcome_of(row) and "copy" or "twice", seen.paths[name]
end

function Merger:count_repeat(kind, path, other, run)
  local key = kind .. "\0" .. path .. "\0" .. other
  local list = self.repeated
  if not list[key] then
    list[key] = { kind = kind, path = path, other = other, count = 0,
                  run = run }
    list[#list + 1] = list[key]
  end
  list[key].count = list[key].count + 1
end

-- Rows of one run stay together: they are one table of the document.
function Merger:add(pending, row, run, text, path)
  local group = self:group(pending, run, path)
  local kind, other = self:repeats(group, row, path)
  if kind then self:count_repeat(kind, path, other, run) end
  if kind == "copy" then return end
  if kind then
    text = text .. ',"duplicate":true'
  elseif group.rank then
    group.rank.rows = group.rank.rows + 1
  end
  group.host.rows = group.host.rows + 1
  group.rows[#group.rows + 1] = "{" .. text .. group.tail
end

function Merger:flush_group(group)
  local text = table.concat(group.rows, ",\n")
  if self.rows > 0 then text = ",\n" .. text end
  local good, message = self.file:write(text)
  if not good then return nil, message end
  self.rows = self.rows + #group.rows
  group.run.rows = #group.rows
  self.tables[#self.tables + 1] = group.run
  return true
end

function Merger:flush(pending)
  for _, group in ipairs(pending) do
    if #group.rows > 0 then
      local good, message = self:flush_group(group)
      if not good then return nil, message end
    end
  end
  return true
end

function Merger:read(path)
  local pending = {}
  local done, message = gather.read(path, function (row, run, text)
    self:add(pending, row, run, text, path)
  end, function (sentence) self:say(sentence) end)
  if not done then
    self.unread = self.unread + 1
    self:say(message)
  end
  return self:flush(pending)
end

-- ---- what is to be said

function Merger:say(sentence)
  self.notes[#self.notes + 1] = sentence
end

local function plural(count, one, many)
  return count == 1 and "1 " .. one or ("%d %s"):format(count, many)
end

-- "ranks 1, 4-7, 12" of a sorted list.
local function ranks_text(ranks)
  local words, first = {}, 1
  for i, rank in ipairs(ranks) do
    if ranks[i + 1] ~= rank + 1 then
      words[#words + 1] = first == i and tostring(rank) or
        ("%d-%d"):format(ranks[first], rank)
      first = i + 1
    end
  end
  return (#ranks == 1 and "rank " or "ranks ") .. table.concat(words, ", ")
end

function Merger:say_repeats()
  for _, one in ipairs(self.repeated) do
    local where = one.other == one.path and "above in it" or
      "in " .. one.other
    if one.kind == "copy" then
      self:say(("%s: %s also %s; taken once"):format(one.path,
        plural(one.count, "row stands", "rows stand"), where))
    else
      self:say(("%s: rank %s of run %s: %s the names of others %s and other "
        .. "figures; kept, marked as duplicates"):format(one.path,
        tostring(one.run.rank or "?"), tostring(one.run.run or "?"),
        plural(one.count, "row has", "rows have"), where))
    end
  end
end

local function missing_ranks(launch)
  local missing = {}
  for rank = 0, (launch.size or 0) - 1 do
    if not launch.ranks[rank] then missing[#missing + 1] = rank end
  end
  return missing
end

-- Ranks with fewer rows than others did not come to their end.
function Merger:say_short(launch)
  local most = 0
  for _, rank in ipairs(launch.order) do most = math.max(most, rank.rows) end
  for _, rank in ipairs(launch.order) do
    if rank.rows < most then
      self:say(("rank %d of run %s (%s) has %d of the %d rows that others "
        .. "have"):format(rank.rank, launch.name, rank.host, rank.rows, most))
    end
  end
end

function Merger:say_crowded(launch)
  local on, hosts = {}, {}
  for _, rank in ipairs(launch.order) do
    if not on[rank.host] then hosts[#hosts + 1] = rank.host end
    on[rank.host] = (on[rank.host] or 0) + 1
  end
  for _, host in ipairs(hosts) do
    if on[host] > 1 then
      self:say(("%d ranks of run %s shared the host %s: that tests the "
        .. "plumbing, not performance"):format(on[host], launch.name, host))
    end
  end
end

function Merger:say_launches()
  for _, launch in ipairs(self.launch_order) do
    launch.missing = missing_ranks(launch)
    if #launch.missing > 0 then
      self.incomplete = true
      self:say(("%d of %d ranks of run %s %s missing: %s"):format(
        #launch.missing, launch.size, launch.name,
        #launch.missing == 1 and "is" or "are", ranks_text(launch.missing)))
    end
    self:say_short(launch)
    self:say_crowded(launch)
  end
end

-- Sentences about hosts that are not like the first.
function Merger:say_hosts()
  local first = self.host_order[1]
  local builds, machines = {}, {}
  for _, host in ipairs(self.host_order) do
    if host.build ~= first.build then builds[#builds + 1] = host.host end
    if host.machine ~= first.machine then
      machines[#machines + 1] = host.host
    end
  end
  if #builds > 0 then
    self:say(("not the build of %s: %s"):format(first.host,
      table.concat(builds, ", ")))
  end
  if #machines > 0 then
    self:say(("not the kind of machine of %s: %s; their times are not to be "
      .. "pooled, ratios are"):format(first.host,
      table.concat(machines, ", ")))
  end
end

-- ---- the document

function Merger:about()
  local launches = {}
  for i, launch in ipairs(self.launch_order) do
    table.sort(launch.order, function (a, b) return a.rank < b.rank end)
    local ranks = core.json_array {}
    for k, rank in ipairs(launch.order) do
      ranks[k] = { rank = rank.rank, host = rank.host, rows = rank.rows }
    end
    launches[i] = { run = launch.name, size = launch.size, ranks = ranks,
                    missing = core.json_array(launch.missing) }
  end
  return { rows = self.rows, runs = core.json_array(launches),
           hosts = core.json_array(self.host_order),
           notes = core.json_array(self.notes) }
end

local function title_of(tables)
  local title = tables[1] and tables[1].title
  for _, run in ipairs(tables) do
    if run.title ~= title then return ("%d runs"):format(#tables) end
  end
  return title
end

function Merger:finish()
  local tables = core.json_array(self.tables)
  local tail = { '"title": ' .. core.json_encode(title_of(tables) or
    "Merged results") }
  for i, run in ipairs(tables) do tables[i] = document.encode(run) end
  tail[2] = '"partial": ' .. tostring(self.incomplete)
  tail[3] = '"tables": [\n' .. table.concat(tables, ",\n") .. "\n]"
  tail[4] = '"merge": ' .. core.json_encode(self:about())
  local good, message = self.file:write("\n],\n" .. table.concat(tail, ",\n")
    .. "\n}\n")
  if not good then return nil, message end
  return self.file:commit()
end

local function new_merger(file)
  return setmetatable({
    file = file, rows = 0, tables = {}, notes = {}, seen = {}, repeated = {},
    launches = {}, launch_order = {}, hosts = {}, host_order = {},
    unread = 0, incomplete = false,
  }, Merger)
end

local function join(paths, output)
  local self = new_merger(output)
  local good, message = output:write(('{\n"schema": "%s",\n"merged": true,\n'
    .. '"results": [\n'):format(document.schema))
  for _, path in ipairs(paths) do
    if not good then return nil, message end
    good, message = self:read(path)
  end
  if not good then return nil, message end
  if self.rows == 0 then
    self:say "there is no row in the files"
    return nil, self.notes
  end
  self:say_repeats()
  self:say_launches()
  self:say_hosts()
  good, message = self:finish()
  if not good then return nil, message end
  return { rows = self.rows, notes = self.notes, unread = self.unread,
           incomplete = self.incomplete, hosts = self.host_order,
           runs = self.launch_order }
end

--- Joins files of results.
-- @param paths of the files
-- @param output an open `core.output`; it is committed
-- @return a table { rows, notes = sentences, unread = files that could not be
-- read, incomplete = ranks are missing, hosts, runs }; nil and a sentence; or
-- nil and a list of sentences when no file has a row
function merge.files(paths, output)
  -- There is memory; most of what is collected early would not be garbage.
  local pause = collectgarbage("setpause", 400)
  local joined, message = join(paths, output)
  collectgarbage("setpause", pause)
  return joined, message
end

return merge
