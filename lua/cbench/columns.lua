--- What the columns of a table are, whatever it is written as.
--
-- A column: { key, title, group, kind, get }. get(record) is the raw value or
-- nil; kind says how people read it: param, text, figure, rate, ratio, share
-- or interval. Raw values go to csv as they are; `cell` makes text of them.
local import = ...
local check = import "check"
local figure = import "figure"

local columns = {}

--- With roles that ran beside each other for less than this, the fastest
-- rounds are those in which they did not meet, and the row is marked.
columns.enough_overlap = 0.8
local enough_overlap = columns.enough_overlap

-- Fields of a record in which a path can start.
local roots = {
  "name", "status", "reason", "op", "params", "threads", "unit", "ticks", "ns",
  "per_second", "ratio", "iterations", "rounds", "forks", "stopped_by",
  "counters", "checks", "noise", "interpreter", "derived", "limit",
  "workload", "overlap", "latency",
}

-- Short names for what most tables show.
local words = {
  typical = "ticks.typical", fast = "ticks.fast", p90 = "ticks.p90",
  min = "ticks.min", max = "ticks.max", ns = "ns.typical",
  ratio = "ratio.value", to = "ratio.to", interval = "interval",
  verdict = "verdict", new = "counters.new", limit = "limit.value",
  state = "limit.state",
  p50 = "latency.p50", p99 = "latency.p99", p999 = "latency.p999",
  ["max latency"] = "latency.max",
}

local titles = {
  ["ns.typical"] = "typical", ["ratio.value"] = "ratio",
  ["ratio.to"] = "compared to", ["per_second"] = "all",
  ["counters.completed_in"] = "in done",
  ["counters.completed_out"] = "out done",
  ["limit.value"] = "limit", ["limit.state"] = "state",
  ["latency.p999"] = "p99.9",
}

local kinds = {
  ["ratio.value"] = "ratio", ["ratio.low"] = "ratio", ["ratio.high"] = "ratio",
  ["limit.value"] = "ratio", ["counters.new"] = "share", interval = "interval",
  ["counters.completed_in"] = "share", ["counters.completed_out"] = "share",
  overlap = "share", per_second = "rate", name = "param", workload = "param",
  ["ratio.level"] = "share",
}

--- Checks the list that a script gave.
-- @return nil, or a sentence
function columns.check(list)
  for i, column in ipairs(list or {}) do
    if type(column) == "table" then
      if type(column[1]) ~= "string" or type(column[2]) ~= "function" then
        return ("columns: element %d: { title, function } expected"):format(i)
      elseif not utf8.len(column[1]) or column[1]:find "%z" then
        return ("columns: element %d: its title is not UTF-8"):format(i)
      end
    elseif type(column) ~= "string" then
      return ("columns: element %d: a name or { title, function } expected, " ..
        "got %s"):format(i, type(column))
    end
  end
end

-- ---- values

-- The least of its roles; a single thread has nothing to overlap with.
local function overlap(record)
  if record.threads == 1 then return nil end
  local least = record.overlap
  for _, role in ipairs(record.roles or {}) do
    local one = role.overlap
    if one and (not least or one < least) then least = one end
  end
  return least
end

local function follow(record, path)
  local value = record
  for part in path:gmatch("[^.]+") do
    if type(value) ~= "table" then return nil end
    local number = math.tointeger(tonumber(part))
    value = value[part] == nil and number and value[number] or value[part]
  end
  return value
end

local specials = {
  ["ratio.value"] = function (record)
    if record.reference and record.status == "ok" then return 1 end
    return record.ratio and record.ratio.value
  end,
  overlap = overlap,
  interval = function (record)
    local ratio = record.ratio
    if ratio and ratio.low and ratio.high then
      return { ratio.low, ratio.high }
    end
    return nil
  end,
  verdict = function (record)
    local ratio = record.ratio
    if not (ratio and record.same_workload) then return nil end
    if ratio.to == record.name then return "(reference)" end
    if not ratio.verdict then return nil end
    -- An interval speaks for itself; a reason is why there is none.
    if not ratio.reason or ratio.low then return ratio.verdict end
    return ("%s (%s)"):format(ratio.verdict, ratio.reason)
  end,
  ["limit.value"] = function (record)
    local limit = record.limit
    if not (limit and limit.lowest) then return limit and limit.value end
    return figure.interval(limit.lowest, limit.value)
  end,
  ["ticks.fast"] = function (record)
    if (overlap(record) or 1) < enough_overlap then return nil end
    return record.ticks and record.ticks.fast
  end,
}

-- ---- one column

local function unit_of(records)
  local unit
  for _, record in ipairs(records) do
    if record.unit and not record.reference then
      local one = record.unit:match("([^/]+)$")
      if unit and unit ~= one then return "op" end
      unit = one
    end
  end
  return unit or "op"
end

local function group_of(path, context)
  local root = path:match("^%w+")
  if root == "ticks" then return "ticks/" .. context.unit end
  if root == "ns" then return "ns/" .. context.unit end
  if root == "latency" then return "ns latency" end
  if path == "ratio.value" then return "x " .. context.reference end
end

local function title_of(path)
  return titles[path] or path:match("([^.]+)$")
end

local function path_column(path, context)
  local kind = kinds[path]
  return {
    key = path, title = title_of(path), kind = kind or "figure",
    group = group_of(path, context),
    get = specials[path] or function (record)
      return follow(record, path)
    end,
  }
end

local function param_column(name)
  return {
    key = name, title = name, kind = "param",
    get = function (record)
      local value = (record.params or {})[name]
      if value == nil then value = record[name] end
      return value
    end,
  }
end

local function derived_column(spec, context)
  local title, compute = spec[1], spec[2]
  return {
    key = title, title = title, kind = "figure",
    get = function (record)
      local value = (record.derived or {})[title]
      if value ~= nil or not compute then return value end
      local ok, result = pcall(compute, record, context.results)
      return ok and result or nil
    end,
  }
end

local function named_column(name, context)
  if context.is_param[name] then return param_column(name) end
  local path = words[name] or name
  if specials[path] or path:find(".", 1, true) then
    return path_column(path, context)
  end
  for _, root in ipairs(roots) do
    if path == root then return path_column(path, context) end
  end
  return path_column("counters." .. name, context)
end

-- What some roots hold, where that is known without a run.
local inside = {
  ticks = { "typical", "fast", "p90", "min", "max" },
  ratio = { "value", "low", "high", "level", "to", "verdict", "reason", "fast",
            "spread" },
  limit = { "value", "lowest", "state" },
  noise = { "verdict", "disturbed", "causes" },
  latency = { "count", "min", "p50", "p90", "p99", "p999", "max", "unit" },
}
inside.ns = inside.ticks

--- All names that a column can have, but for counters.
-- @param parameters names of the parameters there are
function columns.names(parameters)
  local known = table.move(parameters, 1, #parameters, 1, {})
  table.move(roots, 1, #roots, #known + 1, known)
  for _, word in ipairs(check.keys(words)) do known[#known + 1] = word end
  return known
end

--- Why a column cannot have this name, or nil. A single word that is neither a
-- parameter nor a field may be a counter, which only a run knows.
-- @param name of a column
-- @param parameters names of the parameters there are
function columns.refuse_name(name, parameters)
  local first, second = name:match "^([^.]*)%.?([^.]*)"
  local known = columns.names(parameters)
  if name:find(".", 1, true) and not words[name] then
    local found = specials[name] ~= nil
    for _, one in ipairs(known) do found = found or one == first end
    if not found then
      return ("column '%s': %s"):format(name,
        check.unknown("field", first, known))
    end
  end
  for _, one in ipairs(second ~= "" and inside[first] or {}) do
    if one == second then return nil end
  end
  if second == "" or not inside[first] then return nil end
  return ("column '%s': %s"):format(name,
    check.unknown("field of " .. first, second, inside[first]))
end

--- The column of a path into the record, outside of any table.
function columns.field(path)
  return path_column(path, { unit = "op", reference = "call" })
end

--- Paths of all counters that the records have, by the alphabet.
function columns.counters(results)
  local seen = {}
  for _, record in ipairs(results) do
    for name in pairs(record.counters or {}) do
      seen["counters." .. name] = true
    end
  end
  return check.keys(seen)
end

-- ---- the columns of some results

local function any(records, get)
  for _, record in ipairs(records) do
    if get(record) ~= nil then return true end
  end
  return false
end

-- Whether a row is compared to another one of the same kind of work: only then
-- can it be called faster or slower.
local function same_work(record)
  local ratio = record.ratio
  return record.same_workload and ratio and ratio.to ~= record.name or nil
end

-- The name after the "x" over the ratios, and whether it differs by row.
local function reference_of(results, view)
  local name
  for _, record in ipairs(results) do
    local to = record.ratio and record.ratio.to
    if to and not record.reference and to ~= record.name then
      if name and name ~= to then
        return view.reference or "reference", not view.reference
      end
      name = to
    end
  end
  return view.reference or name or "call", false
end

local function default_keys(results, context)
  local function has(path)
    return any(results, path_column(path, context).get)
  end
  local keys = { "ticks.typical" }
  local function add(path, condition)
    if condition then keys[#keys + 1] = path end
  end
  add("ticks.fast", has "ticks.fast")
  add("ns.typical", has "ns.typical")
  add("counters.cycles", has "counters.cycles")
  add("counters.instructions", has "counters.instructions")
  add("per_second", any(results, function (record)
    return (record.threads or 1) > 1 or record.latency ~= nil or nil
  end))
  for _, name in ipairs { "p50", "p99", "p999", "max" } do
    add("latency." .. name, has "latency.p50")
  end
  add("overlap", any(results, overlap))
  add("counters.completed_in", has "counters.completed_in")
  add("counters.completed_out", has "counters.completed_out")
  add("ratio.value", has "ratio.value")
  add("ratio.to", context.many_references)
  add("interval", has "interval")
  add("verdict", any(results, same_work))
  add("counters.new", has "counters.new")
  add("limit.value", has "limit.value")
  add("limit.state", has "limit.state")
  return keys
end

-- Parameters to show: those of the view, or the row's name.
local function parameters_of(results, view)
  if view.parameters and #view.parameters > 0 then return view.parameters end
  return #results > 0 and { "name" } or {}
end

local function make_context(results, view)
  local parameters = parameters_of(results, view)
  local context = {
    results = results, parameters = parameters, is_param = {},
    unit = unit_of(results),
  }
  for _, name in ipairs(parameters) do context.is_param[name] = true end
  context.reference, context.many_references = reference_of(results, view)
  return context
end

-- The columns that a script wants. When it names parameters only, it is their
-- order that it wants, and the figures are the usual ones.
local function chosen(view, context)
  local list, figures = {}, false
  for _, spec in ipairs(view.columns or {}) do
    if type(spec) == "table" then
      list[#list + 1] = derived_column(spec, context)
    else
      list[#list + 1] = named_column(spec, context)
    end
    figures = figures or list[#list].kind ~= "param"
  end
  context.figures_chosen = figures
  if not figures then
    for _, key in ipairs(default_keys(context.results, context)) do
      list[#list + 1] = path_column(key, context)
    end
  end
  return list
end

--- The columns of some results.
-- @param results the results of one scenario
-- @param options `columns` in place of those of the scenario
-- @return a list of columns, those parameters first that are not named among
-- them; and { parameters, is_param, reference, figures_chosen, ... }
function columns.of(results, options)
  local view = {}
  for key, value in pairs(results.meta.view or {}) do view[key] = value end
  for key, value in pairs(options or {}) do view[key] = value end
  local context = make_context(results, view)
  local list, named = {}, {}
  local others = chosen(view, context)
  for _, column in ipairs(others) do named[column.key] = true end
  for _, name in ipairs(context.parameters) do
    if not named[name] then list[#list + 1] = param_column(name) end
  end
  table.move(others, 1, #others, #list + 1, list)
  return list, context
end

-- Computes one column; a sentence when that failed in a row with figures.
local function derive(spec, results)
  local failed, message = 0, nil
  for _, record in ipairs(results) do
    local ok, value = pcall(spec[2], record, results)
    if ok and value ~= nil then
      record.derived = record.derived or {}
      record.derived[spec[1]] = value
    elseif not ok and record.status == "ok" and not record.reference then
      message = message or ("column '%s', row '%s': %s"):format(spec[1],
        record.name, tostring(value))
      failed = failed + 1
    end
  end
  if failed < 2 then return message end
  return ("%s (and %d more row%s)"):format(message, failed - 1,
    failed == 2 and "" or "s")
end

-- Fields that only a run knows.
local open_roots = { counters = true, params = true, derived = true }

-- May a row do without it?
local function is_known(name, context)
  if context.is_param[name] or words[name] or specials[name] then
    return true
  end
  local first = name:match "^[^.]*"
  for _, root in ipairs(roots) do
    if root == first then return not open_roots[first] end
  end
  return false
end

-- Why a name gives nothing in any row: there may be a counter of that name,
-- which is known only when the rows were measured. nil when all is well, or
-- when there is no row to tell by.
local function missing(name, all, context)
  if is_known(name, context) then return nil end
  local column, measured = named_column(name, context), false
  for _, record in ipairs(all) do
    if column.get(record) ~= nil then return nil end
    measured = measured or record.counters ~= nil
  end
  if not measured then return nil end
  local names = columns.names(context.parameters)
  for _, key in ipairs(columns.counters(all)) do
    names[#names + 1] = key:match "^counters%.(.*)"
  end
  return ("column '%s': no row has it%s"):format(name,
    check.hint((name:gsub("^counters%.", "")), names))
end

-- Why a column is none in every one of the tables, or nil.
local function refuse(name, parts)
  local message
  for _, part in ipairs(parts) do
    local context = make_context(part, part.meta.view or {})
    message = columns.refuse_name(name, context.parameters) or
      missing(name, part, context)
    if not message then return nil end
  end
  return message
end

--- Why one of the columns wanted of these results is none, or nil.
-- @param results all that is shown
-- @param list of names and { title, function }, or nil
function columns.refuse(results, list)
  local parts = list and import("results").parts(results)
  for _, name in ipairs(list or {}) do
    local message = type(name) == "string" and refuse(name, parts)
    if message then return message end
  end
end

--- Computes the columns that are functions, once and for all formats.
-- @return sentences about columns that failed, or that no row has
function columns.derive(results)
  local view, said = results.meta.view or {}, {}
  local all = import("results").whole(results)
  local context = make_context(all, view)
  for _, spec in ipairs(view.columns or {}) do
    if type(spec) == "table" then
      said[#said + 1] = derive(spec, results)
    else
      said[#said + 1] = missing(spec, all, context)
    end
  end
  return said
end

-- ---- cells

local writers = {
  param = figure.value,
  figure = function (value)
    if type(value) ~= "number" then return figure.value(value) end
    return figure.significant(value)
  end,
  ratio = figure.ratio,
  share = figure.share,
  rate = figure.significant,
  interval = function (value) return figure.interval(value[1], value[2]) end,
}

-- Which columns share a unit: all of time, all of rates.
local function family(column)
  if column.key:find("^ns%.") then return "time" end
  if column.key:find("^latency%.") then return "latency" end
  return column.kind == "rate" and "rate" or nil
end

local function values_of(list, records, wanted)
  local values = {}
  for _, column in ipairs(list) do
    for _, record in ipairs(family(column) == wanted and records or {}) do
      local value = column.get(record)
      if type(value) == "number" and not record.reference then
        values[#values + 1] = value
      end
    end
  end
  return values
end

--- Chooses the unit of columns of time and of rates, so that their cells are
-- short and keep three digits: sets `scale` and completes the group.
function columns.set_units(list, records)
  local time, time_scale = figure.time_unit(values_of(list, records, "time"))
  local late, late_scale = figure.time_unit(values_of(list, records, "latency"))
  local prefix, rate_scale =
    figure.rate_unit(values_of(list, records, "rate"))
  for _, column in ipairs(list) do
    local its = family(column)
    if its == "time" then
      column.group = column.group:gsub("^ns", time)
      column.scale = time_scale
    elseif its == "latency" then
      column.group = column.group:gsub("^ns", late)
      column.scale = late_scale
    elseif its == "rate" then
      column.group = prefix .. "op/s"
      column.scale = rate_scale
    end
  end
end

--- Threads that hardly met: half of what they did they did alone.
function columns.is_marked(key, value)
  return key == "overlap" and value < enough_overlap
end

--- The cell's text for people.
function columns.cell(column, record)
  local value = column.get(record)
  if value == nil then return "" end
  if type(value) ~= "number" and column.kind ~= "param" and
      column.kind ~= "interval" then
    return figure.value(value)
  end
  if column.kind == "figure" and column.group and
      (value <= 0 or record.below_resolution) then
    return "<res"
  end
  if column.scale then value = value / column.scale end
  local text = writers[column.kind](value)
  return columns.is_marked(column.key, value) and "! " .. text or text
end

return columns
