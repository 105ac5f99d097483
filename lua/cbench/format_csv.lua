--- A line for each row, fields separated by commas (RFC 4180): parameters,
-- then every figure of the record, unrounded, and the command that repeats the
-- run: a line of its own would be one that readers of tables trip over.
local import = ...
local columns = import "columns"
local figure = import "figure"
local results = import "results"

local always = {
  "status", "reason", "ticks.typical", "ticks.fast", "ticks.p90", "ticks.min",
  "ticks.max", "ns.typical", "ns.fast", "per_second", "overlap", "ratio.to",
  "ratio.value", "ratio.low", "ratio.high", "ratio.level", "ratio.verdict",
  "ratio.reason", "threads", "iterations", "rounds", "forks", "stopped_by",
  "interpreter",
}

local function quote(text)
  if not text:find("[\",\r\n]") then return text end
  return '"' .. text:gsub('"', '""') .. '"'
end

local function raw(value)
  if value == nil then return "" end
  if type(value) == "number" then return figure.exact(value) end
  return figure.value(value)
end

-- The columns of the table, then what a record always has.
local function keys_of(self, options)
  local list, seen = {}, { name = true } -- which each line begins with
  local function add(column)
    if column.key == "interval" then return end
    if not seen[column.key] then list[#list + 1] = column end
    seen[column.key] = true
  end
  for _, column in ipairs(columns.of(self, options)) do
    if column.key ~= "verdict" then add(column) end
  end
  for _, key in ipairs(always) do add(columns.field(key)) end
  for _, key in ipairs(columns.counters(self)) do add(columns.field(key)) end
  return list
end

local function write(self, options)
  local lines = {}
  for _, part in ipairs(results.parts(self)) do
    local list = keys_of(part, options)
    local cells = {}
    for i, column in ipairs(list) do cells[i] = quote(column.key) end
    table.insert(cells, 1, "name")
    cells[#cells + 1] = "command"
    lines[#lines + 1] = table.concat(cells, ",")
    for _, record in ipairs(part) do
      cells = { quote(record.name or "") }
      for i, column in ipairs(list) do
        cells[i + 1] = quote(raw(column.get(record)))
      end
      cells[#cells + 1] = quote(part.meta.command or "")
      lines[#lines + 1] = table.concat(cells, ",")
    end
  end
  return table.concat(lines, "\r\n") .. "\r\n"
end

return { summary = "one line a row, unrounded, for spreadsheets",
         write = write }
