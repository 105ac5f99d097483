-- power.lua - how often measuring says what is true.
--
--   cbench tests/power/power.lua ROW [COMPARISONS [FIRST]]
--
-- One line for each comparison on standard output, for tests/power/run to sum
-- up: row, verdict, ratio, true ratio, low, high, wall seconds over budget.
-- Every comparison takes 0.4 s, ten processes, as a user's would by default;
-- FIRST numbers the first one, so that several calls make one series.
local cbench = require "cbench"
local workload = cbench.workload

local BUDGET = 0.4
local FORKS = 10

local row = arg[1]
local count = math.tointeger(arg[2]) or 10
local first = math.tointeger(arg[3]) or 1

-- Two of the same: what there is, each in turn.
local equals = {
  function () return workload.call {}, workload.call {} end,
  function () return workload.chain {}, workload.chain {} end,
  function () return workload.atomic {}, workload.atomic {} end,
}
for _, name in ipairs { "yield", "lifecycle", "ring_pair", "service_run",
    "throughput", "lock" } do
  local make = workload[name]
  if make then
    equals[#equals + 1] = function () return make {}, make {} end
  end
end

-- A body that is dearer by so many of 1000 adds; chain and throughput in turn.
local function dearer(adds)
  return function (i)
    local make = i % 2 == 0 and workload.chain or workload.throughput
    return make { adds = adds }, make { adds = 1000 }
  end
end

-- The same source at another address: eight places, three workloads.
local PLACES, words = 8, { "call", "chain", "mutex" }
local function load_places()
  for place = 0, PLACES do
    local good, message = cbench.load(
      ("%s/layout%d.so"):format(os.getenv "LAYOUT" or ".", place),
      "p" .. place)
    if not good then error(message, 0) end
  end
end

local function moved(i)
  local word = words[i % #words + 1]
  local place = i // #words % PLACES + 1
  return workload[("p%d_%s"):format(place, word)] {},
    workload["p0_" .. word] {}
end

local rows = {
  equal = { truth = 1, make = function (i)
    return equals[i % #equals + 1]()
  end },
  layout = { truth = 1, make = moved, before = load_places },
  five = { truth = 1.05, make = dearer(1050) },
  three = { truth = 1.03, make = dearer(1030) },
  two = { truth = 1.02, make = dearer(1020), min_effect = 1 },
  double = { truth = 2, make = function ()
    return workload.chain { adds = 2000 }, workload.chain { adds = 1000 }
  end },
}

local function compare(test, i)
  local a, b = test.make(i)
  a.name, b.name = "a", "b"
  local results, message = cbench.measure({ a, b }, {
    time = BUDGET, forks = FORKS, reference = "b",
    min_effect = test.min_effect,
  })
  if not results then error(message, 0) end
  local over = results.meta.elapsed_s - BUDGET
  local result = results[1]
  if result.status ~= "ok" then
    error(result.name .. ": " .. tostring(result.reason), 0)
  end
  local ratio = result.ratio
  print(("%s %s %.6f %.2f %.6f %.6f %.4f"):format(row, ratio.verdict,
    ratio.value, test.truth, ratio.low or 0 / 0, ratio.high or 0 / 0, over))
end

local test = rows[row]
if not test then error("no such row: " .. tostring(row), 0) end
if test.before then test.before() end
for i = first, first + count - 1 do compare(test, i) end
