--- A table that GitHub and GitLab render.
local import = ...
local results = import "results"
local sheet = import "sheet"
local summary = import "summary"
local text = import "text"

local function escape(s)
  return (text.clean(s):gsub("[\\|<>*_`]", "\\%0"))
end

local function row(cells)
  return "| " .. table.concat(cells, " | ") .. " |"
end

local function titles(list)
  local cells = {}
  for i, column in ipairs(list) do
    local title = column.title
    if column.group then title = ("%s, %s"):format(title, column.group) end
    cells[i] = escape(title)
  end
  return row(cells)
end

local function is_number(column, records)
  for _, record in ipairs(records) do
    if not record.reference and type(column.get(record)) == "number" then
      return true
    end
  end
  return false
end

local function rule(made)
  local cells = {}
  for i, column in ipairs(made.columns) do
    cells[i] = is_number(column, made.records) and "---:" or "---"
  end
  return row(cells)
end

local function body(line, count)
  local cells = {}
  for i = 1, count do cells[i] = escape(line.cells[i] or "") end
  if line.lead then cells[1] = escape(line.lead) end
  if line.over then cells[line.from] = escape(line.over) end
  return row(cells)
end

local function append_table(lines, self, options)
  local made = sheet.of(self, options)
  for _, line in ipairs(made.above) do
    lines[#lines + 1] = escape(line)
    lines[#lines + 1] = ""
  end
  lines[#lines + 1] = titles(made.columns)
  lines[#lines + 1] = rule(made)
  for _, line in ipairs(made.lines) do
    lines[#lines + 1] = body(line, #made.columns)
  end
  lines[#lines + 1] = ""
  for _, reason in ipairs(made.reasons) do
    lines[#lines + 1] = "- " .. escape(reason)
  end
end

-- The longest run of backticks decides how many enclose the command.
local function code(s)
  local longest = ""
  for run in s:gmatch("`+") do
    if #run > #longest then longest = run end
  end
  local fence = longest .. "`"
  local space = longest ~= "" and " " or ""
  return fence .. space .. text.clean(s) .. space .. fence
end

local function one(self, options)
  local lines = {}
  local title = summary.title(self.meta)
  if title then lines[1], lines[2] = "### " .. escape(title), "" end
  lines[#lines + 1] = escape(table.concat(summary.operations(self), " "))
  lines[#lines + 1] = ""
  if #self > 0 then append_table(lines, self, options) end
  for _, pair in ipairs(summary.below(self)) do
    lines[#lines + 1] = ("- %s%s"):format(
      pair[1] ~= "" and escape(pair[1]) .. ": " or "", escape(pair[2]))
  end
  local circumstances = summary.circumstances(self)
  if circumstances then lines[#lines + 1] = "- " .. escape(circumstances) end
  if self.meta.command then
    lines[#lines + 1] = "- again: " .. code(self.meta.command)
  end
  return table.concat(lines, "\n") .. "\n"
end

local function write(self, options)
  local texts = {}
  for i, part in ipairs(results.parts(self)) do
    texts[i] = one(part, options)
  end
  return table.concat(texts, "\n")
end

return { summary = "a table for GitHub and GitLab", write = write }
