--- `cbench merge`: the results of many runs as one document.
local import, core = ...
local command = import "command"
local fleet = import "fleet"
local merge = import "merge"

local exit = command.exit

local command_merge = {
  summary = "many files of results as one",
  usage = [[
cbench merge FILE... -o ALL.json

The rows of all files, documents and lines of JSON, in one document. Ranks that
are missing, came twice or did not come to their end are named, and so are files
that were cut and hosts of another build or kind. What is sound is kept. Exit
code 2: a file could not be read; 4, with --strict: a rank is missing.

  cbench merge res-*.jsonl -o all.json
  cbench compare --by host all.json
]],
  options = { "output", "strict" },
}

local function count(number, one, many)
  return number == 1 and "1 " .. one or ("%d %s"):format(number, many)
end

local function complain_all(context, notes)
  for _, note in ipairs(notes) do command.complain(context, note) end
end

local function say(context, joined)
  complain_all(context, joined.notes)
  command.warn(context, ("%s of %s on %s in %s"):format(
    count(joined.rows, "row", "rows"),
    count(#joined.runs, "run", "runs"), count(#joined.hosts, "host", "hosts"),
    context.options.output))
end

function command_merge.run(context)
  local path = context.options.output
  if #context.words == 0 then
    command.refuse "merge: no file of results is named"
  elseif not path then
    command.refuse "merge: where to? -o FILE is needed"
  end
  local expanded, message = fleet.expand(path)
  if not expanded then command.refuse(message) end
  local output
  output, message = core.output(path == "-" and "/dev/stdout" or expanded,
    "whole")
  if not output then command.fail(exit.failed, message) end
  local file <close> = output
  local joined
  joined, message = merge.files(context.words, file)
  if not joined then
    if type(message) == "string" then command.fail(exit.failed, message) end
    -- Of no file there was a row.
    complain_all(context, message)
    return exit.usage
  end
  say(context, joined)
  if joined.unread > 0 then return exit.usage end
  return joined.incomplete and context.options.strict and exit.inconclusive
    or exit.done
end

return command_merge
