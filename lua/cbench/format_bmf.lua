--- Bencher Metric Format: what bencher.dev and its command read.
-- A row is a benchmark, its figures are measures: latency in ns, ticks, and
-- throughput in operations a second; the bounds are the 10th and the 90th
-- percentile of the rounds. Rows without figures are left out.
local import, core = ...
local text = import "text"

local function measure(value, low, high)
  return { value = value, lower_value = low, upper_value = high }
end

local function benchmark(record)
  if record.below_resolution or
      (record.status ~= "ok" and record.status ~= "partial") then
    return nil
  end
  local ns, ticks = record.ns, record.ticks
  local new = {}
  if ns and ns.typical then
    new.latency = measure(ns.typical, ns.fast, ns.p90)
  end
  if ticks and ticks.typical then
    new.ticks = measure(ticks.typical, ticks.fast, ticks.p90)
  end
  if record.per_second then new.throughput = measure(record.per_second) end
  local ratio = record.ratio
  if ratio and ratio.value and ratio.to ~= record.name then
    new.ratio = measure(ratio.value, ratio.low, ratio.high)
  end
  return next(new) and new or nil
end

local function write(self)
  local all = {}
  for _, part in ipairs(import("results").parts(self)) do
    local prefix = part.meta.scenario and part.meta.scenario .. "/" or ""
    for _, record in ipairs(part) do
      local name = text.utf8(prefix .. record.name)
      all[name] = all[name] or benchmark(record)
    end
  end
  return core.json_encode(all, { "value", "lower_value", "upper_value" }) ..
    "\n"
end

return { summary = "Bencher Metric Format, for bencher.dev", write = write }
