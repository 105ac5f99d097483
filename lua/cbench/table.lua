--- The table on the terminal.
--
-- First what was asked and what one operation is, then the rows, then what
-- one has to know to believe them: noise, how to read, how much was measured
-- and the command that repeats it. At most `width` columns wide; what does
-- not fit side by side stands in a second block below.
local import = ...
local columns = import "columns"
local figure = import "figure"
local results = import "results"
local text = import "text"

local gap = "  "
local longest_cell = 48

-- ---- lines above

local question_words = {}
for word in ("A An Are Can Do Does How In Is One The What When Where Which " ..
    "Who Why"):gmatch("%a+") do
  question_words[word] = true
end

-- "Title: what does it cost?": the question goes on after the title.
local function title_line(meta)
  local about = meta.about
  if not meta.title then return about end
  if not about or about == "" then return meta.title end
  local first = about:match("^%a+")
  if question_words[first] then
    about = first:lower() .. about:sub(#first + 1)
  end
  return ("%s: %s"):format((meta.title:gsub("[%s:]+$", "")), about)
end

local sources = { tsc = "TSC", cntvct = "CNTVCT" }

local function clock_text(clock)
  if not (clock and clock.hz) then return nil end
  local source = clock.source or "ticks"
  return ("ticks = %s, %s"):format(sources[source] or source,
    figure.frequency(clock.hz))
end

-- "1 operation = ...", a line for each kind of work when there are several.
local function operation_lines(self)
  local list, seen, kind_of = {}, {}, {}
  for _, record in ipairs(self) do
    local op = record.op
    if op and not record.reference and not seen[op] then
      seen[op] = true
      list[#list + 1] = op
      kind_of[op] = record.workload or record.name
    end
  end
  if #list == 1 then return { "1 operation = " .. list[1] .. "." } end
  for i, op in ipairs(list) do
    list[i] = ("1 operation of %s = %s."):format(kind_of[op], op)
  end
  return list
end

local function head(self, lines, width)
  local meta = self.meta
  local function add(line, indent)
    table.move(text.wrap(line, width, indent), 1, width, #lines + 1, lines)
  end
  local title = title_line(meta)
  if title then add(title) end
  local operations = operation_lines(self)
  local clock = clock_text(meta.clock)
  if clock and #operations == 1 then
    operations[1] = operations[1] .. gap .. clock
  elseif clock then
    operations[#operations + 1] = clock
  end
  for _, line in ipairs(operations) do add(line, 2) end
  if #lines > 0 then lines[#lines + 1] = "" end
end

-- ---- rows

local bad = { fail = "FAIL", ["n/a"] = "n/a" }

-- What stands in place of figures, or nil.
local function instead(record)
  local word = bad[record.status]
  if not word then return nil end
  if not record.reason then return word end
  return ("%s: %s"):format(word, text.clean(record.reason))
end

local function clip(cell)
  cell = text.clean(cell)
  if text.width(cell) <= longest_cell then return cell end
  if not utf8.len(cell) then return cell:sub(1, longest_cell - 3) .. "..." end
  local last = utf8.offset(cell, longest_cell - 2) or #cell + 1
  return cell:sub(1, last - 1) .. "..."
end

-- One line of the table: cells by column, or a text over several of them.
-- { cells } | { cells, over = text, from = column } where `over` begins.
local function body_line(record, list, parameters)
  local line = { cells = {} }
  local message = instead(record)
  for i, column in ipairs(list) do
    if i <= parameters or not message then
      line.cells[i] = clip(columns.cell(column, record))
    end
  end
  if record.reference and parameters > 0 then
    for i = 1, parameters do line.cells[i] = nil end
    line.lead = clip(("%s (reference)"):format(record.name))
  end
  if message then line.over, line.from = message, parameters + 1 end
  return line
end

-- Threads of several roles have their own lines under the row.
local function role_lines(record, list, parameters, hz)
  local lines = {}
  if #(record.roles or {}) < 2 or instead(record) then return lines end
  for _, role in ipairs(record.roles) do
    local part = { overlap = role.overlap, status = "ok" }
    if role.ticks and (role.operations or 0) > 0 then
      part.ticks = { typical = role.ticks / role.operations }
      part.ns = hz and { typical = part.ticks.typical / hz * 1e9 }
    end
    local line = body_line(part, list, 0)
    for i = 1, parameters do line.cells[i] = nil end
    line.lead = ("  %s%s"):format(role.role or "thread",
      role.cpu and (", cpu %d"):format(role.cpu) or "")
    lines[#lines + 1] = line
  end
  return lines
end

local function body(records, list, parameters, hz)
  local lines = {}
  for _, references in ipairs { true, false } do
    for _, record in ipairs(records) do
      if (record.reference or false) == references then
        lines[#lines + 1] = body_line(record, list, parameters)
        table.move(role_lines(record, list, parameters, hz), 1, 100,
          #lines + 1, lines)
      end
    end
  end
  return lines
end

-- ---- layout

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

local function measure_widths(list, lines, records)
  for i, column in ipairs(list) do
    column.align = align_of(column, records)
    column.width = text.width(column.title)
    for _, line in ipairs(lines) do
      column.width = math.max(column.width, text.width(line.cells[i] or ""))
    end
  end
end

-- A lead (the reference's name, a role) stands over the parameter columns.
local function widen_for_leads(list, lines, parameters)
  if parameters == 0 then return end
  local room = (parameters - 1) * #gap
  for i = 1, parameters do room = room + list[i].width end
  for _, line in ipairs(lines) do
    local missing = text.width(line.lead or "") - room
    if missing > 0 then
      local last = list[parameters]
      last.width, room = last.width + missing, room + missing
    end
  end
end

-- A group's title needs the room of its columns.
local function widen_for_groups(list)
  local i = 1
  while i <= #list do
    local group, room, last = list[i].group, list[i].width, i
    while group and list[last + 1] and list[last + 1].group == group do
      last = last + 1
      room = room + #gap + list[last].width
    end
    local missing = text.width(group or "") - room
    if missing > 0 then list[i].width = list[i].width + missing end
    i = last + 1
  end
end

-- Columns that say the same in every row; a line above says it once.
local function constant(column, records)
  local value
  for _, record in ipairs(records) do
    if not record.reference then
      local one = figure.value(column.get(record))
      if value and value ~= one then return nil end
      value = one
    end
  end
  return value
end

local function total_width(list)
  local total = -#gap
  for _, column in ipairs(list) do total = total + column.width + #gap end
  return total
end

-- Takes parameters that are the same everywhere out of a table that is too
-- wide. Returns what is left, how many of them are parameters, and the words
-- for those taken out.
local function without_constants(list, parameters, records)
  local kept, words = {}, {}
  local left = parameters
  for i, column in ipairs(list) do
    local value = i <= parameters and left > 1 and constant(column, records)
    if value then
      words[#words + 1] = ("%s = %s"):format(column.title, value)
      left = left - 1
    else
      kept[#kept + 1] = column
    end
  end
  return kept, left, words
end

-- Blocks of columns that fit side by side, each with all parameters.
local function blocks(list, parameters, width)
  local base = {}
  for i = 1, parameters do base[i] = i end
  local found, block, used = {}, nil, 0
  for i = parameters + 1, #list do
    if not block or used + #gap + list[i].width > width then
      block = table.move(base, 1, #base, 1, {})
      found[#found + 1] = block
      used = -#gap
      for _, index in ipairs(base) do
        used = used + #gap + list[index].width
      end
    end
    block[#block + 1] = i
    used = used + #gap + list[i].width
  end
  if #found == 0 then found[1] = base end
  return found
end

local function join(parts)
  return (table.concat(parts, gap):gsub("%s+$", ""))
end

local function group_line(list, block)
  local parts, any, before = {}, false, nil
  local line = ""
  local at = 0
  for _, i in ipairs(block) do
    local column = list[i]
    if column.group and column.group ~= before then
      line = text.pad(line, at) .. column.group
      any = true
    end
    before = column.group
    at = at + column.width + #gap
  end
  parts[1] = line
  return any and join(parts) or nil
end

local function title_cells(list, block)
  local parts = {}
  for n, i in ipairs(block) do
    parts[n] = text.pad(list[i].title, list[i].width, list[i].align)
  end
  return join(parts)
end

local function lead_text(list, line, parameters)
  local room = (parameters - 1) * #gap
  for i = 1, parameters do room = room + list[i].width end
  return text.pad(line.lead, room)
end

-- A line of the body: lead or parameters, then figures or what stands there
-- instead, broken under itself.
local function body_text(list, line, block, parameters, width)
  local parts = {}
  for _, i in ipairs(block) do
    local column = list[i]
    if line.lead and i <= parameters then
      if i == 1 then parts[1] = lead_text(list, line, parameters) end
    elseif line.over and i >= line.from then
      break
    else
      parts[#parts + 1] =
        text.pad(line.cells[i] or "", column.width, column.align)
    end
  end
  if not line.over then return { join(parts) } end
  local start = join(parts)
  local margin = math.min(text.width(table.concat(parts, gap)) + #gap, 40)
  local found = text.wrap(line.over, math.max(width - margin, 20))
  found[1] = text.pad(start, margin) .. found[1]
  for i = 2, #found do found[i] = (" "):rep(margin) .. found[i] end
  return found
end

local function block_lines(list, lines, block, parameters, width)
  local found = { group_line(list, block) }
  found[#found + 1] = title_cells(list, block)
  for _, line in ipairs(lines) do
    for _, one in ipairs(body_text(list, line, block, parameters, width)) do
      found[#found + 1] = one
    end
  end
  return found
end

local function layout(list, records, parameters, hz, width)
  local lines = body(records, list, parameters, hz)
  measure_widths(list, lines, records)
  widen_for_leads(list, lines, parameters)
  widen_for_groups(list)
  return lines, total_width(list) <= width
end

-- The lines of the table itself.
local function grid(list, records, parameters, hz, width)
  local found = {}
  local lines, fits = layout(list, records, parameters, hz, width)
  if not fits then
    local words
    list, parameters, words = without_constants(list, parameters, records)
    lines = layout(list, records, parameters, hz, width)
    if #words > 0 then
      found = text.wrap("in all rows: " .. table.concat(words, ", "), width, 2)
      found[#found + 1] = ""
    end
  end
  for n, block in ipairs(blocks(list, parameters, width)) do
    if n > 1 then found[#found + 1] = "" end
    for _, line in ipairs(block_lines(list, lines, block, parameters, width)) do
      found[#found + 1] = line
    end
  end
  return found
end

-- ---- one parameter as columns

local function key_without(record, parameters, across)
  local words = {}
  for _, name in ipairs(parameters) do
    if name ~= across then
      words[#words + 1] = figure.value((record.params or {})[name])
    end
  end
  return table.concat(words, "\0")
end

-- Rows that differ only in the parameter become one, whose parts stand in
-- `across`, by the value's text.
local function pivot(self, parameters, across)
  local rows, by_key, values, seen = {}, {}, {}, {}
  for _, record in ipairs(self) do
    if record.reference then
      rows[#rows + 1] = record
    else
      local key = key_without(record, parameters, across)
      local value = figure.value((record.params or {})[across])
      if not by_key[key] then
        by_key[key] = { params = record.params, across = {}, status = "ok" }
        rows[#rows + 1] = by_key[key]
      end
      by_key[key].across[value] = record
      if not seen[value] then values[#values + 1] = value end
      seen[value] = true
    end
  end
  return rows, values
end

-- A figure's column for one value of the parameter. A row that failed says so
-- in its first cell; the reason stands below the table.
local function across_column(column, across, value, first)
  local new = {}
  for key, field in pairs(column) do new[key] = field end
  new.group = across == "workload" and value or
    ("%s=%s"):format(across, value)
  new.title = column.group or column.title
  new.get = function (row)
    local record = row.reference and first and row or
      (row.across or {})[value]
    if not record then return nil end
    if instead(record) then
      return column.is_first and bad[record.status] or nil
    end
    return column.get(record)
  end
  return new
end

local function across_columns(self, list, parameters, options)
  local across = options.across
  local rows, values = pivot(self, parameters, across)
  local new, count = {}, 0
  local figures = {}
  for _, column in ipairs(list) do
    local plain = options.columns or column.key == "ticks.typical" or
      column.key == "ratio.value"
    if column.kind == "param" then
      if column.key ~= across then
        new[#new + 1] = column
        count = count + 1
      end
    elseif plain then
      figures[#figures + 1] = column
    end
  end
  if figures[1] then figures[1].is_first = true end
  for n, value in ipairs(values) do
    for _, column in ipairs(figures) do
      new[#new + 1] = across_column(column, across, value, n == 1)
    end
  end
  return new, rows, count
end

local function reasons(self)
  local lines = {}
  for _, record in ipairs(self) do
    local message = instead(record)
    if message then lines[#lines + 1] = record.name .. ": " .. message end
  end
  return lines
end

-- ---- lines below

local function percent(share)
  return figure.share(math.floor(share * 100 + 0.5) / 100)
end

-- Causes as a list of { name, share }, the largest first.
local function causes_of(noise)
  local list, sum = {}, 0
  for name, share in pairs(noise.causes or {}) do
    if type(share) == "table" then
      name, share = share.cause or share[1], share.share or share[2]
    end
    if type(share) == "number" and share > 0 then
      list[#list + 1] = { name, share }
      sum = sum + share
    end
  end
  table.sort(list, function (a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  return list, sum
end

local function noise_line(noise)
  if not noise then return nil end
  local list, sum = causes_of(noise)
  local line = "noise: " .. (noise.verdict or "unknown")
  if #list == 0 then return line end
  for i, cause in ipairs(list) do
    local shown = cause[2] < 0.01 and "< 1 %" or percent(cause[2])
    list[i] = ("%s %s"):format(cause[1], shown)
  end
  local disturbed = noise.disturbed or math.min(sum, 1)
  return ("%s (%s of rounds disturbed: %s)"):format(line,
    disturbed < 0.01 and "< 1 %" or percent(disturbed),
    table.concat(list, ", "))
end

local function machine_text(machine)
  if not machine then return nil end
  local name = machine.summary or machine.model or machine.cpu_model
  if type(name) ~= "string" then return nil end
  return text.clean(name)
end

local function level_text(self)
  for _, record in ipairs(self) do
    local ratio = record.ratio
    if ratio and ratio.level and ratio.low then
      return percent(ratio.level) .. " intervals"
    end
  end
end

local function plural(count, one)
  return count == 1 and "1 " .. one or ("%d %ss"):format(count, one)
end

local function effort_line(self)
  local meta, words = self.meta, {}
  local forks = meta.forks or (self[1] and self[1].forks)
  local rounds = meta.rounds or (self[1] and self[1].rounds)
  if forks then
    rounds = rounds and math.max(1, math.floor(rounds / forks + 0.5))
    words[1] = forks == 1 and "one process" or plural(forks, "process"):gsub(
      "processs$", "processes")
    if rounds then words[1] = words[1] .. " x " .. plural(rounds, "round") end
  end
  words[#words + 1] = level_text(self)
  if meta.elapsed_s then
    words[#words + 1] = figure.duration(meta.elapsed_s)
  end
  words[#words + 1] = machine_text(meta.machine)
  return table.concat(words, ", ")
end

-- The command on the last line, or on lines of its own that a shell joins.
local function again_lines(effort, command, width)
  if not command then return effort ~= "" and { effort } or {} end
  local together = ("%s.   again: %s"):format(effort, command)
  if effort ~= "" and text.width(together) <= width then
    return { together }
  end
  local lines = effort ~= "" and { effort .. "." } or {}
  local line = "again:"
  for word in command:gmatch("%S+") do
    if text.width(line) + 1 + text.width(word) + 2 > width then
      lines[#lines + 1] = line .. " \\"
      line = "   "
    end
    line = line .. " " .. word
  end
  lines[#lines + 1] = line
  return lines
end

local function foot(self, lines, width, options)
  local meta = self.meta
  local function add(line, indent)
    for _, one in ipairs(text.wrap(line, width, indent)) do
      lines[#lines + 1] = one
    end
  end
  for _, fit in ipairs(meta.fits or {}) do add("fit:   " .. fit.text, 7) end
  if options.across then
    for _, line in ipairs(reasons(self)) do add(line, 2) end
  end
  lines[#lines + 1] = ""
  local noise = noise_line(meta.noise)
  if noise then add(noise, 7) end
  for _, note in ipairs(meta.notes or {}) do add("note:  " .. note, 7) end
  if meta.partial then
    add("partial: the run was stopped before its end" ..
      (meta.stopped_by and (" (%s)"):format(meta.stopped_by) or ""))
  end
  for line in (meta.reading or ""):gmatch("[^\n]+") do
    add((line == meta.reading:match("[^\n]+") and "read:  " or "       ") ..
      line, 7)
  end
  for _, line in ipairs(again_lines(effort_line(self), meta.command, width)) do
    lines[#lines + 1] = line
  end
end

-- ---- together

local function one_table(self, options, width)
  local lines = {}
  head(self, lines, width)
  if #self == 0 then
    lines[#lines + 1] = "no rows"
  else
    local view = self.meta.view or {}
    local wanted = {
      columns = options.columns or view.columns,
      across = options.across or view.across,
    }
    local list, context = columns.of(self, { columns = wanted.columns })
    columns.set_units(list, self)
    local rows, count = self, #context.parameters
    if wanted.across then
      list, rows, count =
        across_columns(self, list, context.parameters, wanted)
    end
    local hz = self.meta.clock and self.meta.clock.hz
    for _, line in ipairs(grid(list, rows, count, hz, width)) do
      lines[#lines + 1] = line
    end
    options = wanted
  end
  foot(self, lines, width, options)
  return table.concat(lines, "\n") .. "\n"
end

--- The table, or several with a blank line between.
-- @param self results
-- @param options `columns`, `across`, `width` (100)
return function (self, options)
  options = options or {}
  local tables = {}
  for i, part in ipairs(results.parts(self)) do
    tables[i] = one_table(part, options, options.width or 100)
  end
  return table.concat(tables, "\n")
end
