--- Results: a list of records with what was said about the whole run.
--
-- A results object is an array of records (the shape is in the manual); a row
-- is also found by its name, `results["depth=10"]`. `results.meta` holds what
-- is true of the run: title, machine, options, noise, the view for tables.
local import = ...
local check = import "check"
local figure = import "figure"

local results = {}
local methods = {}
local metatable = { __name = "cbench.results", __index = methods }

--- Whether the value is a results object.
function results.is(value)
  return getmetatable(value) == metatable
end

--- Why a row cannot have this name, or nil.
function results.refuse_name(name)
  if name == "meta" or methods[name] then
    return ("a row cannot be called '%s': results have a field of that name")
      :format(name)
  end
end

-- Parameters as any format can write them: { "spsc", size = 64 } becomes
-- { kind = "spsc", size = 64 }, a live object what it says of itself.
local function plain(value)
  if type(value) == "userdata" or type(value) == "function" then
    return tostring(value)
  elseif type(value) ~= "table" then
    return value
  end
  local copy = {}
  local named = type(next(value)) == "string" or #value < 1
  for key in pairs(value) do named = named or type(key) == "string" end
  for key, inner in pairs(value) do
    if named and key == 1 then key = "kind" end
    if named and math.type(key) == "integer" then key = tostring(key) end
    copy[key] = plain(inner)
  end
  return copy
end

local function add(self, record)
  if record.params then record.params = plain(record.params) end
  self[#self + 1] = record
  local name = record.name
  if name and self[name] == nil and not results.refuse_name(name) then
    self[name] = record
  end
end

local function make(records, meta)
  local self = { meta = {} }
  for key, value in pairs(meta or {}) do self.meta[key] = value end
  for _, record in ipairs(records) do add(self, record) end
  return setmetatable(self, metatable)
end

--- A results object of records. Rows that only rode along (`reference` is set,
-- or they stand in the meta's `references`) are not among its elements: they
-- are found by name, and stand in `meta.references`.
-- @param records a list; the records are kept, not copied
-- @param meta what is true of the whole run
function results.new(records, meta)
  local asked, riders = {}, {}
  for _, record in ipairs(records) do
    local list = record.reference and riders or asked
    list[#list + 1] = record
  end
  for _, record in ipairs((meta or {}).references or {}) do
    record.reference = true
    riders[#riders + 1] = record
  end
  local self = make(asked, meta)
  for _, record in ipairs(riders) do
    if record.params then record.params = plain(record.params) end
    local name = record.name
    if name and self[name] == nil and not results.refuse_name(name) then
      self[name] = record
    end
  end
  self.meta.references = riders
  return self
end

--- The same with the rows that rode along as elements, behind the others: all
-- that is shown and written.
function results.whole(self)
  local records, parts = {}, nil
  if self.meta.parts then
    parts = {}
    for i, part in ipairs(self.meta.parts) do
      parts[i] = results.whole(part)
      table.move(parts[i], 1, #parts[i], #records + 1, records)
    end
  else
    local riders = self.meta.references or {}
    table.move(self, 1, #self, 1, records)
    table.move(riders, 1, #riders, #records + 1, records)
  end
  local all = make(records, self.meta)
  all.meta.parts, all.meta.references = parts, nil
  return all
end

--- Several results as one; each keeps its own table.
function results.concat(list)
  local records, parts = {}, {}
  local partial, elapsed = false, 0
  for _, one in ipairs(list) do
    for _, part in ipairs(results.parts(one)) do
      parts[#parts + 1] = part
      partial = partial or part.meta.partial
      elapsed = elapsed + (part.meta.elapsed_s or 0)
      for _, record in ipairs(part) do records[#records + 1] = record end
    end
  end
  if #parts == 1 then return parts[1] end
  local meta = { parts = parts, partial = partial, elapsed_s = elapsed }
  for _, key in ipairs { "command", "run", "rank", "size", "scenario", "title",
      "machine", "build", "options", "started", "clock", "seed" } do
    meta[key] = parts[1] and parts[1].meta[key]
  end
  for _, part in ipairs(parts) do
    for name, writer in pairs(part.meta.formats or {}) do
      meta.formats = meta.formats or {}
      meta.formats[name] = writer
    end
  end
  return results.new(records, meta)
end

--- The results of each scenario that took part, one for each table.
function results.parts(self)
  return self.meta.parts or { self }
end

--- Whether nothing was measured of a row, because its run ended first.
function results.is_unmeasured(record)
  return record.status == "partial"
    and not (record.ticks and record.ticks.typical)
end

-- "5 of 60 rows were" so and so; nil without any.
local function count_words(records, is_so)
  local found = 0
  for _, record in ipairs(records) do
    if is_so(record) then found = found + 1 end
  end
  return found > 0 and ("%d of %d row%s"):format(found, #records,
    #records == 1 and " was" or "s were") or nil
end

--- What the time of a run was too short for: "5 of 60 rows were not measured:
-- raise -T"; nil when it was not, or when something else ended the run.
-- @param self the results of one scenario
function results.short_of_time(self)
  if self.meta.signal or self.meta.damaged then return nil end
  local words = count_words(results.whole(self), results.is_unmeasured)
  return words and words .. " not measured: raise -T"
end

--- Why a run is partial, in words.
-- @param self the results of one scenario
function results.why_partial(self)
  local by = self.meta.stopped_by
  local words = not self.meta.signal and not self.meta.damaged and
    count_words(results.whole(self), function (record)
      return record.status == "partial"
    end)
  if not words then
    return "stopped before its end" .. (by and (" (%s)"):format(by) or "")
  end
  return results.short_of_time(self) or
    words .. " not measured in all processes: raise -T"
end

local function matches(value, wanted)
  if type(wanted) == "table" and type(value) == "table" then
    for key, inner in pairs(plain(wanted)) do
      if not matches(value[key], inner) then return false end
    end
    return true
  elseif type(value) == "table" and type(wanted) == "string" then
    return value.kind == wanted
  end
  return value == wanted
end

local function field(record, key)
  local params = record.params
  if params and params[key] ~= nil then return params[key] end
  return record[key]
end

--- The first row that fits: each key is a parameter or a field of the record.
-- Rows that rode along are looked at last.
-- @param criteria for instance { depth = 10, backend = "asm" }
-- @return the record, or nil when no row fits
function methods:find(criteria)
  if type(criteria) ~= "table" then
    error(("find: table expected, got %s"):format(type(criteria)), 2)
  end
  local known = {}
  for _, record in ipairs(results.whole(self)) do
    local fits = true
    for key, wanted in pairs(criteria) do
      local value = field(record, key)
      known[key] = known[key] or value ~= nil
      fits = fits and matches(value, wanted)
    end
    if fits then return record end
  end
  for key in pairs(criteria) do
    if not known[key] and #self > 0 then
      error("find: " .. check.unknown("parameter", key,
        check.keys(self[#self].params or {})), 2)
    end
  end
  return nil
end

--- "depth=10 pool=none", for sentences about parameters.
function results.describe(params)
  local words = {}
  for _, key in ipairs(check.keys(params)) do
    words[#words + 1] = key .. "=" .. figure.value(params[key])
  end
  return table.concat(words, " ")
end

function metatable:__tostring()
  return import("format").format(self)
end

function metatable.__concat(left, right)
  if not (results.is(left) and results.is(right)) then
    error("only results can be joined with results", 2)
  end
  return results.concat { left, right }
end

return results
