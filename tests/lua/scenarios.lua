-- Every shipped scenario runs; figures are not looked at, shapes are.
local support = dofile(os.getenv "top_srcdir" .. "/tests/lua/support.lua")
local cbench = require "cbench"

-- `versus` has twelve tables of rows that spin on all CPUs: it is run where the
-- peers are, by tests/cli/peers.sh.
local names = {}
for _, name in ipairs(support.core.scenario_names()) do
  if name ~= "versus" then names[#names + 1] = name end
end
local ran = {}

-- As short a run as there is, in this process.
local function run(name)
  ran[name] = ran[name] or assert(cbench.scenario(name):run({},
    { forks = 1, rounds = 2, time = 20, seed = 1 }))
  return ran[name]
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
      for _, record in ipairs(results) do
        assert.is_truthy(record.status == "ok" or record.status == "n/a",
          ("%s: %s: %s"):format(record.name, record.status, record.reason))
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

describe("nesting", function ()
  it("shows what is really created", function ()
    local results = run "nesting"
    assert.is_true(results:find { pool = "none", depth = 10 }.counters.new > 0)
    assert.is_number(results:find { pool = "batch_spare" }.counters.new)
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
