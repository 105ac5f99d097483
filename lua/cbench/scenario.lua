--- Scenarios: a question, the parameters it sweeps over and the work that
-- answers it.
local import, core = ...
local blame = import "blame"
local check = import "check"
local columns = import "columns"
local fit = import "fit"
local fleet = import "fleet"
local measure = import "measure"
local params = import "params"
local results = import "results"
local rows = import "rows"
local text = import "text"
local workload = import "workload"

local scenario = {}
local methods = {}
local metatable = { __name = "cbench.scenario", __index = methods }

-- What the object was made of, out of the way of its methods.
local definitions = setmetatable({}, { __mode = "k" })

local function definition_of(self)
  local definition = definitions[self]
  if definition then return definition end
  error(("scenario expected, got %s (a method wants ':')"):format(type(self)),
    3)
end

-- ---- the definition

local fields = {
  title = "string", about = "string", name = "string", params = "table",
  workload = "function|table", where = "function",
  reference = "table|string|function", columns = "table", across = "string",
  reading = "string|function", formats = "table", setup = "function",
  teardown = "function", fit = "string", limit = "function|number|table",
  time = "number", forks = "number", rounds = "number", roles = "boolean",
  min_effect = "number",
}

local function check_formats(formats)
  for name, writer in pairs(formats or {}) do
    if type(name) ~= "string" or type(writer) ~= "function" then
      return "formats: a name and a function of the results expected"
    end
  end
end

-- A list of descriptors, or something to call with parameters.
local function check_workload(definition)
  local work = definition.workload
  if work == nil then return "workload: missing" end
  if type(work) == "function" then return nil end
  if workload.is(work) then definition.workload = { work } end
  for i, descriptor in ipairs(definition.workload) do
    if not workload.is(descriptor) then
      return ("workload: element %d is a %s and no workload"):format(i,
        type(descriptor))
    end
  end
  if #definition.workload == 0 then return "workload: the list is empty" end
  if next(definition.params) then
    return "params: a list of workloads takes none; use a function of p"
  end
end

local function check_names(definition)
  local names = check.keys(definition.params)
  for _, key in ipairs { "across", "fit" } do
    local name = definition[key]
    if name and not definition.params[name] then
      return key .. ": " .. check.unknown("parameter", name, names)
    end
  end
  if type(definition.reference) == "table" and
      not workload.is(definition.reference) then
    for name in pairs(definition.reference) do
      if next(definition.params) and not definition.params[name] then
        return "reference: " .. check.unknown("parameter", name, names)
      end
    end
  end
end

-- Names of what rows may differ in.
local function parameter_names(definition)
  local names = check.keys(definition.params)
  for _, descriptor in ipairs(type(definition.workload) == "table" and
      definition.workload or {}) do
    local own = check.keys(descriptor.params)
    table.move(own, 1, #own, #names + 1, names)
  end
  return names
end

local function check_columns(definition)
  local message = columns.check(definition.columns)
  if message then return message end
  local names = parameter_names(definition)
  for _, column in ipairs(definition.columns or {}) do
    message = type(column) == "string" and columns.refuse_name(column, names)
    if message then return "columns: " .. message end
  end
end

-- Why a bound is none, or nil.
local function refuse_bound(bound)
  if type(bound) == "number" then return nil end
  if type(bound) == "table" and type(bound[1]) == "number" and
      type(bound[2]) == "number" then
    return nil
  end
  local shown = type(bound) == "table" and "a table without two numbers" or
    ("the %s '%s'"):format(type(bound), tostring(bound))
  return "a ratio or { lowest, highest } expected, got " .. shown
end

local function check_limit(definition)
  local limit = definition.limit
  if limit == nil or type(limit) == "function" then return nil end
  local message = refuse_bound(limit)
  return message and "limit: " .. message
end

-- Checks everything that can be checked without making a row.
local function prepare(given)
  local definition = {}
  for key, value in pairs(given) do definition[key] = value end
  local message = check.fields(definition, fields, "field")
  if message then return nil, message end
  if not definition.title then return nil, "title: missing" end
  definition.params, message = params.check(definition.params or {})
  message = message or check_workload(definition) or
    check_names(definition) or check_columns(definition) or
    check_limit(definition) or check_formats(definition.formats)
  if message then return nil, message end
  return definition
end

--- Describes a scenario, or gives a shipped one by its name.
-- @param given the description, a table; or a name, a string
-- @return an object with `:run` and `:rows`
function scenario.scenario(given)
  if type(given) == "string" then return scenario.shipped(given) end
  if type(given) ~= "table" then
    blame.caller(("scenario: table or name expected, got %s"):format(
      type(given)), scenario.opening)
  end
  local definition, message = prepare(given)
  if not definition then
    blame.caller("scenario: " .. message, scenario.opening)
  end
  local self = setmetatable({}, metatable)
  definitions[self] = definition
  self.title, self.about = definition.title, definition.about
  self.name, self.time = definition.name, definition.time
  return self
end

function metatable:__tostring()
  return ("cbench.scenario (%s)"):format(self.name or self.title)
end

-- ---- what a file gives

--- Whether the value is a scenario.
function scenario.is(value)
  return getmetatable(value) == metatable
end

--- The checked parameters of a scenario: name = list of values or function.
function scenario.values(self)
  return definitions[self].params
end

-- The scenarios that a file returned, those of lists among them one by one.
local function flatten(value)
  local group = import "group"
  local list = {}
  for key, one in pairs(value) do
    if key == "title" or key == "about" then
      if type(one) ~= "string" then return nil end
    elseif math.type(key) ~= "integer" or
        not (scenario.is(one) or group.is(one)) then
      return nil
    end
  end
  for _, one in ipairs(value) do
    for _, part in ipairs(group.is(one) and one.list or { one }) do
      list[#list + 1] = part
    end
  end
  return list
end

--- What a file returned as one object with `:run`, `:rows`, `:params` and
-- `:parse`: a scenario, or a list of them with a title of its own or none.
-- @param value what the file returned
-- @param name what a scenario without a name is called
-- @return the object, or nil when it is nothing of the kind
function scenario.of(value, name)
  local group = import "group"
  local list = (scenario.is(value) or group.is(value)) and { value } or value
  if type(list) ~= "table" or getmetatable(list) or #list == 0 then
    return nil
  end
  local whole = group.is(value) and value or list
  local title, about = whole.title, whole.about
  list = flatten(list)
  if not list then return nil end
  for _, one in ipairs(list) do one.name = one.name or name end
  if #list == 1 and not title and not about then return list[1] end
  return group.new(list, name, title, about)
end

--- A shipped scenario by its name.
function scenario.shipped(name)
  local source, file = core.scenario_text(name)
  if not source then
    error("scenario: " .. check.unknown("scenario", name,
      core.scenario_names()), 3)
  end
  local value = assert(load(source, "@" .. file, "t"))()
  return scenario.of(value, name) or
    error(("scenario: '%s' returns none"):format(name), 3)
end

--- Reads words like "depth=10,100" of a command line.
-- @param words a list of texts
-- @return a table for `:run`; or nil and a sentence
function methods:parse(words)
  return params.parse_all(words, definition_of(self).params)
end

--- The parameters of a scenario: a list of { name, values } in the order of
-- its columns; the values of a computed one are "computed".
function methods:params()
  local definition = definition_of(self)
  local list = {}
  -- A list of descriptors has no parameters to be put in order.
  if not next(definition.params) then return list end
  for _, name in ipairs(rows.order(definition, definition.params)) do
    list[#list + 1] = {
      name = name, values = params.list(definition.params[name]),
    }
  end
  return list
end

--- The scenario's own formats: name = function, or nil.
function methods:formats()
  return definition_of(self).formats
end

-- ---- rows

-- `threads` and `place` with several values sweep like parameters.
-- @return the parameters and the names of those added
local function with_placement(checked, options)
  local new, names = {}, {}
  for name, values in pairs(checked) do new[name] = values end
  for _, name in ipairs { "threads", "place" } do
    local value = options[name]
    if type(value) == "table" and #value > 1 then
      new[name] = value
      names[#names + 1] = name
    end
  end
  return new, names
end

-- Why the options of rows and run, or their filter, are none; or nil.
local function complaint(options)
  if type(options) ~= "table" then
    return ("options: table expected, got %s"):format(type(options))
  end
  local filter = options.filter or {}
  for _, part in ipairs(type(filter) == "table" and filter or { filter }) do
    if type(part) ~= "string" then
      return ("option 'filter': string expected, got %s"):format(type(part))
    end
  end
end

local function build(self, given, options)
  local definition = definition_of(self)
  local wrong = complaint(options)
  if wrong then error("scenario: " .. wrong, 3) end
  local checked, message = params.override(definition.params, given or {})
  if not checked then error("scenario: " .. message, 3) end
  local filter = options.filter or {}
  if type(filter) == "string" then filter = { filter } end
  local placement
  checked, placement = with_placement(checked, options)
  return rows.build(definition, checked, placement, filter)
end

--- How many rows are measured when nothing else is asked for.
-- @param one a scenario, or a list of them as `of` gives it
function scenario.count(one)
  local group, count = import "group", 0
  for _, part in ipairs(group.is(one) and one.list or { one }) do
    for _, row in ipairs(build(part, {}, {}) or {}) do
      if not row.rides then count = count + 1 end
    end
  end
  return count
end

-- Why a row cannot be measured, or nil.
local function refusal(row)
  local good, reason = workload.check(row.descriptor)
  if not good then return reason or "not possible here" end
end

--- The rows that `:run` would measure.
-- @param given values that replace the scenario's own, { depth = { 10, 100 } }
-- @param options the same as for `:run`; `filter` counts
-- @return a list of { name, params, descriptor, refused, rides, reference }
-- in the order of the table (rides: measured for the sake of others only);
-- nil and a sentence when no row is left
function methods:rows(given, options)
  local list, message, reason = build(self, given, options or {})
  if not list then
    if reason ~= "filter" then error("scenario: " .. message, 2) end
    return nil, message
  end
  local plain = {}
  for i, row in ipairs(list) do
    plain[i] = {
      name = row.name, params = row.p, descriptor = row.descriptor,
      refused = refusal(row), rides = row.rides,
      reference = row.reference and row.reference.name,
    }
  end
  return plain
end

-- ---- a run

-- Options that are the scenario's business; all others are measure's.
local own_options = { filter = true, command = true }

-- @return options, or nil and a sentence
local function measure_options(definition, options)
  local new = {}
  for _, key in ipairs { "time", "forks", "rounds", "min_effect" } do
    new[key] = definition[key]
  end
  for key, value in pairs(options) do
    if not own_options[key] then new[key] = value end
  end
  for _, key in ipairs { "threads", "place" } do
    if type(new[key]) == "table" then
      new[key] = #new[key] == 1 and new[key][1] or nil
    end
  end
  new.forks = new.forks or 10
  return measure.check_options(new)
end

-- Records in the order of the rows and what is true of the run, or nil and a
-- sentence. A row without reference is its own.
local function measured(list, options)
  local descriptors, index = {}, {}
  for i, row in ipairs(list) do
    descriptors[i], index[row] = row.descriptor, i
  end
  options.reference = {}
  for i, row in ipairs(list) do
    options.reference[i] = row.reference and index[row.reference] or i
  end
  return measure.run(descriptors, options)
end

-- Gives a record the scenario's own names and parameters.
local function label(row, record)
  record.name = row.name
  record.workload = row.descriptor.kind
  record.reference = row.rides
  record.params = record.params or {}
  for key, value in pairs(row.descriptor.params) do
    if record.params[key] == nil then record.params[key] = value end
  end
  for key, value in pairs(row.p) do record.params[key] = value end
  local to = row.reference or row
  if record.ratio then
    record.ratio.to = to.name
    record.same_workload = to.descriptor.kind == row.descriptor.kind or nil
  end
end

-- What is below resolution has no ratio, and is none.
local function drop_ratios(list, records, notes)
  local below = {}
  for i, row in ipairs(list) do
    below[row] = records[i].below_resolution
  end
  for i, row in ipairs(list) do
    local record = records[i]
    if record.ratio and (below[row] or below[row.reference or row]) then
      record.ratio = nil
      notes[#notes + 1] = ("%s: no ratio, '%s' is below resolution"):format(
        row.name, below[row] and row.name or row.reference.name)
    end
  end
end

-- The command that repeats the run.
local function command_of(self, given, options, seed)
  local words = {}
  if type(options.command) == "table" then
    for i, word in ipairs(options.command) do words[i] = text.quote(word) end
  elseif options.command then
    words[1] = options.command
  elseif self.name then
    words[1], words[2] = "cbench", text.quote(self.name)
    for _, name in ipairs(check.keys(given)) do
      local value = given[name]
      if type(value) ~= "table" or #value == 0 then value = { value } end
      words[#words + 1] = text.quote(name .. "=" ..
        params.list(value):gsub(", ", ","))
    end
    for _, key in ipairs { "time", "forks", "rounds" } do
      if options[key] then
        words[#words + 1] = ("--%s %s"):format(key, options[key])
      end
    end
  else
    return nil
  end
  local command = table.concat(words, " ")
  if seed and not command:find("--seed", 1, true) then
    command = ("%s --seed %s"):format(command, seed)
  end
  return command
end

-- Exceeded: the whole interval lies outside. Without an interval nothing can
-- be said. A bound is the highest ratio, or { lowest, highest }.
local function judge(bound, ratio)
  local lowest, highest = -math.huge, bound
  if type(bound) == "table" then lowest, highest = bound[1], bound[2] end
  local low, high = ratio.low or -math.huge, ratio.high or math.huge
  local state = "not resolved"
  if low > highest or high < lowest then
    state = "exceeded"
  elseif low >= lowest and high <= highest then
    state = "ok"
  end
  return { value = highest, lowest = lowest > -math.huge and lowest or nil,
           state = state }
end

-- The bound of a row, or nil and a sentence when there is something else. A
-- function may give a ratio of its own besides, which takes the place of the
-- row's: { to, value, low, high }.
local function bound_of(definition, row, record, done)
  local limit = definition.limit
  if type(limit) ~= "function" then return limit end
  local ok, bound, own = pcall(limit, row.p, row.name, record, done)
  if not ok then return nil, tostring(bound) end
  local message = bound and refuse_bound(bound)
  if not message and own and
      not (type(own) == "table" and type(own.value) == "number") then
    message = ("a ratio { to, value, low, high } expected besides, got %s")
      :format(type(own) == "table" and "a table without a value" or type(own))
  end
  if message then return nil, message end
  if own and record.ticks then record.ratio = own end
  return bound
end

-- @return sentences about rows whose limit could not be used
local function apply_limits(definition, list, records, done)
  if not definition.limit then return {} end
  local exceeded, said = 0, {}
  for i, row in ipairs(list) do
    local record = records[i]
    local bound, message
    -- Without figures there is nothing to be judged.
    if not row.rides and record.ticks then
      bound, message = bound_of(definition, row, record, done)
    end
    if message then
      said[#said + 1] = ("limit: row '%s': %s"):format(row.name, message)
    elseif bound and record.ratio and record.ratio.value then
      record.limit = judge(bound, record.ratio)
      if record.limit.state == "exceeded" then exceeded = exceeded + 1 end
    end
  end
  done.meta.limits_exceeded = exceeded
  done.meta.limits_failed = #said > 0 and #said or nil
  return said
end

-- What stands over the ratios when rows are not all compared to one row.
local function reference_text(reference)
  if type(reference) ~= "table" or workload.is(reference) then
    return type(reference) == "string" and reference or nil
  end
  return results.describe(reference)
end

local function fill_meta(self, definition, order, given, options, meta)
  meta.scenario = self.name
  meta.host, meta.run = fleet.host(), fleet.run()
  meta.rank, meta.size = fleet.rank(), fleet.size()
  meta.title, meta.about = definition.title, definition.about
  meta.view = {
    parameters = order, across = definition.across,
    columns = definition.columns, roles = definition.roles,
    reference = reference_text(definition.reference),
  }
  meta.formats = definition.formats
  meta.seed = meta.seed or options.seed
  meta.command = command_of(self, given, options, meta.seed)
  meta.notes = meta.notes or {}
end

-- A text under the table; the function may use the derived columns.
-- @return a sentence when the function failed
local function add_reading(definition, done)
  local reading, message = definition.reading, nil
  if type(reading) == "function" then
    local ok, value = pcall(reading, done)
    message = not ok and "reading: " .. tostring(value) or nil
    reading = ok and value or nil
  end
  done.meta.reading = reading and tostring(reading) or nil
  return message
end

-- What is wrong with the scenario comes before what is to be known of rows.
local function say_first(done, said)
  local notes = done.meta.notes
  table.move(notes, 1, #notes, #said + 1)
  table.move(said, 1, #said, 1, notes)
end

--- Measures all rows.
-- @param given values that replace the scenario's own, { depth = { 10, 100 } }
-- @param options `filter` (a text or a list), `command` (what was typed), and
-- all options of `cbench.measure`
-- @return results; nil and a sentence when the filter leaves no row or nothing
-- could be measured
function methods:run(given, options)
  given, options = given or {}, options or {}
  local definition = definition_of(self)
  local list, order, reason = build(self, given, options)
  if not list then
    if reason ~= "filter" then error("scenario: " .. order, 2) end
    return nil, order
  end
  local checked, message = measure_options(definition, options)
  if not checked then error("scenario: " .. message, 2) end
  local _ <close> = setmetatable({}, { __close = function ()
    if definition.teardown then definition.teardown() end
  end })
  if definition.setup then
    -- What it makes, rows may be made of.
    definition.setup(given)
    list, order = build(self, given, options)
  end
  local records, meta = measured(list, checked)
  if not records then return nil, meta end
  for i, row in ipairs(list) do label(row, records[i]) end
  fill_meta(self, definition, order, given, options, meta)
  drop_ratios(list, records, meta.notes)
  local done = results.new(records, meta)
  local said = apply_limits(definition, list, records, done)
  local of_columns = columns.derive(done)
  table.move(of_columns, 1, #of_columns, #said + 1, said)
  if definition.fit then
    done.meta.fits = fit.of(done, order, definition.fit)
  end
  said[#said + 1] = add_reading(definition, done)
  say_first(done, said)
  return done
end

return scenario
