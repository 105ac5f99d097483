--- `cbench list`: the shipped scenarios.
local import, core = ...
local catalogue = import "catalogue"
local command = import "command"
local figure = import "figure"

local list = {
  summary = "the shipped scenarios",
  usage = [[
cbench list [TEXT]...   the shipped scenarios whose name or title has TEXT
]],
  options = {},
}

local function wanted(row, words)
  for _, word in ipairs(words) do
    local text = (row.name .. " " .. row.title):lower()
    if text:find(word:lower(), 1, true) then return true end
  end
  return #words == 0
end

local function print_rows(rows)
  local width = #"scenario"
  for _, row in ipairs(rows) do width = math.max(width, #row.name) end
  local line = "%-" .. width .. "s  %4s  %7s  %s\n"
  io.stdout:write(line:format("scenario", "rows", "time", "title"))
  for _, row in ipairs(rows) do
    io.stdout:write(line:format(row.name, row.rows or "-",
      row.time and figure.duration(row.time) or "-", row.title))
  end
end

function list.run(context)
  local rows = {}
  for _, row in ipairs(catalogue.all()) do
    if wanted(row, context.words) then rows[#rows + 1] = row end
  end
  if #rows == 0 and context.words[1] then
    local nearest = core.nearest(context.words[1], core.scenario_names())
    command.refuse(("no scenario has '%s' in its name or title%s"):format(
      table.concat(context.words, "' or '"),
      nearest and (" (did you mean '%s'?)"):format(nearest) or ""))
  end
  print_rows(rows)
  return command.exit.done
end

return list
