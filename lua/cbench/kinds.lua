--- `cbench.kinds(family)`: what there is to choose from.
local _, core = ...

local kinds_meta = { __name = "cbench.kinds" }

-- One line a kind: what `print(cbench.kinds "ring")` shows.
function kinds_meta:__tostring()
  local width, lines = 0, {}
  for _, name in ipairs(self) do width = math.max(width, #name) end
  for i, name in ipairs(self) do
    lines[i] = ("%-" .. width .. "s  %s"):format(name, self[name].summary)
  end
  return table.concat(lines, "\n")
end

local function describe(kind)
  local described = {
    summary = kind.summary, comparison = kind.comparison or nil,
    interpreter = kind.interpreter or nil, limits = kind.limits or {},
    parameters = {},
  }
  for i, option in ipairs(kind.options) do
    described.parameters[i] = option
    described.parameters[option.name] = option
  end
  return described
end

--- The kinds of a family ("backend", "pool", "ring", "lock", "workload"): a
-- list of names in table order; also [name] = { summary, parameters, limits }.
-- With a kind and a name, that parameter of the kind; nil where it has none, or
-- there is no such kind.
local function kinds(family, kind_name, parameter)
  if type(family) ~= "string" then
    error(("bad argument #1 to 'kinds' (string expected, got %s)"):format(
      type(family)), 2)
  end
  local rows = core.kinds(family)
  if not rows then
    local known = table.concat(core.families(), ", ")
    error(("bad argument #1 to 'kinds' (unknown family '%s'; there are %s)")
      :format(family, known), 2)
  end
  local list = {}
  for i, kind in ipairs(rows) do
    list[i] = kind.name
    list[kind.name] = describe(kind)
  end
  if kind_name == nil then return setmetatable(list, kinds_meta) end
  local kind = type(kind_name) == "string" and list[kind_name]
  return kind and kind.parameters[parameter] or nil
end

return kinds
