--- The parameters of a scenario: their values, their order, all combinations,
-- and what a command line puts in their place.
--
-- A parameter is a list of values, a range or a function of the parameters
-- before it. A combination is a table p of one value for each.
local import, core = ...
local check = import "check"
local figure = import "figure"

local params = {}

local most_values = 10000

local function is_list(value)
  return type(value) == "table" and #value > 0
end

-- A kind with options, { "spsc", size = 64 }, is one value and no list.
local function is_kind(value)
  if type(value) ~= "table" or type(value[1]) ~= "string" then return false end
  for key in pairs(value) do
    if type(key) == "string" then return true end
  end
  return false
end

local range_fields = { from = "number", to = "number", step = "number",
                       times = "number" }

local function is_range(value)
  return type(value) == "table" and #value == 0 and
    (value.from ~= nil or value.to ~= nil)
end

-- How many values it has, near enough to tell whether they are too many.
local function count_of(range)
  if range.times then
    return math.log(range.to / range.from) / math.log(range.times) // 1 + 1
  end
  return (range.to - 0.0 - range.from) / (range.step or 1) // 1 + 1
end

local function bad_range(range)
  local message = check.fields(range, range_fields, "field of a range")
  if message then return message end
  if not (range.from and range.to) then return "a range needs from and to" end
  if range.step and range.times then
    return "a range takes step or times, not both"
  end
  for _, key in ipairs { "from", "to", "step", "times" } do
    local value = range[key]
    if value and (value ~= value or math.abs(value) == math.huge) then
      return ("a range's %s must be finite"):format(key)
    end
  end
  if range.to < range.from then
    return ("a range from %s to %s is empty"):format(
      figure.value(range.from), figure.value(range.to))
  end
  if (range.step or 1) <= 0 then return "a range's step must be above 0" end
  if range.times and (range.times <= 1 or range.from <= 0) then
    return "a range with times needs times > 1 and from > 0"
  end
  local count = count_of(range)
  if count > most_values then
    return ("a range of %.0f values is too long: at most %d"):format(count,
      most_values)
  end
end

-- Steps are counted, not added up, so that 0.1 ten times is 1.
local function expand(range)
  local values = {}
  local step = range.step or 1
  local value, count = range.from, 0
  while value <= range.to * (1 + 1e-12) and count < most_values do
    values[#values + 1] = value
    count = count + 1
    if range.times then
      value = value * range.times
    else
      value = range.from + count * step
    end
  end
  return values
end

-- The values of what a script gave for one parameter, or nil and a sentence.
local function values_of(value)
  if is_range(value) then
    local message = bad_range(value)
    if message then return nil, message end
    return expand(value)
  elseif is_kind(value) or not is_list(value) then
    if type(value) == "table" and not is_kind(value) then
      return nil, "the list of its values is empty"
    end
    return { value }
  end
  return value
end

local function duplicate(values)
  local seen = {}
  for _, value in ipairs(values) do
    local text = figure.value(value)
    if seen[text] and type(value) ~= "userdata" then return text end
    seen[text] = true
  end
end

--- Checks a scenario's `params`.
-- @param given name = values
-- @return name = list of values, or a function; nil and a sentence
function params.check(given)
  local checked = {}
  for name, value in pairs(given) do
    if type(name) ~= "string" then
      return nil, "params: a parameter's name is a string, not a " ..
        type(name)
    elseif not name:find("^[%a_][%w_]*$") then
      return nil, ("params: '%s' is no name for a parameter"):format(name)
    end
    if type(value) == "function" then
      checked[name] = value
    else
      local values, message = values_of(value)
      local twice = values and duplicate(values)
      if twice then message = twice .. " stands twice in its values" end
      if message then
        return nil, ("parameter '%s': %s"):format(name, message)
      end
      checked[name] = values
    end
  end
  return checked
end

--- Names in the order of columns and rows: those of each list of `preferred`
-- in turn, then what is left by the alphabet.
function params.order(checked, preferred)
  local order, seen = {}, {}
  for _, list in ipairs(preferred) do
    for _, name in ipairs(list) do
      if checked[name] and not seen[name] then
        order[#order + 1] = name
        seen[name] = true
      end
    end
  end
  for _, name in ipairs(check.keys(checked)) do
    if not seen[name] then order[#order + 1] = name end
  end
  return order
end

local function copy(t)
  local new = {}
  for key, value in pairs(t) do new[key] = value end
  return new
end

-- Values of one parameter in a combination. Functions see what is set so far.
local function resolve(name, value, p)
  if type(value) ~= "function" then return value end
  local found = value(copy(p))
  if found == nil then
    return nil, ("parameter '%s': its function gave no value; it sees lists, "
      .. "and of other functions those before it"):format(name)
  end
  local values, message = values_of(found)
  if not values then
    return nil, ("parameter '%s': %s"):format(name, message)
  end
  return values
end

local function by_position(order)
  return function (a, b)
    for _, name in ipairs(order) do
      local left, right = a.position[name], b.position[name]
      if left ~= right then return left < right end
    end
    return false
  end
end

-- The names as they are set: those that functions compute come last.
local function setting_order(checked, order)
  local sequence = {}
  for _, late in ipairs { false, true } do
    for _, name in ipairs(order) do
      if (type(checked[name]) == "function") == late then
        sequence[#sequence + 1] = name
      end
    end
  end
  return sequence
end

--- The first combination, without the others; nil when there is none.
function params.first(checked)
  local p = {}
  for _, name in ipairs(setting_order(checked, check.keys(checked))) do
    local values = resolve(name, checked[name], p)
    if not values then return nil end
    p[name] = values[1]
  end
  return p
end

--- All combinations, the last parameter of `order` changing fastest.
-- @return a list of tables, or nil and a sentence
function params.combine(checked, order)
  local found = { { p = {}, position = {} } }
  for _, name in ipairs(setting_order(checked, order)) do
    local longer = {}
    for _, before in ipairs(found) do
      local values, message = resolve(name, checked[name], before.p)
      if not values then return nil, message end
      for i, value in ipairs(values) do
        local p, position = copy(before.p), copy(before.position)
        p[name], position[name] = value, i
        longer[#longer + 1] = { p = p, position = position }
      end
      if #longer > most_values then
        return nil, ("params: more than %d combinations"):format(most_values)
      end
    end
    found = longer
  end
  table.sort(found, by_position(order))
  local combinations = {}
  for i, one in ipairs(found) do combinations[i] = one.p end
  return combinations
end

--- The label of a combination: "backend=asm/depth=10".
function params.label(p, order)
  local words = {}
  for _, name in ipairs(order) do
    words[#words + 1] = name .. "=" .. figure.value(p[name])
  end
  return table.concat(words, "/")
end

--- "10, 100", for sentences about a parameter's own values.
function params.list(values)
  if type(values) == "function" then return "computed" end
  local words = {}
  for i, value in ipairs(values) do words[i] = figure.value(value) end
  return table.concat(words, ", ")
end

local booleans = { ["true"] = true, ["false"] = false }

-- The types that a parameter's own values have. A computed parameter may be
-- anything, one that is called like a family is a kind.
local function types_of(values, name)
  if type(values) == "function" then
    return { number = true, boolean = true, string = true, table = true }
  end
  local types = {}
  for _, value in ipairs(values) do types[type(value)] = true end
  -- A kind is also named by a word.
  if types.table or types.userdata or types.string and
      check.is_among(name, core.families()) then
    types.string, types.table = true, true
  end
  return types
end

local function read_number(word)
  if word:find("^%s*$") or word:find("^[+-]?[iIn]") then return nil end
  return tonumber(word)
end

-- The parts between commas, those within braces aside.
local function split(text)
  local items, from, depth = {}, 1, 0
  for at, mark in text:gmatch "()([{},])" do
    if mark == "," and depth == 0 then
      items[#items + 1] = text:sub(from, at - 1)
      from = at + 1
    elseif mark ~= "," then
      depth = depth + (mark == "{" and 1 or -1)
    end
  end
  items[#items + 1] = text:sub(from)
  return items
end

-- A kind with options as labels have it, rte{size=64,sync=st}; or nil.
local function read_kind(word)
  local name, inner = word:match "^([%a_][%w_]*)(%b{})$"
  if not name then return nil end
  local kind = { name }
  for _, item in ipairs(split(inner:sub(2, -2))) do
    local key, value = item:match "^([%a_][%w_]*)=(.+)$"
    if not key then return nil end
    kind[key] = read_number(value)
    if kind[key] == nil then kind[key] = booleans[value] end
    if kind[key] == nil then kind[key] = value end
  end
  return kind
end

-- One word of a command line, typed like the parameter's own values.
local function read_value(word, types)
  if types.number and read_number(word) then return read_number(word) end
  if types.boolean and booleans[word] ~= nil then return booleans[word] end
  if types.table and read_kind(word) then return read_kind(word) end
  if types.string and word ~= "" then return word end
  return nil
end

local expected = { number = "a number", boolean = "true or false" }

local function complain(name, word, values)
  if word == "" then
    return ("parameter '%s': a value is empty"):format(name)
  end
  local types, wanted = types_of(values, name), {}
  for _, kind in ipairs { "number", "boolean" } do
    if types[kind] then wanted[#wanted + 1] = expected[kind] end
  end
  return ("parameter '%s': '%s' is not %s (its values are %s)"):format(name,
    word, table.concat(wanted, " or "), params.list(values))
end

--- Reads "name=value,value" as a command line has it.
-- @param word the text
-- @param checked the parameters of the scenario
-- @return name and a list of values; or nil and a sentence
function params.parse(word, checked)
  if type(word) ~= "string" then
    return nil, "parameter: text expected, got " .. type(word)
  end
  local name, text = word:match("^([^=]*)=(.*)$")
  if not name and checked[word] then
    return nil, ("parameter '%s' needs a value (its values are %s)"):format(
      word, params.list(checked[word]))
  elseif not name then
    return nil, check.unknown("parameter", word, check.keys(checked))
  elseif not checked[name] then
    return nil, check.unknown("parameter", name, check.keys(checked))
  end
  local types, values = types_of(checked[name], name), {}
  for _, item in ipairs(split(text)) do
    local value = read_value(item, types)
    if value == nil then return nil, complain(name, item, checked[name]) end
    values[#values + 1] = value
  end
  local twice = duplicate(values)
  if twice then
    return nil, ("parameter '%s': %s is given twice"):format(name, twice)
  end
  return name, values
end

--- Reads several such words.
-- @return name = list of values; or nil and a sentence
function params.parse_all(words, checked)
  local given = {}
  if type(words) ~= "table" then
    return nil, "parameters: a list of texts expected, got " .. type(words)
  end
  for _, word in ipairs(words) do
    local name, values = params.parse(word, checked)
    if not name then return nil, values end
    if given[name] then
      return nil, ("parameter '%s' is given twice"):format(name)
    end
    given[name] = values
  end
  return given
end

--- Values that replace a scenario's own.
-- @param checked the parameters of the scenario
-- @param given name = value or list
-- @return a new table like `checked`; or nil and a sentence
function params.override(checked, given)
  if type(given) ~= "table" then
    return nil, ("parameters: table expected, got %s"):format(type(given))
  end
  local new = copy(checked)
  for name in pairs(given) do
    if not checked[name] then
      return nil, check.unknown("parameter", name, check.keys(checked))
    end
  end
  local values, message = params.check(given)
  if not values then return nil, message end
  for name, list in pairs(values) do new[name] = list end
  return new
end

return params
