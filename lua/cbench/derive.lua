--- The arithmetic by which published threads read their figures.
local derive = {}

local function number(value, name)
  if math.type(value) == nil or value ~= value then
    error(("derive: %s: number expected, got %s"):format(name,
      value ~= value and "nan" or type(value)), 3)
  end
  return value
end

local function positive(value, name)
  if number(value, name) <= 0 then
    error(("derive: %s: %s is not above 0"):format(name, tostring(value)), 3)
  end
  return value
end

--- What one operation costs without the loop around it, in nanoseconds: the
-- baseline's time, scaled to the same number of iterations, is subtracted.
-- @param seconds of the measured loop
-- @param iterations of the measured loop
-- @param baseline_seconds of the baseline's loop
-- @param baseline_iterations of the baseline's loop
function derive.per_op(seconds, iterations, baseline_seconds,
                       baseline_iterations)
  return (number(seconds, "seconds") / positive(iterations, "iterations") -
    number(baseline_seconds, "baseline_seconds") /
    positive(baseline_iterations, "baseline_iterations")) * 1e9
end

--- The share of one CPU's time that an operation of so many nanoseconds
-- takes when it is done at so many a second, as a fraction.
function derive.share(ns, rate)
  return number(ns, "ns") * number(rate, "rate") / 1e9
end

--- How many operations of so many nanoseconds one CPU can do in a second.
function derive.max_rate(ns)
  return 1e9 / positive(ns, "ns")
end

--- How much more is done after than before, as a fraction: 0.305 is +30.5 %.
-- Both are rates (operations a second); for times, swap them.
function derive.gain(before, after)
  return number(after, "after") / positive(before, "before") - 1
end

return derive
