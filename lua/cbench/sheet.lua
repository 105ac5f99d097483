--- A table before it is set: its columns and the cells of its lines.
--
-- A sheet: { columns, parameters = how many of them are parameters, records,
-- lines, above, reasons }; above and reasons are sentences around it. A line:
-- { cells, lead, over, from }; cells by column, lead a text in place of the
-- parameters, over a text from column `from` on.
local import = ...
local columns = import "columns"
local figure = import "figure"
local results = import "results"
local text = import "text"

local sheet = {}

local longest_cell = 48

local bad = { fail = "FAIL", ["n/a"] = "n/a" }

-- What stands in place of figures, or nil.
local function instead(record)
  local word = bad[record.status]
  -- A run may end before a row had its first round.
  if results.is_unmeasured(record) then word = "partial" end
  if not word then return nil end
  if not record.reason then return word end
  return ("%s: %s"):format(word, text.clean(record.reason))
end

-- Cells stay on one line and within reason.
local function clip(cell)
  cell = text.clean(cell)
  if text.width(cell) <= longest_cell then return cell end
  if not utf8.len(cell) then return cell:sub(1, longest_cell - 3) .. "..." end
  local last = utf8.offset(cell, longest_cell - 2) or #cell + 1
  return cell:sub(1, last - 1) .. "..."
end

local function line_of(record, list, parameters)
  local line, message = { cells = {} }, instead(record)
  local last = message and parameters or #list
  local first = 1
  if record.reference and parameters > 0 then
    line.lead = clip(("%s (reference)"):format(record.name))
    first = parameters + 1
  end
  for i = first, last do
    line.cells[i] = clip(columns.cell(list[i], record))
  end
  if message then line.over, line.from = message, parameters + 1 end
  return line
end

-- Threads that only serve another one have no operations of their own.
local function several_work(record)
  local count = 0
  for _, role in ipairs(record.roles or {}) do
    if (role.operations or 0) > 0 then count = count + 1 end
  end
  return count > 1
end

-- Threads of several roles have their own lines under the row.
local function role_lines(record, list, parameters, hz)
  local lines = {}
  if not several_work(record) or instead(record) then return lines end
  for i, role in ipairs(record.roles) do
    local part = { overlap = role.overlap, status = "ok" }
    if role.ticks and (role.operations or 0) > 0 then
      part.ticks = { typical = role.ticks / role.operations }
      part.ns = hz and { typical = part.ticks.typical / hz * 1e9 }
    end
    local line = line_of(part, list, 0)
    for n = 1, parameters do line.cells[n] = nil end
    line.lead = ("  %s%s"):format(role.role or "thread",
      role.cpu and (", cpu %d"):format(role.cpu) or "")
    lines[i] = line
  end
  return lines
end

-- References first: the eye wants to know what "x" is.
local function all_lines(records, list, parameters, hz, with_roles)
  local lines = {}
  for _, references in ipairs { true, false } do
    for _, record in ipairs(records) do
      if (record.reference or false) == references then
        lines[#lines + 1] = line_of(record, list, parameters)
        local roles = with_roles and
          role_lines(record, list, parameters, hz) or {}
        table.move(roles, 1, #roles, #lines + 1, lines)
      end
    end
  end
  return lines
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
-- `across`, by the value's text. A reference has a row only where it is that
-- of all.
local function pivot(self, parameters, across, many_references)
  local rows, by_key, values, seen = {}, {}, {}, {}
  for _, record in ipairs(self) do
    if record.reference then
      if not many_references then rows[#rows + 1] = record end
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
-- in its first cell, the reason stands below the table. The reference has no
-- value of the parameter; its figures stand in the first columns.
local function across_column(column, across, value, options)
  local new = {}
  for key, field in pairs(column) do new[key] = field end
  new.group = across == "workload" and value or
    ("%s=%s"):format(across, value)
  new.title = column.group or column.title
  if column.key == "ratio.value" then new.title = column.title end
  new.get = function (row)
    local record = row.reference and options.first_value and row or
      (row.across or {})[value]
    if not record then return nil end
    if instead(record) then
      return options.first_figure and (bad[record.status] or "partial") or nil
    end
    return column.get(record)
  end
  return new
end

-- Parameters but the one across, and the figures for each of its values:
-- those that were asked for, or ticks and ratio.
local function split_columns(list, options)
  local kept, figures = {}, {}
  for _, column in ipairs(list) do
    if column.kind == "param" then
      if column.key ~= options.across then kept[#kept + 1] = column end
    elseif options.figures_chosen or column.key == "ticks.typical" or
        column.key == "ratio.value" then
      figures[#figures + 1] = column
    end
  end
  return kept, figures
end

local kind_column = {
  key = "workload", title = "", kind = "param",
  get = function (row)
    local _, record = next(row.across or {})
    return record and record.workload
  end,
}

local function across(self, list, context, options)
  local rows, values = pivot(self, context.parameters, options.across,
    context.many_references)
  local new, figures = split_columns(list, options)
  -- A row needs a name where there is no other parameter to tell it by.
  if #new == 0 then new[1] = kind_column end
  local count = #new
  for n, value in ipairs(values) do
    for i, column in ipairs(figures) do
      new[#new + 1] = across_column(column, options.across, value,
        { first_value = n == 1, first_figure = i == 1 })
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

-- ---- together

--- The sheet of the results of one scenario.
-- @param self results
-- @param options `columns` and `across` in place of the scenario's own
function sheet.of(self, options)
  local view = self.meta.view or {}
  local wanted = {
    columns = options.columns or view.columns,
    across = options.across or view.across,
  }
  local list, context = columns.of(self, wanted)
  columns.set_units(list, self)
  local records, count = self, #context.parameters
  local new = { above = {}, reasons = {} }
  if wanted.across and context.is_param[wanted.across] then
    wanted.figures_chosen = context.figures_chosen
    list, records, count = across(self, list, context, wanted)
    new.above = { "ratio: x " .. context.reference }
    new.reasons = reasons(self)
  end
  local hz = self.meta.clock and self.meta.clock.hz
  new.columns, new.parameters, new.records = list, count, records
  -- One row of a table across is several records.
  local with_roles = view.roles ~= false and records == self
  new.lines = all_lines(records, list, count, hz, with_roles)
  return new
end

return sheet
