-- The figures are those of published threads; what is checked is that the
-- arithmetic is theirs.
local derive = require("cbench").derive

local function close(wanted, got, digits)
  local scale = 10 ^ digits
  assert.equal(wanted, math.floor(got * scale + 0.5) / scale)
end

describe("derive", function ()
  it("gives what an operation costs without its loop", function ()
    close(82.7, derive.per_op(8.445064, 100000000, 0.173884, 100000000), 1)
    close(96.7, derive.per_op(0.098445, 1000000, 0.173884, 100000000), 1)
    close(738.9, derive.per_op(7.406431, 10000000, 0.173884, 100000000), 1)
  end)

  it("gives the share of a CPU at a rate", function ()
    close(0.0831, derive.share(83 + 2 * 97, 300000), 4)
  end)

  it("gives the highest rate of one CPU", function ()
    close(300000, derive.max_rate(10 ^ 9 / 300000), 0)
  end)

  it("gives what a change gains", function ()
    close(0.305, derive.gain(2938, 3835), 3)
    close(0.144, derive.gain(3835, 4389), 3)
    close(0.494, derive.gain(2938, 4389), 3)
  end)

  it("gives the difference of two rows, round by round", function ()
    -- Seven processes; the second row costs 2 more than the first, but in one
    -- of them 9 more. A round that only one row has does not count.
    local function row(extra)
      local samples = {}
      for fork = 0, 6 do
        for round = 0, 2 do
          samples[#samples + 1] = { fork = fork, round = round, n = 10,
            ticks = 10 * (fork + round + extra(fork)) }
        end
      end
      return { samples = samples }
    end
    local first = row(function () return 0 end)
    local second = row(function (fork) return fork == 3 and 9 or 2 end)
    table.insert(second.samples, { fork = 0, round = 9, n = 1, ticks = 1e6 })
    local delta = derive.delta(second, first)
    assert.same({ 2, 2, 9 }, { delta.value, delta.low, delta.high })
    for i = #first.samples, 4, -1 do first.samples[i] = nil end
    assert.same({ value = 2 }, derive.delta(second, first))
    assert.is_nil(derive.delta(first, {}))
  end)

  it("refuses what is no number or cannot divide", function ()
    assert.has_error(function () derive.per_op("1", 1, 1, 1) end,
      "derive: seconds: number expected, got string")
    assert.has_error(function () derive.per_op(1, 0, 1, 1) end,
      "derive: iterations: 0 is not above 0")
    assert.has_error(function () derive.max_rate(0) end,
      "derive: ns: 0 is not above 0")
    assert.has_error(function () derive.share(0 / 0, 1) end,
      "derive: ns: number expected, got nan")
    assert.has_error(function () derive.gain(1) end,
      "derive: after: number expected, got nil")
  end)

  it("compares a whole with the sum of its parts", function ()
    local function row(name, ticks, forks)
      local samples = {}
      for fork = 0, forks - 1 do
        samples[#samples + 1] = { fork = fork, round = 0, n = 10,
          ticks = ticks * 10 * (1 + fork / 100) }
      end
      return { name = name, ticks = { typical = ticks }, samples = samples }
    end
    local rows = { whole = row("whole", 30, 10), a = row("a", 4, 10),
                   b = row("b", 8, 10), none = { name = "none" } }
    local ratio = derive.sum_ratio(rows.whole, rows, { { "a" }, { "b", 2 } })
    assert.equal("sum of parts", ratio.to)
    close(1.5, ratio.value, 9)
    close(1.5, ratio.low, 9)
    close(1.5, ratio.high, 9)
    assert.is_nil(derive.sum_ratio(rows.whole, rows, { { "none" } }))
    local stopped = row("w", 30, 1)
    stopped.ticks.typical = nil
    assert.is_nil(derive.sum_ratio(stopped, rows, { { "a" } }))
    assert.is_nil(derive.sum_ratio(row("w", 30, 2), rows, { { "a" } }).low)
    assert.is_false(pcall(derive.sum_ratio, rows.whole, rows, { { "c" } }))
  end)
end)
