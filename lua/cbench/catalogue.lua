--- The shipped scenarios, and any scenario as a page of help.
local import, core = ...
local check = import "check"
local figure = import "figure"
local measure = import "measure"
local scenario = import "scenario"
local text = import "text"

local catalogue = {}

-- The seconds that a run takes when nobody says.
local function default_time(one, rows)
  return one.time or measure.default_time(rows)
end

--- All shipped scenarios: a list of { name, title, rows, time }. One that
-- cannot be loaded has its error as title.
function catalogue.all()
  local list = {}
  for i, name in ipairs(core.scenario_names()) do
    local ok, one = pcall(scenario.shipped, name)
    local row = { name = name, title = one }
    if ok then
      row.title, row.rows = one.title, scenario.count(one)
      row.time = default_time(one, row.rows)
    end
    list[i] = row
  end
  return list
end

-- Words for a shell that replace a parameter's values by its first.
local function example(name, list)
  local first = list[1]
  local value = first and first.values:match "^[^,]+"
  if not value or value == "computed" then return "cbench " .. name end
  return ("cbench %s %s=%s"):format(name, first.name, value)
end

--- The page of a scenario: a list of paragraphs.
function catalogue.describe(one, name)
  local rows = scenario.count(one)
  local page = { ("%s (scenario): %s"):format(name, one.title) }
  if one.about then page[#page + 1] = "  " .. one.about:gsub("\n", "\n  ") end
  local list, lines, width = one:params(), {}, 0
  for _, param in ipairs(list) do width = math.max(width, #param.name) end
  for i, param in ipairs(list) do
    local line = ("  %-" .. width .. "s  %s"):format(param.name, param.values)
    lines[i] = table.concat(text.wrap(line, 100, width + 4), "\n")
  end
  if #lines > 0 then
    page[#page + 1] = "parameters:\n" .. table.concat(lines, "\n")
  end
  page[#page + 1] = ("%d rows, %s"):format(rows,
    figure.duration(default_time(one, rows)))
  page[#page + 1] = "example:\n  " .. example(name, list)
  return page
end

--- The page of a shipped scenario.
function catalogue.page(name)
  return catalogue.describe(scenario.shipped(name), name)
end

local function is_file(path)
  local file = io.open(path, "rb")
  if not file then return false end
  local readable = file:read(0) ~= nil or file:seek "end" == 0
  file:close()
  return readable
end

--- The scenario that a word of the command line means: that of a file, else a
-- shipped one.
-- @return the scenario; or nil and a sentence
function catalogue.open(word)
  if is_file(word) then
    local chunk, message = loadfile(word)
    if not chunk then return nil, message end
    scenario.opening = word
    local ok, value = pcall(chunk)
    scenario.opening = nil
    if not ok then return nil, tostring(value) end
    local one = scenario.of(value, word:match "([^/]+)%.lua$" or word)
    if not one then return nil, word .. " returned no cbench.scenario" end
    return one
  end
  local names = core.scenario_names()
  for _, name in ipairs(names) do
    if name == word then return scenario.shipped(name) end
  end
  return nil, ("cannot open %s: no such file or scenario%s"):format(word,
    check.hint(word, names))
end

return catalogue
