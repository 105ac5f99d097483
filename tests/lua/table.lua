-- How a table looks. Figures are made up; see support.lua.
local support = dofile(os.getenv "top_srcdir" .. "/tests/lua/support.lua")

local import = support.fakes()
local scenario = import("scenario").scenario
local workload = import("workload").constructors
local results = import "results"
local figure = import "figure"
local text = import "text"
local write = import "table"

local function nesting(changes)
  local given = {
    title = "Nested coroutines", name = "nesting",
    about = "What does a coroutine cost when each creates and enters the " ..
      "next?",
    params = {
      backend = { "asm", "sigaltstack" }, depth = { 1, 1000 },
      pool = { "none", "batch_spare" },
    },
    workload = workload.nesting,
    reading = "Compare rows of one depth. new = share of coroutines really " ..
      "created.",
  }
  for key, value in pairs(changes or {}) do given[key] = value end
  return scenario(given)
end

local function looks(wanted, made)
  assert.equal(wanted, (tostring(made):gsub("[ ]+\n", "\n")))
end

local function record(fields)
  local one = { name = "row", status = "ok", workload = "yield",
                op = "a thing", params = {}, unit = "ticks/op" }
  for key, value in pairs(fields) do one[key] = value end
  return one
end

local function lines_of(made, options)
  local lines = {}
  for line in write(made, options or {}):gmatch("[^\n]*") do
    lines[#lines + 1] = line
  end
  return lines
end

local function row_of(made, name, options)
  for _, line in ipairs(lines_of(made, options)) do
    if line:find(name, 1, true) == 1 then return line end
  end
end

describe("a table", function ()
  it("of ten processes", function ()
    looks([[
Nested coroutines: what does a coroutine cost when each creates and enters the next?
1 operation = one coroutine of the nest: create, enter, end.  ticks = TSC, 2.445 GHz

                                 ticks/op         ns/op    x call
backend      depth  pool         typical    fast  typical   ratio  interval          new
call (reference)                    3.81    3.77     1.56       1
asm              1  none           22900   22700     9360    6010  5980 .. 6040    100 %
asm              1  batch_spare     76.3    75.5     31.2    20.0  19.9 .. 20.1      0 %
asm           1000  none           45700   45300    18700   12000  11900 .. 12100  100 %
asm           1000  batch_spare      152     151     62.3    40.0  39.8 .. 40.2      0 %
sigaltstack      1  none          320000  317000   131000   84100  83700 .. 84500  100 %
sigaltstack      1  batch_spare     1070    1060      437     280  279 .. 282        0 %
sigaltstack   1000  none         n/a: not deeper than 500
sigaltstack   1000  batch_spare  n/a: not deeper than 500

noise: ok (3 % of rounds disturbed: preempted 2 %, host-slow 1 %)
read:  Compare rows of one depth. new = share of coroutines really created.
10 processes x 22 rounds, 98 % intervals, 13.2 s, AMD EPYC 7R13 guest, cpu 1.
again: cbench nesting --seed 7351
]], nesting():run())
  end)

  it("of one process says so and shows no interval", function ()
    looks([[
Nested coroutines: what does a coroutine cost when each creates and enters the next?
1 operation = one coroutine of the nest: create, enter, end.  ticks = TSC, 2.445 GHz

                             ticks/op        ns/op    x call
backend  depth  pool         typical   fast  typical   ratio    new
call (reference)                3.81   3.77     1.56       1
asm          1  none           22900  22700     9360    6010  100 %
asm          1  batch_spare     76.3   75.5     31.2    20.0    0 %

noise: ok (3 % of rounds disturbed: preempted 2 %, host-slow 1 %)
read:  Compare rows of one depth. new = share of coroutines really created.
one process x 22 rounds, 13.2 s, AMD EPYC 7R13 guest, cpu 1.
again: cbench nesting backend=asm depth=1 --forks 1 --seed 7351
]], nesting():run({ backend = "asm", depth = 1 }, { forks = 1 }))
  end)

  it("has verdicts where the reference is the same work", function ()
    looks([[
Pools
1 operation = one coroutine of the nest: create, enter, end.  ticks = TSC, 2.445 GHz

                             ticks/op        ns/op    x pool=none
backend  depth  pool         typical   fast  typical        ratio  verdict                     new
asm          1  none           22900  22700     9360            1  (reference)               100 %
asm          1  batch_spare     76.3   75.5     31.2      0.00333  unresolved (one process)    0 %

noise: ok (3 % of rounds disturbed: preempted 2 %, host-slow 1 %)
read:  Compare rows of one depth. new = share of coroutines really created.
one process x 22 rounds, 13.2 s, AMD EPYC 7R13 guest, cpu 1.
again: cbench nesting backend=asm depth=1 --forks 1 --seed 7351
]], nesting { title = "Pools", about = "", reference = { pool = "none" } }
      :run({ backend = "asm", depth = 1 }, { forks = 1 }))
  end)

  it("has one parameter as columns", function ()
    local made = nesting { across = "depth", reading = "" }:run {
      pool = "batch_spare" }
    looks([[
Nested coroutines: what does a coroutine cost when each creates and enters the next?
1 operation = one coroutine of the nest: create, enter, end.  ticks = TSC, 2.445 GHz
ratio: x call

                          depth=1          depth=1000
backend      pool         ticks/op  ratio  ticks/op  ratio
call (reference)              3.81      1
asm          batch_spare      76.3   20.0       152   40.0
sigaltstack  batch_spare      1070    280       n/a
backend=sigaltstack/depth=1000/pool=batch_spare: n/a: not deeper than 500

noise: ok (3 % of rounds disturbed: preempted 2 %, host-slow 1 %)
10 processes x 22 rounds, 98 % intervals, 13.2 s, AMD EPYC 7R13 guest, cpu 1.
again: cbench nesting pool=batch_spare --seed 7351
]], made)
  end)

  it("of several threads has their sum and their roles", function ()
    local made = results.new({
      record {
        name = "ring=spsc", params = { ring = { "spsc", size = 64 } },
        threads = 2, ticks = { typical = 12.3, fast = 11 },
        ns = { typical = 5.03 }, per_second = 1.95e8,
        roles = {
          { role = "producer", cpu = 0, operations = 1000, ticks = 12300,
            overlap = 0.93 },
          { role = "consumer", cpu = 1, operations = 1000, ticks = 12100,
            overlap = 0.97 },
        },
      },
      record {
        name = "ring=ff", params = { ring = "ff" }, threads = 2,
        ticks = { typical = 8.3, fast = 7 }, ns = { typical = 3.4 },
        per_second = 2.4e8, overlap = 0.55,
      },
    }, { view = { parameters = { "ring" } } })
    looks([[
1 operation = a thing.

                   ticks/op       ns/op    Mop/s
ring               typical  fast  typical    all  overlap
spsc{size=64}         12.3  11.0     5.03    195     93 %
  producer, cpu 0     12.3                           93 %
  consumer, cpu 1     12.1                           97 %
ff                    8.30           3.40    240   ! 55 %

!:     in 1 of 2 rows the threads ran beside each other for less than 80 % of the time: the rest
       they did alone
]], made)
  end)

  it("has cycles and instructions where the hardware counts them", function ()
    local made = results.new({ record {
      ticks = { fast = 1, typical = 1, p90 = 1, min = 1, max = 1 },
      counters = { cycles = 1.5, instructions = 4.25, cache_misses = 0.001 },
    } }, {})
    local text_of = tostring(made)
    assert.matches("typical +fast +cycles +instructions", text_of)
    assert.matches("1.50 +4.25", text_of)
    assert.not_matches("cache_misses", text_of)
  end)

  it("has FAIL and the reason in place of figures", function ()
    local line = row_of(results.new({
      record { name = "good", ticks = { typical = 5 } },
      record { name = "lost", status = "fail", reason = "3 of 10 are missing",
               ticks = { typical = 5 } },
    }), "lost")
    assert.equal("lost  FAIL: 3 of 10 are missing", line)
  end)

  it("says so of a row that was never reached", function ()
    local line = row_of(results.new {
      record { name = "good", ticks = { typical = 5 } },
      record { name = "late", status = "partial", reason = "no time left" },
    }, "late")
    assert.equal("late  partial: no time left", line)
  end)

  it("breaks long reasons under themselves", function ()
    local lines = lines_of(results.new {
      record { name = "lost", status = "fail", reason = ("far "):rep(40) },
    })
    assert.is_truthy(lines[5]:find "^lost  FAIL: far")
    assert.is_truthy(lines[6]:find "^      far")
  end)

  it("shows no zero for what is not zero", function ()
    local made = results.new {
      record { name = "a", ticks = { typical = 0.000123 } },
      record { name = "b", ticks = { typical = 0.0 } },
      record { name = "c", ticks = { typical = -1.5 } },
      record { name = "d", ticks = { typical = 5.0 },
               below_resolution = true },
    }
    assert.is_truthy(row_of(made, "a"):find("0.000123", 1, true))
    for _, name in ipairs { "b", "c", "d" } do
      assert.is_truthy(row_of(made, name):find("<res", 1, true))
    end
  end)

  it("chooses a unit in which three digits are short", function ()
    local made = results.new {
      record { name = "a", ns = { typical = 5.2e6 } },
      record { name = "b", ns = { typical = 5.2e7 } },
    }
    assert.is_truthy(tostring(made):find("us/op", 1, true))
    assert.is_truthy(row_of(made, "a"):find("5200", 1, true))
  end)

  it("says that a run was stopped", function ()
    local made = results.new({ record {} },
      { partial = true, stopped_by = "signal" })
    assert.is_truthy(tostring(made):find("partial: stopped before its end " ..
      "(signal)", 1, true))
  end)

  it("says which rows there was no time for, in the row and below", function ()
    local made = results.new({ record {}, record { name = "late",
      status = "partial", reason = "no time left", ticks = {} } },
      { partial = true, stopped_by = "time" })
    assert.equal("late  partial: no time left", row_of(made, "late"))
    assert.is_truthy(tostring(made):find(
      "partial: 1 of 2 rows were not measured: raise -T", 1, true))
    made[2].ticks = { typical = 5 }
    assert.is_truthy(tostring(made):find(
      "partial: 1 of 2 rows were not measured in all processes", 1, true))
    made.meta.signal = 15
    assert.is_truthy(tostring(made):find("partial: stopped before", 1, true))
  end)

  it("across the only parameter has a label too", function ()
    local made = nesting { params = { depth = { 1, 10 } },
      workload = workload.nesting, across = "depth", reading = "" }:run()
    assert.is_truthy(tostring(made):find "\nnesting +%d")
  end)

  it("without rows is one", function ()
    assert.is_truthy(tostring(results.new {}):find "no rows")
  end)
end)

describe("columns", function ()
  local made = results.new({
    record { name = "a", params = { depth = 1 }, ticks = { typical = 5.0,
      max = 9 }, counters = { lost = 3 } },
  }, { view = { parameters = { "depth" } } })

  it("are names, paths, counters and functions", function ()
    local lines = lines_of(made, { columns = {
      "max", "ticks.typical", "lost", "counters.lost", "status",
      { "twice", function (row) return row.ticks.typical * 2 end },
    } })
    assert.equal("depth   max  typical  lost  lost  status  twice", lines[4])
    assert.equal("    1  9.00     5.00  3.00  3.00  ok       10.0", lines[5])
  end)

  it("that raise leave their cells empty", function ()
    local lines = lines_of(made, { columns = { "typical",
      { "bad", function (row) return row.nothing.at_all end } } })
    assert.equal("    1      5.00", lines[5])
  end)

  it("beyond the width go into a second block", function ()
    local many = {}
    for i = 1, 20 do
      many[i] = { ("a long title %d"):format(i), function () return i end }
    end
    for _, line in ipairs(lines_of(made, { columns = many })) do
      assert.is_true(text.width(line) <= 100, line)
    end
    for i = 1, 20 do
      assert.is_truthy(write(made, { columns = many }):find(
        ("a long title %d"):format(i), 1, true))
    end
  end)

  it("beyond the width have no lines of roles that say nothing", function ()
    local one = { role = "creator", cpu = 0, operations = 10, ticks = 123 }
    local other = { role = "freer", cpu = 1, operations = 10, ticks = 456 }
    local row = record { name = "pool=none", params = { pool = "none" },
                         threads = 2, ticks = { typical = 12.3 },
                         roles = { one, other } }
    local shown = write(results.new({ row }, { view = {
      parameters = { "pool" } } }), { width = 40, columns = {
      "pool", "typical", { "far away in the second block", function (given)
        return given.name and 77
      end },
    } })
    local _, count = shown:gsub("creator", "")
    assert.equal(1, count, shown)
    assert.is_truthy(shown:find("none%s+77"), shown)
  end)

  it("that are the same in all rows are said once when it is narrow",
    function ()
      local run = nesting():run { backend = "asm" }
      local narrow = write(run, { width = 72 })
      assert.is_truthy(narrow:find("in all rows: backend = asm", 1, true))
      for line in narrow:gmatch "[^\n]+" do
        assert.is_true(#line <= 84, line) -- the title's longest line
      end
    end)
end)

describe("text", function ()
  it("is as wide as it looks", function ()
    assert.equal(4, text.width "über")
    assert.equal(4, text.width "漢字")
    assert.equal(1, text.width "e\u{301}")
    assert.equal(2, text.width "\xff\xfe")
  end)

  it("keeps to its lines whatever is in it", function ()
    local made = results.new({ record { name = "a\27[31m\nb" } },
      { title = ("long "):rep(2000) .. "\27[2J\7\n" .. ("x"):rep(500) })
    local all = tostring(made)
    assert.is_nil(all:find "[\27\7]")
    for line in all:gmatch "[^\n]+" do
      assert.is_true(text.width(line) <= 100, line)
    end
  end)

  it("is quoted for a shell", function ()
    assert.equal("depth=10,100", text.quote "depth=10,100")
    assert.equal("'a b'", text.quote "a b")
    assert.equal([['it'\''s']], text.quote "it's")
    assert.equal("''", text.quote "")
    assert.equal("'$(x)'", text.quote "$(x)")
  end)
end)

describe("numbers", function ()
  it("keep three digits whatever their size", function ()
    for wanted, x in pairs {
      ["3.81"] = 3.8149, ["36900"] = 36949, ["0.0123"] = 0.012345,
      ["1000"] = 999.9, ["100"] = 100, ["1.00"] = 1.0, ["9.99"] = 9.991,
      ["10.0"] = 9.999, ["-5.00"] = -5, ["0"] = 0, ["1.23e-09"] = 1.234e-9,
      ["1.23e+15"] = 1.234e15, ["nan"] = 0 / 0, ["inf"] = math.huge,
    } do
      assert.equal(wanted, figure.significant(x))
    end
  end)

  it("of intervals have the digits that tell their ends apart", function ()
    assert.equal("9610 .. 9770", figure.interval(9612, 9768))
    assert.equal("1.998 .. 2.002", figure.interval(1.9981, 2.0021))
    assert.equal("2.00 .. 2.00", figure.interval(2.0, 2.0))
  end)

  it("of shares are percentages", function ()
    assert.equal("100 %", figure.share(1))
    assert.equal("0 %", figure.share(0))
    assert.equal("55 %", figure.share(0.55))
    assert.equal("8.3 %", figure.share(0.0831))
    assert.equal("12.3 %", figure.share(0.1234))
  end)

  it("of frequencies are short", function ()
    assert.equal("2.445 GHz", figure.frequency(2445000000))
    assert.equal("25 MHz", figure.frequency(25e6))
    assert.equal("100 MHz", figure.frequency(1e8))
    assert.equal("1 GHz", figure.frequency(1e9))
  end)

  it("come back exactly", function ()
    for _, x in ipairs { 0.1, 1 / 3, 1e300, 2^53 + 1, 5e-324, 7 } do
      assert.equal(x, tonumber(figure.exact(x)))
    end
    assert.equal("0.1", figure.exact(0.1))
  end)
end)
