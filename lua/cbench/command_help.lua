--- `cbench help`: topics, options and subcommands.
local import, core = ...
local command = import "command"
local help = import "help"

local command_help = {
  summary = "explains a topic",
  usage = [[
cbench help           the topics
cbench help TOPIC     a scenario, a workload, a kind, a function, a subcommand
cbench help option    the options; `cbench help --NAME` explains one
]],
  options = {},
}

-- ---- options and subcommands

local function spell(option)
  local value = option.choices or option.argument
  return ("%s--%s%s"):format(
    option.letter and "-" .. option.letter .. ", " or "", option.name,
    value and " " .. value or "")
end

local function option_lines(list)
  local width, lines = 0, {}
  for _, option in ipairs(list) do width = math.max(width, #spell(option)) end
  width = math.min(width, 26)
  for i, option in ipairs(list) do
    local left = spell(option)
    if #left > width then
      left = left .. "\n" .. (" "):rep(width + 2)
    end
    lines[i] = ("  %-" .. width .. "s  %s"):format(left,
      (option.help:gsub("\n", "\n    " .. (" "):rep(width))))
  end
  return table.concat(lines, "\n") .. "\n"
end

-- The sentence about a topic that is none: of an option, with the nearest.
local function unknown(context, topic, message)
  local name = topic:match "^%-%-(.+)$"
  if not name then return message end
  local names = {}
  for i, option in ipairs(context.option_list) do names[i] = option.name end
  local nearest = core.nearest(name, names)
  return nearest and ("%s (did you mean '--%s'?)"):format(message, nearest)
    or message
end

local function options_named(context, word)
  local name, found = word:gsub("^%-+", ""), {}
  for _, option in ipairs(context.option_list) do
    if option.name == name or option.letter == name then
      found[#found + 1] = option
    end
  end
  return found
end

local function subcommand_page(context, name)
  if not core.has_file("command_" .. name) then return nil end
  local one = import("command_" .. name)
  local taken = {}
  for _, word in ipairs(one.options) do
    table.move(options_named(context, word), 1, 1, #taken + 1, taken)
  end
  return one.usage .. (#taken > 0 and "\n" .. option_lines(taken) or "")
end

-- ---- together

local function explain(context, topic)
  if topic == "option" or topic == "options" then
    return option_lines(context.option_list)
  end
  local texts = {}
  texts[1] = subcommand_page(context, topic)
  local text, message = help.text(topic)
  texts[#texts + 1] = text
  if #texts == 0 then
    local found = options_named(context, topic)
    texts[1] = #found > 0 and option_lines(found) or nil
  end
  if #texts == 0 then command.refuse(unknown(context, topic, message)) end
  return table.concat(texts, "\n")
end

-- What the prompt has no use for stands behind the topics of the module.
local function overview()
  local names = {}
  for _, name in ipairs(core.files()) do
    names[#names + 1] = name:match "^command_(%a[%w_]*)$"
  end
  table.sort(names)
  return ("%s\nsubcommands\n  %s\n\noptions\n  option, or one as it is "
    .. "written: --time\n"):format(
    (help.text():gsub('^help "TOPIC"', "cbench help TOPIC")),
    table.concat(names, ", "))
end

function command_help.run(context)
  if not context.words[1] then io.stdout:write(overview()) end
  for i, topic in ipairs(context.words) do
    if i > 1 then io.stdout:write "\n" end
    io.stdout:write(explain(context, topic))
  end
  return command.exit.done
end

return command_help
