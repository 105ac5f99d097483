--- For tests of the Lua half without any measuring: workloads that are only
-- described, figures that are made up from the descriptors.
local cbench = require "cbench"

local support = {}

local function upvalue(f, wanted)
  for i = 1, 250 do
    local name, value = debug.getupvalue(f, i)
    if not name then return nil end
    if name == wanted then return value end
  end
end

local fields = upvalue(getmetatable(cbench).__index, "fields")
local real_import = upvalue(fields.kinds, "import")

--- The C half.
support.core = upvalue(real_import, "core")

--- An `import` of its own, in which the given files are replaced.
-- @param fakes file = what it returns
function support.import(fakes)
  local loaded = {}
  for name, value in pairs(fakes) do loaded[name] = value end
  local function import(name)
    if loaded[name] == nil then
      loaded[name] = support.core.load(name)(import, support.core)
    end
    return loaded[name]
  end
  return import
end

-- ---- workloads that are only described

local kinds = {
  call = { order = {}, preset = {}, op = "a call of a function" },
  yield = { order = { "backend", "threads" },
            preset = { backend = "asm", threads = 1 },
            op = "one enter and one yield" },
  lifecycle = { order = { "backend", "pool" },
                preset = { backend = "asm", pool = "none" },
                op = "one coroutine: create, enter, end" },
  nesting = { order = { "backend", "depth", "pool" },
              preset = { backend = "asm", depth = 10, pool = "none" },
              op = "one coroutine of the nest: create, enter, end" },
  ring_stream = { order = { "ring", "producers", "consumers" },
                  preset = { ring = "spsc", producers = 1, consumers = 1 },
                  op = "one element" },
}

local backends = { asm = true, ucontext = true, sigaltstack = true,
                   inline = true }

local descriptor_meta = { __name = "cbench.descriptor" }

local function construct(kind, given)
  local params = {}
  for key, value in pairs(kinds[kind].preset) do params[key] = value end
  local descriptor = { kind = kind, params = params,
                       order = kinds[kind].order }
  local where = ("bad argument #1 to '%s' ("):format(kind)
  for key, value in pairs(given) do
    if key == "name" or key == "place" or key == "cpus" then
      descriptor[key] = value
    elseif params[key] == nil then
      error(("%sunknown option '%s' of '%s')"):format(where, key, kind), 2)
    else
      params[key] = value
    end
  end
  if params.backend and not backends[params.backend] then
    error(("%sunknown backend '%s' (did you mean 'asm'?))"):format(where,
      params.backend), 2)
  end
  if params.depth and (params.depth < 1 or params.depth > 1e6) then
    error(("%soption 'depth': %s is out of range [1, 1000000])"):format(where,
      params.depth), 2)
  end
  return setmetatable(descriptor, descriptor_meta)
end

--- Stands in for lua/cbench/workload.lua.
function support.workload()
  local workload = { constructors = {} }
  for kind in pairs(kinds) do
    workload.constructors[kind] = function (given)
      return construct(kind, given or {})
    end
  end
  function workload.is(value)
    return getmetatable(value) == descriptor_meta
  end
  --- sigaltstack cannot be nested deeper than 500 here.
  function workload.check(descriptor)
    local params = descriptor.params
    if params.backend == "sigaltstack" and (params.depth or 1) > 500 then
      return nil, "not deeper than 500"
    end
    return true
  end
  function workload.threads_follow(kind)
    return "the threads of '" .. kind .. "' follow"
  end
  return workload
end

-- ---- figures that are made up

local cost = { call = 3.81, yield = 12.6, lifecycle = 22.4, nesting = 76.2,
               ring_stream = 6.5 }
local factor = { asm = 1, ucontext = 13, sigaltstack = 14, inline = 0.5 }

--- What the fake says one operation of the descriptor takes, in ticks.
function support.cost(descriptor)
  local params = descriptor.params
  local ticks = cost[descriptor.kind] * (factor[params.backend] or 1)
  if params.pool == "none" then ticks = ticks * 300 end
  return ticks * (1 + (params.depth or 0) / 1000)
end

local function figures(ticks)
  return { fast = ticks * 0.99, typical = ticks, p90 = ticks * 1.02,
           min = ticks * 0.985, max = ticks * 1.4 }
end

local function ratio_of(mine, reference, name, forks)
  local value = mine / reference
  if forks < 3 then
    return { to = name, value = value, verdict = "unresolved",
             reason = "one process" }
  end
  local verdict = value > 1.02 and "slower" or value < 0.98 and "faster" or
    "same"
  return { to = name, value = value, low = value * 0.995,
           high = value * 1.005, level = 0.98, verdict = verdict }
end

local function samples_of(ticks, forks)
  local samples = {}
  for fork = 1, forks do
    for round = 1, 3 do
      samples[#samples + 1] = {
        fork = fork, round = round, n = 1000,
        ticks = math.floor(ticks * 1000 * (1 + round / 1000 + fork / 5000)),
      }
    end
  end
  return samples
end

local function record_of(list, i, options, check)
  local descriptor = list[i]
  local ticks, forks = support.cost(descriptor), options.forks or 1
  local record = { name = descriptor.name or descriptor.kind,
                   workload = descriptor.kind, params = {} }
  for key, value in pairs(descriptor.params) do record.params[key] = value end
  local good, reason = check(descriptor)
  if not good then
    record.status, record.reason = "n/a", reason
    return record
  end
  for key, value in pairs {
    status = "ok", op = kinds[descriptor.kind].op,
    threads = 1, unit = "ticks/op", ticks = figures(ticks),
    ns = figures(ticks / 2.445), per_second = 2.445e9 / ticks,
    iterations = 66000 * forks, rounds = 22, forks = forks,
    stopped_by = "rounds", counters = {},
    checks = { { name = "proof", held = true } },
    noise = { verdict = "ok", causes = {} },
    samples = samples_of(ticks, forks),
    roles = { { role = "worker", cpu = 1, operations = 1000,
                ticks = 1000 * ticks, overlap = 1.0 } },
  } do
    record[key] = value
  end
  if descriptor.kind == "nesting" or descriptor.kind == "lifecycle" then
    record.counters.new = descriptor.params.pool == "none" and 1.0 or 0.0
  end
  local to = options.reference[i]
  if to == i then
    record.ratio = { to = record.name, value = 1 }
  else
    record.ratio = ratio_of(ticks, support.cost(list[to]), list[to].name,
      forks)
  end
  return record
end

--- Stands in for lua/cbench/measure.lua; keeps what it is called with.
-- `time = "fails"` makes it raise, `time = "refused"` say that it cannot,
-- `time = "stopped"` stop early, `time = "below"` find its first row below
-- resolution.
function support.measure(calls, check)
  local measure = {}
  function measure.check_options(options)
    if options.seed == -1 then
      return nil, "option 'seed': -1 is out of range [0, 9]"
    end
    return options
  end
  function measure.run(list, options)
    assert(options.time ~= "fails", "measuring failed")
    if options.time == "refused" then return nil, "no such CPU" end
    if calls then calls[#calls + 1] = { list = list, options = options } end
    local records = {}
    for i in ipairs(list) do
      records[i] = record_of(list, i, options, check)
    end
    if options.time == "stopped" then records[1].status = "partial" end
    if options.time == "below" then records[1].below_resolution = true end
    return records, {
      machine = { cpu = "AMD EPYC 7R13 48-Core Processor",
                  hypervisor = "KVM", kernel = "Linux 6.1" },
      build = { version = "0.1.0", compiler = "gcc 12" },
      options = { time = options.time }, seed = options.seed or 7351,
      started = "2024-11-30T12:00:00Z", elapsed_s = 13.2,
      noise = { verdict = "ok", disturbed = 0.03,
                causes = { preempted = 0.02, ["host-slow"] = 0.01 } },
      forks = options.forks or 1, rounds = 22 * (options.forks or 1),
      clock = { hz = 2445000000, source = "tsc", cost = 49 },
      partial = options.time == "stopped" or nil,
      signal = options.time == "stopped" and 15 or nil, references = {},
    }
  end
  return measure
end

--- The Lua half on fakes: an import.
function support.fakes(calls)
  local workload = support.workload()
  return support.import {
    workload = workload, measure = support.measure(calls, workload.check),
  }
end

return support
