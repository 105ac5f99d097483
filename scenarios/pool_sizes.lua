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

-- Sizes against the parameter `alive` of a workload, by which it has more
-- coroutines alive at once.
local function sizes_against(alive, name, title, question)
  return cbench.scenario {
    title     = title,
    about     = question,
    params    = {
      pool  = { "batch_spare" },
      [alive] = { 100, 500, 1000, 2000 },
      size  = sizes,
    },
    columns   = { "pool", alive, "size" },
    workload  = function (p)
      return workload[name] { [alive] = p[alive], pool = pool_of(p) }
    end,
    reference = { size = sizes[#sizes] },
    time      = 8,
    reading   = reading,
  }
end

return {
  title = "Pool size against depth and bursts",
  about = "How many idle coroutines must a pool keep?",
  sizes_against("depth", "nesting", "Pool size against depth",
    "How many idle coroutines must a pool keep for a nest so deep?"),
  sizes_against("burst", "pool_pair", "Pool size against bursts",
    "How many idle coroutines must a pool keep for a burst so large?"),
}
