--- The words and options of `cbench report`.
local import, core = ...
local report = import "report"

local command_report = {
  summary = "results as a page, as pictures, or on the terminal",
  usage = "cbench report RESULTS.json... --html FILE | --svg FILE | "
    .. "--png FILE | --term\n",
  options = { "html", "svg", "png", "term" },
}

-- Exit codes.
local DONE, FAILED, USAGE = 0, 1, 2

local forms = { "html", "svg", "png", "term" }

local function complain(context, message)
  io.stdout:flush()
  io.stderr:write(context.program, ": ", message, "\n")
end

-- What was asked for: a list of { form, path }; "-" is the standard output.
local function outputs_of(options)
  local list = {}
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

local function close_all(outputs)
  for _, one in ipairs(outputs) do
    if one.file then one.file:close() end
  end
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
  local code, said = DONE, {}
  local options = { notes = notes,
                    columns = tonumber(os.getenv "COLUMNS") or 100 }
  for _, one in ipairs(outputs) do
    local text, messages = make(files, one.form, options)
    local good, message = text ~= nil, messages
    if text then good, message = put(one, text) end
    if not good then
      complain(context, message)
      code = FAILED
    end
    for _, sentence in ipairs(text and messages or {}) do
      if not said[sentence] then complain(context, sentence) end
      said[sentence] = true
    end
  end
  return code
end

--- Runs the subcommand; the words are names of files.
-- @return the exit code
function command_report.run(context)
  local outputs = outputs_of(context.options)
  if #context.words == 0 then
    complain(context, "report: no file of results is named")
    return USAGE
  elseif #outputs == 0 then
    complain(context, "report: one of --html FILE, --svg FILE, --png FILE "
      .. "and --term is needed")
    return USAGE
  end
  local files, complaints = report.read(context.words)
  for _, sentence in ipairs(complaints) do complain(context, sentence) end
  if #files == 0 then return FAILED end
  local good, message = open_all(outputs)
  if not good then
    close_all(outputs)
    complain(context, message)
    return FAILED
  end
  local code = write_all(context, files, outputs, complaints)
  close_all(outputs)
  return #complaints > 0 and FAILED or code
end

return command_report
