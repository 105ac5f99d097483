--- Rows of files of results, one after the other, without building them.
--
-- A file is either lines of JSON, a row each, or one document. Of a row is
-- known where its members stand in its text; nearly all of it is copied as it
-- is. A document that was written by cbench has each row on a line of its own
-- too, so that one that was cut still gives the rows before the cut; documents
-- of another layout are read as a whole.
local import, core = ...
local document = import "document"
local lines = import "lines"

local gather = {}

-- What a line or a document says of the run and not of the row.
local of_run = {}
for _, key in ipairs { "schema", "command", "run", "host", "rank", "size",
    "scenario", "title", "about", "started", "seed", "clock", "machine",
    "build", "state", "options", "partial", "elapsed_s" } do
  of_run[key] = true
end

-- ---- rows

-- A row: its text, and the list of places from core.json_members.
local Row = {}
Row.__index = Row

-- Where the row before had its members: most rows are alike.
local places = {}

local function place_of(list, key)
  local place = places[key]
  if place and list[place] == key then return place end
  for i = 1, #list, 4 do
    if list[i] == key then
      places[key] = i
      return i
    end
  end
end

--- Text of the member's value, or nil.
function Row:raw(key)
  local list = self.list
  local place = place_of(list, key)
  return place and self.text:sub(list[place + 2], list[place + 3])
end

--- The member's value, or nil.
function Row:value(key)
  local raw = self:raw(key)
  return raw and (core.json_decode(raw))
end

-- The members of an object's text.
local function read_members(text)
  local list, message = core.json_members(text)
  if not list then return nil, message end
  return setmetatable({ text = text, list = list }, Row)
end

-- The row's text without what is said of the run: neighbours are copied
-- together.
local function own_text(row)
  local parts, list, text, from, to = {}, row.list, row.text, nil, nil
  for i = 1, #list, 4 do
    if of_run[list[i]] then
      if from then parts[#parts + 1] = text:sub(from, to) end
      from = nil
    else
      from, to = from or list[i + 1], list[i + 3]
    end
  end
  if from then parts[#parts + 1] = text:sub(from, to) end
  return table.concat(parts, ",")
end

-- What makes rows ones of the same run: texts that are equal.
local function group_text(row)
  return table.concat({ row:raw "run" or "", row:raw "host" or "",
    row:raw "rank" or "", row:raw "size" or "", row:raw "scenario" or "",
    row:raw "started" or "" }, "\0")
end

local own_schema = core.json_encode(document.schema)

local function refuse(row)
  local schema = row:raw "schema"
  if schema and schema ~= own_schema then
    return ("schema %s, not %s"):format(schema, own_schema)
  end
  local name, status = row:raw "name", row:raw "status"
  if not (name and name:find '^"' and status and status:find '^"') then
    return "no result: it has no name or no status"
  end
end

-- ---- lines of JSON

local Reader = {}
Reader.__index = Reader

function Reader:complain(number, message)
  self.bad = self.bad + 1
  if self.bad <= 3 then
    self.say(("%s, line %d: left out (%s)"):format(self.path, number, message))
  end
end

-- The run that rows of one group belong to; its description is read once.
function Reader:run_of(row)
  local key = group_text(row)
  local run = self.runs[key]
  if not run then
    run = {}
    for i = 1, #row.list, 4 do
      local name = row.list[i]
      if of_run[name] then run[name] = row:value(name) end
    end
    run.schema = nil
    self.runs[key] = run
  end
  return run
end

local own_faults = {
  "a number out of range", "nested too deep", "too many members",
  "a key stands twice", "control character in a string", "more than one value",
  "object expected",
}

-- What is wrong with a line that no cut can have made.
local function is_own_fault(message)
  for _, fault in ipairs(own_faults) do
    if message:find(fault, 1, true) then return true end
  end
  return false
end

-- A row of the run, or of the one that it names itself.
function Reader:row(text, number, complete, run)
  local row, message = read_members(text)
  if not row and not complete and not is_own_fault(message) then
    message = "the file is cut here"
  end
  message = message or refuse(row)
  if message then
    self:complain(number, message)
    return
  end
  self.visit(row, run or self:run_of(row), own_text(row))
end

function Reader:read_lines(next_line, line, number, complete)
  while line do
    if line:find "%S" then self:row(line, number, complete) end
    line, number, complete = next_line()
  end
end

-- ---- documents

-- "key": value, as a document's head has them, one a line.
local function head_line(line, run)
  local row = read_members("{" .. line:gsub(",%s*$", "") .. "}")
  local key = row and row.list[1]
  if key then run[key] = row:value(key) end
  return key ~= nil
end

-- Which run each row of a document belongs to: by the counts of its tables.
-- Without those each row of a merged document says it itself.
local function runs_of(top)
  local tables, first, n = top.tables, 1, 1
  if type(tables) ~= "table" then
    return function () return not top.merged and top or nil end
  end
  return function (place)
    while tables[n + 1] and place >= first + (tables[n].rows or 0) do
      first, n = first + (tables[n].rows or 0), n + 1
    end
    return tables[n] or top
  end
end

-- The tables of a merged document stand below its rows, a line each.
local function tables_below(file)
  local tables, inside = nil, false
  file:seek "set"
  for line in lines.of(file) do
    if inside and line:find "^%]" then
      inside = false
    elseif inside then
      tables[#tables + 1] = core.json_decode((line:gsub(",%s*$", "")))
    elseif line == '"tables": [' then
      tables, inside = {}, true
    end
  end
  return tables
end

-- The head of a document: up to where its rows begin.
local function read_head(next_line)
  local top, line = {}, next_line()
  while line and not line:find '^%s*"results": ?%[%s*$' do
    if not head_line(line, top) then return nil end
    line = next_line()
  end
  return line and top.schema == document.schema and top
end

-- A document in the layout of `document.text`, after its first line: true, or
-- nil when it is none.
function Reader:read_document(next_line, file)
  local top = read_head(next_line)
  if not top then return nil end
  if top.merged then
    top.tables = tables_below(file)
    file:seek "set"
    next_line = lines.of(file)
    next_line()
    read_head(next_line)
  end
  local run_of, place, whole = runs_of(top), 0, true
  local line, number, complete = next_line()
  while line and not line:find "^%s*%]" do
    place, whole = place + 1, complete
    self:row(line:gsub(",%s*$", ""), number, complete, run_of(place))
    line, number, complete = next_line()
  end
  if not line and whole then
    self.say(("%s: the file is cut after row %d"):format(self.path, place))
  end
  return true
end

-- The rows of any document, from its values.
function Reader:read_values(content)
  local top, message = core.json_decode(content)
  message = top == nil and message or document.refuse(top)
  if message then
    return nil, ("cannot read %s: %s"):format(self.path, message)
  end
  local run_of = runs_of(top)
  for place, record in ipairs(top.results) do
    self:row(document.encode(record), place, true, run_of(place))
  end
  return true
end

-- ---- files

-- One document in one line has its rows inside.
local function is_document(line)
  local row = read_members(line)
  return row and row:raw "results"
end

function Reader:read(file)
  local next_line = lines.of(file)
  local line, number, complete = next_line()
  if not line then
    return nil, ("cannot read %s: it is empty"):format(self.path)
  elseif line:find "^%s*{%s*$" then
    if self:read_document(next_line, file) then return true end
  elseif not is_document(line) then
    self:read_lines(next_line, line, number, complete)
    return true
  end
  file:seek "set"
  return self:read_values(file:read "a")
end

--- Calls `visit(row, run, text)` for each row of a file: the row's members, a
-- table of what is true of its run (the same table for rows of one run), and
-- the row's own members as text.
-- @param path of the file
-- @param visit the function
-- @param say function that is given sentences about what was left out
-- @return true; or nil and a sentence
function gather.read(path, visit, say)
  local file, message = io.open(path, "rb")
  if not file then return nil, "cannot read " .. message end
  if not file:read(0) and file:seek "end" ~= 0 then
    file:close()
    return nil, ("cannot read %s: it is a directory"):format(path)
  end
  file:seek "set"
  local self = setmetatable({ path = path, visit = visit, say = say, bad = 0,
                              runs = {} }, Reader)
  local done
  done, message = self:read(file)
  file:close()
  if self.bad > 3 then
    say(("%s: %d lines in all were left out"):format(path, self.bad))
  end
  return done, message
end

--- The sound rows of a file as results, one part for each run.
-- @param path of the file
-- @param say function that is given sentences about what was left out
-- @return results; or nil and a sentence
function gather.results(path, say)
  local by_run, order = {}, {}
  local good, message = gather.read(path, function (_, run, text)
    if not by_run[run] then
      by_run[run] = {}
      order[#order + 1] = run
    end
    table.insert(by_run[run], (core.json_decode("{" .. text .. "}")))
  end, say)
  if not good then return nil, message end
  if #order == 0 then return nil, path .. ": no row in it is sound" end
  local parts = {}
  for i, run in ipairs(order) do
    parts[i] = document.part(by_run[run], run)
  end
  return import("results").concat(parts)
end

return gather
