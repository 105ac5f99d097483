-- A pool against the coroutines that are alive at once: nested in each other,
-- or a burst that comes and goes.
local cbench = require "cbench"
local workload = cbench.workload

local sizes = { 128, 512, 2048 }

-- The policy keeping up to `size`; mutex, release and batch take it as well.
local function pool_of(p)
  return { p.pool, size = p.size }
end

local reading = "size = idle coroutines at which the store shared by threads is "
  .. "full; with batches a thread keeps up to 256 more. new = share of "
  .. "coroutines really created, because more were alive at once than are "
  .. "kept. A pool is large enough where new is 0; beyond, size costs nothing."

local depth = cbench.scenario {
  title     = "Pool size against depth",
  about     = "How many idle coroutines must a pool keep for a nest so deep?",
  params    = {
    pool  = { "batch_spare" },
    depth = { 100, 500, 1000, 2000 },
    size  = sizes,
  },
  columns   = { "pool", "depth", "size" },
  workload  = function (p)
    return workload.nesting { depth = p.depth, pool = pool_of(p) }
  end,
  reference = { size = sizes[#sizes] },
  time      = 8,
  reading   = reading,
}

local burst = cbench.scenario {
  title     = "Pool size against bursts",
  about     = "How many idle coroutines must a pool keep for a burst so large?",
  params    = {
    pool  = { "batch_spare" },
    burst = { 100, 500, 1000, 2000 },
    size  = sizes,
  },
  columns   = { "pool", "burst", "size" },
  workload  = function (p)
    return workload.pool_pair { burst = p.burst, pool = pool_of(p) }
  end,
  reference = { size = sizes[#sizes] },
  time      = 8,
  reading   = reading,
}

return { depth, burst }
