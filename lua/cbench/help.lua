--- `cbench.help([topic])`: what there is, explained by itself.
-- A topic is a public function (lua/cbench/topics.lua has the words), a family
-- of kinds, a kind, a workload or a shipped scenario. What this build has not
-- got is not mentioned.
local import, core = ...
local check = import "check"
local written = import "topics"
local kinds = import "kinds"
local spell = import("workload").spell

local help = {}

local function module()
  return require "cbench"
end

local function indent(text, by)
  return (("  "):rep(by or 1) .. text:gsub("\n", "\n" .. ("  "):rep(by or 1)))
end

-- Rows of two columns, the first as wide as its widest.
local function columns(rows)
  local width, lines = 0, {}
  for _, row in ipairs(rows) do width = math.max(width, #row[1]) end
  for i, row in ipairs(rows) do
    lines[i] = ("  %-" .. width .. "s  %s"):format(row[1], row[2])
  end
  return table.concat(lines, "\n")
end

-- ---- kinds

local function number(value)
  return value == math.floor(value) and ("%d"):format(value)
    or ("%g"):format(value)
end

local function range(parameter)
  if parameter.choices then return table.concat(parameter.choices, ", ") end
  if parameter.type == "list" then
    return ("a list of the family '%s'"):format(parameter.family)
  end
  if parameter.family then return "a " .. parameter.family end
  if not parameter.min then return parameter.type end
  return ("%s .. %s"):format(number(parameter.min), number(parameter.max))
end

local function parameter_row(parameter)
  local left = parameter.name
  if parameter.preset ~= nil and parameter.type ~= "list" then
    left = left .. " = " .. spell(parameter.preset)
  end
  return { left, ("%s  (%s)"):format(parameter.help, range(parameter)) }
end

local function parameter_lines(parameters)
  local rows = {}
  for i, parameter in ipairs(parameters) do
    rows[i] = parameter_row(parameter)
  end
  return columns(rows)
end

-- { "ring", size = 64 }: an entry of a list, as a script would write it.
local function entry_text(entry)
  local words, names = { ("%q"):format(entry[1]) }, {}
  for key in pairs(entry) do
    if type(key) == "string" then names[#names + 1] = key end
  end
  table.sort(names)
  for _, key in ipairs(names) do
    local value = entry[key]
    words[#words + 1] = ("%s = %s"):format(key,
      type(value) == "string" and ("%q"):format(value) or spell(value))
  end
  return "{ " .. table.concat(words, ", ") .. " }"
end

-- What a list has in it when nothing is said, an entry a line.
local function list_lines(parameters)
  local parts = {}
  for _, parameter in ipairs(parameters) do
    if parameter.type == "list" and parameter.preset then
      local lines = {}
      for i, entry in ipairs(parameter.preset) do
        lines[i] = "  " .. entry_text(entry)
      end
      parts[#parts + 1] = ("%s when nothing is said; `help \"%s\"` lists what "
        .. "there is:\n%s"):format(parameter.name, parameter.family,
        table.concat(lines, "\n"))
    end
  end
  return parts
end

-- Where a name alone does not tell.
local limit_meanings = {
  producers    = "threads that may enqueue at once",
  consumers    = "threads that may dequeue at once",
  forgets      = "no element is kept",
  late_visible = "an element can stay out of sight behind an earlier one",
  lazy_free    = "slots are freed in batches: free_count can be less",
  zero_allowed = "0 may be an element",
}

-- What a kind can and cannot do, as far as it says so.
local function limit_lines(limits)
  local rows = {}
  for name, value in pairs(limits) do
    local meaning = limit_meanings[name]
    rows[#rows + 1] = { name, meaning and
      ("%-5s  %s"):format(spell(value), meaning) or spell(value) }
  end
  table.sort(rows, function (a, b) return a[1] < b[1] end)
  return columns(rows)
end

local function kind_example(family, name, kind)
  if family == "workload" then
    if name == "lua" then
      return 'cbench.measure(cbench.workload.lua { code = "x = 1" })'
    end
    return ("cbench.measure(cbench.workload.%s {})"):format(name)
  elseif kind.comparison then
    return nil
  elseif family == "backend" and module().coroutine then
    return ('co = cbench.coroutine.create(print, { backend = "%s" })')
      :format(name)
  end
  return module()[family] and ('cbench.%s { "%s" }'):format(family, name)
end

local function kind_page(family, name)
  local kind = kinds(family)[name]
  local page = { ("%s (%s): %s"):format(name, family, kind.summary) }
  if kind.parameters[1] then
    page[#page + 1] = parameter_lines(kind.parameters)
  end
  for _, part in ipairs(list_lines(kind.parameters)) do
    page[#page + 1] = part
  end
  if next(kind.limits) then page[#page + 1] = limit_lines(kind.limits) end
  local example = kind_example(family, name, kind)
  if example then page[#page + 1] = "example:\n" .. indent(example) end
  return page
end

local function family_page(family)
  local rows, list = {}, kinds(family)
  for i, name in ipairs(list) do rows[i] = { name, list[name].summary } end
  return { ("kinds of the family '%s':\n%s"):format(family, columns(rows)) }
end

-- ---- functions and scenarios

local function written_topic(name)
  for _, topic in ipairs(written) do
    if topic.name == name and module()[name] ~= nil then return topic end
  end
end

local function function_page(topic)
  local page = { topic.signature, indent(topic.text) }
  if topic.kinds then
    page[#page + 1] = family_page(topic.kinds)[1]
  end
  if topic.example then
    page[#page + 1] = "example:\n" .. indent(topic.example)
  end
  return page
end

-- ---- topics

local function overview()
  local names = {}
  for _, topic in ipairs(written) do
    if written_topic(topic.name) then names[#names + 1] = topic.name end
  end
  local page = { 'help "TOPIC" explains one of these:',
    "functions\n" .. indent(table.concat(names, ", ")) }
  for _, family in ipairs(core.families()) do
    page[#page + 1] = ("kinds: %s\n%s"):format(family,
      indent(table.concat(kinds(family), ", ")))
  end
  local scenarios = core.scenario_names()
  if scenarios[1] then
    page[#page + 1] = "scenarios\n" .. indent(table.concat(scenarios, ", "))
  end
  return page
end

--- The names of all topics.
function help.topics()
  local list = {}
  for _, topic in ipairs(written) do
    if written_topic(topic.name) then list[#list + 1] = topic.name end
  end
  for _, family in ipairs(core.families()) do
    list[#list + 1] = family
    for _, name in ipairs(kinds(family)) do list[#list + 1] = name end
  end
  for _, name in ipairs(core.scenario_names()) do list[#list + 1] = name end
  return list
end

-- A name as scripts write it: "cbench.measure", "cbench.workload.chain",
-- "ring:enqueue" are explained by "measure", "chain", "ring".
local function short(name)
  local rest = name:match "^cbench%.(.+)$" or name
  return rest:match "^workload%.([%w_]+)$" or rest:match "^([%w_]+)[.:]" or rest
end

-- All pages that a name has: a kind and a scenario may share it.
local function pages_of(name)
  local pages = {}
  local topic = written_topic(name)
  if topic then pages[#pages + 1] = function_page(topic) end
  for _, family in ipairs(core.families()) do
    if family == name and not topic then
      pages[#pages + 1] = family_page(family)
    end
    if kinds(family)[name] then
      pages[#pages + 1] = kind_page(family, name)
    end
  end
  if check.is_among(name, core.scenario_names()) then
    pages[#pages + 1] = import("catalogue").page(name)
  end
  return pages
end

--- The text of a topic, or nil and a sentence that names the nearest.
function help.text(name)
  local pages = name and pages_of(short(name)) or { overview() }
  if #pages == 0 then
    local nearest = core.nearest(name, help.topics())
    return nil, ("no help on '%s'%s"):format(name,
      nearest and (" (did you mean '%s'?)"):format(nearest) or "")
  end
  local texts = {}
  for i, page in ipairs(pages) do
    texts[i] = table.concat(page, "\n\n")
  end
  return table.concat(texts, "\n\n") .. "\n"
end

-- The name of a value: a field of the module, a workload, an object's kind.
local function name_of(value)
  for _, topic in ipairs(written) do
    local field = module()[topic.name]
    if rawequal(field, value) then return topic.name end
    for _, part in next, type(field) == "table" and field or {} do
      if type(part) == "function" and part == value and
          topic.name ~= "workload" then
        return topic.name
      end
    end
  end
  for _, name in ipairs(kinds "workload") do
    if rawequal(module().workload[name], value) then return name end
  end
  local meta = debug.getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and name:match "^cbench%.([%w_]+)$" or nil
end

--- Prints the page of a topic, a name or a value; without one, the topics.
function help.help(topic)
  local name = topic
  if topic ~= nil and type(topic) ~= "string" then
    name = name_of(topic)
    if not name then
      io.stdout:write("no help on this ", type(topic), "\n")
      return
    end
  end
  local text, message = help.text(name)
  io.stdout:write(text or message .. "\n")
end

return help
