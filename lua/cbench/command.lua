--- The command line, behind its options: subcommands and scenarios.
-- The program has read the words; `run` gets them as one table:
-- { program, what = "scenario" or a subcommand, options, words, scenario,
-- option_list } and returns the exit code.
local import, core = ...

local command = {}

-- Exit codes.
local DONE, USAGE = 0, 2

local function complain(context, message)
  io.stdout:flush()
  io.stderr:write(context.program, ": ", message, "\n")
end

local subcommands = {}

function subcommands.list()
  for _, name in ipairs(core.scenario_names()) do print(name) end
  return DONE
end

function subcommands.info()
  print(core.version)
  return DONE
end

function subcommands.report(context)
  return import("command_report").run(context)
end

-- Several scenarios are run one after the other.
local function each_scenario(context)
  if getmetatable(context.scenario) then return { context.scenario } end
  return context.scenario
end

function subcommands.scenario(context)
  for _, scenario in ipairs(each_scenario(context)) do
    print(scenario:run({}, context.options))
  end
  return DONE
end

-- Those whose words are names of files.
local takes_files = { report = true }

--- Runs what the words ask for.
function command.run(context)
  if context.words[1] and not takes_files[context.what] then
    complain(context, ("unexpected word '%s'"):format(context.words[1]))
    return USAGE
  end
  return subcommands[context.what](context)
end

return command
