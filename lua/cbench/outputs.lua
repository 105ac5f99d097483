--- Where results go: stdout, files, each in a format.
-- Files are opened before anything is measured, so that a wrong path costs no
-- time, and written whole when all is done.
local import, core = ...
local command = import "command"
local fleet = import "fleet"
local format = import "format"
local paint = import "paint"

local outputs = {}

local exit = command.exit

local function check_format(name, formats)
  local message = format.refuse(name, formats)
  if message then command.refuse(message) end
end

--- Opens one file for a format.
function outputs.file(path, name)
  local expanded, message = fleet.expand(path)
  if not expanded then command.refuse(message) end
  message = fleet.refuse_shared(path, format.mode(name) == "append")
  if message then command.refuse(message) end
  local file
  file, message = core.output(expanded, format.mode(name))
  if not file then command.fail(exit.failed, message) end
  return { format = name, file = file }
end

-- FORMAT:FILE
local function split_export(word, formats)
  local name, path = word:match "^([^:]+):(.+)$"
  if not name then
    command.refuse(("option '--export': FORMAT:FILE expected, got '%s'")
      :format(word))
  end
  check_format(name, formats)
  return name, path
end

local function open_export(word, formats)
  local name, path = split_export(word, formats)
  return outputs.file(path, name)
end

--- Refuses wrong words about formats, and opens nothing.
function outputs.check(options, formats)
  if options.format then check_format(options.format, formats) end
  for _, word in ipairs(options.export or {}) do
    split_export(word, formats)
  end
end

--- Opens all that the options name.
-- @param formats those of the scenario, or nil
-- @return a list of sinks, to be closed
function outputs.open(options, formats)
  local sinks = setmetatable({}, { __close = function (self)
    for _, sink in ipairs(self) do
      if sink.file then sink.file:close() end
    end
  end })
  local path, name = options.output, options.format
  if name then check_format(name, formats) end
  if path and path ~= "-" then
    sinks[1] = outputs.file(path, name or format.of_path(path))
  else
    sinks[1] = { format = name or "table" }
  end
  for _, word in ipairs(options.export or {}) do
    sinks[#sinks + 1] = open_export(word, formats)
  end
  return sinks
end

local function put(sink, text, options)
  if not sink.file then
    if sink.format == "table" then text = paint(text, options.color) end
    return io.stdout:write(text)
  end
  local done, message = format.put(sink.file, text, sink.format)
  if not done then return nil, message end
  return sink.file:commit()
end

--- Writes results everywhere; true, or false with complaints on stderr.
function outputs.write(context, sinks, results)
  local fine = true
  for _, sink in ipairs(sinks) do
    local text = format.format(results, sink.format)
    local done, message = put(sink, text, context.options)
    if not done then
      command.complain(context, tostring(message))
      fine = false
    end
  end
  return fine
end

--- Does stdout get a text for people?
function outputs.is_readable(sinks)
  return not sinks[1].file and sinks[1].format == "table"
end

return outputs
