--- `cbench info`: machine, build, clock, and what services lack here.
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

local groups = { "machine", "state", "build", "clock", "services" }

-- How a stopped service is known to be at rest, and what that costs.
local quiescence = {
  membarrier = "by membarrier: runs of a service take no fence for it",
  fence = "by fences: this kernel has no membarrier, so every run of a service "
    .. "takes one and costs more",
}

local function describe()
  local described = core.machine(true)
  described.clock = core.clock()
  described.services = { quiescence = core.quiescence() }
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
    local services = described.services
    services.quiescence = quiescence[services.quiescence]
    for _, name in ipairs(groups) do
      if described[name] then print_group(name, described[name]) end
    end
  else
    command.refuse("option '--format': " .. check.unknown("format", form,
      { "json", "text" }))
  end
  return command.exit.done
end

return info
