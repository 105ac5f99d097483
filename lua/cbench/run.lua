--- Running a scenario from the command line.
local import, core = ...
local catalogue = import "catalogue"
local command = import "command"
local gate = import "gate"
local outputs = import "outputs"
local progress = import "progress"
local results = import "results"
local scenario = import "scenario"
local workload = import "workload"

local exit = command.exit

local run = {
  options = {
    "time", "forks", "rounds", "seed", "filter", "dry-run", "threads", "cpus",
    "place", "format", "output", "export", "min-effect", "baseline",
    "save-baseline", "fail-on", "strict", "retry", "plot",
    "loop",
  },
}

-- ---- options as a scenario wants them

local THREADS_MAX = 1024

-- "1,2,4": one number, or a list to sweep over.
local function thread_list(text)
  local list = {}
  for word in (text .. ","):gmatch "([^,]*)," do
    local count = math.tointeger(tonumber(word))
    if not count or count < 1 or count > THREADS_MAX then
      command.refuse(("option '--threads': '%s' is not a number in [1, %d]")
        :format(word, THREADS_MAX))
    end
    list[#list + 1] = count
  end
  return #list == 1 and list[1] or list
end

local function cpu_list(text)
  local list = workload.cpu_list(text)
  if not list then
    command.refuse(("option '--cpus': CPU numbers as in 0,2-3 expected, "
      .. "got '%s'"):format(text))
  end
  return list
end

--- The options of `scenario:run` and `cbench.measure`.
function run.measure_options(options)
  return {
    time = options.time, forks = options.forks, rounds = options.rounds,
    seed = options.seed, filter = options.filter, place = options.place,
    min_effect = options.min_effect,
    threads = options.threads and thread_list(options.threads),
    cpus = options.cpus and cpu_list(options.cpus),
  }
end

-- ---- what is not measuring

local function scenario_name(context)
  return context.name:match "([^/]+)%.lua$" or context.name:match "[^/]+$"
end

local function show_help(one, context)
  local page = catalogue.describe(one, scenario_name(context))
  io.stdout:write(table.concat(page, "\n\n"), "\n")
  return exit.done
end

local function row_line(row)
  return row.refused and ("%s  (n/a: %s)"):format(row.name, row.refused)
    or row.name
end

-- An error object that is no text has no place in itself.
local function with_place(failure)
  local meta = getmetatable(failure)
  if type(failure) == "string" or meta and meta.__tostring then
    return tostring(failure)
  end
  local words = ("(error object is a %s value)"):format(type(failure))
  for level = 2, math.huge do
    local info = debug.getinfo(level, "Sl")
    if not info then return words end
    if info.currentline > 0 then
      return ("%s:%d: %s"):format(info.short_src, info.currentline, words)
    end
  end
end

--- The exit code for a sentence about why nothing can be measured: that of a
-- wrong word when it is about an option that was given.
function run.code_of(message, options)
  local name = message:match "^option '(%a+)'"
  return name and options[name] ~= nil and exit.usage or exit.failed
end

--- The rows that would run, or an end of the command: it is the fault of the
-- words that replace values, else of the scenario.
function run.rows(one, given, options)
  local ok, rows, message = xpcall(one.rows, with_place, one, given, options)
  if ok and rows then return rows end
  if ok then command.refuse(message) end
  local sentence = tostring(rows):gsub("^scenario: ", "")
  command.fail(next(given) and exit.usage or run.code_of(sentence, options),
    sentence)
end

--- Prints them.
function run.show(rows)
  for _, row in ipairs(rows) do
    if not row.rides then io.stdout:write(row_line(row), "\n") end
  end
  return exit.done
end

-- ---- measuring

local function say_plan(context, one, given, options)
  if not context.options.verbose then return end
  local rows = one:rows(given, options) or {}
  local machine = core.machine()
  command.complain(context, ("%s: %d rows with those they are compared to")
    :format(scenario_name(context), #rows))
  command.complain(context, ("clock %s; %s, %s"):format(core.clock().source,
    machine.machine.cpu or "unknown CPU", machine.build.compiler or ""))
end

-- Says of each process but the last when it is done.
local function say_processes(context, options, wipe)
  if not context.options.verbose then return end
  local show, told = options.progress, 1
  options.progress = function (now)
    if now.fork > told then
      wipe()
      command.complain(context, ("process %d of %d done, %.1f of %.1f s")
        :format(now.fork - 1, now.forks, now.elapsed, now.seconds))
    end
    told = now.fork
    if show then show(now) end
  end
end

-- The scenario's results, or an end of the command.
local function measure(context, one, given, options)
  say_plan(context, one, given, options)
  local wipe = function () end
  if not context.options.quiet then
    options.progress, wipe = progress.new(scenario_name(context))
  end
  say_processes(context, options, wipe)
  options.command = context.typed
  local ok, done, message = pcall(one.run, one, given, options)
  wipe()
  if not ok then error(done, 0) end
  if done then return done end
  local signal = core.stop_signal()
  command.fail(signal and 128 + signal or run.code_of(message, options),
    message)
end

local function failed_rows(context, done)
  local failed = false
  for _, row in ipairs(results.whole(done)) do
    if row.status == "fail" then
      command.warn(context, ("%s: FAIL: %s"):format(row.name, row.reason))
      failed = true
    end
  end
  return failed
end

-- A limit that cannot be told is no limit that held.
local function limits_failed(context, done)
  local count = 0
  for _, part in ipairs(results.parts(done)) do
    count = count + (part.meta.limits_failed or 0)
  end
  if count > 0 then
    command.complain(context, ("%d limit%s could not be used: see the notes")
      :format(count, count == 1 and "" or "s"))
  end
  return count > 0
end

local function limits_exceeded(done)
  for _, part in ipairs(results.parts(done)) do
    if (part.meta.limits_exceeded or 0) > 0 then return true end
  end
  return false
end

-- Signals come first, then what is wrong, then what is slow, then what is not
-- known.
local function verdict(context, done, judged)
  local signal = core.stop_signal()
  if signal then return 128 + signal end
  if failed_rows(context, done) or limits_failed(context, done) then
    return exit.failed
  end
  if judged == exit.limit or limits_exceeded(done) then return exit.limit end
  return judged
end

-- A picture that cannot be drawn is no failure of the run. It must not stand
-- behind what a program is to read.
local function plot(context, done, sinks)
  local free = sinks[1].file or outputs.is_readable(sinks)
  local text, message = import("report").plot(done, core.columns(1))
  if not text then return command.complain(context, "--plot: " .. message) end
  local out = free and io.stdout or io.stderr
  io.stdout:flush()
  out:write("\n", text)
end

-- With --retry a second run may follow: both share the budget.
local function share_budget(context, one, options)
  local budget = options.time or one.time
  if context.options.retry and budget then options.time = budget / 2 end
end

local function run_and_judge(context, one, given)
  local options = run.measure_options(context.options)
  share_budget(context, one, options)
  local sinks <close> = outputs.open(context.options, one:formats())
  local judge <close> = gate.open(context)
  local done = measure(context, one, given, options)
  if judge:another(done) then
    done = measure(context, one, given, options)
  end
  local fine = outputs.write(context, sinks, done)
  if context.options.plot then plot(context, done, sinks) end
  local code = verdict(context, done, judge:judge(done,
    outputs.is_readable(sinks)))
  if not fine and code == exit.done then code = exit.failed end
  return code
end

--- Runs the scenario that the script returned.
function run.run(context)
  local one = scenario.of(context.scenario, scenario_name(context))
  if not one then
    command.refuse(context.name .. " returned a list with something that is "
      .. "no cbench.scenario")
  end
  if context.options.help then return show_help(one, context) end
  local given, message = one:parse(context.words)
  if not given then command.refuse(message) end
  local rows = run.rows(one, given, run.measure_options(context.options))
  outputs.check(context.options, one:formats())
  if context.options.dry_run then return run.show(rows) end
  core.arm_signals()
  local ok, code
  if context.options.loop then
    ok, code = pcall(import "loop", rows, context.options.loop)
  else
    ok, code = pcall(run_and_judge, context, one, given)
  end
  core.disarm_signals()
  if not ok then error(code, 0) end
  return code
end

return run
