--- The command line, behind its options: subcommands and scenarios.
-- A subcommand NAME is one file, command_NAME.lua, that returns { summary,
-- usage, options = names of the options it takes, run = function (context)
-- return exit code end }. The program has read the words; `run` gets them as
-- one table, the context: { program, what, options, words, scenario, name,
-- typed, option_list }.
local import = ...
local text = import "text"

local command = {}

--- Exit codes.
command.exit = {
  done = 0, failed = 1, usage = 2, limit = 3, inconclusive = 4,
  interrupted = 130,
}

-- Taken by every subcommand.
local everywhere = {
  quiet = true, verbose = true, color = true, help = true, plugin = true,
}

--- Writes a sentence to stderr, behind what stdout has got so far.
function command.complain(context, message)
  io.stdout:flush()
  io.stderr:write(context.program, ": ", message, "\n")
end

--- The same, unless -q was given.
function command.warn(context, message)
  if not context.options.quiet then command.complain(context, message) end
end

-- A Ctrl-C before or after what is measured is an error of Lua.
local function code_for(code, message)
  return message:find "interrupted!$" and command.exit.interrupted or code
end

--- Ends the command with a sentence and an exit code.
function command.fail(code, message)
  error({ code = code_for(code, message), message = message }, 0)
end

--- Ends it because of a wrong word.
function command.refuse(message)
  command.fail(command.exit.usage, message)
end

--- What was typed, for a shell, with the seed if it was not typed.
function command.typed(context, seed)
  local words, seen = {}, false
  for i, word in ipairs(context.typed) do
    words[i] = text.quote(word)
    seen = seen or word:find "^%-%-seed" ~= nil
  end
  if seed and not seen then words[#words + 1] = "--seed " .. seed end
  return table.concat(words, " ")
end

--- Loads what --plugin names: a plug-in, or NAME=PLUG-IN.
-- @return true; or nil and a sentence
function command.load_plugin(word)
  local prefix, path = word:match "^([%a_][%w_]*)=(.+)$"
  local loaded, message = import("plugins").load(path or word, prefix)
  if not loaded then return nil, "option '--plugin': " .. message end
  return true
end

-- An option that the subcommand does not take would be a silent mistake.
local function check_options(context, accepted)
  local known = {}
  for _, name in ipairs(accepted) do known[name] = true end
  for _, option in ipairs(context.option_list) do
    local key = option.name:gsub("-", "_")
    if context.options[key] ~= nil and not known[option.name] and
        not everywhere[option.name] then
      command.refuse(("option '--%s' does not go with '%s'"):format(
        option.name, context.what == "run" and context.name or context.what))
    end
  end
end

local function act(context)
  local which = context.what == "run" and import "run" or
    import("command_" .. context.what)
  check_options(context, which.options)
  if context.options.help and which.usage then
    io.stdout:write(which.usage)
    return command.exit.done
  end
  return which.run(context)
end

-- Words of ours pass as they are; other errors become text, with a traceback
-- where one was asked for.
local function handler(context)
  return function (failure)
    if type(failure) == "table" and failure.code then return failure end
    local message = type(failure) == "string" and failure or
      ("(error object is a %s value)"):format(type(failure))
    local code = code_for(command.exit.failed, message)
    if context.options.verbose then
      message = debug.traceback(message, 2)
    end
    return { code = code, message = message }
  end
end

--- Does what the words ask for; returns the exit code.
function command.run(context)
  local ok, code = xpcall(act, handler(context), context)
  if not ok then
    command.complain(context, code.message)
    code = code.code
  end
  -- What could not be written must not look like success.
  local flushed, why = io.stdout:flush()
  if not flushed then
    command.complain(context, "cannot write to stdout: " .. tostring(why))
    if code == command.exit.done then code = command.exit.failed end
  end
  return code
end

return command
