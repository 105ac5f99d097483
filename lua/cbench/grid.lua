--- A sheet as lines of text: columns side by side, two spaces between.
--
-- What does not fit into the width: parameters that are the same in all rows
-- are said once above; then columns go into a second block below. No figure
-- is ever left out.
local import = ...
local figure = import "figure"
local text = import "text"

local gap = "  "

-- ---- widths

-- What can be compared by its length goes to the right, text to the left.
local function align_of(column, records)
  if column.kind == "interval" then return "left" end
  local align = "right"
  for _, record in ipairs(records) do
    local value = not record.reference and column.get(record)
    if type(value) == "number" then return "right" end
    if value then align = "left" end
  end
  return align
end

local function room_of(list, first, last)
  local room = -#gap
  for i = first, last do room = room + list[i].width + #gap end
  return room
end

-- A lead (the reference's name, a role) stands over the parameters.
local function widen_for_leads(sheet)
  local list, parameters = sheet.columns, sheet.parameters
  if parameters == 0 then return end
  for _, line in ipairs(sheet.lines) do
    local missing = text.width(line.lead or "") - room_of(list, 1, parameters)
    if missing > 0 then
      list[parameters].width = list[parameters].width + missing
    end
  end
end

-- A group's title needs the room of its columns.
local function widen_for_groups(list)
  local first = 1
  while first <= #list do
    local group, last = list[first].group, first
    while group and list[last + 1] and list[last + 1].group == group do
      last = last + 1
    end
    local missing = text.width(group or "") - room_of(list, first, last)
    if missing > 0 then list[first].width = list[first].width + missing end
    first = last + 1
  end
end

local function set_widths(sheet)
  for i, column in ipairs(sheet.columns) do
    column.align = align_of(column, sheet.records)
    column.width = text.width(column.title)
    for _, line in ipairs(sheet.lines) do
      column.width = math.max(column.width, text.width(line.cells[i] or ""))
    end
  end
  widen_for_leads(sheet)
  widen_for_groups(sheet.columns)
end

-- ---- what does not fit

-- The text that a column has in every row, or nil.
local function constant(column, records)
  local common
  for _, record in ipairs(records) do
    if not record.reference then
      local value = figure.value(column.get(record))
      if common and common ~= value then return nil end
      common = value
    end
  end
  return common
end

local function without(sheet, dropped)
  local new = { columns = {}, lines = {}, records = sheet.records,
                parameters = sheet.parameters }
  for i, column in ipairs(sheet.columns) do
    if not dropped[i] then
      new.columns[#new.columns + 1] = column
    elseif i <= sheet.parameters then
      new.parameters = new.parameters - 1
    end
  end
  for n, line in ipairs(sheet.lines) do
    local copy = { cells = {}, lead = line.lead, over = line.over }
    local at = 0
    for i in ipairs(sheet.columns) do
      if not dropped[i] then
        at = at + 1
        copy.cells[at] = line.cells[i]
      end
    end
    copy.from = line.from and new.parameters + 1
    new.lines[n] = copy
  end
  return new
end

-- The sheet without parameters that are the same everywhere (one is left),
-- and the words for them.
local function without_constants(sheet)
  local dropped, words = {}, {}
  for i = 1, sheet.parameters do
    local column = sheet.columns[i]
    local value = #words + 1 < sheet.parameters and
      constant(column, sheet.records)
    if value then
      dropped[i] = true
      words[#words + 1] = ("%s = %s"):format(column.title, value)
    end
  end
  return without(sheet, dropped), words
end

-- The last column of the group that starts at `first`, or `first` itself when
-- the group alone is too wide.
local function group_end(list, first, room)
  local last = first
  while list[first].group and list[last + 1] and
      list[last + 1].group == list[first].group do
    last = last + 1
  end
  return room_of(list, first, last) <= room and last or first
end

-- Lists of columns that fit side by side, each with all parameters. Groups
-- stay together where they can.
local function blocks(sheet, width)
  local list, parameters = sheet.columns, sheet.parameters
  local base = room_of(list, 1, parameters)
  local found, block, used, i = {}, nil, 0, parameters + 1
  while i <= #list do
    local last = group_end(list, i, width - base - #gap)
    local more = #gap + room_of(list, i, last)
    if not block or used + more > width then
      block = {}
      for n = 1, parameters do block[n] = n end
      found[#found + 1] = block
      used = base
    end
    for n = i, last do block[#block + 1] = n end
    used = used + more
    i = last + 1
  end
  return found
end

-- ---- lines

local function join(parts)
  return (table.concat(parts, gap):gsub("%s+$", ""))
end

local function group_line(list, block)
  local line, at, any, before = "", 0, false, nil
  for _, i in ipairs(block) do
    local column = list[i]
    if column.group and column.group ~= before then
      line = text.pad(line, at) .. column.group
      any = true
    end
    before = column.group
    at = at + column.width + #gap
  end
  return any and line or nil
end

local function title_line(list, block)
  local parts = {}
  for n, i in ipairs(block) do
    parts[n] = text.pad(list[i].title, list[i].width, list[i].align)
  end
  return join(parts)
end

-- A text in place of cells, broken under itself.
local function over_lines(start, over, width)
  local margin = math.min(text.width(start) + #gap, width // 2)
  local found = text.wrap(over, width - margin)
  for i, line in ipairs(found) do
    local before = i == 1 and start or ""
    found[i] = text.pad(before, margin) .. line
  end
  return found
end

local function body_lines(sheet, line, block, width)
  local list, parts = sheet.columns, {}
  if line.lead then
    parts[1] = text.pad(line.lead, room_of(list, 1, sheet.parameters))
  end
  for _, i in ipairs(block) do
    local skipped = line.lead and i <= sheet.parameters
    if line.over and i >= line.from then break end
    if not skipped then
      parts[#parts + 1] =
        text.pad(line.cells[i] or "", list[i].width, list[i].align)
    end
  end
  if not line.over then return { join(parts) } end
  return over_lines(table.concat(parts, gap), line.over, width)
end

local function append(lines, more)
  table.move(more, 1, #more, #lines + 1, lines)
end

-- The line of a role has something to say in this block: it repeats no
-- parameters, so without figures it is a name alone.
local function has_figures(sheet, line, block)
  if not (line.lead and line.lead:find "^ ") or line.over then return true end
  for _, i in ipairs(block) do
    if i > sheet.parameters and (line.cells[i] or "") ~= "" then
      return true
    end
  end
  return false
end

local function block_lines(sheet, block, width)
  local lines = { group_line(sheet.columns, block) }
  lines[#lines + 1] = title_line(sheet.columns, block)
  for _, line in ipairs(sheet.lines) do
    if has_figures(sheet, line, block) then
      append(lines, body_lines(sheet, line, block, width))
    end
  end
  return lines
end

--- The lines of a sheet, at most `width` columns wide.
return function (sheet, width)
  local lines = {}
  set_widths(sheet)
  if room_of(sheet.columns, 1, #sheet.columns) > width then
    local words
    sheet, words = without_constants(sheet)
    set_widths(sheet)
    if #words > 0 then
      append(lines, text.wrap("in all rows: " .. table.concat(words, ", "),
        width, 2))
      lines[#lines + 1] = ""
    end
  end
  for n, block in ipairs(blocks(sheet, width)) do
    if n > 1 then lines[#lines + 1] = "" end
    append(lines, block_lines(sheet, block, width))
  end
  return lines
end
