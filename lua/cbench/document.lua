--- Results as a JSON document of schema "cbench/1", and back.
--
-- The document holds all that the table needs, so that a file read back
-- prints what the run printed: titles of columns and the values of derived
-- ones, reading, noise, notes. One record is one line.
local import, core = ...
local results = import "results"

local document = { schema = "cbench/1" }

-- Keys in the order in which people read them; others by the alphabet.
local order = {
  "schema", "name", "workload", "command", "run", "host", "rank", "size",
  "scenario", "title", "about", "machine", "build", "clock", "seed", "started",
  "elapsed_s", "status", "reason", "op", "params", "threads", "unit", "ticks",
  "ns", "fast", "typical", "p90", "min", "max", "per_second", "role", "cpu",
  "operations", "overlap", "roles", "ratio", "to", "value", "low", "high",
  "level", "verdict", "fork", "round", "n", "iterations", "rounds", "forks",
  "stopped_by", "partial", "counters", "checks", "derived", "limit", "noise",
  "options", "notes", "reading", "view", "fits", "limits_exceeded", "tables",
  "interpreter", "samples", "results",
}
document.order = order

--- Text of one value, its keys in the document's order. What a script put
-- into a record can be no JSON: the error then has no place in here.
function document.encode(value)
  local ok, text = pcall(core.json_encode, value, order)
  return ok and text or error(text, 0)
end

-- Lists stay lists when they are empty.
local function mark_lists(record)
  for _, key in ipairs { "samples", "roles", "checks", "notes" } do
    local list = record[key]
    if type(list) == "table" and next(list) == nil then
      core.json_array(list)
    end
  end
  return record
end

-- Columns without their functions: the values of those stand in `derived`.
local function plain_view(view)
  if not view then return nil end
  local plain = {
    parameters = core.json_array { table.unpack(view.parameters or {}) },
    across = view.across, reference = view.reference, roles = view.roles,
  }
  if view.columns then
    plain.columns = core.json_array {}
    for i, column in ipairs(view.columns) do
      plain.columns[i] = type(column) == "table" and { title = column[1] } or
        column
    end
  end
  return plain
end

local function full_view(plain)
  for i, column in ipairs(plain and plain.columns or {}) do
    if type(column) == "table" then
      plain.columns[i] = { column.title, function () return nil end }
    end
  end
  return plain
end

-- What is true of one table.
local function part_of(self)
  local meta, part = self.meta, {}
  for key, value in pairs(meta) do
    if type(value) ~= "function" then part[key] = value end
  end
  part.view = plain_view(meta.view)
  part.formats, part.parts = nil, nil
  part.notes = meta.notes and #meta.notes > 0 and meta.notes or nil
  return part
end

local function head(self)
  local top = part_of(self)
  local parts = results.parts(self)
  top.schema = document.schema
  top.partial = top.partial or false
  if #parts > 1 then
    top.tables = {}
    for i, one in ipairs(parts) do
      top.tables[i] = part_of(one)
      top.tables[i].rows = #one
    end
  end
  return top
end

--- The document of some results.
function document.text(self)
  local top = head(self)
  local lines, seen = {}, {}
  local function add(key)
    if top[key] ~= nil and not seen[key] then
      lines[#lines + 1] = ("%s: %s"):format(document.encode(key),
        document.encode(top[key]))
    end
    seen[key] = true
  end
  for _, key in ipairs(order) do add(key) end
  for _, key in ipairs(import("check").keys(top)) do add(key) end
  local records = {}
  for i, record in ipairs(self) do
    records[i] = document.encode(mark_lists(record))
  end
  return ("{\n%s,\n\"results\": [\n%s\n]\n}\n"):format(
    table.concat(lines, ",\n"), table.concat(records, ",\n"))
end

-- What each line repeats of the run, so that it can stand alone.
local line_keys = { "command", "run", "rank", "size", "scenario", "title",
                    "started", "seed", "clock", "machine", "build", "partial" }

--- A line of JSON for each row.
function document.lines(self)
  local lines = {}
  for _, part in ipairs(results.parts(self)) do
    for _, record in ipairs(part) do
      local line = {}
      for key, value in pairs(record) do line[key] = value end
      for _, key in ipairs(line_keys) do line[key] = part.meta[key] end
      line.schema = document.schema
      line.host = part.meta.host or import("fleet").host()
      lines[#lines + 1] = document.encode(mark_lists(line)) .. "\n"
    end
  end
  return table.concat(lines)
end

-- ---- reading

--- Results of one table.
-- @param records a list
-- @param meta what is true of them, as it stands in a document
function document.part(records, meta)
  meta.rows = nil
  meta.view = full_view(meta.view)
  return results.new(records, meta)
end

local function cut(records, first, count, meta)
  return document.part(table.move(records, first, first + count - 1, 1, {}),
    meta)
end

local function rebuild(top)
  local records, tables, merge = top.results, top.tables, top.merge
  top.results, top.schema, top.tables = nil, nil, nil
  if not tables then return cut(records, 1, #records, top) end
  local parts, first = {}, 1
  for i, meta in ipairs(tables) do
    local count = math.tointeger(meta.rows) or 0
    parts[i] = cut(records, first, count, meta)
    first = first + count
  end
  local all = results.concat(parts)
  all.meta.merge = merge
  return all
end

--- Why the value is no document of results, or nil.
function document.refuse(top)
  if type(top) ~= "table" then return "no document of results" end
  if type(top.schema) ~= "string" then
    return "no document of results: it has no schema"
  end
  if top.schema ~= document.schema then
    return ("schema '%s', not '%s'"):format(top.schema, document.schema)
  end
  if type(top.results) ~= "table" then return "it has no results" end
  local tables = top.tables
  if tables ~= nil and type(tables) ~= "table" then
    return "its tables are no list"
  end
  for i, meta in ipairs(tables or {}) do
    if type(meta) ~= "table" then return ("table %d is none"):format(i) end
  end
  for i, record in ipairs(top.results) do
    if type(record) ~= "table" or type(record.name) ~= "string" or
        type(record.status) ~= "string" then
      return ("result %d has no name or no status"):format(i)
    end
  end
end

--- Results of a document's text.
-- @return results; or nil and a sentence
function document.parse(content)
  if not content:find("%S") then return nil, "it is empty" end
  local top, message = core.json_decode(content)
  if top == nil then return nil, message or "no document of results" end
  message = document.refuse(top)
  if message then return nil, message end
  return import("shape").mend(rebuild(top))
end

--- Reads a file of results.
-- @return results; or nil, a sentence and the name of the error
function document.read(path)
  local file, message = io.open(path, "rb")
  if not file then return nil, "cannot read " .. message, "ENOENT" end
  local content = file:read("a")
  file:close()
  if not content then
    return nil, ("cannot read %s: it is a directory"):format(path), "EISDIR"
  end
  local done
  done, message = document.parse(content)
  if not done then
    return nil, ("cannot read %s: %s"):format(path, message), "EINVAL"
  end
  return done
end

return document
