local support = dofile(os.getenv "top_srcdir" .. "/tests/lua/support.lua")

local import = support.fakes()
local fit = import "fit"
local results = import "results"

-- Rows of y = a + b * x whose processes differ by so much of it.
local function made(a, b, xs, forks, spread)
  local records = {}
  for i, x in ipairs(xs) do
    local y, samples = a + b * x, {}
    for fork = 0, forks - 1 do
      local factor = 1 + (spread or 0) * (fork - (forks - 1) / 2)
      for round = 0, 2 do
        samples[#samples + 1] = { fork = fork, round = round, n = 10,
                                  ticks = y * factor * 10 }
      end
    end
    records[i] = { name = "x=" .. x, status = "ok", params = { x = x },
                   ticks = { typical = y }, samples = samples }
  end
  return results.new(records)
end

local function close(wanted, got)
  assert.is_true(math.abs(wanted - got) <= 1e-9 * math.max(1, math.abs(wanted)),
    ("%s is not %s"):format(got, wanted))
end

describe("a fit", function ()
  it("finds the line, rising or falling, whatever the intercept", function ()
    for _, line in ipairs { { 20, 0.5 }, { -3, 5 }, { 100, -0.01 }, { 5, 0 } }
    do
      local one = fit.of(made(line[1], line[2], { 1, 10, 100, 1000 }, 1),
        { "x" }, "x")[1]
      close(line[1], one.a.value)
      close(line[2], one.b.value)
    end
  end)

  it("has an interval of the processes, from six on", function ()
    local one = fit.of(made(20, 0.5, { 1, 10, 100 }, 10, 0.01), { "x" },
      "x")[1]
    close(20 * (1 - 0.035), one.a.low) -- 2nd and 9th of ten
    close(20 * (1 + 0.035), one.a.high)
    close(0.5 * (1 - 0.035), one.b.low)
    one = fit.of(made(20, 0.5, { 1, 10, 100 }, 6, 0.01), { "x" }, "x")[1]
    close(20 * (1 - 0.025), one.a.low) -- all six
    one = fit.of(made(20, 0.5, { 1, 10, 100 }, 5, 0.01), { "x" }, "x")[1]
    assert.is_nil(one.a.low)
  end)

  it("says itself in a line", function ()
    assert.equal("20.0 + 0.500*x ticks/op",
      fit.of(made(20, 0.5, { 1, 10 }, 1), { "x" }, "x")[1].text)
    assert.equal("-3.00 [-3.21 .. -2.79] + 5.00*x [4.65 .. 5.35] ticks/op",
      fit.of(made(-3, 5, { 1, 10 }, 10, 0.02), { "x" }, "x")[1].text)
    assert.equal("100 - 0.0100*x ticks/op",
      fit.of(made(100, -0.01, { 1, 10 }, 1), { "x" }, "x")[1].text)
  end)

  it("stands for each combination of the other parameters", function ()
    local both = {}
    for _, pool in ipairs { "none", "some" } do
      for _, record in ipairs(made(1, 2, { 1, 2, 3 }, 1)) do
        record.params.pool = pool
        both[#both + 1] = record
      end
    end
    local list = fit.of(results.new(both), { "pool", "x" }, "x")
    assert.equal(2, #list)
    assert.same({ pool = "none" }, list[1].params)
    assert.is_truthy(list[2].text:find "^pool=some: ")
  end)

  it("is left out where there is no line", function ()
    assert.same({}, fit.of(made(1, 2, { 5 }, 1), { "x" }, "x"))
    assert.same({}, fit.of(made(1, 2, { 5, 5 }, 1), { "x" }, "x"))
    local failed = made(1, 2, { 1, 2 }, 1)
    failed[1].ticks = nil
    assert.same({}, fit.of(failed, { "x" }, "x"))
    assert.same({}, fit.of(made(0, 0, { 1, 2 }, 1), { "x" }, "x"))
  end)

  it("stands under the table of a scenario", function ()
    local run = import("scenario").scenario {
      title = "t", params = { depth = { 1, 10, 100 } }, fit = "depth",
      workload = import("workload").constructors.nesting,
    }:run()
    assert.is_truthy(tostring(run):find("\nfit:   ", 1, true))
    assert.equal(1, #run.meta.fits)
  end)
end)
