-- Measuring from Lua: what comes back, and what a mistake is answered.
local cbench = require "cbench"
local workload = cbench.workload

-- The rounds end it; the time only has to be enough on a busy machine.
local brief = { time = 20, rounds = 20 }

local function with(options)
  local all = {}
  for key, value in pairs(brief) do all[key] = value end
  for key, value in pairs(options) do all[key] = value end
  return all
end

describe("measure", function ()
  it("gives one record for one workload", function ()
    local record = cbench.measure(workload.call {}, brief)
    assert.equal("ok", record.status)
    assert.equal("call", record.name)
    assert.is_true(record.ticks.typical > 0)
    assert.is_true(record.ticks.min <= record.ticks.fast)
    assert.is_true(record.ticks.fast <= record.ticks.typical)
    assert.is_true(record.ticks.p90 <= record.ticks.max)
    assert.is_true(record.iterations > 0)
    assert.equal(record.rounds, #record.samples)
    assert.matches("call", tostring(record))
  end)

  it("tells the load and what was stolen before and after", function ()
    local results = cbench.measure({ cbench.workload.call {} },
      { time = 0.02, forks = 1 })
    local state = results.meta.state
    assert.is_number(state.load_before)
    assert.is_number(state.load)
    assert.is_true(state.stolen_s >= state.stolen_before_s)
  end)

  it("gives results in the order asked, also by name", function ()
    local results = cbench.measure({
      workload.chain { adds = 100 }, workload.call {}, workload.atomic {},
    }, brief)
    assert.equal(3, #results)
    assert.equal("adds=100", results[1].name)
    assert.equal(results[2], results.call)
    assert.equal(results[1], results:find { adds = 100 })
  end)

  it("compares to `call`, which rides along", function ()
    local results = cbench.measure({ workload.atomic {} }, brief)
    assert.equal(1, #results)
    assert.equal("call", results[1].ratio.to)
    assert.is_true(results[1].ratio.value > 0)
  end)

  -- What one leaves in the ring from batch to batch is no business of others.
  it("lets rows share a living ring, full and empty", function ()
    local ring = cbench.ring { "rte", size = 64 }
    assert(ring:enqueue_bulk { 5, 6, 7 })
    local results = cbench.measure({
      workload.ring_pair { name = "eight", ring = ring, prefill = 8 },
      workload.ring_pair { name = "none", ring = ring },
      workload.ring_stream { name = "stream", ring = ring, wait = "yield",
        loops = 100 },
      workload.ring_parallel { name = "half", ring = ring, loops = 10 },
      workload.pipeline { name = "pipeline",
        { "source" }, { "ring", ring = ring }, { "sink" } },
    }, brief)
    for _, row in ipairs(results) do
      assert.is_true(row.status == "ok", row.name .. ": "
        .. tostring(row.reason))
    end
    assert.same({ 5, 6, 7 }, (ring:dequeue_burst(64)))
  end)

  it("never decides in one process, and says so", function ()
    local results = cbench.measure({
      workload.chain { adds = 1000 }, workload.chain { adds = 100 },
    }, with { reference = "adds=100" })
    assert.equal("unresolved", results[1].ratio.verdict)
    assert.equal("one process", results[1].ratio.reason)
    assert.is_nil(results[1].ratio.low)
  end)

  it("decides over several processes", function ()
    local results = cbench.measure({
      workload.chain { adds = 1000 }, workload.chain { adds = 100 },
    }, { time = 20, rounds = 20, forks = 8, reference = "adds=100" })
    assert.equal(8, results[1].forks)
    assert.equal("slower", results[1].ratio.verdict)
    assert.is_true(results[1].ratio.low <= results[1].ratio.value)
    assert.is_true(results[1].ratio.value <= results[1].ratio.high)
    local forks = {}
    for _, sample in ipairs(results[1].samples) do forks[sample.fork] = true end
    for fork = 0, 7 do assert.is_true(forks[fork]) end
  end)

  it("keeps what others found where one process had nothing to do", function ()
    local path = os.getenv "top_srcdir" .. "/tests/lua/support.lua"
    local processes = dofile(path).import {} "processes"
    local function joined(...)
      local sum = { status = "ok" }
      for i, row in ipairs { ... } do
        if i == 1 then
          for key, value in pairs(row) do sum[key] = value end
        else
          processes.join_status(sum, row)
        end
      end
      return sum.reason or sum.status
    end
    local good = { status = "ok" }
    local bad = { status = "fail", reason = "lost" }
    local idle = { status = "fail", reason = "nothing", idle = true }
    assert.equal("ok", joined(good, idle, good))
    assert.equal("ok", joined(idle, idle, good))
    assert.equal("nothing", joined(idle, idle))
    assert.equal("lost", joined(idle, bad, good))
    assert.equal("lost", joined(good, bad, idle))
    assert.equal("lost", joined(bad, good))
  end)

  it("repeats the order of a seed", function ()
    local one = cbench.measure({ workload.call {} }, with { seed = 7 })
    assert.equal(7, one.meta.seed)
  end)

  it("names a Lua function that does not return, and goes on", function ()
    local record = cbench.measure(workload.lua {
      name = "endless", call = function () while true do end end,
    }, { time = 0.05, rounds = 3 })
    assert.equal("fail", record.status)
    assert.matches("'endless' did not return; the watchdog ended it",
      record.reason, 1, true)
    assert.matches("interrupted", record.reason, 1, true)
    assert.equal("ok", cbench.measure(workload.call {}, brief).status)
  end)

  it("takes a Lua function, in this process only", function ()
    local calls = 0
    local record = cbench.measure(workload.lua {
      call = function () calls = calls + 1 end,
    }, with { forks = 10 })
    assert.equal("ok", record.status)
    assert.is_true(record.interpreter)
    assert.is_true(calls > 0)
    assert.equal(1, record.forks)
    assert.equal("one process", record.ratio.reason)
  end)

  it("sends Lua code to fresh processes", function ()
    local record = cbench.measure(workload.lua { code = "local x = 1" },
      { time = 20, rounds = 5, forks = 3 })
    assert.equal("ok", record.status)
    assert.equal(3, record.forks)
  end)

  it("fails a row whose function raises, with its words", function ()
    local record = cbench.measure(workload.lua {
      call = function () error("broken on purpose") end,
    }, brief)
    assert.equal("fail", record.status)
    assert.matches("broken on purpose", record.reason)
    assert.is_nil(record.ticks)
  end)

  it("fails a row whose function raises a table", function ()
    local record = cbench.measure(workload.lua {
      call = function () error({}) end,
    }, brief)
    assert.equal("fail", record.status)
    assert.matches("error object is a table value", record.reason)
  end)

  local refused = {
    { { tim = 1 }, "unknown option 'tim' (did you mean 'time'?)" },
    { { time = 0 }, "option 'time': 0 is out of range" },
    { { time = "1" }, "option 'time': number expected, got string" },
    { { time = 0 / 0 }, "out of range" },
    { { rounds = 0 }, "option 'rounds': 0 is out of range [1, 1000000]" },
    { { rounds = 1.5 }, "option 'rounds': 1.5 is not a whole number" },
    { { forks = 1001 }, "option 'forks': 1001 is out of range [1, 1000]" },
    { { cpus = "x" }, "option 'cpus'" },
    { { cpus = { 4000 } }, "option 'cpus'" },
    { { cpus = 1 << 32 }, "numbers in [0, 1048575] expected, got 4294967296" },
    { { cpus = { 0, 1 << 32 } }, "numbers in [0, 1048575] expected" },
    { { cpus = math.mininteger }, "expected, got -9223372036854775808" },
    { { place = "near" }, "option 'place'" },
    { { reference = 3 }, "there is no row 3" },
    { { reference = "cal" }, "option 'reference'" },
    { { reference = true }, "option 'reference'" },
  }
  for _, case in ipairs(refused) do
    it("refuses with " .. case[2], function ()
      local good, message = pcall(cbench.measure, workload.call {}, case[1])
      assert.is_false(good)
      assert.matches(case[2], message, 1, true)
      assert.matches("bad argument #2 to 'measure'", message, 1, true)
    end)
  end

  it("refuses what there is no memory for, of all threads together", function ()
    assert.error_matches(function ()
      cbench.measure(cbench.workload.request { prefill = 1e6, threads = 1024 })
    end, "1024000000 coroutines use 3906.2 GiB of memory at least")
  end)

  it("refuses threads that no row takes", function ()
    local ring, atomic = cbench.workload.ring_pair {}, cbench.workload.atomic {}
    assert.error_matches(function ()
      cbench.measure(ring, { time = 20, rounds = 2, threads = 2 })
    end, "option 'threads': the threads of 'ring_pair' follow from its other")
    local both = cbench.measure({ ring, atomic },
      { time = 20, rounds = 2, threads = 2 })
    assert.same({ 1, 2 }, { both[1].threads, both[2].threads })
  end)

  it("refuses what is no workload", function ()
    assert.has_error(function () cbench.measure() end)
    assert.has_error(function () cbench.measure {} end)
    assert.has_error(function () cbench.measure { 3 } end)
    assert.has_error(function () cbench.measure(workload.call {}, 3) end)
  end)
end)

describe("compare", function ()
  local function fake(ratio, width, more)
    local record = { name = "row", status = "ok", params = {}, op = "op",
      unit = "ticks/op", forks = 10, ticks = { typical = 1, fast = 1 },
      ratio = { to = "call", value = ratio, low = ratio * (1 - width),
        high = ratio * (1 + width), level = 0.98, fast = ratio } }
    for key, value in pairs(more or {}) do record[key] = value end
    return record
  end
  local core = debug.getregistry()["cbench.core"]
  local results = core.import "results"
  local compare = core.import "compare"

  local function run(record, machine, build)
    return results.new({ record }, { title = "T",
      machine = { fingerprint = machine or "m", cpu = machine or "m" },
      build = { version = build or "1" } })
  end

  it("calls a change slower when interval and fast rounds agree", function ()
    local done = cbench.compare(run(fake(2, 0.001)), run(fake(2.2, 0.001)))
    assert.equal("slower", done[1].ratio.verdict)
    assert.is_true(math.abs(done[1].ratio.value - 1.1) < 1e-9)
    assert.is_truthy(tostring(done):find "1%.1[%d ]* .-slower\n")
  end)

  it("does not call it so when the fast rounds say otherwise", function ()
    local new = fake(2.2, 0.001)
    new.ratio.fast = 2
    local done = cbench.compare(run(fake(2, 0.001)), run(new))
    assert.equal("unresolved", done[1].ratio.verdict)
  end)

  it("calls equal rows the same", function ()
    local done = cbench.compare(run(fake(2, 0.001)), run(fake(2.002, 0.001)))
    assert.equal("same", done[1].ratio.verdict)
  end)

  it("gives no verdict over two machines, but the ratio", function ()
    local done = cbench.compare(run(fake(2, 0.001)),
      run(fake(3, 0.001), "other"))
    assert.equal("unresolved", done[1].ratio.verdict)
    assert.equal("another machine", done[1].ratio.reason)
    assert.is_true(done[1].ratio.value > 1.4)
    assert.is_true(done.meta.foreign)
    assert.matches("the machines differ (m, then other)", done.meta.notes[1],
      1, true)
  end)

  it("says when the builds differ, and compares", function ()
    local done = cbench.compare(run(fake(2, 0.001)),
      run(fake(3, 0.001), "m", "2"))
    assert.equal("slower", done[1].ratio.verdict)
    assert.matches("version was 1, is 2", done.meta.notes[1], 1, true)
  end)

  it("says what it can of machine and intervals under the table", function ()
    local vague = fake(2, 0.001, { forks = 1 })
    vague.ratio.low, vague.ratio.high = nil, nil
    local done = cbench.compare(run(vague), run(vague))
    assert.matches("\nm\n", tostring(done) .. "\n", 1, true)
  end)

  it("tells builds of one version apart by their code", function ()
    local old, new = run(fake(2, 0.001)), run(fake(3, 0.001))
    old.meta.build.code, new.meta.build.code = "1a", "1a"
    assert.equal(0, #cbench.compare(old, new).meta.notes)
    new.meta.build.code = "2b"
    local done = cbench.compare(old, new)
    assert.equal("slower", done[1].ratio.verdict)
    assert.same({ "the builds differ in their code (1a, then 2b)" },
      done.meta.notes)
    assert.matches("^%x+$", cbench.machine().build.code)
  end)

  it("names rows that are on one side only", function ()
    local other = fake(2, 0.001, { name = "new row" })
    local done = cbench.compare(run(fake(2, 0.001)), run(other))
    assert.equal("not in the old results", done[1].reason)
    assert.equal("not in the new results", done[2].reason)
  end)

  it("has a gate that wants the whole interval beyond it", function ()
    local clear = cbench.compare(run(fake(2, 0.001)), run(fake(2.2, 0.001)))
    local worse, open = compare.gate(clear, 3)
    assert.equal(1, #worse)
    assert.equal(0, #open)
    local vague = cbench.compare(run(fake(2, 0.05)), run(fake(2.1, 0.05)))
    worse, open = compare.gate(vague, 3)
    assert.equal(0, #worse)
    assert.equal(1, #open)
  end)

  it("raises for a file that is not there", function ()
    local good, message = pcall(cbench.compare, "no/such.json", "x")
    assert.is_false(good)
    assert.matches("no/such.json", message, 1, true)
  end)
end)
