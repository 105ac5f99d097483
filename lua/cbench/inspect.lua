--- A value as text for people: sorted, bounded, safe against cycles.
-- Metamethods of the value are not called, `__tostring` excepted.
local LIMITS = { depth = 4, items = 40, nodes = 600, text = 120 }
-- More keys than these are not sorted: a sample is shown.
local MANY = 4000

local reserved = {}
for word in ([[and break do else elseif end false for function goto if in
    local nil not or repeat return then true until while]]):gmatch "%a+" do
  reserved[word] = true
end

local escapes = {
  ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ["\\"] = "\\\\",
  ['"'] = '\\"', ["\0"] = "\\0",
}

local function quote(text)
  local rest = ""
  if #text > LIMITS.text then
    text, rest = text:sub(1, LIMITS.text), "..."
  end
  return '"' .. text:gsub('[%c\\"]', function (c)
    return escapes[c] or ("\\x%02x"):format(c:byte())
  end) .. '"' .. rest
end

local function is_name(key)
  return type(key) == "string" and key:find "^[%a_][%w_]*$" and
    not reserved[key]
end

-- Strings, then numbers, then the rest by what it is called.
local function before(a, b)
  local type_a, type_b = type(a), type(b)
  if type_a == type_b and (type_a == "string" or type_a == "number") then
    return a < b
  end
  local rank = { string = 1, number = 2, boolean = 3 }
  local rank_a, rank_b = rank[type_a] or 4, rank[type_b] or 4
  if rank_a ~= rank_b then return rank_a < rank_b end
  return tostring(a) < tostring(b)
end

-- The keys in order; whether they are just 1, 2, 3, ...; whether there are
-- more than were looked at.
local function sorted_keys(t)
  local keys, more = {}, false
  for key in next, t do
    if #keys == MANY then more = true break end
    keys[#keys + 1] = key
  end
  table.sort(keys, before)
  local sequence = true
  for i, key in ipairs(keys) do
    if key ~= i then sequence = false break end
  end
  return keys, sequence, more
end

local write

-- What an object calls itself, or nil when it has no say in it.
local function own_text(value)
  local meta = debug.getmetatable(value)
  if type(meta) ~= "table" or rawget(meta, "__tostring") == nil then
    return nil
  end
  local ok, text = pcall(tostring, value)
  if ok then return text end
  -- The error may be an object that cannot be turned into text either.
  return ("<error in __tostring: %s>"):format(
    type(text) == "string" and text or type(text))
end

local function nested_text(value)
  local text = own_text(value)
  if text and text:find "\n" then
    local name = rawget(debug.getmetatable(value), "__name")
    return ("<%s>"):format(type(name) == "string" and name or type(value))
  end
  return text
end

-- The entries of a table, each as text without a comma.
local function entries(t, state, depth)
  local keys, sequence, more = sorted_keys(t)
  local list = {}
  for i, key in ipairs(keys) do
    if i > LIMITS.items or state.nodes <= 0 then more = true break end
    state.nodes = state.nodes - 1
    local name = ""
    if is_name(key) then
      name = key .. " = "
    elseif not sequence then
      name = "[" .. write(key, state, depth + 1) .. "] = "
    end
    list[i] = name .. write(rawget(t, key), state, depth + 1)
  end
  if more then list[#list + 1] = "..." end
  return list
end

local function fits(list, state, depth)
  local length = 2 * depth + 2
  for _, entry in ipairs(list) do
    if entry:find "\n" then return false end
    length = length + #entry + 2
  end
  return length <= state.width
end

local function write_table(t, state, depth)
  if state.open[t] then return "<cycle>" end
  if next(t) == nil then return "{}" end
  if depth >= LIMITS.depth then return "{...}" end
  state.open[t] = true
  local list = entries(t, state, depth)
  state.open[t] = nil
  if fits(list, state, depth) then
    return "{" .. table.concat(list, ", ") .. "}"
  end
  local indent = ("  "):rep(depth)
  return ("{\n%s  %s\n%s}"):format(indent,
    table.concat(list, ",\n  " .. indent), indent)
end

function write(value, state, depth)
  if type(value) == "string" then return quote(value) end
  local text = nested_text(value)
  if text then return text end
  if type(value) == "table" then return write_table(value, state, depth) end
  return tostring(value)
end

--- The text of a value: strings and numbers as `print` shows them, tables in
-- braces with their keys in order.
-- @param value anything
-- @param width columns that there are for it, default 80
return function (value, width)
  if type(value) == "string" then return value end
  local text = own_text(value)
  if text then return text end
  if type(value) ~= "table" then return tostring(value) end
  return write(value, {
    width = width or 80, nodes = LIMITS.nodes, open = {},
  }, 0)
end
