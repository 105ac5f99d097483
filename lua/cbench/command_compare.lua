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
cbench compare --by host FILE...   host beside host: ratios are pooled, times
                                   of different machines are not
]],
  options = {
    "by", "min-effect", "fail-on", "strict", "format", "output", "export",
  },
}

local function read(path)
  local results, message = document.read(path)
  if not results then command.refuse(message) end
  return results
end

local function by_host(context)
  if #context.words == 0 then
    command.refuse "compare: no file of results is named"
  end
  local sinks <close> = outputs.open(context.options)
  local compared, message = import("hosts").compare(context.words, {
    min_effect = context.options.min_effect,
  }, function (sentence) command.complain(context, sentence) end)
  if not compared then command.refuse(message) end
  compared.meta.command = command.typed(context)
  if not outputs.write(context, sinks, compared) then return exit.failed end
  return gate.of_ratios(context, compared)
end

function command_compare.run(context)
  if context.options.by then return by_host(context) end
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
  compared.meta.command = command.typed(context)
  if not outputs.write(context, sinks, compared) then return exit.failed end
  return gate.of_ratios(context, compared)
end

return command_compare
