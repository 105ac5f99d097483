-- The ratios that this toolkit promises, measured side by side in one run.
local cbench = require "cbench"
local workload = cbench.workload

-- The program calls its core directly, the module goes through a shared
-- library.
local in_program = package.preload.cbench ~= nil

-- name = { reference, lowest, highest ratio }. State is judged by the median,
-- the limit by the whole interval.
local targets = {
  ["inline"]            = { "call", nil, 2.6 },
  ["asm"]               = { "call", nil, in_program and 6 or 8 },
  ["asm / ucontext"]    = { "ucontext", nil, 0.2 },
  ["asm_fpu / asm"]     = { "asm", nil, 2.5 },
  ["lifecycle, pooled"] = { "asm", nil, 2 },
  ["nesting 1000"]      = { "call", nil, 26 },
  ["chain 2000 / 1000"] = { "chain 1000", 1.98, 2.02 },
  ["asm / asm"]         = { "asm", 0.98, 1.02 },
}

local function yield(name, backend)
  return workload.yield { name = name, backend = backend }
end

local function target(row)
  local wanted = targets[row.name]
  if not wanted then return nil end
  if not wanted[2] then return ("<= %s"):format(wanted[3]) end
  return ("%s .. %s"):format(wanted[2], wanted[3])
end

local function state(row)
  local wanted, ratio = targets[row.name], row.ratio
  if not wanted then return nil end
  if not ratio then return "no ratio" end
  local held = ratio.value >= (wanted[2] or 0) and ratio.value <= wanted[3]
  return held and "ok" or "missed"
end

return cbench.scenario {
  title     = "Floor",
  about     = "Does this build reach what it promises on this machine?",
  workload  = {
    workload.call { name = "call" },
    yield("inline", "inline"),
    yield("asm", "asm"),
    yield("ucontext", "ucontext"),
    yield("asm / ucontext", "asm"),
    yield("asm_fpu / asm", "asm_fpu"),
    workload.lifecycle { name = "lifecycle, pooled", backend = "asm",
                         pool = "batch_spare" },
    workload.nesting { name = "nesting 1000", backend = "asm", depth = 1000,
                       pool = { "batch_spare", size = 2000 } },
    workload.chain { name = "chain 1000", adds = 1000 },
    workload.chain { name = "chain 2000 / 1000", adds = 2000 },
    yield("asm / asm", "asm"),
  },
  reference = function (_, name)
    return targets[name] and targets[name][1] or "call"
  end,
  limit     = function (_, name)
    local wanted = targets[name]
    return wanted and { wanted[2] or 0, wanted[3] }
  end,
  columns   = { "name", "typical", "to", "ratio", "interval",
                { "target", target }, { "state", state } },
  time      = 6,
  reading   = "Each ratio is that of rounds measured side by side; state "
    .. "judges it, the limit is exceeded when the whole interval lies outside. "
    .. "Round trips (one enter, one yield) but for call, lifecycle, nesting "
    .. "(one level) and chain.",
}
