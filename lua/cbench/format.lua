--- Results as text in many formats, and files of them.
--
-- A format is one file that returns { summary, write = function (results,
-- options) return text end } and one line in `names`.
local import, core = ...
local check = import "check"
local results = import "results"
local text = import "text"

local names = { "table", "mail", "markdown", "csv", "json", "jsonl", "bmf",
                "gobench" }

local format = {}

--- The formats there are, in the order of help.
format.names = names

local function lookup(name)
  for _, one in ipairs(names) do
    if one == name then return import("format_" .. name) end
  end
end

-- A scenario's own format gets the results and gives a text.
local function own_format(self, name)
  local writer = (self.meta.formats or {})[name]
  if not writer then return nil end
  return { own = true, write = function (these)
    local made = writer(these)
    if type(made) ~= "string" then
      error(("format '%s': the scenario's function gave a %s instead of text")
        :format(name, type(made)), 0)
    end
    return made
  end }
end

local function all_names(self)
  local all = table.move(names, 1, #names, 1, {})
  for _, name in ipairs(check.keys(self and self.meta.formats or {})) do
    all[#all + 1] = name
  end
  return all
end

--- Why there is no such format, or nil.
-- @param name of a format
-- @param formats a scenario's own, or nil
function format.refuse(name, formats)
  if lookup(name) or (formats or {})[name] then return nil end
  return check.unknown("format", name, all_names { meta = {
    formats = formats,
  } })
end

local option_types = { columns = "table", across = "string" }

local function check_arguments(self, name, options)
  if not results.is(self) then
    return ("results expected, got %s"):format(type(self))
  elseif name ~= nil and type(name) ~= "string" then
    return ("a format's name expected, got %s"):format(type(name))
  elseif options ~= nil and type(options) ~= "table" then
    return ("a table of options expected, got %s"):format(type(options))
  end
  return options and (check.fields(options, option_types, "option") or
    import("columns").check(options.columns) or
    import("columns").refuse(results.whole(self), options.columns))
end

local function writer_of(self, name, where)
  local writer = own_format(self, name) or lookup(name)
  if not writer then
    error(("%s: %s"):format(where,
      check.unknown("format", name, all_names(self))), 3)
  end
  return writer
end

-- A scenario's own format gets the results as a script does, the others all
-- that is to be seen; names and reasons may hold any octets.
local function text_of(self, writer, options)
  if writer.own then return writer.write(self) end
  return text.utf8(writer.write(results.whole(self), options))
end

--- Results as a text.
-- @param self results
-- @param name of the format ("table")
-- @param options `columns` and `across` as in a scenario
function format.format(self, name, options)
  local message = check_arguments(self, name, options)
  if message then error("format: " .. message, 2) end
  return text_of(self, writer_of(self, name or "table", "format"),
    options or {})
end

local endings = { md = "markdown", txt = "table" }

--- The format that a path asks for: by its ending, else a document.
function format.of_path(path)
  local ending = path:match("%.(%w+)$")
  ending = endings[ending] or ending
  return ending and lookup(ending) and ending or "json"
end

--- How a file of the format is written: "append" or "whole".
function format.mode(name)
  local writer = lookup(name)
  return writer and writer.append and "append" or "whole"
end

--- Writes results into a file, whole or not at all. A device is written
-- directly.
-- @param self results
-- @param path of the file
-- @param name of the format (by the path's ending, else json)
-- @return true; or nil, a sentence and the name of the error
function format.write(self, path, name)
  local message = check_arguments(self, name)
  if message then error("write: " .. message, 2) end
  if type(path) ~= "string" then
    error(("write: a path expected, got %s"):format(type(path)), 2)
  end
  name = name or format.of_path(path)
  local writer = writer_of(self, name, "write")
  local output, why, code =
    core.output(path, writer.own and "whole" or format.mode(name))
  if not output then return nil, why, code end
  local file <close> = output
  local done
  done, why, code = format.put(file, text_of(self, writer, {}), name)
  if not done then return nil, why, code end
  return file:commit()
end

--- Writes a text into an open output: all at once, or a line at a time where
-- the format is one of lines.
function format.put(file, content, name)
  if format.mode(name) == "whole" then return file:write(content) end
  for line in content:gmatch("[^\n]*\n") do
    local done, why, code = file:write(line)
    if not done then return nil, why, code end
  end
  return true
end

--- Reads results that were written as json.
-- @param path of the file
-- @return results; or nil, a sentence and the name of the error
function format.read(path)
  if type(path) ~= "string" then
    error(("read: a path expected, got %s"):format(type(path)), 2)
  end
  return import("document").read(path)
end

return format
