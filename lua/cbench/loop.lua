--- `--loop SECONDS`: the chosen rows run, one after the other, for a profiler
-- that looks at the process; no figure comes out but the operations done.
local import, core = ...
local command = import "command"

-- Batches so long that what measuring does between them does not show up.
local BATCH_SECONDS = 0.02

local function run_row(row, seconds)
  local descriptor = row.descriptor
  local raw, message = core.measure({ {
    work = { kind = descriptor.kind, params = descriptor.params },
    name = row.name, cpus = descriptor.cpus, place = descriptor.place,
  } }, { seconds = seconds, batch_seconds = BATCH_SECONDS, seed = 1 })
  if not raw then command.fail(command.exit.failed, message) end
  local found = raw.rows[1]
  if found.status == "fail" then
    command.fail(command.exit.failed, ("%s: %s"):format(row.name,
      found.reason))
  end
  io.stdout:write(("%s: %d operations in %.2f s\n"):format(row.name,
    found.operations, raw.elapsed))
  io.stdout:flush()
end

--- Runs the rows; returns the exit code.
return function (rows, seconds)
  local chosen = {}
  for _, row in ipairs(rows) do
    if not row.rides and not row.refused then chosen[#chosen + 1] = row end
  end
  if #chosen == 0 then command.refuse "--loop: no row can run here" end
  for _, row in ipairs(chosen) do
    run_row(row, seconds / #chosen)
    local signal = core.stop_signal()
    if signal then return 128 + signal end
  end
  return command.exit.done
end
