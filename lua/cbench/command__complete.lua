--- `cbench _complete -- N WORD...`: what can stand as word N of a command
-- line whose words are given, word 0 being the program. One candidate a line;
-- none where the shell shall offer files. For the shells' completion scripts.
local import, core = ...
local command = import "command"

local complete = { options = {} }

local function starts(text, beginning)
  return text:sub(1, #beginning) == beginning
end

-- ---- options

local function spelled(option)
  local list = { "--" .. option.name }
  if option.letter then list[2] = "-" .. option.letter end
  return list
end

-- The option that wants the word behind it as its value, or nil.
local function wanting(options, word)
  for _, option in ipairs(options) do
    for _, name in ipairs(spelled(option)) do
      if option.argument and word == name then return option end
    end
  end
end

local function split(text, separator)
  local list = {}
  for part in text:gmatch("[^" .. separator .. "]+") do
    list[#list + 1] = part
  end
  return list
end

local function values_of(option)
  if option.choices then return split(option.choices, "|") end
  if option.name == "format" then return import("format").names end
  return {}
end

local function option_names(options)
  local list = {}
  for _, option in ipairs(options) do
    for _, name in ipairs(spelled(option)) do list[#list + 1] = name end
  end
  return list
end

-- ---- words

-- The words before word n that are no options and no values of them.
local function plain_words(options, words, n)
  local plain, i = {}, 2
  while i < n do
    local word = words[i]
    if wanting(options, word) or word == "-e" or word == "-l" then
      i = i + 1
    elseif not word:find "^%-" then
      plain[#plain + 1] = word
    end
    i = i + 1
  end
  return plain
end

local function subcommands()
  local list = {}
  for _, name in ipairs(core.files()) do
    list[#list + 1] = name:match "^command_(%a[%w_]*)$"
  end
  return list
end

-- Signs that separate nothing, in place of those between braces.
local function without_braces(word)
  return (word:gsub("%b{}", function (part) return ("x"):rep(#part) end)
    :gsub("{.*", function (part) return ("x"):rep(#part) end))
end

-- "depth=10,1" can go on as "depth=10,100".
local function value_words(param, word)
  local list, used = {}, {}
  local ahead = word:sub(1, #without_braces(word):match "^.*[=,]")
  local from = ahead:find "=" + 1
  for comma in without_braces(ahead):gmatch "(),", from do
    used[ahead:sub(from, comma - 1)] = true
    from = comma + 1
  end
  for _, value in ipairs(split(param.values, ", ")) do
    if not used[value] then list[#list + 1] = ahead .. value end
  end
  return list
end

-- Only shipped scenarios are asked for their parameters: completion must not
-- run a file.
local function parameter_words(name, word)
  local ok, one = pcall(import("scenario").shipped, name)
  if not ok then return {} end
  local list = {}
  for _, param in ipairs(one:params()) do
    if starts(word, param.name .. "=") then return value_words(param, word) end
    list[#list + 1] = param.name .. "="
  end
  return list
end

local function first_words()
  local list, scenarios = subcommands(), core.scenario_names()
  return table.move(scenarios, 1, #scenarios, #list + 1, list)
end

-- "--format=c" can go on as "--format=csv".
local function joined_values(options, word)
  local name = word:match "^(%-%-[^=]+)="
  local option = name and wanting(options, name)
  local list = {}
  for i, value in ipairs(option and values_of(option) or list) do
    list[i] = name .. "=" .. value
  end
  return list
end

local function candidates(context, words, n)
  local options, word = context.option_list, words[n] or ""
  local option = wanting(options, words[n - 1] or "")
  if option then return values_of(option) end
  if word:find "^%-%-.*=" then return joined_values(options, word) end
  if word:find "^%-" then return option_names(options) end
  local plain = plain_words(options, words, n)
  if #plain == 0 then return first_words() end
  if plain[1] == "help" then return import("help").topics() end
  if plain[1] == "ab" then
    if #plain == 1 then return core.scenario_names() end
    return parameter_words(plain[2], word)
  end
  return parameter_words(plain[1], word)
end

function complete.run(context)
  local words = context.words
  local n = math.tointeger(tonumber(table.remove(words, 1)))
  if not n then command.refuse "_complete: a number is expected first" end
  local seen = {}
  for _, candidate in ipairs(candidates(context, words, n + 1)) do
    if starts(candidate, words[n + 1] or "") and not seen[candidate] then
      seen[candidate] = true
      io.stdout:write(candidate, "\n")
    end
  end
  return command.exit.done
end

return complete
