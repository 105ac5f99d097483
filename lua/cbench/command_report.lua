--- `cbench report`: results as a page, as pictures, or on the terminal.
local import, core = ...
local command = import "command"
local report = import "report"

local exit = command.exit

local command_report = {
  summary = "results as a page, as pictures, or on the terminal",
  usage = [[
cbench report RESULTS.json... --html FILE | --svg FILE | --png FILE | --term

A page with tables, noise, pictures, machine and repeat command, in one file
that needs no network. Of two files it begins with what changed, of several
hosts with what they say together. Pictures are drawn by gnuplot, where it is
installed. Lines of JSON and what is left of a file that was cut are shown too.

  cbench report results.json --html page.html
  cbench report old.json new.json --html changed.html --png changed.png
]],
  options = { "html", "svg", "png", "term" },
}

local forms = { "html", "svg", "png", "term" }

local function close_all(outputs)
  for _, one in ipairs(outputs) do
    if one.file then one.file:close() end
  end
end

-- What was asked for: a list of { form, path }; "-" is the standard output.
local function outputs_of(options)
  local list = setmetatable({}, { __close = close_all })
  for _, form in ipairs(forms) do
    local path = options[form]
    if path == true then path = "-" end
    if path then list[#list + 1] = { form = form, path = path } end
  end
  return list
end

-- Files are opened before anything is drawn.
local function open_all(outputs)
  for _, one in ipairs(outputs) do
    if one.path ~= "-" then
      local message
      one.file, message = core.output(one.path, "whole")
      if not one.file then return nil, message end
    end
  end
  return true
end

local function put(one, text)
  if not one.file then
    local good, message = io.stdout:write(text)
    if good then good, message = io.stdout:flush() end
    return good, message and "cannot write the standard output: " .. message
  end
  local good, message = one.file:write(text)
  if good then good, message = one.file:commit() end
  return good, message
end

-- A results file may hold anything: what the makers trip over is the file's
-- fault, and is said in one line.
local function make(files, form, options)
  local good, text, messages = pcall(report.make, files, form, options)
  if good then return text, messages end
  return nil, "the results are not as their schema says: "
    .. tostring(text):gsub("^.-:%d+: ", "")
end

local function write_all(context, files, outputs, notes)
  local code, said = exit.done, {}
  local options = { notes = notes,
                    columns = tonumber(os.getenv "COLUMNS") or 100 }
  for _, one in ipairs(outputs) do
    local text, messages = make(files, one.form, options)
    local good, message = text ~= nil, messages
    if text then good, message = put(one, text) end
    if not good then
      command.complain(context, message)
      code = exit.failed
    end
    for _, sentence in ipairs(text and messages or {}) do
      if not said[sentence] then command.complain(context, sentence) end
      said[sentence] = true
    end
  end
  return code
end

function command_report.run(context)
  local outputs <close> = outputs_of(context.options)
  if #context.words == 0 then
    command.refuse "report: no file of results is named"
  elseif #outputs == 0 then
    command.refuse("report: one of --html FILE, --svg FILE, --png FILE and "
      .. "--term is needed")
  end
  local files, complaints = report.read(context.words)
  for _, sentence in ipairs(complaints) do
    command.complain(context, sentence)
  end
  if #files == 0 then return exit.usage end
  local good, message = open_all(outputs)
  if not good then command.fail(exit.failed, message) end
  local code = write_all(context, files, outputs, complaints)
  return code == exit.done and #complaints > 0 and exit.usage or code
end

return command_report
