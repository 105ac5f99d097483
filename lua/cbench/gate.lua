--- The gate of a run: its baseline, and what is too slow or not known.
local import, core = ...
local command = import "command"
local compare = import "compare"
local document = import "document"
local format = import "format"
local paint = import "paint"
local results = import "results"

local exit = command.exit

local gate = {}
local methods = {}
local metatable = { __index = methods }

-- The smallest effect that counts, in per cent, when nobody says.
local MIN_EFFECT = 2

local function read_baseline(path)
  local baseline, message = document.read(path)
  if not baseline then
    command.refuse("option '--baseline': " .. message)
  end
  return baseline
end

--- Reads and opens what the options name, before anything is measured.
function gate.open(context)
  local options = context.options
  for _, name in ipairs { "fail_on", "retry" } do
    if options[name] and not options.baseline then
      command.refuse(("option '--%s' needs --baseline"):format(
        name:gsub("_", "-")))
    end
  end
  local self = setmetatable({ context = context, options = options },
    metatable)
  self.baseline = options.baseline and read_baseline(options.baseline)
  if options.save_baseline then
    self.saved = import("outputs").file(options.save_baseline, "json")
  end
  return self
end

function metatable:__close()
  if self.saved then self.saved.file:close() end
end

local function compared_to(self, done)
  local compared, message = compare.of(self.baseline, done, {
    min_effect = self.options.min_effect,
  })
  if not compared then command.fail(exit.failed, message) end
  return compared
end

local function limit(options)
  return options.fail_on or options.min_effect or MIN_EFFECT
end

-- What a run on its own leaves open.
local function unresolved(done)
  local list = {}
  for _, part in ipairs(results.parts(done)) do
    list[#list + 1] = results.short_of_time(part)
  end
  for _, row in ipairs(done) do
    local ratio = row.ratio
    if ratio and ratio.verdict == "unresolved" and ratio.to ~= row.name then
      list[#list + 1] = ("%s: %s"):format(row.name,
        ratio.reason or "unresolved")
    end
  end
  for _, part in ipairs(results.parts(done)) do
    if part.meta.noise and part.meta.noise.verdict == "void" then
      list[#list + 1] = "the machine was too noisy"
    end
  end
  return list
end

--- With --retry: shall the run be done again? A first bad word is not
-- believed, a second one is.
function methods:another(done)
  if not self.options.retry or core.stop_signal() then return false end
  local worse, open = compare.gate(compared_to(self, done), limit(self.options))
  local again = #worse > 0 or (self.options.strict and #open > 0)
  if again then
    command.warn(self.context, (worse[1] or open[1]) .. "; once more")
  end
  return again
end

local function show(self, compared, readable)
  local text = "\n" .. format.format(compared, "table")
  if readable then
    io.stdout:write(paint(text, self.options.color))
  elseif not self.options.quiet then
    io.stderr:write(text)
  end
end

local function complain_all(context, sentences, word)
  for _, sentence in ipairs(sentences) do
    command.warn(context, word .. ": " .. sentence)
  end
end

--- The exit code that ratios of new over old deserve, with its reasons on
-- stderr.
function gate.of_ratios(context, compared)
  local options = context.options
  local worse, open = compare.gate(compared, limit(options))
  if options.fail_on and #worse > 0 then
    complain_all(context, worse, "slower")
    return exit.limit
  elseif options.strict and #open > 0 then
    complain_all(context, open, "inconclusive")
    return exit.inconclusive
  end
  return exit.done
end

local function has_common_row(old, new)
  local known = {}
  for _, part in ipairs(results.parts(old)) do
    for _, row in ipairs(part) do known[row.name] = true end
  end
  for _, part in ipairs(results.parts(new)) do
    for _, row in ipairs(part) do
      if known[row.name] then return true end
    end
  end
  return false
end

-- A gate that compares nothing would stay green for ever.
local function against_baseline(self, done, readable)
  local compared = compared_to(self, done)
  show(self, compared, readable)
  local options = self.options
  if (options.fail_on or options.strict) and
      not has_common_row(self.baseline, done) then
    command.complain(self.context, ("option '--baseline': %s has no row of "
      .. "this run"):format(options.baseline))
    return exit.usage
  end
  return gate.of_ratios(self.context, compared)
end

local function save(self, done)
  if not self.saved then return end
  local file = self.saved.file
  local written, message = file:write(format.format(done, "json"))
  if written then written, message = file:commit() end
  if not written then command.fail(exit.failed, message) end
end

--- The exit code that the results deserve.
-- @param readable stdout has a text for people, which may go on
function methods:judge(done, readable)
  save(self, done)
  if self.baseline then return against_baseline(self, done, readable) end
  local open = self.options.strict and unresolved(done) or {}
  complain_all(self.context, open, "inconclusive")
  return #open > 0 and exit.inconclusive or exit.done
end

return gate
