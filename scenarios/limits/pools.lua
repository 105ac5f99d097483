-- What the pool policies promise, as limits of ratios within one run.
local cbench = require "cbench"
local workload = cbench.workload

local spare = "batch_spare"

local function request(name, pool, threads)
  return workload.request {
    name = name, backend = "asm", pool = pool, threads = threads,
  }
end

local function pair(name, pool)
  return workload.pool_pair { name = name, pool = pool }
end

-- name = { what it is compared to, the highest ratio }
local limits = {
  ["request"]                   = { "call", 18 },
  ["request, 2 threads"]        = { "request", 1.15 },
  ["request: spare / batch"]    = { "request, batch", 0.85 },
  ["pool_pair: spare / batch"]  = { "pool_pair, batch", 0.5 },
  ["request, 2 threads, stash"] = { "request, 2 threads, release", 0.5 },
}

local function limit(_, name)
  return limits[name] and limits[name][2]
end

local promises = cbench.scenario {
  title     = "Limits of pools",
  about     = "Does the default pool cost what it promises?",
  workload  = {
    workload.call { name = "call" },
    workload.throughput { name = "independent adds" },
    workload.throughput { name = "independent adds, 2 threads", threads = 2 },
    request("request", spare),
    request("request, 2 threads", spare, 2),
    request("request, batch", "batch"),
    request("request: spare / batch", spare),
    pair("pool_pair, batch", "batch"),
    pair("pool_pair: spare / batch", spare),
    request("request, 2 threads, release", "release", 2),
    request("request, 2 threads, stash", "release_stash", 2),
  },
  reference = function (_, name)
    if name == "independent adds, 2 threads" then return "independent adds" end
    return limits[name] and limits[name][1] or "call"
  end,
  columns   = { "name", "typical", "to", "ratio", "interval", "limit", "state" },
  limit     = limit,
  time      = 8,
  reading   = "pool = batch_spare where no other is named. Independent adds "
    .. "share nothing: what two threads lose on them, they lose because the "
    .. "machine lets two CPUs share a core, and no pool can win it back.",
}

-- ---- against every other policy

-- Equal caps, so that what differs is the algorithm.
local size = 4096

local function capped(policy)
  return { policy, size = size }
end

local works = {
  ["request"]              = { "request" },
  ["request, 2 threads"]   = { "request", { threads = 2 } },
  ["pair"]                 = { "pool_pair" },
  ["pair, 2 threads"]      = { "pool_pair", { threads = 2 } },
  ["burst 100, 2 threads"] = { "pool_pair", { threads = 2, burst = 100 } },
  ["burst 1000, 2 threads"] = { "pool_pair", { threads = 2, burst = 1000 } },
  ["handover"]             = { "pool_handover" },
}

local function make(work, policy, name)
  local kind, more = works[work][1], works[work][2]
  local parameters = { name = name, pool = capped(policy) }
  for key, value in pairs(more or {}) do parameters[key] = value end
  return workload[kind](parameters)
end

local function short_state(row)
  local state = row.limit and row.limit.state
  return state == "not resolved" and "open" or state
end

local rivals = cbench.scenario {
  title     = "The default pool against each other policy",
  about     = "Is another policy better at anything, at equal caps?",
  params    = {
    work  = { "request", "request, 2 threads", "pair", "pair, 2 threads",
              "burst 100, 2 threads", "burst 1000, 2 threads", "handover" },
    vs    = { "mutex", "release", "release_stash", "batch" },
  },
  workload  = function (p) return make(p.work, spare) end,
  reference = function (p)
    return make(p.work, p.vs, p.work .. ", " .. p.vs)
  end,
  across    = "vs",
  columns   = { "work", "vs", "ratio", { "state", short_state } },
  limit     = 1.2,
  time      = 22,
  reading   = "Each cell is batch_spare, measured beside the rival over it; "
    .. "below 1 it is ahead. ok: at most 1.2; open: the interval holds 1.2. "
    .. "All keep up to 4096 idle coroutines. The policy local is no rival: it "
    .. "shares nothing, so a hand-over always creates anew.",
}

return { promises, rivals }
