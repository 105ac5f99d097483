--- `cbench info`: machine, build, clock.
local import, core = ...
local check = import "check"
local command = import "command"
local document = import "document"
local figure = import "figure"

local info = {
  summary = "this machine, this build, its clock",
  usage = [[
cbench info                 this machine, this build and the clock
cbench info --format json   the same for programs
]],
  options = { "format" },
}

local groups = { "machine", "state", "build" }

local function describe()
  local described = core.machine(true)
  described.clock = core.clock()
  return described
end

local function print_group(name, facts)
  local keys, width = check.keys(facts), 0
  for _, key in ipairs(keys) do width = math.max(width, #key) end
  io.stdout:write(name, "\n")
  for _, key in ipairs(keys) do
    io.stdout:write(("  %-" .. width .. "s  %s\n"):format(
      key, figure.value(facts[key])))
  end
end

function info.run(context)
  local form = context.options.format or "text"
  if context.words[1] then
    command.refuse(("info: unexpected word '%s'"):format(context.words[1]))
  elseif form == "json" then
    io.stdout:write(document.encode(describe()), "\n")
  elseif form == "text" then
    io.stdout:write(core.version, "\n")
    local described = describe()
    for _, name in ipairs(groups) do
      if described[name] then print_group(name, described[name]) end
    end
    print_group("clock", described.clock)
  else
    command.refuse("option '--format': " .. check.unknown("format", form,
      { "json", "text" }))
  end
  return command.exit.done
end

return info
