-- Every shipped scenario runs; figures are not looked at, shapes are.
local support = dofile(os.getenv "top_srcdir" .. "/tests/lua/support.lua")
local cbench = require "cbench"

-- `versus` has twelve tables of rows that spin on all CPUs: it is run where the
-- peers are, by tests/cli/peers.sh.
local names, left_out = {}, { versus = true, ["limits/peers"] = true }

-- ThreadSanitizer takes a millisecond and 300 KiB of mappings for each
-- coroutine that is made: with thousands of them its memory runs out, with
-- hundreds the time. And what spins for another thread spins long.
local watched = (os.getenv "SANITIZE" or ""):find "thread"
local function leave_out(list, reason)
  for _, name in ipairs(list) do
    left_out[name] = true
    pending(name .. " " .. reason)
  end
end
if watched then
  leave_out({ "limits", "limits/pools", "pool_handover", "pool_history",
    "pool_sizes", "stack_use" }, "makes many coroutines for ThreadSanitizer")
  leave_out({ "ring_convoy", "ring_overcommit", "ring_parallel", "skb_array",
    "the ring scenarios" }, "spins for too long under ThreadSanitizer")
end
-- Values for those that would have too many rows here, or none.
local values = {}
if watched then
  values.nesting = { depth = { 1, 10 }, backend = { "asm", "ucontext" } }
end
if cbench.machine().build.assembly == "no" then
  values.block_latency = { backend = "ucontext" }
end

for _, name in ipairs(support.core.scenario_names()) do
  if not left_out[name] then names[#names + 1] = name end
end
local ran = {}

-- As short a run as there is, in this process.
local function run(name)
  ran[name] = ran[name] or assert(cbench.scenario(name):run(values[name] or {},
    { forks = 1, rounds = 2, time = 100, seed = 1 }))
  return ran[name]
end

-- What is said of one of them.
local function describe_run(name, block)
  if not left_out[name] then describe(name, block) end
end

local function lines_of(made)
  local lines = {}
  for line in made:gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

describe("the scenario", function ()
  for _, name in ipairs(names) do
    it(name .. " runs and is a table", function ()
      local results = run(name)
      -- What these two are about is that it may happen.
      local convoys = name == "ring_overcommit" or name == "ring_convoy"
      for _, record in ipairs(results) do
        local convoy = convoys and record.status == "fail" and
          record.reason:find "^convoy: "
        assert.is_truthy(record.status == "ok" or record.status == "n/a" or
          convoy, ("%s: %s: %s"):format(record.name, record.status,
            record.reason))
        assert.is_string(record.status == "ok" and record.op or record.reason)
      end
      for _, line in ipairs(lines_of(tostring(results))) do
        assert.is_true(#line <= 100, line)
      end
    end)

    it(name .. " asks a question and says how to read the answer", function ()
      local scenario = cbench.scenario(name)
      assert.is_truthy(scenario.about:find "%?$")
      -- A list of scenarios has a table each, and says it of some of them.
      local meta = run(name).meta
      local parts, reading = meta.parts or {}, meta.reading
      for _, part in ipairs(parts) do
        reading = reading or part.meta.reading
      end
      assert.is_truthy(reading:find "%.$")
      local tables = math.max(1, #parts)
      assert.is_truthy(scenario.time and scenario.time <= 15 * tables)
    end)

    it(name .. " lists rows and columns in the same order", function ()
      local function order()
        local list = {}
        for i, row in ipairs(cbench.scenario(name):rows()) do
          list[i] = row.name
        end
        return list
      end
      local first = order()
      for _ = 1, 50 do assert.same(first, order()) end
    end)

    it(name .. " writes every format", function ()
      for _, format in ipairs { "mail", "markdown", "csv", "json", "jsonl",
          "bmf", "gobench" } do
        assert.is_true(#cbench.format(run(name), format) > 0)
      end
    end)
  end

  it("is there", function () assert.is_true(#names >= 7) end)
end)

describe_run("limits", function ()
  it("has all that is shipped under limits/", function ()
    local titles, count = {}, 0
    for _, part in ipairs(run "limits".meta.parts) do
      titles[part.meta.title] = true
    end
    for _, name in ipairs(names) do
      if name:find "^limits/" then
        count = count + 1
        local parts = run(name).meta.parts
        for _, part in ipairs(parts or { run(name) }) do
          assert.is_true(titles[part.meta.title], part.meta.title)
        end
      end
    end
    assert.is_true(count >= 4)
  end)
end)

describe("nesting", function ()
  it("shows what is really created", function ()
    local results = run "nesting"
    local function new(pool)
      return results:find { backend = "ucontext", pool = pool, depth = 10 }
        .counters.new
    end
    assert.is_true(new "none" > 0)
    assert.is_number(new "batch_spare")
    assert.is_truthy(tostring(results):find "interval" or
      tostring(results):find "one process")
  end)
end)

describe("backends", function ()
  it("has creating and switching side by side", function ()
    local head = lines_of(tostring(run "backends"))
    local found = false
    for _, line in ipairs(head) do
      found = found or line:find "create +lifecycle +yield" ~= nil
    end
    assert.is_true(found)
  end)
end)

describe("qemu_baseline", function ()
  it("has the lines of that program, then those derived", function ()
    local lines = lines_of(cbench.format(run "qemu_baseline", "qemu"))
    for i, pattern in ipairs {
      "^Lifecycle %d+ iterations: %d+%.%d+ s$",
      "^Nesting %d+ iterations of 1000 depth each: %d+%.%d+ s$",
      "^Yield %d+ iterations: %d+%.%d+ s$",
      "^Function call %d+ iterations: %d+%.%d+ s$",
      "^yield: %d+%.%d ns$", "^enter: %d+%.%d ns$",
      "^allocation: %d+%.%d ns$",
    } do
      local line = (lines[i] or ""):gsub("below resolution", "0.0 ns")
      assert.is_truthy(line:find(pattern), lines[i])
    end
    assert.equal(7, #lines)
  end)

  it("derives by the thread's arithmetic", function ()
    local results = run "qemu_baseline"
    local made, before = cbench.format(results, "qemu"), results.meta.clock.hz
    -- The thread's own figures in place of ours: 1 tick is 1 us.
    local figures = { call = { 100000000, 173884 },
      yield = { 100000000, 8445064 }, lifecycle = { 1000000, 98445 },
      nesting = { 10000000, 7406431 } }
    results.meta.clock.hz = 1e6
    local samples = {}
    for _, record in ipairs(results) do
      local figure = figures[record.workload]
      samples[record] = record.samples
      record.samples = { { fork = 0, round = 0, n = figure[1],
                           ticks = figure[2] } }
    end
    assert.equal([[
Lifecycle 1000000 iterations: 0.098445 s
Nesting 10000 iterations of 1000 depth each: 7.406431 s
Yield 100000000 iterations: 8.445064 s
Function call 100000000 iterations: 0.173884 s
yield: 82.7 ns
enter: 96.7 ns
allocation: 738.9 ns
]], cbench.format(results, "qemu"))
    for record, old in pairs(samples) do record.samples = old end
    results.meta.clock.hz = before
    assert.equal(made, cbench.format(results, "qemu"))
  end)
end)

describe_run("skb_array", function ()
  local line = "^Type:[%w_]+ [%w():. ]+ %d+ cycles%(tsc%) %d+%.%d%d%d ns "
    .. "%(step:%d+%) %- %(measurement period time:%d+%.%d%d%d%d%d%d%d%d%d sec "
    .. "time_interval:%d+%) %- %(invoke count:%d+ tsc_interval:%d+%)$"

  it("has the lines of that framework", function ()
    local kinds = {}
    for _, one in ipairs(lines_of(cbench.format(run "skb_array",
        "timebench"))) do
      local kind = one:match "^Sum Type:%S+ Average: %d+ cycles%(tsc%) CPUs:%d"
        and "sum" or one:find "CPU%(%d+%)" and "cpu" or "pair"
      assert.is_truthy(kind == "sum" or one:find(line), one)
      kinds[kind] = (kinds[kind] or 0) + 1
    end
    -- A thread that came too late has done nothing and has no line.
    assert.is_true(kinds.cpu >= 8 and kinds.cpu <= 12)
    kinds.cpu = nil
    assert.same({ pair = 18, sum = 4 }, kinds)
  end)

  it("divides as that framework does", function ()
    local results = run "skb_array"
    local row, before = results[1], results[1].samples
    local clock = results.meta.clock.hz
    -- 102 cycles of 4.0 GHz, and something that truncation takes away.
    row.samples = { { n = 10000000, ticks = 1025000000 },
                    { n = 10000000, ticks = 1025000000 } }
    results.meta.clock.hz = 4e9
    local first = lines_of(cbench.format(results, "timebench"))[1]
    row.samples, results.meta.clock.hz = before, clock
    assert.equal("Type:skb_array_pair Per elem: 102 cycles(tsc) 25.625 ns "
      .. "(step:8) - (measurement period time:0.512500000 sec "
      .. "time_interval:512500000) - (invoke count:20000000 "
      .. "tsc_interval:2050000000)", first)
  end)
end)

describe_run("the ring scenarios", function ()
  it("show a line's way beside what goes between CPUs", function ()
    for _, name in ipairs { "ring_parallel", "ring_stream", "ring_latency",
        "ring_overcommit" } do
      assert.is_truthy(tostring(run(name)):find "\ncacheline %(reference%)",
        name)
    end
    assert.is_truthy(tostring(run "skb_array"):find "\ncacheline %(reference%)")
  end)

  it("have n/a where a kind cannot do it", function ()
    local results = assert(cbench.scenario("ring_parallel"):run(
      { ring = { "spsc", "vyukov" }, producers = 2 },
      { forks = 1, rounds = 1, time = 5 }))
    assert.equal("n/a", results[1].status)
    assert.matches("^spsc: one producer, got 2", results[1].reason)
    assert.equal("ok", results[2].status)
  end)

  it("say how far the threads got, and whether beside each other", function ()
    local record = run("ring_parallel"):find { ring = "vyukov" }
    for _, name in ipairs { "completed_in", "completed_out" } do
      local share = record.counters[name]
      assert.is_true(share > 0 and share <= 1, name)
    end
    assert.is_true(record.overlap >= 0 and record.overlap <= 1)
    assert.equal(200000, record.iterations)
    local made = tostring(run "ring_parallel")
    assert.is_truthy(made:find "overlap +in done +out done")
  end)

  it("refuse what makes no sense", function ()
    for _, case in ipairs {
      { "ring_stream", { burst = 0 }, "0 is out of range [1, 256]" },
      { "ring_stream", { burst = 257 }, "257 is out of range [1, 256]" },
      { "ring_parallel", { producers = 0 }, "0 is out of range [1, 64]" },
      { "ring_stream", { ring = "spcs" }, "did you mean 'spsc'?" },
      { "ring_latency", { wait = "yeild" }, "did you mean 'yield'?" },
      { "skb_array", { size = 0 }, "0 is out of range" },
      { "ring_same_cpu", { bursts = 8 }, "did you mean 'burst'?" },
    } do
      local name, given, text = table.unpack(case)
      local done, message = pcall(function ()
        local results, why = cbench.scenario(name):run(given,
          { forks = 1, rounds = 1, time = 1 })
        error(results and results[1].reason or why, 0)
      end)
      assert.is_false(done)
      assert.is_truthy(tostring(message):find(text, 1, true), message)
    end
  end)
end)

describe("the scenarios of crowded rings", function ()
  -- The refusals of the rows with these rings, or "ok", by the rows' names.
  local function rows_of(name, rings, given)
    local found = {}
    given.ring = rings
    for _, row in ipairs(cbench.scenario(name):rows(given)) do
      if not row.rides then found[row.name] = row.refused or "ok" end
    end
    return found
  end

  it("take kinds in which no thread waits for another", function ()
    for _, ring in ipairs { "ff", "spsc" } do
      local rows = rows_of("ring_overcommit", { ring },
        { threads = 2, wait = "yield" })
      local _, refused = next(rows)
      assert.matches("one producer, got 2", refused, 1, true)
    end
    for _, ring in ipairs { "mutex", "nop", "vyukov" } do
      local name = "ring=" .. ring .. "/wait=yield"
      assert.same({ [name .. "/threads=2"] = "ok" },
        rows_of("ring_overcommit", { ring }, { threads = 2, wait = "yield" }))
      assert.same({
        [name .. "/producers=1"] = "ok", [name .. "/producers=2"] = "ok",
      }, rows_of("ring_convoy", { ring }, { wait = "yield" }))
    end
    local rows = rows_of("ring_convoy", { "ff" }, { wait = "yield" })
    assert.equal("ok", rows["ring=ff/wait=yield/producers=1"])
    assert.matches("^ff: one producer, got 2",
      rows["ring=ff/wait=yield/producers=2"])
  end)

  it("hand wait to the ring where it has that option", function ()
    for _, name in ipairs { "ring_overcommit", "ring_convoy" } do
      for _, ring in ipairs { "rte", "ptr_ring", "spinlock", "mutex" } do
        for _, row in ipairs(cbench.scenario(name):rows
            { ring = ring, wait = "yield" }) do
          local has = cbench.kinds "ring"[ring].parameters.wait
          if not row.rides then
            local made = row.descriptor.params.ring
            assert.same(has and { ring, wait = "yield" } or ring, made)
          end
        end
      end
    end
  end)

  it("do not pause where producers publish in turn", function ()
    for _, ring in ipairs { "rte", "alf", "ck", { "alf", sync = "mp" },
        { "rte", sync = "mt/st" },
        { "ck", sync = { producer = "mp", consumer = "sp" } } } do
      for name in pairs(rows_of("ring_convoy", { ring }, {})) do
        assert.matches("/wait=yield/", name, 1, true)
      end
    end
    for _, ring in ipairs { "vyukov", { "alf", sync = "sp" },
        { "rte", sync = "hts" }, { "ck", sync = "sp/mp" } } do
      local paused = 0
      for name in pairs(rows_of("ring_convoy", { ring }, {})) do
        if name:find("/wait=pause/", 1, true) then paused = paused + 1 end
      end
      assert.equal(2, paused)
    end
  end)

  it("say why when no row can be measured", function ()
    for _, forks in ipairs { 1, 2 } do
      local results = assert(cbench.scenario "ring_convoy":run(
        { ring = { { "alf", size = 7 } } }, { forks = forks, time = 1 }))
      assert.equal(2, #results)
      for _, record in ipairs(results) do
        assert.equal("n/a", record.status)
        assert.matches("alf takes powers of two", record.reason, 1, true)
      end
      assert.matches("alf takes powers of two", tostring(results), 1, true)
      for _, format in ipairs { "mail", "markdown", "csv", "json", "jsonl",
          "bmf", "gobench" } do
        assert.is_true(#cbench.format(results, format) > 0)
      end
    end
  end)
end)

describe("versus", function ()
  it("has an original for imitations, and for no other ring", function ()
    local rings = { "ff", { "rte", sync = "st" }, { "ck", sync = "sp" } }
    local to = {}
    for _, row in ipairs(cbench.scenario "versus":rows
        { ring = rings, burst = 1 }) do
      to[row.name] = to[row.name] or {}
      to[row.name][row.reference or "none"] = true
    end
    assert.is_true(to["ring=ck{sync=sp}"]["ring=ck_ring{sync=sp}"])
    assert.is_true(to["ring=rte{sync=st}/burst=1"]
      ["ring=rte_ring{sync=st}/burst=1"])
    for _, ring in ipairs { "ff", "rte{sync=st}" } do
      assert.is_true(to["ring=" .. ring].none, ring)
    end
    for _, ring in ipairs { "ff", "ck{sync=sp}" } do
      assert.is_true(to["ring=" .. ring .. "/burst=1"].none, ring)
    end
  end)
end)

-- What is made of the results when records, found by their names, have the
-- figures of a published thread in place of ours.
local function with_figures(results, hz, figures, make)
  local kept, clock = {}, results.meta.clock
  local own_hz = clock.hz
  clock.hz = hz or own_hz
  for name, figure in pairs(figures) do
    local record = results[name]
    kept[record] = { samples = record.samples, ns = record.ns }
    record.samples, record.ns = figure.samples, figure.ns
  end
  local made, text = pcall(make)
  clock.hz = own_hz
  for record, own in pairs(kept) do
    record.samples, record.ns = own.samples, own.ns
  end
  assert(made, text)
  return text
end

describe_run("pool_history", function ()
  it("has a line of that program for each design, with its gain", function ()
    local lines = lines_of(cbench.format(run "pool_history", "qemu"))
    assert.equal(24, #lines)
    for i = 0, 3 do
      assert.matches("^%d threads?, back end ucontext, .*prefill.*:$",
        lines[6 * i + 1])
      for n = 2, 6 do
        local line = lines[6 * i + n]
        assert.matches("^[%l_]+ +Run operation %d+ iterations %d+%.%d+ s, "
          .. "%d+K operations/s, %d+ ns per coroutine", line)
        assert.equal(n > 2, line:find "%([-+]%d+%.%d %%%)$" ~= nil)
      end
    end
  end)

  it("derives by the thread's arithmetic", function ()
    local results = run "pool_history"
    local seconds = { mutex = 13.612604, release = 10.428382,
                      release_stash = 9.112539 }
    local figures = {}
    for _, record in ipairs(results) do
      local all = record.params.threads == 1 and seconds[record.params.pool]
      figures[record.name] = { samples = all and { {
        fork = 0, round = 0, n = 40000000, ticks = math.floor(all * 1e6 + 0.5),
      } } or {} }
    end
    local made = with_figures(results, 1e6, figures, function ()
      return cbench.format(results, "qemu")
    end)
    assert.equal([[
1 thread, back end ucontext, no prefill:
mutex         Run operation 40000000 iterations 13.612604 s, 2938K operations/s, 340 ns per coroutine
release       Run operation 40000000 iterations 10.428382 s, 3835K operations/s, 260 ns per coroutine (+30.5 %)
release_stash Run operation 40000000 iterations 9.112539 s, 4389K operations/s, 227 ns per coroutine (+14.4 %)
1 thread, back end ucontext, prefill 300:
mutex         Run operation 40000000 iterations 13.612604 s, 2938K operations/s, 340 ns per coroutine
release       Run operation 40000000 iterations 10.428382 s, 3835K operations/s, 260 ns per coroutine (+30.5 %)
release_stash Run operation 40000000 iterations 9.112539 s, 4389K operations/s, 227 ns per coroutine (+14.4 %)
]], made)
  end)
end)

describe("iops_share", function ()
  it("derives by the thread's arithmetic", function ()
    local results = run "iops_share"
    -- The thread rounds to 0.083 us a yield and 0.097 us an enter.
    local thread = { enter = 97, yield = 83, stack = 83, request = 277 }
    local figures = { call = { ns = { typical = 0 } },
                      touch = { ns = { typical = 0 } } }
    for _, record in ipairs(results) do
      figures[record.name] = { ns = { typical = thread[record.params.part] } }
    end
    local made = with_figures(results, nil, figures, function ()
      return cbench.format(results, "iops")
    end)
    assert.matches("ucontext: 2 x 97.0 + 83.0 + 2 x 0.0 = 277.0 ns an I/O, "
      .. "2.77, 8.31, 27.70, 138.50 % of a CPU; one CPU does at most 3.61M a "
      .. "second; under 1 % where the device takes 27.7 us or more.", made, 1,
      true)
  end)

  it("has a share for each part at each rate", function ()
    for _, record in ipairs(run "iops_share") do
      if not record.reference and record.status == "ok" then
        for _, rate in ipairs { "100K", "300K", "1M", "5M" } do
          assert.is_number(record.derived["% at " .. rate])
        end
      end
    end
  end)
end)

describe_run("pool_handover", function ()
  it("shows the mailbox, and who creates anew", function ()
    local results = run "pool_handover"
    assert.equal("ok", results["pool=mailbox"].status)
    assert.is_nil(results["pool=mailbox"].counters.new)
    assert.equal("pool=mailbox", results["pool=batch"].ratio.to)
    assert.equal(1, results["pool=none"].counters.new)
  end)
end)

describe_run("pool_sizes", function ()
  it("shows that what is alive and not kept is created", function ()
    local results = run "pool_sizes"
    local function new(record) return record.counters.new end
    local nest = "pool=batch_spare/depth=%d/size=128"
    assert.is_true(new(results[nest:format(2000)]) >
      new(results[nest:format(100)]))
    assert.is_number(new(results["pool=batch_spare/burst=2000/size=2048"]))
  end)
end)

describe_run("limits/pools", function ()
  it("has a limit for every promise", function ()
    local limits, lacking = 0, 0
    for _, record in ipairs(run "limits/pools") do
      if record.limit then limits = limits + 1 end
      if record.status == "n/a" then lacking = lacking + 1 end
    end
    assert.is_true(limits > 0)
    -- In builds without assembly most rows are n/a.
    if lacking == 0 then assert.equal(5 + 7 * 4, limits) end
  end)
end)

describe("floor", function ()
  it("says of each ratio whether it is reached", function ()
    local count = 0
    for _, record in ipairs(run "floor") do
      local derived = record.derived or {}
      if derived.target then
        count = count + 1
        assert.is_truthy(derived.state == "ok" or derived.state == "missed"
          or derived.state == "no ratio")
      end
    end
    assert.equal(8, count)
  end)
end)

describe("service_dispatch", function ()
  -- A line of DPDK's test, with ticks where that has cycles.
  local line = "^    perf test for MT %w+, no stats: %d+%.%d, with stats "
    .. "%d+%.%d cycles/call$"

  it("has the lines of that test, then the difference", function ()
    local lines = lines_of(cbench.format(run "service_dispatch", "dpdk"))
    assert.equal(4, #lines)
    for i, name in ipairs { "MT Safe", "MT Unsafe" } do
      assert.is_truthy(lines[i]:find(line), lines[i])
      assert.is_truthy(lines[i]:find(name, 1, true), lines[i])
    end
    assert.is_truthy(lines[3]:find "^    unsafe %- safe: %-?%d+%.%d+ ",
      lines[3])
    assert.is_truthy(lines[4]:find "ticks of the .*; %d+%.%d s$", lines[4])
  end)

  it("prints no figure for a row that has none", function ()
    local results = run "service_dispatch"
    local row = results:find { service = "unsafe", stats = "off",
      lcores = "1" }
    local ticks = row.ticks
    row.ticks, row.reason = nil, "no figures: the functional check failed"
    local lines = lines_of(cbench.format(results, "dpdk"))
    row.ticks = ticks
    assert.equal("    perf test for MT Unsafe: skipped (no figures: the "
      .. "functional check failed)", lines[2])
    assert.is_nil(lines[3]:find "unsafe %- safe")
  end)

  it("leaves a race to those who ask for it", function ()
    local results = run "service_dispatch"
    local row = results:find { service = "unlocked", lcores = "2" }
    assert.equal("n/a", row.status)
    assert.matches("service=racy", row.reason, 1, true)
    local racy = cbench.scenario "service_dispatch":run(
      { service = "racy", lcores = "2", stats = "off" },
      { forks = 1, rounds = 2, time = 5 })
    assert.equal("ok", racy[1].status)
  end)

  it("names the checks that guard a row", function ()
    local row = run "service_dispatch":find { service = "unsafe",
      stats = "time", lcores = "2" }
    local checks = {}
    for i, check in ipairs(row.checks) do
      assert.is_true(check.held)
      checks[i] = check.name
    end
    assert.same({ "proof", "service_app_lcore_mt_unsafe",
      "service_attr_get" }, checks)
  end)
end)

describe_run("limits/rings", function ()
  it("has a limit for what must finish soon on too few CPUs", function ()
    local crowded = {}
    for _, record in ipairs(run("limits/rings").meta.parts[3]) do
      crowded[record.name] = record
    end
    for _, name in ipairs { "rte mt 2:1", "alf mp 2:1", "ck mp 2:1" } do
      assert.equal(10, crowded[name].limit.value)
      assert.equal((name:gsub("2:1", "1:1")), crowded[name].ratio.to)
    end
    local worst = crowded["vyukov 2:2"]
    assert.equal(10, worst.limit.value)
    assert.equal(worst.ticks.max / worst.ticks.typical, worst.ratio.value)
  end)
end)

describe("the limits of services", function ()
  it("are judged row by row", function ()
    local results, limits = run "limits/services", 0
    for _, row in ipairs(results) do
      assert.equal("ok", row.status, row.reason)
      if row.limit then limits = limits + 1 end
    end
    assert.equal(8, limits)
  end)
end)
