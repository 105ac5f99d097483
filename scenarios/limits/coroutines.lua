-- What coroutines promise on this machine, each row with its limit.
local cbench = require "cbench"
local workload = cbench.workload

-- The program calls its core directly, the module goes through a shared
-- library.
local in_program = package.preload.cbench ~= nil

-- name = { reference, bound }: the highest ratio, or { lowest, highest }
local limits = {
  ["inline"]            = { "call", 2.6 },
  ["asm"]               = { "call", in_program and 6 or 8 },
  ["asm / ucontext"]    = { "ucontext", 0.2 },
  ["asm_fpu / asm"]     = { "asm", 2.5 },
  ["lifecycle, pooled"] = { "asm", 2 },
  ["nesting 1000"]      = { "call", 26 },
  ["chain 2000 / 1000"] = { "chain 1000", { 1.98, 2.02 } },
  ["asm / asm"]         = { "asm", { 0.98, 1.02 } },
}

local function yield(name, backend)
  return workload.yield { name = name, backend = backend }
end

return cbench.scenario {
  title     = "Limits: coroutines",
  about     = "Do coroutines cost as little as they promise?",
  workload  = {
    workload.call { name = "call" },
    yield("inline", "inline"),
    yield("asm", "asm"),
    yield("ucontext", "ucontext"),
    yield("asm / ucontext", "asm"),
    yield("asm_fpu / asm", "asm_fpu"),
    workload.lifecycle { name = "lifecycle, pooled", backend = "asm" },
    workload.nesting { name = "nesting 1000", backend = "asm", depth = 1000,
                       pool = { "batch_spare", size = 2000 } },
    workload.chain { name = "chain 1000", adds = 1000 },
    workload.chain { name = "chain 2000 / 1000", adds = 2000 },
    yield("asm / asm", "asm"),
  },
  reference = function (_, name)
    return limits[name] and limits[name][1] or "call"
  end,
  limit     = function (_, name) return limits[name] and limits[name][2] end,
  columns   = { "name", "typical", "to", "ratio", "interval", "limit",
    "state" },
  time      = 6,
  reading   = "A limit is exceeded when the whole interval lies outside. Round "
    .. "trips (one enter, one yield) but for call, lifecycle, nesting (one "
    .. "level) and chain.",
}
