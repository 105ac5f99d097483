--- `cbench selftest`: can this machine's figures be trusted?
local import, core = ...
local command = import "command"
local progress = import "progress"
local selftest = import "selftest"

local command_selftest = {
  summary = "can this machine's figures be trusted?",
  usage = [[
cbench selftest   measures known answers, the same work against itself, and
                  what measuring costs; exit 1 when one of them is wrong
]],
  options = { "time", "forks", "seed" },
}

local function measure(context)
  local options = {
    time = context.options.time, forks = context.options.forks,
    seed = context.options.seed,
  }
  local wipe = function () end
  if not context.options.quiet then
    options.progress, wipe = progress.new "selftest"
  end
  local lines, message = selftest.run(options)
  wipe()
  return lines, message
end

function command_selftest.run(context)
  if context.words[1] then
    command.refuse(("selftest: unexpected word '%s'"):format(
      context.words[1]))
  end
  core.arm_signals()
  local lines, message = measure(context)
  local signal = core.stop_signal()
  core.disarm_signals()
  if signal then return 128 + signal end
  if not lines then command.fail(command.exit.failed, message) end
  local text, good = selftest.text(lines)
  io.stdout:write(text)
  return good and command.exit.done or command.exit.failed
end

return command_selftest
