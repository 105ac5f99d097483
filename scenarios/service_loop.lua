local cbench = require "cbench"

-- All combinations would be many: what asks nothing new is left out. Numbers
-- of two services can be far apart, and statistics are the running ones'.
local function where(p)
  local all = p.running == p.services
  if p.running > p.services or (p.running == 2 and not all) then
    return false
  elseif p.ids == "sparse" then
    return p.services == 2 and p.stats == "off"
  end
  return p.stats == "off" or (all and p.services ~= 2)
end

return cbench.scenario {
  title     = "Service lcore",
  about     = "What does one pass of a service lcore over its services cost?",
  params    = {
    services = { 1, 2, 8, 64 },
    running  = { 1, 2, 8, 64 },
    ids      = { "adjacent", "sparse" },
    stats    = { "off", "time", "chain" },
  },
  where     = where,
  workload  = cbench.workload.service_loop,
  reference = function (p)
    return { services = p.running, ids = "adjacent" }
  end,
  columns   = {
    "services", "running", "ids", "stats", "fast", "typical", "p90",
    { "per run", function (row)
      return row.params.running > 0 and row.ticks.typical / row.params.running
        or nil
    end }, "ratio", "interval",
  },
  time      = 12,
  reading   = "Of the services mapped to the lcore those running are called in "
    .. "each pass.\n"
    .. "ratio: to an lcore that has only the running ones, side by side. 1: a "
    .. "stopped service costs\nnothing, and numbers far apart (sparse: 0 and "
    .. "63) cost no more than neighbours.\n"
    .. "stats time: two tick reads a call; chain: one, that ends this call and "
    .. "begins the next.",
}
