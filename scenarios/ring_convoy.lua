-- Two producers share a CPU. A ring whose producers publish in turn can fall
-- into lock step: each has claimed a place behind the other's, and waits out a
-- time slice for every element.
local cbench = require "cbench"

-- A consumer that has a CPU, and producers that share another one, where there
-- are two.
local function cpus()
  local allowed = tostring(cbench.machine().machine.cpus_allowed)
  local first, last = allowed:match "^%d+", allowed:match "%d+$"
  return math.tointeger(last) or 0, math.tointeger(first) or 0
end

-- Where a producer waits for the turn of another.
local in_turn = { rte = "mt", alf = "mp", ck = "mp" }

local function waits_in_turn(ring)
  if type(ring) ~= "table" then ring = { ring } end
  local turn = in_turn[ring[1]]
  if not turn then return false end
  local sync = ring.sync or cbench.kinds("ring", ring[1], "sync").preset
  -- Of "mp/sp" and { producer = "mp", consumer = "sp" } the first.
  if type(sync) == "table" then sync = sync.producer end
  return tostring(sync):match "^%w+" == turn
end

return cbench.scenario {
  title     = "Convoys",
  about     = "What do two producers on one CPU do to each other?",
  params    = {
    ring = {
      "vyukov", "ptr_ring", { "rte", sync = "rts" }, { "rte", sync = "hts" },
      { "rte", sync = "mt" }, { "alf", sync = "mp" }, { "ck", sync = "mp" },
    },
    wait      = { "pause", "yield" },
    producers = { 1, 2 },
  },
  where     = function (p)
    return p.wait ~= "pause" or not waits_in_turn(p.ring)
  end,
  columns   = { "ring", "wait", "producers", "typical", "p90", "max", "ratio",
                "interval" },
  roles     = false,
  workload  = function (p)
    local ring = type(p.ring) == "table" and p.ring or { p.ring }
    local waiting = { ring[1] }
    for key, value in pairs(ring) do waiting[key] = value end
    if cbench.kinds("ring", ring[1], "wait") then waiting.wait = p.wait end
    local consumer, producer = cpus()
    local on = { consumer }
    for i = 1, p.producers do on[i + 1] = producer end
    return cbench.workload.ring_stream {
      ring = waiting, producers = p.producers, wait = p.wait,
      loops = 100000 // p.producers, cap = 0.5, cpus = on,
    }
  end,
  reference = { producers = 1 },
  time      = 12,
  reading   = "Each is compared to itself with one producer. Where producers "
    .. "publish in turn (rte{sync=mt}, alf, ck) they have to give the CPU "
    .. "away: wait=spin shows what happens when they do not.",
}
