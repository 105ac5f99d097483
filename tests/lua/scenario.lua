local support = dofile(os.getenv "top_srcdir" .. "/tests/lua/support.lua")

local calls = {}
local import = support.fakes(calls)
local scenario = import("scenario").scenario
local workload = import("workload").constructors

local function nesting(changes)
  local given = {
    title = "Nested coroutines",
    about = "What does a coroutine cost when each enters the next?",
    params = {
      backend = { "asm", "ucontext" },
      depth = { 1, 10 },
      pool = { "none", "batch_spare" },
    },
    workload = workload.nesting,
  }
  for key, value in pairs(changes or {}) do given[key] = value end
  return scenario(given)
end

local function names(rows)
  local list = {}
  for i, row in ipairs(rows) do list[i] = row.name end
  return list
end

local function refused(changes, sentence)
  local ok, message = pcall(nesting, changes)
  assert.is_false(ok)
  assert.is_nil(message:find "\n")
  assert.is_truthy(message:find(sentence, 1, true),
    message .. "\nshould say\n" .. sentence)
end

describe("rows", function ()
  it("stand in the workload's own order, the last parameter fastest",
    function ()
      assert.same({
        "backend=asm/depth=1/pool=none",
        "backend=asm/depth=1/pool=batch_spare",
        "backend=asm/depth=10/pool=none",
        "backend=asm/depth=10/pool=batch_spare",
        "backend=ucontext/depth=1/pool=none",
        "backend=ucontext/depth=1/pool=batch_spare",
        "backend=ucontext/depth=10/pool=none",
        "backend=ucontext/depth=10/pool=batch_spare",
        "call",
      }, names(nesting():rows()))
    end)

  it("follow the columns when there are some", function ()
    local rows = nesting { columns = { "pool", "depth", "typical" } }:rows()
    assert.equal("pool=none/depth=1/backend=asm", rows[1].name)
  end)

  it("follow the alphabet where the workload knows nothing", function ()
    local rows = scenario {
      title = "t", params = { zeta = { 1 }, alpha = { 1, 2 } },
      workload = function () return workload.yield {} end,
    }:rows()
    assert.equal("alpha=1/zeta=1", rows[1].name)
  end)

  it("are the same 50 times", function ()
    local first = names(nesting():rows())
    for _ = 1, 50 do
      assert.same(first, names(nesting():rows()))
    end
  end)

  it("are left out by where", function ()
    local rows = nesting {
      where = function (p) return p.depth > 1 or p.pool == "none" end,
    }:rows()
    assert.equal(6 + 1, #rows)
  end)

  it("come from ranges", function ()
    local rows = nesting { params = {
      depth = { from = 1, to = 64, times = 4 },
      pool = "none",
    } }:rows()
    assert.same({ "depth=1/pool=none", "depth=4/pool=none",
      "depth=16/pool=none", "depth=64/pool=none", "call" }, names(rows))
    rows = nesting { params = { depth = { from = 1, to = 7, step = 3 } } }
      :rows()
    assert.same({ "depth=1", "depth=4", "depth=7", "call" }, names(rows))
  end)

  it("come from functions of the parameters before", function ()
    local rows = nesting { params = {
      backend = { "asm", "ucontext" },
      depth = function (p) return p.backend == "asm" and { 1, 2 } or 3 end,
    } }:rows()
    assert.same({ "backend=asm/depth=1", "backend=asm/depth=2",
      "backend=ucontext/depth=3", "call" }, names(rows))
  end)

  it("come from a list of workloads", function ()
    local list = scenario {
      title = "t",
      workload = { workload.yield { backend = "asm" },
                   workload.yield { backend = "inline" },
                   workload.yield { backend = "asm", name = "again" } },
    }
    assert.same({ "backend=asm", "backend=inline", "again", "call" },
      names(list:rows()))
  end)

  it("of equal workloads have different names", function ()
    local list = scenario {
      title = "t", workload = { workload.yield {}, workload.yield {} },
    }
    assert.same({ "yield", "yield#2", "call" }, names(list:rows()))
  end)

  it("that a kind refuses are n/a with the reason", function ()
    local rows = nesting { params = { backend = { "sigaltstack" },
      depth = { 10, 1000 } } }:rows()
    assert.is_nil(rows[1].refused)
    assert.equal("not deeper than 500", rows[2].refused)
  end)
end)

describe("overrides", function ()
  it("replace the scenario's own list and may leave it", function ()
    local rows = nesting():rows { depth = { 5 }, pool = "none",
                                  backend = "inline" }
    assert.same({ "backend=inline/depth=5/pool=none", "call" }, names(rows))
  end)

  it("of a command line are typed like the scenario's values", function ()
    assert.same({ depth = { 10, 100 }, backend = { "inline" } },
      nesting():parse { "depth=10,100", "backend=inline" })
    local flags = nesting { params = { flag = { true } } }
    assert.same({ flag = { false, true } }, flags:parse { "flag=false,true" })
    -- What a label says can be said.
    local rings = nesting { params = { pool = { "none",
      { "batch_spare", size = 7 } } } }
    assert.same({ pool = { { "release", size = 64, spare = true, word = "a/b" },
      "none" } }, rings:parse {
        "pool=release{size=64,spare=true,word=a/b},none" })
  end)

  it("that make no sense are one sentence each", function ()
    local function no(word, sentence)
      local given, message = nesting():parse { word }
      assert.is_nil(given)
      assert.equal(sentence, message)
    end
    no("depth=ten", "parameter 'depth': 'ten' is not a number " ..
      "(its values are 1, 10)")
    no("dept=1", "unknown parameter 'dept' (did you mean 'depth'?)")
    no("zzz=1", "unknown parameter 'zzz' (there are backend, depth, pool)")
    no("depth", "parameter 'depth' needs a value (its values are 1, 10)")
    no("depth=", "parameter 'depth': a value is empty")
    no("depth=1,1", "parameter 'depth': 1 is given twice")
    no("depth=inf", "parameter 'depth': 'inf' is not a number " ..
      "(its values are 1, 10)")
  end)

  it("that the workload refuses name the nearest", function ()
    local ok, message = pcall(function ()
      nesting():rows { backend = "asmm" }
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find("nesting: unknown backend 'asmm' " ..
      "(did you mean 'asm'?)", 1, true))
    assert.is_truthy(message:find "scenario.lua:%d+: ")
  end)
end)

describe("filters", function ()
  it("keep labels that contain a text, plainly", function ()
    assert.same({ "backend=asm/depth=1/pool=none",
      "backend=asm/depth=10/pool=none", "call" },
      names(nesting():rows({}, { filter = { "asm/", "-spare" } })))
  end)

  it("keep what the rest is compared to", function ()
    local rows = nesting { reference = { pool = "none" } }
      :rows({}, { filter = { "asm/depth=1/pool=batch" } })
    assert.same({ "backend=asm/depth=1/pool=none",
      "backend=asm/depth=1/pool=batch_spare" }, names(rows))
    assert.is_true(rows[1].rides)
  end)

  it("that leave nothing are no success", function ()
    local rows, message = nesting():rows({}, { filter = { "xyz" } })
    assert.is_nil(rows)
    assert.is_truthy(message:find("no row matches the filter 'xyz'", 1, true))
  end)
end)

describe("references", function ()
  local function of(reference, index)
    return nesting { reference = reference }:rows()[index].reference
  end

  it("are call, which rides along", function ()
    local rows = nesting():rows()
    assert.equal("call", rows[1].reference)
    assert.is_true(rows[9].rides)
  end)

  it("are the row like this one with other values", function ()
    assert.equal("backend=asm/depth=1/pool=none", of({ pool = "none" }, 2))
  end)

  it("ride along when they are no row of the scenario", function ()
    local rows = nesting { reference = { backend = "inline" } }:rows()
    assert.equal("backend=inline/depth=1/pool=none", rows[1].reference)
    assert.is_true(rows[9].rides)
  end)

  it("are named", function ()
    assert.equal("backend=asm/depth=1/pool=none",
      of("backend=asm/depth=1/pool=none", 8))
    assert.equal("yield", of("yield", 8))
  end)

  it("are functions of the parameters", function ()
    local reference = function (p)
      return p.depth == 1 and "call" or { depth = 1 }
    end
    assert.equal("call", of(reference, 1))
    assert.equal("backend=asm/depth=1/pool=none", of(reference, 3))
  end)

  it("reach measure as indices", function ()
    calls[#calls + 1] = nil
    nesting { reference = { pool = "none" } }:run({ depth = 1 }, { forks = 1 })
    assert.same({ 1, 1, 3, 3 }, calls[#calls].options.reference)
  end)
end)

describe("a run", function ()
  it("gives records in the order of the rows, n/a included", function ()
    local results = nesting { params = { backend = { "sigaltstack" },
      depth = { 1000, 10 } } }:run()
    assert.equal("n/a", results[1].status)
    assert.equal("not deeper than 500", results[1].reason)
    assert.is_nil(results[1].ticks)
    assert.equal("ok", results[2].status)
    assert.equal(results[2], results["backend=sigaltstack/depth=10"])
    assert.equal(2, #results)
    assert.is_true(results.call.reference)
  end)

  it("takes ten processes unless told otherwise", function ()
    nesting():run()
    assert.equal(10, calls[#calls].options.forks)
    nesting { forks = 3, time = 2 }:run()
    assert.equal(3, calls[#calls].options.forks)
    assert.equal(2, calls[#calls].options.time)
    nesting { time = 2 }:run({}, { time = 1 })
    assert.equal(1, calls[#calls].options.time)
  end)

  it("knows the command that repeats it", function ()
    local results = nesting { name = "nesting" }:run(
      { depth = { 10, 100 }, pool = "none" }, { seed = 7, time = 2 })
    assert.equal("cbench nesting depth=10,100 pool=none --time 2 --seed 7",
      results.meta.command)
    results = nesting():run({}, { command = { "cbench", "my file.lua" } })
    assert.equal("cbench 'my file.lua' --seed 7351", results.meta.command)
  end)

  it("sets up before and tears down after, also when it fails", function ()
    local events = {}
    local function note(what)
      return function () events[#events + 1] = what end
    end
    nesting { setup = note "up", teardown = note "down" }:run()
    assert.same({ "up", "down" }, events)
    assert.has_error(function ()
      nesting { teardown = note "down again" }:run({}, { time = "fails" })
    end)
    assert.same({ "up", "down", "down again" }, events)
  end)

  it("computes derived columns and the reading once", function ()
    local results = nesting {
      columns = { "typical", { "levels", function (row)
        return row.params.depth * 2
      end } },
      reading = function (all) return #all .. " rows" end,
    }:run()
    assert.equal(20, results:find { depth = 10 }.derived.levels)
    assert.equal("8 rows", results.meta.reading)
  end)

  it("survives a column that raises", function ()
    local results = nesting { columns = { { "x", function (row)
      return row.params.depth.y
    end } } }:run()
    assert.is_truthy(results.meta.notes[1]:find "column 'x'")
  end)

  it("has no ratio to or of what is below resolution", function ()
    local results = nesting { reference = { pool = "none" } }:run({
      depth = { 1, 10 }, backend = "asm" }, { time = "below" })
    assert.is_nil(results[1].ratio)
    assert.is_nil(results[2].ratio)
    assert.is_table(results[4].ratio)
    assert.equal("backend=asm/depth=1/pool=batch_spare: no ratio, " ..
      "'backend=asm/depth=1/pool=none' is below resolution",
      results.meta.notes[2])
  end)

  it("says first which columns no row has", function ()
    local results = nesting { columns = { "nwe", "counters.odl", "new",
      "limit.lowest", { "x", function () error "no" end } },
      reading = function () error "why" end }:run { backend = "asm" }
    local notes = results.meta.notes
    assert.equal("column 'nwe': no row has it (did you mean 'new'?)", notes[1])
    assert.matches("^column 'counters.odl': no row has it", notes[2])
    assert.matches("^column 'x', row '.*no %(and 3 more rows%)$", notes[3])
    assert.matches("^reading: .*why$", notes[4])
    assert.equal(4, #notes)
  end)

  it("tells limits that are exceeded with their whole interval", function ()
    local results = nesting { limit = 21 }:run({ backend = "asm" })
    assert.equal("exceeded",
      results["backend=asm/depth=1/pool=none"].limit.state)
    assert.equal("ok",
      results["backend=asm/depth=1/pool=batch_spare"].limit.state)
    assert.equal(2, results.meta.limits_exceeded)
    results = nesting { limit = 21 }:run({ backend = "asm" }, { forks = 1 })
    assert.equal(0, results.meta.limits_exceeded)
    assert.equal("not resolved", results[1].limit.state)
  end)
end)

describe("a limit", function ()
  local name = "backend=asm/depth=1/pool=batch_spare"
  local function limited(limit, options)
    return nesting { limit = limit }:run({ backend = "asm", depth = 1 },
      options)
  end

  it("can be a range", function ()
    local ratio = limited(1e9)[name].ratio
    local function state(low, high)
      return limited({ low, high })[name].limit.state
    end
    assert.equal("ok", state(ratio.low * 0.9, ratio.high * 1.1))
    assert.equal("exceeded", state(ratio.high * 1.1, ratio.high * 1.2))
    assert.equal("exceeded", state(ratio.low * 0.8, ratio.low * 0.9))
    assert.equal("not resolved", state(ratio.value, ratio.high * 1.1))
    local results = limited { 1, 30 }
    assert.same({ value = 30, lowest = 1, state = "ok" },
      results[name].limit)
    assert.is_truthy(tostring(results):find("1.00 .. 30.0", 1, true))
  end)

  it("can come with a ratio of its own", function ()
    local results = limited(function (p, row_name, record, all)
      assert.equal(1, p.depth)
      assert.equal(record, all[row_name])
      if p.pool == "none" then return nil end
      return 2, { to = "sum of parts", value = 1.5, low = 1.4, high = 1.6 }
    end)
    assert.equal("ok", results[name].limit.state)
    assert.equal(1.5, results[name].ratio.value)
    assert.is_nil(results["backend=asm/depth=1/pool=none"].limit)
    assert.is_truthy(tostring(results):find("limit: 1 of 1 hold", 1, true))
  end)

  it("that is exceeded is named under the table", function ()
    assert.is_truthy(tostring(limited(1)):find("exceeded: " .. name, 1, true) or
      tostring(limited(1)):find("exceeded: backend=asm", 1, true))
  end)
end)

describe("set-up", function ()
  it("comes before the rows are made, and knows what was given", function ()
    local depth, seen = 1, nil
    local results = nesting {
      params = { backend = { "asm" } },
      workload = function (p)
        return workload.nesting { backend = p.backend, depth = depth }
      end,
      setup = function (given)
        seen = given
        depth = 7
      end,
    }:run { backend = "asm" }
    assert.equal(7, results[1].params.depth)
    assert.same({ backend = "asm" }, seen)
  end)
end)

describe("a limit that is none", function ()
  it("is named with its row, and the rows are shown", function ()
    for _, limit in ipairs {
      function () return "x" end,
      function () return 5, "y" end,
      function () error "oh" end,
    } do
      local results = nesting { limit = limit }:run { backend = "asm",
        depth = 1, pool = "none" }
      assert.matches("^limit: row 'backend=asm/depth=1/pool=none': ",
        results.meta.notes[1])
      assert.equal(1, results.meta.limits_failed)
      assert.is_number(results[1].ticks.typical)
    end
    local results = nesting { limit = function () return "x" end }:run {
      depth = 1 }
    assert.matches("got the string 'x'", results.meta.notes[1])
  end)
end)

describe("several scenarios of one file", function ()
  local of = import("scenario").of

  it("have a title of their own, or that of the first", function ()
    local first, second = nesting(), nesting { title = "Second" }
    assert.equal(first.title, of({ first, second }, "both").title)
    local whole = of({ title = "Both", first, second }, "both")
    assert.same({ "Both" }, { whole.title, whole.about })
    assert.equal("Both", of(whole, "again").title)
    assert.equal("Both", of({ title = "Both", about = "Why?", whole }).title)
    local one = of({ title = "One", about = "Why?", second })
    assert.same({ "One", "Why?" }, { one.title, one.about })
    assert.equal(second, of { second })
    assert.is_nil(of({ title = 7, first }))
    assert.is_nil(of({ titel = "Both", first }))
  end)

  it("are told apart by their titles where they are shipped", function ()
    local by_title = {}
    for _, name in ipairs(support.core.scenario_names()) do
      local title = require "cbench".scenario(name).title
      assert.is_nil(by_title[title], title)
      by_title[title] = name
    end
    assert.equal("limits", by_title["All limits"])
  end)

  it("run one after the other", function ()
    local group = of({ nesting(), nesting { title = "Second" } }, "both")
    local results = group:run { depth = 1, backend = "asm" }
    assert.equal(4, #results)
    local _, tables = tostring(results):gsub("1 operation =", "")
    assert.equal(2, tables)
  end)

  it("end with the first that was stopped", function ()
    local group = of({ nesting(), nesting { title = "Second" } }, "both")
    local results = group:run({ depth = 1 }, { time = "stopped" })
    assert.is_true(results.meta.partial)
    assert.equal(4, #results)
  end)

  it("take parameters that one of them has", function ()
    local other = scenario { title = "Other", workload = workload.yield,
                             params = { backend = { "asm" } } }
    local group = of({ nesting(), other }, "both")
    assert.same({ depth = { 1 } }, group:parse { "depth=1" })
    assert.equal(4 + 1 + 2, #group:rows { depth = { 1 } })
    assert.has_error(function () group:rows { dept = 1 } end)
  end)

  it("blame whoever asked for what one of them refuses", function ()
    local group = of({ nesting(), nesting { title = "Second" } }, "both")
    for _, method in ipairs { "run", "rows" } do
      local good, message = pcall(function ()
        local all = group[method](group, { depth = -1 })
        return all
      end)
      assert.is_false(good)
      assert.matches("^[^:]*scenario%.lua:%d+: scenario: nesting:", message)
    end
  end)

  it("can be lists themselves", function ()
    local group = of({ nesting(), nesting() }, "two")
    assert.equal(3, #of({ group, nesting() }, "all").list)
    assert.equal(group.list[1], of({ group, nesting() }, "all").list[1])
  end)

  it("are nothing else", function ()
    assert.is_nil(of(nil, "x"))
    assert.is_nil(of({}, "x"))
    assert.is_nil(of({ 1 }, "x"))
    assert.is_nil(of({ nesting(), extra = 1 }, "x"))
    assert.is_nil(of("text", "x"))
  end)
end)

describe("placement", function ()
  local function yields(changes)
    local given = { title = "t", params = { backend = { "asm" } },
                    workload = workload.yield }
    for key, value in pairs(changes or {}) do given[key] = value end
    return scenario(given)
  end

  it("of several values is a parameter", function ()
    local rows = yields():rows({}, { threads = { 1, 2 } })
    assert.same({ "backend=asm/threads=1", "backend=asm/threads=2", "call" },
      names(rows))
    assert.equal(2, rows[2].descriptor.params.threads)
    rows = yields():rows({}, { place = { "same", "cache" } })
    assert.equal("cache", rows[2].descriptor.place)
  end)

  it("reaches what a function of p makes", function ()
    local rows = yields { workload = function (p)
      return workload.yield { backend = p.backend }
    end }:rows({}, { threads = { 1, 2 } })
    assert.equal(1, rows[1].descriptor.params.threads)
    assert.equal(2, rows[2].descriptor.params.threads)
  end)

  it("of one value goes to measure", function ()
    yields():run({}, { threads = { 2 }, place = "same", cpus = { 0, 1 } })
    local options = calls[#calls].options
    assert.equal(2, options.threads)
    assert.equal("same", options.place)
    assert.same({ 0, 1 }, options.cpus)
  end)

  it("is refused where there is none to choose", function ()
    assert.has_error(function ()
      local made = nesting { workload = function (p)
        return workload.nesting { depth = p.depth }
      end }
      made:rows({}, { threads = { 1, 2 } })
    end, "scenario: the threads of 'nesting' follow")
    assert.has_error(function ()
      local made = yields { params = {}, workload = { workload.yield {} } }
      made:rows({}, { threads = { 1, 2 } })
    end, "scenario: option 'threads': a list of workloads takes one value")
  end)
end)

describe("a description", function ()
  it("with an unknown field names the nearest", function ()
    refused({ titel = "x" }, "unknown field 'titel' (did you mean 'title'?)")
  end)

  it("with a wrong type says what is expected, where", function ()
    refused({ title = 5 }, "field 'title': string expected, got number")
    refused({ workload = "nesting" },
      "field 'workload': function or table expected, got string")
    local ok, message = pcall(function ()
      local made = scenario { title = 5 }
      return made
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find "scenario.lua:%d+: scenario: ")
  end)

  it("is complete", function ()
    assert.has_error(function () scenario { workload = workload.yield } end)
    assert.has_error(function () scenario { title = "x" } end)
    assert.has_error(function () scenario() end)
  end)

  it("names only parameters that there are", function ()
    refused({ across = "dept" }, "across: unknown parameter 'dept' " ..
      "(did you mean 'depth'?)")
    refused({ reference = { pol = "none" } }, "unknown parameter 'pol'")
    refused({ fit = "x" }, "fit: unknown parameter 'x'")
  end)

  it("has parameters with values", function ()
    refused({ params = { depth = {} } },
      "parameter 'depth': the list of its values is empty")
    refused({ params = { depth = { 1, 1 } } },
      "parameter 'depth': 1 stands twice in its values")
    refused({ params = { depth = { from = 5, to = 1 } } },
      "parameter 'depth': a range from 5 to 1 is empty")
    refused({ params = { depth = { from = 0, to = 8, times = 2 } } },
      "a range with times needs times > 1 and from > 0")
    refused({ params = { depth = { from = 1, to = 8, step = 1, times = 2 } } },
      "a range takes step or times, not both")
    refused({ params = { depth = { from = 1, to = 1e9, step = 1 } } },
      "a range of 1000000000 values is too long: at most 10000")
    refused({ params = { depth = { from = 1, to = 1e9, times = 1.0001 } } },
      "values is too long: at most 10000")
    refused({ params = { depth = { from = 1, to = 1 / 0 } } },
      "a range's to must be finite")
    refused({ params = { depth = { from = 1, too = 8 } } },
      "unknown field of a range 'too'")
    refused({ params = { ["a b"] = { 1 } } },
      "'a b' is no name for a parameter")
  end)

  it("lists workloads and nothing else", function ()
    refused({ params = {}, workload = { 1 } },
      "workload: element 1 is a number and no workload")
    refused({ params = {}, workload = {} }, "workload: the list is empty")
    refused({ workload = { workload.yield {} } },
      "params: a list of workloads takes none")
  end)

  it("has columns of names and functions", function ()
    refused({ columns = { 1 } }, "columns: element 1: a name or " ..
      "{ title, function } expected, got number")
    refused({ columns = { { "\xe9", print } } },
      "columns: element 1: its title is not UTF-8")
    refused({ columns = { "ticks.typicl" } }, "columns: column " ..
      "'ticks.typicl': unknown field of ticks 'typicl' " ..
      "(did you mean 'typical'?)")
    refused({ columns = { "tick.typical" } },
      "unknown field 'tick' (did you mean 'ticks'?)")
    refused({ columns = { { "x" } } },
      "columns: element 1: { title, function } expected")
  end)

  it("has a limit that is one", function ()
    refused({ limit = { 1 } }, "limit: a ratio or { lowest, highest } " ..
      "expected, got a table without two numbers")
  end)

  it("has functions that give values", function ()
    local needy = nesting { params = {
      depth = function (p) return p.pool and 1 end,
      pool = function (p) return p.depth and "none" end,
    } }
    assert.has_error(function () needy:rows() end, "scenario: parameter " ..
      "'depth': its function gave no value; it sees lists, and of other " ..
      "functions those before it")
  end)

  it("takes tables, also as a list of scenarios", function ()
    local list = import("scenario").of({ nesting {}, nesting {} }, "list")
    for _, one in ipairs { nesting {}, list } do
      for _, method in ipairs { "rows", "run" } do
        for _, case in ipairs {
          { 5, nil, "scenario: parameters: table expected, got number" },
          { {}, 5, "scenario: options: table expected, got number" },
          { {}, { filter = 5 },
            "scenario: option 'filter': string expected, got number" },
          { {}, { filter = { {} } },
            "scenario: option 'filter': string expected, got table" },
        } do
          local good, message = pcall(one[method], one, case[1], case[2])
          assert.is_false(good)
          assert.equal(case[3], (message:gsub("^[^ ]+:%d+: ", "")))
        end
      end
    end
  end)

  it("is not too big", function ()
    local many = { from = 1, to = 1000 }
    assert.has_error(function ()
      nesting { params = { depth = many, pool = many } }:rows()
    end)
  end)
end)
