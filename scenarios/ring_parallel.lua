local cbench = require "cbench"

local kinds = {
  "spsc", "ff", { "ptr_ring", locked = false },
  { "alf", sync = "sp" }, { "rte", sync = "st" }, { "ck", sync = "sp" },
  "ptr_ring", { "alf", sync = "mp" }, { "rte", sync = "mt" },
  { "rte", sync = "rts" }, { "rte", sync = "hts" }, { "ck", sync = "mp" },
  "vyukov", "spinlock", "mutex",
}

local function per_operation(role)
  return function (row)
    local operations, ticks = 0, 0
    for _, one in ipairs(row.roles or {}) do
      if one.role == role then
        operations, ticks = operations + one.operations, ticks + one.ticks
      end
    end
    return operations > 0 and ticks / operations or nil
  end
end

return cbench.scenario {
  title     = "Rings in parallel",
  about     = "What does an operation cost while others do the opposite?",
  params    = {
    ring      = kinds,
    burst     = { 1 },
    producers = { 1 },
    consumers = { 1 },
  },
  columns   = { "ring", "burst", "producers", "consumers",
                { "enqueue", per_operation "enqueue" },
                { "dequeue", per_operation "dequeue" },
                "overlap", "completed_in", "completed_out", "ratio" },
  roles     = false,
  workload  = function (p)
    local ring = type(p.ring) == "table" and p.ring or { p.ring }
    local sized = { ring[1], size = 65536 }
    for key, value in pairs(ring) do sized[key] = value end
    return cbench.workload.ring_parallel {
      ring = sized, prefill = 32000, burst = p.burst,
      producers = p.producers, consumers = p.consumers,
    }
  end,
  reference = "cacheline",
  time      = 14,
  reading   = "A batch ends at a full or an empty ring or after 200000 "
    .. "elements a thread, of which so many are done. ratio: an enqueue to a "
    .. "line's way to another CPU and back.",
}
