--- Documents of results that look like measured ones: two modes of the
-- machine, disturbed rounds, intervals over processes. The same seed gives the
-- same document.
local made_up = {}

local function generator(seed)
  local state = seed & 0x7fffffff
  return function ()
    state = (state * 1103515245 + 12345) & 0x7fffffff
    return (state >> 8) / 0x800000
  end
end

local hz = 2445000000

local function pick_cause(random)
  local x = random()
  if x < 0.02 then return "preempted" end
  if x < 0.025 then return "migrated" end
  if x < 0.035 then return "stolen" end
  if x < 0.04 then return "throttled+stolen" end
end

-- Rounds of one row: now and then a process spends a while in the slow mode.
local function samples_of(cost, given, random)
  local samples, n = {}, math.max(1, math.floor(245000 / cost))
  for fork = 0, given.forks - 1 do
    local slow_from = random() < 0.4 and random() * given.rounds or 1e9
    for round = 1, given.rounds do
      local factor, cause = 1 + 0.006 * random(), pick_cause(random)
      if cause then factor = factor * (1.05 + random() ^ 6 * 20) end
      if round > slow_from and round < slow_from + given.rounds / 3 then
        factor = factor * 1.23
        cause = cause or "host-slow"
      end
      samples[#samples + 1] = { fork = fork, round = round, n = n,
        ticks = math.floor(cost * n * factor * (1 + fork % 3 / 900)),
        cause = cause }
    end
  end
  return samples
end

local function per_op(ticks)
  local ns = {}
  for key, value in pairs(ticks) do ns[key] = value / hz * 1e9 end
  return ns
end

local function verdict(low, high)
  if low > 1.02 then return "slower" elseif high < 1 / 1.02 then
    return "faster"
  elseif low >= 1 / 1.02 and high <= 1.02 then return "same" end
  return "unresolved"
end

--- A record with figures around `cost` ticks.
function made_up.record(name, params, cost, given, random)
  local ticks = { fast = cost * 1.001, typical = cost * 1.004,
                  p90 = cost * 1.23, min = cost, max = cost * 9 }
  return {
    name = name, workload = given.workload or "nesting", status = "ok",
    op = given.op or "one coroutine of the nest: create, enter, end",
    params = params, threads = 1, unit = "ticks/op", ticks = ticks,
    ns = per_op(ticks), per_second = hz / cost, rounds = given.rounds,
    forks = given.forks, iterations = 1000 * given.rounds,
    stopped_by = "time", counters = {}, checks = {
      { name = "proof", held = true } },
    noise = { verdict = "ok", disturbed = 0.05,
              causes = { preempted = 0.02, ["host-slow"] = 0.01 } },
    samples = given.samples ~= false and
      samples_of(cost, given, random) or nil,
  }
end

local function compare(record, to, cost, reference, given, random)
  local value = cost / reference
  local low, high = value * (0.994 - 0.004 * random()),
    value * (1.004 + 0.004 * random())
  record.ratio = { to = to, value = value, low = low, high = high,
    level = 0.979, verdict = verdict(low, high), spread = 0.002,
    fast = value }
  if given.forks < 3 then
    record.ratio.low, record.ratio.high = nil, nil
    record.ratio.verdict, record.ratio.reason = "unresolved", "one process"
  end
end

local function options_of(given)
  local full = { forks = 10, rounds = 22, seed = 1, factor = 1,
                 host = "alpha", fingerprint = "00c0ffee00c0ffee",
                 build = "0123456789abcdef" }
  for key, value in pairs(given or {}) do full[key] = value end
  return full
end

--- A document around records.
function made_up.document(records, given)
  given = options_of(given)
  for _, record in ipairs(records) do
    local named = next(record.params) ~= nil
    record.order = named and given.view and given.view.parameters or nil
  end
  return {
    schema = "cbench/1", scenario = given.scenario or "nesting",
    title = given.title or "Nested coroutines",
    about = given.about or
      "What does a coroutine cost when each creates and enters the next?",
    command = given.command or "cbench nesting --seed 7351",
    run = given.run or "1f-2e", host = given.host, rank = given.rank,
    size = given.size, seed = 7351, started = "2024-11-30T12:00:00Z",
    elapsed_s = 13.2, partial = given.partial or false,
    forks = given.forks, rounds = given.rounds * given.forks,
    clock = { source = "tsc", basis = "kernel", hz = hz, cost = 24 },
    machine = { host = given.host, cpu = "AMD EPYC 7R13 Processor",
      fingerprint = given.fingerprint, cpus_online = 2, hypervisor = "kvm",
      kernel = "6.1.0-18-amd64", smt = "on", caches = 2, clock_hz = hz },
    build = { version = "0.1.0", compiler = "gcc 12.2.0", flags = "-O2 -g",
      fingerprint = given.build, assembly = "yes" },
    state = { aslr = "on", load = 0.2 },
    noise = { verdict = "ok", disturbed = 0.05,
              causes = { preempted = 0.02, ["host-slow"] = 0.03 } },
    options = { time = 12, forks = given.forks, min_effect = 2 },
    reading = "Compare rows of one depth. new = share of coroutines really "
      .. "created.",
    view = given.view, results = records,
  }
end

--- Nested coroutines: three back ends, five depths, two pools.
function made_up.nesting(given)
  given = options_of(given)
  local random = generator(given.seed)
  local reference = made_up.record("call", {}, 3.81, given, random)
  reference.reference, reference.workload = true, "call"
  reference.op = "one call of a function"
  local records = {}
  for _, backend in ipairs { "asm", "ucontext", "sigaltstack" } do
    for _, depth in ipairs { 1, 10, 100, 1000 } do
      for _, pool in ipairs { "none", "batch_spare" } do
        local cost = ({ asm = 22, ucontext = 290, sigaltstack = 310 })[backend]
          * (pool == "none" and 160 or 1) * (1 + (depth / 1000) ^ 0.8 * 2.3)
          * given.factor * (1 + 0.03 * (random() - 0.5))
        local record = made_up.record(("backend=%s/depth=%d/pool=%s"):format(
          backend, depth, pool), { backend = backend, depth = depth,
          pool = pool }, cost, given, random)
        compare(record, "call", cost, 3.81, given, random)
        record.counters.new = pool == "none" and 1.0 or 0.0
        if backend == "sigaltstack" and depth == 1000 then
          record.status, record.reason = "n/a", "not deeper than 500"
          record.ticks, record.ns, record.ratio = nil, nil, nil
          record.samples, record.noise = nil, nil
        end
        records[#records + 1] = record
      end
    end
  end
  records[#records + 1] = reference
  given.view = { parameters = { "backend", "depth", "pool" },
                 reference = "call" }
  return made_up.document(records, given)
end

--- Rows of one kind of work beside each other, so that there are verdicts.
function made_up.pools(given)
  given = options_of(given)
  local random = generator(given.seed)
  local records = {}
  local costs = { batch_spare = 50, batch = 50.4, release = 61, mutex = 118,
                  none = 5200, ["local"] = 44 }
  for _, pool in ipairs { "batch_spare", "batch", "release", "mutex", "local",
      "none" } do
    local cost = costs[pool] * given.factor
    local record = made_up.record("pool=" .. pool, { pool = pool }, cost,
      given, random)
    record.workload, record.same_workload = "lifecycle", true
    if pool ~= "batch_spare" then
      compare(record, "pool=batch_spare", cost, 50 * given.factor, given,
        random)
    else
      record.ratio = { to = record.name, value = 1 }
    end
    records[#records + 1] = record
  end
  given.title = given.title or "Pools"
  given.about = given.about or "Which pool is the cheapest?"
  given.scenario = "pools"
  given.view = { parameters = { "pool" } }
  return made_up.document(records, given)
end

--- So many rows that differ in two numbers.
function made_up.many(count, given)
  given = options_of(given)
  local random = generator(given.seed)
  local records = {}
  for i = 1, count do
    local size, burst = 2 ^ (i % 10) // 1, i // 10
    local cost = (5 + size / 40 + burst / 9) * given.factor
    local record = made_up.record(("size=%d/burst=%d"):format(size, burst),
      { size = size, burst = burst }, cost, given, random)
    compare(record, "call", cost, 3.81, given, random)
    records[i] = record
  end
  given.scenario = given.scenario or "many"
  given.title = given.title or "Many rows"
  given.view = { parameters = { "size", "burst" } }
  return made_up.document(records, given)
end

--- A pipeline that grows layer by layer, at two depths.
function made_up.layers(given)
  given = options_of(given)
  given.workload = "pipeline"
  local random = generator(given.seed)
  local records = {}
  for _, depth in ipairs { 1, 32 } do
    local cost = 0
    for i, layer in ipairs { "direct", "+ ring", "+ service", "+ statistics",
        "+ coroutine", "+ yield" } do
      cost = cost + ({ 12, 9, 21, -0.5, 46, 31 })[i] * (depth == 1 and 1.5 or 1)
      records[#records + 1] = made_up.record(
        ("depth=%d/layer=%s"):format(depth, layer),
        { depth = depth, layer = layer }, cost, given, random)
    end
  end
  given.title, given.scenario = "Block layer", "block_layer"
  given.view = { parameters = { "depth", "layer" } }
  return made_up.document(records, given)
end

--- Latency against offered rate.
function made_up.latency(given)
  given = options_of(given)
  given.workload = "pipeline"
  local random = generator(given.seed)
  local records = {}
  for i, rate in ipairs { 100000, 500000, 900000 } do
    local record = made_up.record("rate=" .. rate, { rate = rate }, 130, given,
      random)
    local base = 800 * i * i
    record.latency = { unit = "ns", p50 = base, p90 = base * 1.4,
      p99 = base * 3, ["p99.9"] = base * 14, max = base * 80 }
    records[i] = record
  end
  given.title, given.scenario = "Block latency", "block_latency"
  given.view = { parameters = { "rate" } }
  return made_up.document(records, given)
end

--- The document's rows as lines of JSON.
-- @param encode function from a value to its JSON
function made_up.lines(document, encode)
  local lines = {}
  for i, record in ipairs(document.results) do
    local line = {}
    for key, value in pairs(record) do line[key] = value end
    for _, key in ipairs { "schema", "command", "run", "host", "rank", "size",
        "scenario", "title", "started", "seed", "clock", "machine", "build" } do
      line[key] = document[key]
    end
    lines[i] = encode(line) .. "\n"
  end
  return table.concat(lines)
end

return made_up
