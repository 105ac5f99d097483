-- What code gains that says which order it needs, instead of putting full
-- fences around what it shares: rte_service before and after C11.
local cbench = require "cbench"

local lcores = { [1] = 0, [2] = 1 }

local function saved(row)
  local ratio = row.ratio
  if not ratio or ratio.to == row.name then return nil end
  return ("%+.0f %%"):format((ratio.value - 1) * 100)
end

return cbench.scenario {
  title     = "Memory orders of a service run",
  about     = "What does a run cost with full fences, and with C11's orders?",
  params    = {
    service = { "safe", "unsafe" },
    lcores  = { 1, 2 },
    order   = { "fence", "seqcst", "acqrel" },
  },
  workload  = function (p)
    if not lcores[p.lcores] or (p.service ~= "safe" and p.service ~= "unsafe")
    then
      error("service is safe or unsafe, lcores 1 or 2", 0)
    end
    return cbench.workload.service_run {
      mt_safe = p.service == "safe", order = p.order,
      contenders = lcores[p.lcores],
    }
  end,
  reference = { order = "fence" },
  columns   = { "service", "lcores", "order", "typical", "p90", "ratio",
                "interval", "verdict", { "change", saved } },
  time      = 12,
  reading   = "fence: relaxed accesses, full fences around them. seqcst: C11's "
    .. "default. acqrel: no more than\nis needed. Of 2 lcores the ticks are "
    .. "those of an attempt.\n"
    .. "For comparison: rte_service gave its barriers up for C11 in 2020, and "
    .. "its authors saw\n-17 % (safe) and -8.5 % (unsafe) on x86, -10 % and "
    .. "-20 % on aarch64.",
}
