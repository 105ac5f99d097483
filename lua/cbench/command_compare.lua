--- `cbench compare`: two files of results.
local import = ...
local command = import "command"
local compare = import "compare"
local document = import "document"
local gate = import "gate"
local outputs = import "outputs"

local exit = command.exit

local command_compare = {
  summary = "what has changed between two runs",
  usage = [[
cbench compare OLD.json NEW.json   new against old, row by row; each row by
                                   its ratio to the reference of its own run
]],
  options = {
    "min-effect", "fail-on", "strict", "format", "output", "export",
  },
}

local function read(path)
  local results, message = document.read(path)
  if not results then command.refuse(message) end
  return results
end

function command_compare.run(context)
  if #context.words ~= 2 then
    command.refuse(("compare: two files of results expected, got %d"):format(
      #context.words))
  end
  local old, new = read(context.words[1]), read(context.words[2])
  local sinks <close> = outputs.open(context.options)
  local compared, message = compare.of(old, new, {
    min_effect = context.options.min_effect,
  })
  if not compared then command.fail(exit.failed, message) end
  if not outputs.write(context, sinks, compared) then return exit.failed end
  return gate.of_ratios(context, compared)
end

return command_compare
