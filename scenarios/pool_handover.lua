local cbench = require "cbench"
local workload = cbench.workload

-- Equal caps, so that what differs is the way back to the creator.
local size = 1024

local pools = {
  none  = { "none" },
  batch = { "batch", size = size },
}
for _, policy in ipairs { "local", "mutex", "release", "release_stash",
    "batch_spare" } do
  pools[policy] = { policy, size = size }
end

return cbench.scenario {
  title     = "Handing coroutines over",
  about     = "What does a coroutine cost that one thread creates and another "
    .. "frees?",
  params    = {
    pool = { "mailbox", "none", "local", "mutex", "release", "release_stash",
             "batch", "batch_spare" },
  },
  workload  = function (p)
    if p.pool == "mailbox" then
      return workload.pool_handover { mailbox = true }
    end
    return workload.pool_handover { pool = pools[p.pool] or { p.pool } }
  end,
  reference = { pool = "mailbox" },
  columns   = { "pool", "typical", "ns", "ratio", "interval", "overlap", "new" },
  time      = 8,
  reading   = "Every row has the mailbox of one slot through which the "
    .. "coroutines go, and what a row costs more than that alone is the pool's "
    .. "(a little less is possible: who has more to do looks less often at the "
    .. "slot that both share). local keeps coroutines where they ended, so each "
    .. "is created anew, as with none.",
}
