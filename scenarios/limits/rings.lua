-- What the rings promise, as limits of ratios within one run.
local cbench = require "cbench"
local workload = cbench.workload

local st, mt = { "rte", sync = "st" }, { "rte", sync = "mt" }
local single = { "vyukov", claim = "single" }

-- Rows are made of { name, kind of work, parameters, what the row is compared
-- to, the highest ratio }.
local function scenario(definition)
  local work, references, limits = {}, {}, {}
  for i, row in ipairs(definition.rows) do
    local name, kind, parameters, reference, limit = table.unpack(row, 1, 5)
    local given = { name = name }
    for key, value in pairs(parameters) do given[key] = value end
    work[i] = workload[kind](given)
    references[name], limits[name] = reference or name, limit
  end
  definition.rows = nil
  definition.workload = work
  definition.reference = function (_, name) return references[name] end
  local own_limit = definition.limit
  definition.limit = function (p, name, row)
    if limits[name] or not own_limit then return limits[name] end
    return own_limit(p, name, row)
  end
  definition.roles = false
  definition.columns = definition.columns or
    { "name", "typical", "to", "ratio", "interval", "limit", "state" }
  return cbench.scenario(definition)
end

local function add(rows, ...)
  rows[#rows + 1] = { ... }
end

-- ---- one CPU

local one_cpu = {}

local function pair(name, ring, burst, reference, limit)
  add(one_cpu, name, "ring_pair", { ring = ring, burst = burst }, reference,
    limit)
end

add(one_cpu, "an add", "throughput", { adds = 1 })
add(one_cpu, "cmpxchg", "atomic", { op = "cmpxchg" })
pair("nop by 1", "nop", 1, "an add", 1.3)
for _, burst in ipairs { 1, 8, 32, 256 } do
  pair(("rte st by %d"):format(burst), st, burst)
end
local spsc_limit = { [1] = 0.65, [32] = 0.45, [256] = 0.35 }
for _, burst in ipairs { 1, 8, 32, 256 } do
  pair(("spsc by %d"):format(burst), "spsc", burst,
    ("rte st by %d"):format(burst), spsc_limit[burst])
end
for _, burst in ipairs { 8, 32, 256 } do
  pair(("nop by %d"):format(burst), "nop", burst,
    ("spsc by %d"):format(burst), 0.06)
end
pair("ff by 1", "ff", 1, "rte st by 1", 0.5)
for _, ring in ipairs { mt, { "alf", sync = "mp" }, { "ck", sync = "mp" },
    { "vyukov" } } do
  local name = ring.sync and ring[1] .. " " .. ring.sync or ring[1]
  pair(name .. " by 1", ring, 1, "cmpxchg", 2.1)
end
for _, burst in ipairs { 8, 32, 256 } do
  local looped = ("looped by %d"):format(burst)
  pair(looped, single, burst)
  pair(("vyukov by %d"):format(burst), "vyukov", burst, looped, 0.45)
end

-- ---- two CPUs

local two_cpus = {}

local function stream(name, ring, burst, reference, limit)
  add(two_cpus, name, "ring_stream", { ring = ring, burst = burst }, reference,
    limit)
end

local function round_trip(name, ring, reference, limit)
  add(two_cpus, name, "ring_pingpong", { ring = ring }, reference, limit)
end

add(two_cpus, "cacheline", "cacheline", {})
for _, burst in ipairs { 1, 8, 32, 256 } do
  stream(("rte st by %d"):format(burst), st, burst)
end
stream("rte mt by 1", mt, 1)
spsc_limit = { [1] = 0.45, [8] = 0.7, [32] = 0.7, [256] = 0.65 }
for _, burst in ipairs { 1, 8, 32, 256 } do
  stream(("spsc by %d"):format(burst), "spsc", burst,
    ("rte st by %d"):format(burst), spsc_limit[burst])
end
stream("ff by 1", "ff", 1, "rte st by 1", 0.15)
stream("vyukov by 1", "vyukov", 1, "rte mt by 1", 0.12)
round_trip("rte st, RTT", st)
round_trip("rte mt, RTT", mt)
round_trip("ff, RTT", "ff", "rte st, RTT", 0.5)
round_trip("vyukov, RTT", "vyukov", "rte mt, RTT", 0.55)

-- ---- more threads than CPUs

local crowded = {}

-- The first CPU and the last: the same one where there is no other.
local function ends()
  local allowed = tostring(cbench.machine().machine.cpus_allowed)
  return math.tointeger(allowed:match "^%d+") or 0,
    math.tointeger(allowed:match "%d+$") or 0
end

-- Consumers and then producers, each on its CPU. A batch that is not through
-- after 5 seconds fails its row: who waits there would wait for ever.
local function crowd(name, ring, consumers, producers, loops, reference, limit)
  local cpus = table.move(producers, 1, #producers, #consumers + 1,
    table.move(consumers, 1, #consumers, 1, {}))
  add(crowded, name, "ring_stream", {
    ring = ring, producers = #producers, consumers = #consumers, cpus = cpus,
    wait = "yield", loops = loops // #producers, cap = 5,
  }, reference, limit)
end

local here, there = ends()
local finishing = {
  { "rte rts", { "rte", sync = "rts", wait = "yield" } },
  { "rte hts", { "rte", sync = "hts", wait = "yield" } },
  { "vyukov", "vyukov" },
  { "ptr_ring", { "ptr_ring", wait = "yield" } },
}
for _, ring in ipairs(finishing) do
  crowd(ring[1] .. " 2:1", ring[2], { there }, { here, here }, 20000)
end
for _, kind in ipairs { { "rte", "mt" }, { "alf", "mp" }, { "ck", "mp" } } do
  local name = kind[1] .. " " .. kind[2]
  local ring = { kind[1], sync = kind[2], wait = "yield" }
  local alone = name .. " 1:1"
  crowd(alone, ring, { there }, { here }, 20000)
  crowd(name .. " 2:1", ring, { there }, { here, here }, 20000, alone, 10)
end
-- As many elements as outlast a time slice: who loses his CPU in a shorter batch
-- makes it many times as long, whatever the ring does.
local worst = "vyukov 2:2"
crowd(worst, "vyukov", { here, there }, { here, there }, 0)

-- Of that row the worst batch is compared to its own typical one; the interval
-- is from the process that fared best to the one that fared worst.
local function crowded_limit(_, name, row)
  local ticks = row.ticks or {}
  if name ~= worst or not (ticks.max and ticks.typical) then return nil end
  local most = {}
  for _, sample in ipairs(row.samples) do
    most[sample.fork] = math.max(most[sample.fork] or 0, sample.ticks / sample.n)
  end
  local low, high = math.huge, 0
  for _, one in pairs(most) do
    low, high = math.min(low, one), math.max(high, one)
  end
  return 10, { to = "typical", value = ticks.max / ticks.typical,
    low = low / ticks.typical, high = high / ticks.typical }
end

return {
  title = "Limits of rings",
  about = "Do the rings cost what they promise?",
  scenario {
    title   = "Limits of rings on one CPU",
    about   = "Do the rings cost what they promise where nothing travels?",
    rows    = one_cpu,
    time    = 12,
    reading = "An element in and out, by so many at once; looped is vyukov "
      .. "that claims one by one. A ring for several needs two cmpxchg. An add "
      .. "is a turn of a loop that does nothing else.",
  },
  scenario {
    title   = "Limits of rings between two CPUs",
    about   = "Do the rings cost what they promise where elements travel?",
    rows    = two_cpus,
    time    = 15,
    reading = "Elements through a ring, by so many at once; RTT is a round "
      .. "trip through two rings, cacheline that of a bare line.",
  },
  scenario {
    title   = "Limits of rings with more threads than CPUs",
    about   = "Do they all finish, and how much longer does it take?",
    rows    = crowded,
    limit   = crowded_limit,
    columns = { "name", "typical", "max", "to", "ratio", "interval", "limit",
                "state" },
    time    = 10,
    reading = "Producers to consumers: of 2:1 the producers share a CPU, of "
      .. "2:2 one of each kind. vyukov 2:2 is its worst batch, max, to its "
      .. "typical one. Who has figures has finished: a batch of more than 5 "
      .. "seconds is a convoy.",
  },
}
