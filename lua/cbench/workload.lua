--- Descriptors of measurable work: `workload.nesting{ depth = 10 }`.
-- A descriptor is a plain table { kind, params, order, given, name, threads,
-- cpus, place }: params holds every parameter of the kind with its default
-- filled in, order their names in the kind's own order, given the names of
-- those that were written. It describes; nothing is created until it is
-- measured.
local import, core = ...

local workload = {}

local descriptor_meta = { __name = "cbench.descriptor" }

-- What every workload takes besides the parameters of its kind.
local common = { name = "string", cpus = "cpus", place = "place" }
local CPU_MAX = 1048575
local places = { same = 1, smt = 1, cache = 1, package = 1, spread = 1 }

local DEPTH_MAX = 4

--- How a value is written in a label: a name, { "release", size = 64 } as
-- release{size=64}, an object by its kind.
local function spell(value, depth)
  depth = depth or 0
  if type(value) == "function" then return "function" end
  if type(value) == "userdata" then
    return (tostring(value):gsub(":? 0x%x+$", ""))
  end
  if type(value) ~= "table" then
    if math.type(value) == "float" and value == math.floor(value)
       and math.abs(value) < 1e15 then
      return string.format("%d", value)
    end
    return tostring(value)
  elseif depth == DEPTH_MAX then
    return "..."
  end
  local keys, parts = {}, {}
  for key in pairs(value) do
    if type(key) == "string" then keys[#keys + 1] = key end
  end
  if type(value[1]) == "table" then -- a list of kinds
    for i, entry in ipairs(value) do parts[i] = spell(entry, depth + 1) end
    return table.concat(parts, ">")
  end
  table.sort(keys)
  for i, key in ipairs(keys) do
    parts[i] = key .. "=" .. spell(value[key], depth + 1)
  end
  local name = tostring(value[1])
  if #parts == 0 then return name end
  return name .. "{" .. table.concat(parts, ",") .. "}"
end
workload.spell = spell

--- A list of CPUs given as { 0, 1 }, 0 or "0,2-3", as a table of integers.
local function cpu_list(value)
  if math.type(value) == "integer" then value = { value } end
  local list = {}
  if type(value) == "string" then
    for part in value:gmatch("[^,]+") do
      local first, last = part:match("^%s*(%d+)%s*%-%s*(%d+)%s*$")
      first = first or part:match("^%s*(%d+)%s*$")
      local low, high = tonumber(first), tonumber(last or first)
      if not first or high > CPU_MAX then return nil end
      for cpu = low, high do list[#list + 1] = cpu end
    end
  elseif type(value) == "table" then
    for i, cpu in ipairs(value) do
      if math.type(cpu) ~= "integer" then return nil end
      list[i] = cpu
    end
  end
  for _, cpu in ipairs(list) do
    if cpu < 0 or cpu > CPU_MAX then return nil end
  end
  return #list > 0 and list or nil
end
workload.cpu_list = cpu_list

--- The value of a field that every workload takes, or nil and a sentence.
function workload.check_common(name, value)
  if name == "name" and type(value) ~= "string" then
    return nil, "option 'name': string expected, got " .. type(value)
  elseif name == "cpus" then
    local list = cpu_list(value)
    if not list then
      return nil, "option 'cpus': a CPU number, a list { 0, 1 } or a string "
        .. "\"0,2-3\" of numbers in [0, " .. CPU_MAX .. "] expected, got "
        .. spell(value)
    end
    return list
  elseif name == "place" and not places[value] then
    return nil, ("option 'place': '%s' is none of same, smt, cache, package, "
      .. "spread"):format(tostring(value))
  end
  return value
end

-- Splits what the user wrote into the common fields and the kind's own.
local function split(kind, arguments)
  local fields, params = {}, {}
  local list = kind.list
  for key, value in pairs(arguments) do
    if common[key] then
      local checked, message = workload.check_common(key, value)
      if checked == nil then return nil, message end
      fields[key] = checked
    elseif math.type(key) == "integer" and list then
      if arguments[list] ~= nil then
        return nil, ("option '%s': given by name and without"):format(list)
      end
      params[list] = params[list] or {}
      params[list][key] = value
    elseif math.type(key) == "integer" then
      return nil, "parameters are named, as in { depth = 10 }"
    else
      params[key] = value
    end
  end
  return fields, params
end

-- { producer = "mt", consumer = "st" } as the one word that it stands for.
local function sides(value)
  if type(value) ~= "table" or not (value.producer and value.consumer) then
    return value
  elseif value.producer == value.consumer then
    return value.producer
  end
  return value.producer .. "/" .. value.consumer
end

local function whole(value)
  return math.type(value) == "float" and math.tointeger(value) or value
end

-- Whole floats become integers, so that 10.0 and 10 make one label.
local tidy
function tidy(option, value)
  if option.type == "integer" then return math.tointeger(value) end
  if option.type == "list" and type(value) == "table" then
    local list = {}
    for i, entry in ipairs(value) do
      list[i] = tidy({ type = "kind" }, entry)
      if type(list[i]) ~= "table" then list[i] = { list[i] } end
    end
    return list
  end
  if option.type == "kind" and type(value) == "table" then
    local copy, options = {}, 0
    for key, entry in pairs(value) do
      copy[key] = whole(sides(entry))
      if key ~= 1 then options = options + 1 end
    end
    return options > 0 and copy or copy[1]
  end
  return value
end

-- Kinds are added and never taken away, so one that was found once stands.
local found = {}

-- What every descriptor of the kind asks for: `has`, its options by name, and
-- `list`, the one that takes what stands without a name, as stages of a
-- pipeline do.
local function prepare(kind)
  kind.has = {}
  for _, option in ipairs(kind.options) do
    kind.has[option.name] = true
    if option.type == "list" then kind.list = kind.list or option.name end
  end
  return kind
end

local function kind_of(name)
  if found[name] then return found[name] end
  for _, kind in ipairs(core.kinds("workload")) do
    if kind.name == name then
      found[name] = prepare(kind)
      return kind
    end
  end
end

local function fill_in(kind, given)
  local params, order, chosen = {}, {}, {}
  for i, option in ipairs(kind.options) do
    local value = given[option.name]
    if value == nil then value = option.preset end
    params[option.name] = value ~= nil and tidy(option, value) or value
    order[i] = option.name
    if given[option.name] ~= nil then chosen[#chosen + 1] = option.name end
  end
  return params, order, chosen
end

-- The `lua` kind's functions are no values an option can hold.
local function check_params(kind, params)
  if kind.name ~= "lua" then return core.check_params(kind.name, params) end
  for key in pairs(params) do
    if not kind.has[key] then
      return nil, ("unknown option '%s' of 'lua' (it takes call, loop and "
        .. "code)"):format(tostring(key))
    end
  end
  return core.check_workload { kind = "lua", params = params }
end

--- Why a kind without the parameter does not take `threads`.
function workload.threads_follow(name)
  return ("option 'threads': the threads of '%s' follow from its other "
    .. "parameters"):format(name)
end

--- A descriptor of the kind, or nil and what is wrong.
function workload.describe(name, arguments)
  local kind = kind_of(name)
  if not kind then
    local _, message = core.check_params(name, {})
    return nil, message
  end
  local fields, params = split(kind, arguments)
  if not fields then return nil, params end
  -- A workload without the option runs on the threads its roles say.
  if params.threads ~= nil and not kind.has.threads then
    return nil, workload.threads_follow(name)
  end
  local good, message = check_params(kind, params)
  -- What other builds have is described all the same: as a row it is n/a.
  local lacking = not good and message:find("is not in this build", 1, true)
  if not good and not lacking then return nil, message end
  local filled, order, given = fill_in(kind, params)
  return setmetatable({
    kind = name, params = filled, order = order, given = given,
    name = fields.name, refused = lacking and message or nil,
    cpus = fields.cpus, place = fields.place, threads = filled.threads,
  }, descriptor_meta)
end

--- Is value a descriptor?
function workload.is(value)
  return getmetatable(value) == descriptor_meta
end

--- Can the descriptor be measured? True, or nil and why its kind refuses.
function workload.check(descriptor)
  if descriptor.refused then return nil, descriptor.refused end
  return core.check_workload(descriptor)
end

--- A descriptor of work that cannot be had here, and why: a row all the same.
function workload.absent(params, reason)
  return setmetatable({ kind = "absent", params = params, order = {},
    given = {}, refused = reason }, descriptor_meta)
end

--- backend=asm/depth=10: the parameters in order, those of `names` only when
-- it is given.
function workload.label(descriptor, names)
  local parts = {}
  for _, name in ipairs(names or descriptor.order) do
    local value = descriptor.params[name]
    if value ~= nil then parts[#parts + 1] = name .. "=" .. spell(value) end
  end
  if #parts == 0 then return descriptor.kind end
  return table.concat(parts, "/")
end

--- Does the descriptor hold plain values only, so that another process can
-- make it again?
function workload.is_plain(descriptor)
  local function plain(value)
    if type(value) == "table" then
      for key, entry in pairs(value) do
        if not plain(key) or not plain(entry) then return false end
      end
      return true
    end
    return type(value) ~= "userdata" and type(value) ~= "function"
      and type(value) ~= "thread"
  end
  return plain(descriptor.params)
end

-- A pipeline's growing parts; loaded when they are asked for, since that file
-- needs this one.
descriptor_meta.__index = {
  layers = function (...) return import("pipeline").layers(...) end,
}

function descriptor_meta:__tostring()
  local given = workload.label(self, self.given):gsub("/", ", ")
  return ("cbench.workload.%s{%s}"):format(self.kind,
    #self.given > 0 and given or "")
end

--- The constructors: `constructors.nesting{ depth = 10 }`.
workload.constructors = setmetatable({}, {
  __index = function (self, name)
    local kind = kind_of(name)
    if not kind then return nil end
    local function construct(arguments)
      if arguments ~= nil and type(arguments) ~= "table" then
        error(("bad argument #1 to '%s' (table expected, got %s)"):format(name,
          type(arguments)), 2)
      end
      local descriptor, message = workload.describe(name, arguments or {})
      if not descriptor then
        error(("bad argument #1 to '%s' (%s)"):format(name, message), 2)
      end
      return descriptor
    end
    rawset(self, name, construct)
    workload.kind_by_constructor[construct] = name
    return construct
  end,
  __pairs = function (self)
    for _, kind in ipairs(core.kinds("workload")) do
      local _ = self[kind.name]
    end
    return next, self
  end,
})

--- The kind's name that a constructor makes.
workload.kind_by_constructor = {}

--- The names of a kind's parameters, in its own order.
function workload.parameters(name)
  local kind, names = kind_of(name), {}
  for i, option in ipairs(kind and kind.options or {}) do
    names[i] = option.name
  end
  return names
end

return workload
