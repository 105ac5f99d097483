--- What can stand at the cursor of a prompt.
-- No function of the user's is called: fields are looked up raw, through
-- `__index` only where that is a table.
local import, core = ...

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in
    local nil not or repeat return then true until while]]):gmatch "%a+" do
  keywords[#keywords + 1] = word
end

-- Longest way along `__index`.
local DEPTH = 20
-- Whatever a session makes of the name `_G`.
local globals = _G

local function metatable(value)
  local meta = debug.getmetatable(value)
  return type(meta) == "table" and meta or nil
end

-- Fields that a table of ours fills in with their first use.
local function late_fields(value)
  if value == import("workload").constructors then
    local names = {}
    for _, kind in ipairs(core.kinds "workload") do names[kind.name] = true end
    return names
  end
  local meta = metatable(value)
  local fields = meta and rawget(meta, "__fields")
  return type(fields) == "table" and fields or nil
end

local function field(value, key)
  for _ = 1, DEPTH do
    if type(value) == "table" then
      local found = rawget(value, key)
      if found ~= nil then return found end
      local late = late_fields(value)
      if late and late[key] then return value[key] end
    end
    local meta = metatable(value)
    value = meta and rawget(meta, "__index")
    if type(value) ~= "table" then return nil end
  end
end

-- Calls visit(key, value) for all that can be reached from the value.
local function each_field(value, visit)
  for _ = 1, DEPTH do
    if type(value) == "table" then
      for key, found in next, value do visit(key, found) end
      for key in next, late_fields(value) or {} do visit(key) end
    end
    local meta = metatable(value)
    value = meta and rawget(meta, "__index")
    if type(value) ~= "table" then return end
  end
end

-- Collects names that begin with `beginning`, sorted.
local function collector(beginning)
  local list, seen = {}, {}
  local function add(name)
    if type(name) == "string" and not seen[name] and
        name:sub(1, #beginning) == beginning then
      seen[name] = true
      list[#list + 1] = name
    end
  end
  return list, add
end

-- ---- where the cursor is

-- @return where the string that the cursor is in began (nil: in none), the
-- brackets that are open (character and position), or nil in a comment
local function scan(line)
  local open, i = {}, 1
  while i <= #line do
    local c = line:sub(i, i)
    if line:find("^%-%-", i) then
      return nil, nil
    elseif c == '"' or c == "'" then
      local start = i
      i = i + 1
      while i <= #line and line:sub(i, i) ~= c do
        if line:sub(i, i) == "\\" then i = i + 1 end
        i = i + 1
      end
      if i > #line then return start, open end
    elseif c:find "[%(%{%[]" then
      open[#open + 1] = { c = c, at = i }
    elseif c:find "[%)%}%]]" then
      open[#open] = nil
    end
    i = i + 1
  end
  return nil, open
end

-- "a", "b", "c" of "a.b:c"
local function path(chain)
  local names = {}
  for name in chain:gmatch "[%a_][%w_]*" do names[#names + 1] = name end
  return names
end

local function resolve(names, count)
  local value = globals
  for i = 1, count do
    value = field(value, names[i])
    if value == nil then return nil end
  end
  return value
end

-- ---- kinds and their options

local function kind_names(family)
  local ok, kinds = pcall(import "kinds", family)
  return ok and kinds or {}
end

-- The parameters of a kind, or of all kinds of its family.
local function parameters(family, kind)
  local kinds, list = kind_names(family), {}
  for _, name in ipairs(kinds) do
    if not kind or name == kind then
      for _, parameter in ipairs(kinds[name].parameters) do
        list[#list + 1] = parameter
      end
    end
  end
  return list
end

-- The table that is being written: { of = family, kind = name or nil } for
-- `cbench.ring{ "spsc", ` and for `cbench.workload.yield{ `.
local function table_context(line, open)
  local brace, outer = open[#open], open[#open - 1]
  if not brace or brace.c ~= "{" then return nil end
  if outer and outer.c == "{" and
      line:sub(1, outer.at - 1):find "pipeline%s*%(?%s*$" then
    local kind = line:sub(brace.at):match '^{%s*["\']([%w_]+)'
    return { of = "stage", kind = kind }
  end
  local chain = line:sub(1, brace.at - 1):match "([%a_][%w_%.]*)%s*%(?%s*$"
  local names = chain and path(chain) or {}
  local last = names[#names]
  if names[#names - 1] == "workload" then
    return { of = "workload", kind = last }
  end
  -- `ring = { "spsc", ...`: the key tells the family
  last = last or line:sub(1, brace.at - 1):match "([%a_][%w_]*)%s*=%s*$"
  if not last or #kind_names(last) == 0 then return nil end
  return { of = last, kind = line:sub(brace.at):match '^{%s*["\']([%w_]+)' }
end

-- Keys of the tables that functions take, besides those of a kind.
local measuring = "time rounds forks seed threads cpus place min_effect "
  .. "reference"
local keys = {
  create = "backend pool stack_size",
  format = "columns across",
  lcore = "cpu",
  measure = measuring,
  pool = "backend stack_size colour guard",
  register = "name call mt_safe stats",
  run = measuring .. " filter serialize allow_race",
  scenario = "title about name params workload where reference columns across "
    .. "reading fit limit formats setup teardown time forks rounds min_effect",
  services = "lock order",
}

-- The name of the function that gets the table that is being written: as in
-- `measure(w, {`, or right before the brace.
local function taker(line, open)
  local brace, outer = open[#open], open[#open - 1]
  if not brace or brace.c ~= "{" then return nil end
  local name = line:sub(1, brace.at - 1):match "([%a_][%w_]*)%s*%(?%s*$"
  if not name and outer and outer.c == "(" then
    name = line:sub(1, outer.at - 1):match "([%a_][%w_]*)%s*$"
  end
  return name
end

local function family_of(key)
  return #kind_names(key) > 0 and key or nil
end

-- ---- the three kinds of places

local function format_names() return import("format").names end

-- What a string is that stands behind other arguments of these.
local later = { format = format_names, write = format_names }

local special = {
  help = function () return import("help").topics() end,
  kinds = core.families,
  scenario = core.scenario_names,
}

local function in_string(line, quote, open)
  local list, add = collector(line:sub(quote + 1))
  local ahead = line:sub(1, quote - 1)
  local called = ahead:match "([%a_][%w_]*)%s*%(?%s*$"
  local key = ahead:match "([%a_][%w_]*)%s*=%s*$"
  local context = table_context(line:sub(1, quote - 1), open)
  local outer = open[#open]
  local behind = outer and outer.c == "(" and ahead:find ",%s*$" and
    later[ahead:sub(1, outer.at - 1):match "([%a_][%w_]*)%s*$"]
  local names = {}
  if behind then
    names = behind()
  elseif called and special[called] then
    names = special[called]() or {}
  elseif key and family_of(key) then
    names = kind_names(key)
  elseif key and context then
    for _, parameter in ipairs(parameters(context.of, context.kind)) do
      if parameter.name == key and parameter.choices then
        names = parameter.choices
      end
    end
  elseif context and context.of ~= "workload" and ahead:find "{%s*$" then
    names = kind_names(context.of)
  end
  for _, name in ipairs(names) do add(name) end
  return quote, list
end

local function plain_word(line, word, open)
  local list, add = collector(word)
  local context = table_context(line, open)
  if line:sub(1, #line - #word):find "[{,;]%s*$" then
    for _, parameter in ipairs(context and
        parameters(context.of, context.kind) or {}) do
      add(parameter.name)
    end
    local more = keys[taker(line, open)]
    if context and context.of == "workload" then more = "name cpus place" end
    for key in (more or ""):gmatch "%S+" do add(key) end
  end
  if word ~= "" then
    each_field(globals, add)
    for _, keyword in ipairs(keywords) do add(keyword) end
  end
  return #line - #word, list
end

local function member(chain, word, methods_only)
  local list, add = collector(word)
  local names = path(chain)
  local value = resolve(names, #names)
  each_field(value, function (key, found)
    if type(key) == "string" and key:find "^[%a_][%w_]*$" and
        (not methods_only or type(found) == "function") then
      add(key)
    end
  end)
  return list
end

--- The words that can stand at the end of `line`.
-- @return the byte (from 0) that they begin at, and a sorted list of them
return function (line)
  local quote, open = scan(line)
  if not open then return #line, {} end
  local start, list
  if quote then
    start, list = in_string(line, quote, open)
  else
    local chain, mark, word =
      line:match "([%a_][%w_%.]*)%s*([%.:])%s*([%w_]*)$"
    if chain then
      start, list = #line - #word, member(chain, word, mark == ":")
    else
      word = line:match "[%w_]*$"
      if line:sub(1, #line - #word):find "[%.:]%s*$" then
        return #line, {}
      end
      start, list = plain_word(line, word, open)
    end
  end
  table.sort(list)
  return start, list
end
