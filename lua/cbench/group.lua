--- Several scenarios of one file, run one after the other: one table each.
-- A parameter given for the run goes to every scenario that has it.
local import = ...
local params = import "params"
local results = import "results"

local group = {}
local methods = {}
local metatable = { __name = "cbench.scenario", __index = methods }

--- @param list scenarios
-- @param name what they are called together
-- @param title, about of the whole; nil: those of the first
function group.new(list, name, title, about)
  local time = 0
  for _, one in ipairs(list) do time = time + (one.time or 0) end
  return setmetatable({
    list = list, name = name, title = title or list[1].title,
    about = about or not title and list[1].about or nil,
    time = time > 0 and time or nil,
  }, metatable)
end

--- Whether the value is such a list.
function group.is(value)
  return getmetatable(value) == metatable
end

function metatable:__tostring()
  return ("cbench.scenario (%s: %d tables)"):format(self.name or self.title,
    #self.list)
end

local function all_values(self)
  local scenario, all = import "scenario", {}
  for _, one in ipairs(self.list) do
    for name, values in pairs(scenario.values(one)) do
      all[name] = all[name] or values
    end
  end
  return all
end

-- The part of the given parameters that one of the scenarios has.
local function own(one, given)
  local values, part = import("scenario").values(one), {}
  for name, value in pairs(given) do
    if values[name] then part[name] = value end
  end
  return part
end

function methods:parse(words)
  return params.parse_all(words, all_values(self))
end

function methods:formats()
  local all = {}
  for _, one in ipairs(self.list) do
    for name, writer in pairs(one:formats() or {}) do all[name] = writer end
  end
  return all
end

function methods:params()
  local list, seen = {}, {}
  for _, one in ipairs(self.list) do
    for _, param in ipairs(one:params()) do
      if not seen[param.name] then list[#list + 1] = param end
      seen[param.name] = true
    end
  end
  return list
end

-- Calls the method of each scenario; one whose rows are all filtered away is
-- left out, and the run is refused only when nothing is left.
local function each(self, method, given, options)
  local checked, message = params.override(all_values(self), given or {})
  if not checked then error("scenario: " .. message, 3) end
  local found
  for _, one in ipairs(self.list) do
    local good, value, why =
      pcall(one[method], one, own(one, given or {}), options)
    -- The mistake is the caller's, not this file's.
    if not good then error(value, 3) end
    message = why
    if value then
      found = found or {}
      found[#found + 1] = value
      -- A run that was stopped stops those after it.
      if method == "run" and value.meta.signal then break end
    end
  end
  return found, message
end

function methods:rows(given, options)
  local lists, message = each(self, "rows", given, options)
  if not lists then return nil, message end
  local all = {}
  for _, list in ipairs(lists) do table.move(list, 1, #list, #all + 1, all) end
  return all
end

function methods:run(given, options)
  local shared = options
  if type(options or {}) == "table" then
    shared = {}
    for key, value in pairs(options or {}) do shared[key] = value end
    if type(shared.time) == "number" then
      shared.time = shared.time / #self.list
    end
  end
  local list, message = each(self, "run", given, shared)
  if not list then return nil, message end
  return results.concat(list)
end

return group
