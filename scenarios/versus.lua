-- The real peers beside ours and beside our imitations of them, in the same
-- processes. Ratios are to the real one, so below 1 ours is ahead; limits are
-- what we mean to be ahead by.
local cbench = require "cbench"

-- ---- where a kind comes from

-- The plug-in that has a kind, and how that is configured.
local plugins = {
  ck = "ck", dpdk = "dpdk", boost_context = "boost-context", pcl = "pcl",
  cxx_queues = "cxx-queues",
}
local home = {
  boost_context = "boost_context", pcl = "pcl",
  ck_ring = "ck", ck_fas = "ck", ck_cas = "ck", ck_ticket = "ck",
  ck_mcs = "ck", rte_ring = "dpdk", rte_service_run = "dpdk",
  rte_service_loop = "dpdk", atomic_queue = "cxx_queues",
  atomic_queue_fixed = "cxx_queues", moodycamel_rwq = "cxx_queues",
  moodycamel_cq = "cxx_queues", boost_spsc = "cxx_queues",
}

-- By plug-in: why it is not there, or false.
local absent = {}

local function why_absent(plugin)
  if absent[plugin] == nil then
    local good, message, code = cbench.load(plugin)
    absent[plugin] = not good and (code == "ENOENT"
      and "configure --with-" .. plugins[plugin] or message)
  end
  return absent[plugin]
end

-- The kind in "spsc", in { "rte", sync = "st" } and in a record of it.
local function name_of(value)
  return type(value) == "table" and (value[1] or value.kind) or value
end

-- The workload with those values, or nil and why not.
local function make(name, values)
  for _, value in pairs(values) do
    local plugin = home[name_of(value)]
    if plugin and why_absent(plugin) then return nil, why_absent(plugin) end
  end
  if home[name] and why_absent(home[name]) then
    return nil, why_absent(home[name])
  end
  return cbench.workload[name](values)
end

-- Who wrote what: a column.
local imitations = {
  rte = "imitation", ck = "imitation", ptr_ring = "imitation",
  ucontext = "imitation",
}

local function origin(of)
  return { "origin", function (row)
    local name = name_of(row.params[of])
    return home[name] and "real" or imitations[name] or "ours"
  end }
end

-- Ours and theirs are of two names, but do the same; so there is a verdict.
local function verdict(row)
  local ratio = row.ratio
  if not ratio or ratio.to == row.name then return ratio and "(reference)" end
  return ratio.verdict
end

local shown = { "ticks.typical", "ratio", "interval", { "verdict", verdict } }

local function columns(first, of)
  local list = {}
  for i, column in ipairs(first) do list[i] = column end
  list[#list + 1] = origin(of)
  for _, column in ipairs(shown) do list[#list + 1] = column end
  return list
end

-- What a row's ratio may be at most: by the name of its kind, and for those
-- that depend on a second parameter by that.
local function limits(first, second, most)
  return function (p)
    local found = most[name_of(p[first])]
    if type(found) == "table" then return found[p[second]] end
    return found
  end
end

-- ---- coroutines

local boost = { backend = "boost_context" }

local switch = cbench.scenario {
  title     = "Switch",
  about     = "What does it cost to enter a coroutine that yields?",
  params    = { backend = { "inline", "asm", "asm_fpu", "boost_context" } },
  workload  = function (p) return make("yield", p) end,
  reference = boost,
  limit     = limits("backend", nil, { inline = 0.35, asm = 0.6,
                                       asm_fpu = 1.05 }),
  columns   = columns({ "backend" }, "backend"),
  time      = 6,
  reading   = "inline and asm leave the floating point control bits to the "
    .. "thread, asm_fpu keeps them as Boost.Context does.",
}

local lifecycle = cbench.scenario {
  title     = "Coroutine from a pool",
  about     = "What does a whole coroutine out of the same pool cost?",
  params    = { backend = { "inline", "asm", "asm_fpu", "boost_context" } },
  workload  = function (p)
    return make("lifecycle", { backend = p.backend, pool = "batch_spare" })
  end,
  reference = boost,
  limit     = limits("backend", nil, { asm = 0.6 }),
  columns   = columns({ "backend" }, "backend"),
  time      = 6,
}

local system_calls = cbench.scenario {
  title     = "Switch by swapcontext",
  about     = "What is a switch that asks the kernel for the signal mask?",
  params    = { backend = { "asm", "ucontext", "swapcontext", "pcl" } },
  workload  = function (p) return make("yield", p) end,
  reference = { backend = "pcl" },
  limit     = limits("backend", nil, { asm = 0.02 }),
  columns   = columns({ "backend" }, "backend"),
  time      = 4,
}

-- ---- rings

local rte_st = { "rte_ring", sync = "st" }
local rte_mt = { "rte_ring", sync = "mt" }

-- Rings of one size; which of them a row is compared to is the scenario's.
local function rings(definition)
  local of, size = definition.work, definition.size or 1024
  definition.work, definition.size = nil, nil
  local extra = definition.extra or {}
  definition.extra = nil
  definition.workload = function (p)
    local ring = type(p.ring) == "table" and p.ring or { p.ring }
    local sized = { ring[1], size = size }
    for key, value in pairs(ring) do sized[key] = value end
    local values = { ring = sized, burst = p.burst }
    for key, value in pairs(extra) do values[key] = value end
    return make(of, values)
  end
  definition.columns = definition.columns or columns(
    definition.params.burst and { "ring", "burst" } or { "ring" }, "ring")
  return cbench.scenario(definition)
end

-- One producer and one consumer, by that work.
local function one_to_one(work, title, about, seconds, most)
  return rings {
    title     = title,
    about     = about,
    work      = work,
    params    = {
      ring  = { "spsc", "ff", { "rte", sync = "st" }, rte_st },
      burst = { 1, 32, 256 },
    },
    reference = { ring = rte_st },
    limit     = limits("ring", "burst", most),
    time      = seconds,
  }
end

local same_cpu = one_to_one("ring_pair", "Rings, one thread",
  "What do an element in and out cost on one CPU?", 10,
  { spsc = { [1] = 0.65, [32] = 0.45, [256] = 0.35 }, ff = { [1] = 0.5 } })
local two_cpus = one_to_one("ring_stream", "Rings, two CPUs",
  "What does an element cost that goes to another CPU?", 15,
  { spsc = { [1] = 0.45, [32] = 0.7, [256] = 0.65 }, ff = { [1] = 0.15 } })

local function cxx_spsc(size)
  return rings {
    title     = ("C++ queues, two CPUs, %d elements"):format(size),
    about     = "What does one element cost that goes to another CPU?",
    work      = "ring_stream",
    size      = size,
    params    = {
      ring = {
        "ff", "spsc",
        { "atomic_queue_fixed", sync = "sp", form = "push" },
        { "atomic_queue_fixed", sync = "sp", form = "try" },
        { "atomic_queue", sync = "sp", form = "push" },
        { "atomic_queue", sync = "sp", form = "try" },
        "moodycamel_rwq", "boost_spsc", rte_st,
      },
    },
    reference = { ring = "ff" },
    limit     = function (p)
      return home[name_of(p.ring)] == "cxx_queues" and { 1 / 0.9, math.huge }
        or nil
    end,
    time      = 12,
    reading   = "Ratios are to ours here: above 1, ff is ahead. form is that "
      .. "of atomic_queue's loops; _fixed is compiled for its size.",
  }
end

local pingpong = rings {
  title     = "Ping-pong",
  about     = "What does an element to another CPU and back cost?",
  work      = "ring_pingpong",
  params    = {
    ring = { "ff", "spsc", { "rte", sync = "st" }, rte_st,
             { "atomic_queue_fixed", sync = "sp", form = "push" },
             { "atomic_queue", sync = "sp", form = "push" } },
  },
  reference = { ring = rte_st },
  limit     = limits("ring", nil, { ff = 0.5 }),
  time      = 10,
}

local several = {
  "vyukov", { "rte", sync = "mt" }, rte_mt, { "rte_ring", sync = "rts" },
  { "rte_ring", sync = "hts" }, "ck_ring",
  { "atomic_queue_fixed", form = "push" },
  { "atomic_queue_fixed", form = "try" }, "moodycamel_cq",
}

local many_to_many = rings {
  title     = "Rings for several threads, two CPUs",
  about     = "What does one element cost from one thread to another?",
  work      = "ring_stream",
  params    = { ring = several },
  reference = { ring = rte_mt },
  limit     = limits("ring", nil, { vyukov = 0.12 }),
  time      = 12,
}

-- A thread that waits in atomic_queue's push cannot be told to stop.
local patient = {}
for _, ring in ipairs(several) do
  if type(ring) ~= "table" or ring.form ~= "push" then
    patient[#patient + 1] = ring
  end
end

local crowd = rings {
  title     = "Rings for several threads, two of each",
  about     = "What does an element cost with two threads on each side?",
  work      = "ring_stream",
  extra     = { producers = 2, consumers = 2, wait = "yield" },
  params    = { ring = patient },
  reference = { ring = rte_mt },
  columns   = { "ring", origin "ring", "ticks.typical", "ticks.max", "ratio",
                "interval" },
  time      = 12,
  reading   = "With fewer than four CPUs the threads share them: where one "
    .. "waits for the turn of another that does not run, max is far from "
    .. "typical.",
}
-- ---- imitations beside their originals

local imitated = {}
for _, sync in ipairs { "st", "mt", "rts", "hts" } do
  imitated[#imitated + 1] = { "rte", sync = sync }
  imitated[#imitated + 1] = { "rte_ring", sync = sync }
end

-- A row beside the original with the same sync; other rings are compared to
-- nothing.
local function original(imitation, real)
  return function (p)
    local name = name_of(p.ring)
    if name ~= imitation and name ~= real then return false end
    return { ring = { real, sync = p.ring.sync } }
  end
end

local faithful = rings {
  title     = "The imitation of rte_ring, one thread",
  about     = "Is our rte the rte_ring it stands for?",
  work      = "ring_pair",
  params    = { ring = imitated, burst = { 1, 32, 256 } },
  reference = original("rte", "rte_ring"),
  limit     = limits("ring", nil, { rte = 1.1 }),
  time      = 15,
}

local faithful_ck = rings {
  title     = "The imitation of ck_ring, one thread",
  about     = "Is our ck the ck_ring it stands for?",
  work      = "ring_pair",
  params    = { ring = { { "ck", sync = "sp" }, { "ck_ring", sync = "sp" },
                         { "ck", sync = "mp" }, { "ck_ring", sync = "mp" } } },
  reference = original("ck", "ck_ring"),
  limit     = limits("ring", nil, { ck = 1.1 }),
  time      = 6,
}

-- ---- locks

local lock_of = { tas = "ck_fas", cas = "ck_cas", ticket = "ck_ticket",
                  mcs = "ck_mcs" }

local locks = cbench.scenario {
  title     = "Locks",
  about     = "What do a lock and an unlock cost?",
  params    = {
    lock    = { "tas", "ck_fas", "cas", "ck_cas", "ticket", "ck_ticket", "mcs",
                "ck_mcs" },
    threads = { 1, 2 },
  },
  workload  = function (p) return make("lock", p) end,
  reference = function (p) return { lock = lock_of[p.lock] or p.lock } end,
  columns   = columns({ "lock", "threads" }, "lock"),
  time      = 8,
  reading   = "ticket and mcs hand over to whoever came first, though he may "
    .. "have lost his CPU: beside other programs, two threads then take turns "
    .. "at time slices, whoever wrote the lock.",
}

-- ---- services

-- A run by ours and by theirs, under the same conditions.
local conditions = {
  ["mt-safe"]             = { mt_safe = true },
  ["mt-unsafe"]           = { mt_safe = false },
  ["mt-safe, stats"]      = { mt_safe = true, stats = true },
  ["mt-safe, contended"]  = { mt_safe = true, contenders = 1 },
}

local function service(kind, p, values)
  local given = {}
  for key, value in pairs(values) do given[key] = value end
  if home[kind] == nil then
    given.stats = values.stats and (p.stats or "time") or nil
  end
  return make(kind, given)
end

local runs = cbench.scenario {
  title     = "Service runs",
  about     = "What does a run of a service on an application lcore cost?",
  params    = {
    service   = { "service_run", "rte_service_run" },
    condition = { "mt-safe", "mt-unsafe", "mt-safe, stats",
                  "mt-safe, contended" },
  },
  workload  = function (p)
    return service(p.service, p, conditions[p.condition])
  end,
  reference = { service = "rte_service_run" },
  limit     = limits("service", "condition", { service_run = {
    ["mt-safe"] = 0.5, ["mt-unsafe"] = 0.6, ["mt-safe, contended"] = 0.3 } }),
  columns   = columns({ "service", "condition" }, "service"),
  time      = 12,
  reading   = "Of contended rows, what one of two lcores took for an attempt.",
}

local loops = cbench.scenario {
  title     = "Service lcore",
  about     = "What does a pass of a service lcore cost?",
  params    = {
    service = { "service_loop", "rte_service_loop" },
    running = { 1, 64 },
    stats   = { "off", "chain" },
  },
  workload  = function (p)
    return service(p.service, p, { services = p.running, running = p.running,
      stats = p.stats ~= "off" })
  end,
  reference = { service = "rte_service_loop" },
  limit     = function (p)
    if p.service ~= "service_loop" then return nil end
    if p.stats == "chain" then return 0.65 end
    return p.running == 64 and 0.85 or nil
  end,
  columns   = columns({ "service", "running", "stats" }, "service"),
  time      = 12,
  reading   = "DPDK has one kind of statistics, which reads the counter twice "
    .. "a call; chain reads it once.",
}

return {
  title = "Against the peers",
  about = "How do ours stand beside the real ones of other projects?",
  switch, lifecycle, system_calls, same_cpu, two_cpus, cxx_spsc(1024),
  cxx_spsc(65536), pingpong, many_to_many, crowd, faithful, faithful_ck, locks,
  runs, loops,
}
