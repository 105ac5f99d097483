-- The ring test of the Linux skb_array thread of 2016, and the same on
-- alf_queue, which was asked for there. `--format timebench` prints the lines
-- of that thread's own framework.
local cbench = require "cbench"

-- alf_queue takes powers of two only.
local function sized(ring, size)
  local made = type(ring) == "table" and { table.unpack(ring) } or { ring }
  for key, value in pairs(type(ring) == "table" and ring or {}) do
    made[key] = value
  end
  made.size = size
  while made[1] == "alf" and made.size & (made.size - 1) ~= 0 do
    made.size = (made.size | made.size - 1) + 1
  end
  return made
end

-- ---- that framework's lines

local function name_of(ring)
  if type(ring) ~= "table" then return ring end
  return (ring[1] or ring.kind) .. (ring.sync and "_" .. ring.sync or "")
end

local function line(type, where, operations, ticks, hz, step)
  if operations == 0 then return nil end
  local ns = math.floor(ticks / hz * 1e9 + 0.5)
  local per_element = ns / operations
  return ("Type:%s %s %d cycles(tsc) %d.%03d ns (step:%d) - (measurement "
    .. "period time:%d.%09d sec time_interval:%d) - (invoke count:%d "
    .. "tsc_interval:%d)"):format(type, where, ticks // operations,
    per_element // 1, per_element % 1 * 1000 // 1, step, ns // 1000000000,
    ns % 1000000000, ns, operations, ticks)
end

local function pair_lines(row, hz)
  local operations, ticks = 0, 0
  for _, sample in ipairs(row.samples or {}) do
    operations, ticks = operations + sample.n, ticks + sample.ticks
  end
  return { line(name_of(row.params.ring) .. "_pair", "Per elem:", operations,
    ticks, hz, row.params.size or 0) }
end

-- Step 1 are those that enqueue; the average is one of integers, as there.
local function parallel_lines(row, hz)
  local lines, sum = {}, 0
  local type = name_of(row.params.ring) .. "_op"
  for _, role in ipairs(row.roles or {}) do
    lines[#lines + 1] = line(type, ("CPU(%d)"):format(role.cpu),
      role.operations, role.ticks, hz, role.role == "enqueue" and 1 or 0)
    sum = sum + role.ticks // math.max(role.operations, 1)
  end
  if #lines > 0 then
    lines[#lines + 1] = ("Sum Type:%s Average: %d cycles(tsc) CPUs:%d step:0")
      :format(type, sum // #row.roles, #row.roles)
  end
  return lines
end

local function timebench(results)
  local hz, lines = results.meta.clock.hz, {}
  for _, row in ipairs(results) do
    local make = ({ ring_pair = pair_lines, ring_parallel = parallel_lines })
      [row.workload]
    local more = make and make(row, hz) or {}
    table.move(more, 1, #more, #lines + 1, lines)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- ---- one CPU, then several

local function share(name)
  return function (row)
    local value = (row.counters or {})[name]
    return value and ("%.0f %%"):format(value * 100)
  end
end

local same_cpu = cbench.scenario {
  title     = "skb_array on one CPU",
  about     = "What do one packet in and out cost, all in the cache?",
  params    = {
    ring    = { "skb_array", { "alf", sync = "sp" }, { "alf", sync = "mp" } },
    size    = { 8, 64, 1000, 10000, 32000 },
    prefill = { 0, 64 },
  },
  where     = function (p) return p.prefill == 0 or p.size == 1000 end,
  columns   = { "ring", "size", "prefill", "typical", "fast", "ns", "ratio",
                "interval" },
  workload  = function (p)
    return cbench.workload.ring_pair { ring = sized(p.ring, p.size),
                                       prefill = p.prefill }
  end,
  reference = { ring = "skb_array" },
  formats   = { timebench = timebench },
  time      = 5,
  reading   = "The thread had 102 cycles of 4.0 GHz for a pair, 51 for each "
    .. "half. alf rounds a size up to a power of two.",
}

local parallel = cbench.scenario {
  title     = "skb_array between CPUs",
  about     = "What do enqueue and dequeue cost beside each other?",
  params    = {
    ring      = { "skb_array", { "alf", wait = "yield" } },
    producers = { 1, 2 },
  },
  columns   = { "producers", "ring", "typical", "ns", "overlap",
                { "in done", share "completed_in" },
                { "out done", share "completed_out" }, "ratio" },
  workload  = function (p)
    return cbench.workload.ring_parallel {
      ring = sized(p.ring, 64000), prefill = 32000, loops = 200000,
      producers = p.producers, consumers = p.producers,
    }
  end,
  reference = "cacheline",
  formats   = { timebench = timebench },
  time      = 10,
  reading   = "As many threads dequeue as enqueue. Of 64000 places 32000 are "
    .. "taken; a thread ends at a full or an empty ring or after 200000 "
    .. "loops, of which so many are done. The thread had 54 and 53 cycles of "
    .. "4.0 GHz with 2 CPUs, 927, 921, 927 and 898 with 4.",
}

return {
  title = "The skb_array thread of 2016",
  about = "What does the ring test of that thread say here?",
  same_cpu, parallel,
}
