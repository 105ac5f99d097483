--- The table on the terminal.
--
-- First what was asked and what one operation is, then the rows, then what
-- one has to know to believe them, how much was measured and the command that
-- repeats it.
local import = ...
local grid = import "grid"
local results = import "results"
local sheet = import "sheet"
local summary = import "summary"
local text = import "text"

local label_width = 7

local function append(lines, more)
  table.move(more, 1, #more, #lines + 1, lines)
end

local function head(self, width)
  local lines = {}
  local title = summary.title(self.meta)
  if title then append(lines, text.wrap(title, width)) end
  for _, line in ipairs(summary.operations(self)) do
    append(lines, text.wrap(line, width, 2))
  end
  if #lines > 0 then lines[#lines + 1] = "" end
  return lines
end

local function label(word)
  if word ~= "" then word = word .. ": " end
  return text.pad(word, label_width)
end

local function below(self, width)
  local lines = {}
  for _, one in ipairs(summary.below(self)) do
    append(lines, text.wrap(label(one[1]) .. one[2], width, label_width))
  end
  return lines
end

-- The command on the last line where it fits, else on lines of its own, which
-- a shell joins.
local function last_lines(self, width)
  local known, command = summary.circumstances(self), self.meta.command
  if not command then return { known } end
  local together = ("%s.   again: %s"):format(known or "", command)
  if known and text.width(together) <= width then return { together } end
  local lines = { known and known .. "." }
  append(lines, text.wrap_command("again: " .. command, width))
  return lines
end

local function one_table(self, options)
  local width = options.width or 100
  local lines = head(self, width)
  if #self == 0 then
    lines[#lines + 1] = "no rows"
  else
    local made = sheet.of(self, options)
    if made.above[1] then lines[#lines] = nil end
    for _, line in ipairs(made.above) do
      append(lines, text.wrap(line, width, 2))
      lines[#lines + 1] = ""
    end
    append(lines, grid(made, width))
    for _, reason in ipairs(made.reasons) do
      append(lines, text.wrap(reason, width, 2))
    end
  end
  lines[#lines + 1] = ""
  append(lines, below(self, width))
  append(lines, (options.last_lines or last_lines)(self, width))
  return table.concat(lines, "\n") .. "\n"
end

--- The table, or several with a blank line between.
-- @param self results
-- @param options `columns` and `across`; `width` (100); `last_lines`, a
-- function of one scenario's results and the width
return function (self, options)
  local tables = {}
  for i, part in ipairs(results.parts(self)) do
    tables[i] = one_table(part, options)
  end
  return table.concat(tables, "\n")
end
