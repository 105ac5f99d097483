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
end)
