--- `cbench ab`: two builds, or two plug-ins, against each other.
local import, core = ...
local ab = import "ab"
local catalogue = import "catalogue"
local command = import "command"
local gate = import "gate"
local outputs = import "outputs"
local plugins = import "plugins"
local progress = import "progress"
local run = import "run"

local exit = command.exit

local command_ab = {
  summary = "two builds or two plug-ins, alternating",
  usage = [[
cbench ab --a OLD --b NEW SCENARIO [name=value]...
    OLD and NEW are cbench programs or plug-ins (.so); their processes
    alternate, and ratios are NEW over OLD
]],
  options = {
    "a", "b", "time", "forks", "rounds", "seed", "filter", "threads", "cpus",
    "place", "min-effect", "fail-on", "strict", "format", "output", "export",
    "dry-run",
  },
}

local function side(options, which)
  local word = options[which]
  if not word then
    command.refuse(("ab: option '--%s' is missing"):format(which))
  end
  local found, message = ab.side(word)
  if not found then
    command.refuse(("option '--%s': %s"):format(which, message))
  end
  return found
end

local function open_scenario(words)
  local word = table.remove(words, 1)
  if not word then command.refuse "ab: a scenario is expected" end
  local one, message = catalogue.open(word)
  if not one then command.refuse(message) end
  return one
end

local function measure(context, title, rows, sides, options)
  local wipe = function () end
  if not context.options.quiet then
    options.progress, wipe = progress.new "ab"
  end
  local done, message = ab.run(rows, sides, options)
  wipe()
  if not done then command.fail(run.code_of(message, options), message) end
  done.meta.title = ("%s: B against A"):format(title or "Rows")
  done.meta.command = command.typed(context, done.meta.seed)
  return done
end

-- The gate is compare's: ratios are of the same kind.
local function judge(context, done)
  local signal = core.stop_signal()
  if signal then return 128 + signal end
  for _, row in ipairs(done) do
    if row.status == "fail" then return exit.failed end
  end
  return gate.of_ratios(context, done)
end

local function measure_and_judge(context, title, rows, options)
  local sides = { A = side(context.options, "a"),
                  B = side(context.options, "b") }
  local sinks <close> = outputs.open(context.options)
  local done = measure(context, title, rows, sides, options)
  if not outputs.write(context, sinks, done) then return exit.failed end
  return judge(context, done)
end

-- Rows can name kinds that only the two plug-ins have.
local function describe_sides(options)
  for _, which in ipairs { "a", "b" } do
    local plugin = options[which] and side(options, which).plugin
    if plugin then
      local good, message = plugins.describe(plugin)
      if not good then
        command.refuse(("option '--%s': %s"):format(which, message))
      end
    end
  end
end

function command_ab.run(context)
  describe_sides(context.options)
  local one = open_scenario(context.words)
  local given, message = one:parse(context.words)
  if not given then command.refuse(message) end
  outputs.check(context.options)
  local options = run.measure_options(context.options)
  local rows = run.rows(one, given, options)
  if context.options.dry_run then return run.show(rows) end
  core.arm_signals()
  local ok, code = pcall(measure_and_judge, context, one.title, rows, options)
  core.disarm_signals()
  if not ok then error(code, 0) end
  return code
end

return command_ab
