-- Sets of services, services and lcores as objects.
local cbench = require "cbench"
local until_true = dofile(os.getenv "top_srcdir" .. "/tests/lua/until_true.lua")
local running = dofile(os.getenv "top_srcdir" .. "/tests/lua/running.lua")

describe("a service", function ()
  it("runs when its component is ready and it was started", function ()
    local set <close> = cbench.services {}
    local service = set:register { name = "one", call = "nop" }
    local good, message, code = service:run()
    assert.is_nil(good)
    assert.equal("ENOEXEC", code)
    assert.matches("component is not ready", message, 1, true)
    assert.is_true(service:component(true))
    assert.is_true(service:start())
    assert.same({ true, 0 }, { service:run() })
    assert.is_true(service:stop())
    assert.equal("ENOEXEC", select(3, service:run()))
  end)

  it("returns its callback's result", function ()
    local set <close> = cbench.services {}
    local expected = { nop = 0, again = -11, fail = -5, spin = 0, touch = 0,
      ring_consume = -11, coroutine_resume = 0 }
    for call, result in pairs(expected) do
      local service = running(set, { name = call, call = call })
      assert.same({ true, result }, { service:run {} })
    end
    local service = running(set, { name = "f", call = { "fail", code = 7 } })
    assert.same({ true, -7 }, { service:run() })
  end)

  it("counts by result", function ()
    local set <close> = cbench.services {}
    local results = { true, false, false, -3, nil, 0 }
    local turn = 0
    local service = running(set, { name = "one", stats = "time",
      call = function () turn = turn + 1 return results[turn] end })
    for _ = 1, 6 do assert(service:run()) end
    local stats = service:stats()
    assert.equal(6, stats.calls)
    assert.equal(2, stats.idle)
    assert.equal(1, stats.errors)
    assert.is_true(stats.ticks > 0 and stats.longest > 0)
    assert.is_true(stats.longest <= stats.ticks)
  end)

  it("has a name that is its own", function ()
    local set <close> = cbench.services {}
    set:register { name = "one", call = "nop" }
    local again, message, code = set:register { name = "one", call = "nop" }
    assert.is_nil(again)
    assert.equal("there is a service 'one' already", message)
    assert.equal("EEXIST", code)
  end)

  it("has a name of one line", function ()
    local set <close> = cbench.services {}
    local none, message, code = set:register { name = "a\nb", call = "nop" }
    assert.is_nil(none)
    assert.equal("a service's name cannot have control characters, and "
      .. "character 2 of it is one (code 10)", message)
    assert.equal("EINVAL", code)
    assert.error_matches(function ()
      set:register { name = "a\0b", call = "nop" }
    end, "option 'name': it has a zero byte, at 2", 1, true)
    assert(set:register { name = "caf\u{e9} 1", call = "nop" })
  end)

  it("is unregistered once, and closed then", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "one", call = "nop" })
    assert.is_true(service:unregister())
    assert.error_matches(function () service:run() end, "service is closed")
    assert.error_matches(function () service:unregister() end,
      "service is closed")
    assert.is_true(service:close())
    assert.is_false(service:active())
    assert.is_true(service:quiesce(1))
    assert.matches("closed", tostring(service))
    assert(set:register { name = "one", call = "nop" })
  end)
end)

describe("a Lua function as callback", function ()
  it("gives its own value to the caller", function ()
    local set <close> = cbench.services {}
    local value = {}
    local service = running(set, { name = "one",
      call = function () return value end })
    local good, got = service:run()
    assert.is_true(good)
    assert.equal(value, got)
  end)

  it("raises its error from run, and counts it", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "one", stats = "count",
      call = function () error({ "boom" }) end })
    local good, got = pcall(service.run, service)
    assert.is_false(good)
    assert.same({ "boom" }, got)
    assert.equal(1, service:stats().errors)
    assert.is_false(service:active())
  end)

  it("may run services, and is not entered twice", function ()
    local set <close> = cbench.services {}
    local inner = running(set, { name = "inner", call = { "fail", code = 4 } })
    local service, seen
    service = running(set, { name = "outer", call = function ()
      seen = { select(2, inner:run()), select(3, service:run()),
        service:active() }
      return "done"
    end })
    assert.same({ true, "done" }, { service:run() })
    assert.same({ -4, "EBUSY", true }, seen)
    local depth = 0
    local safe
    safe = running(set, { name = "safe", mt_safe = true, call = function ()
      depth = depth + 1
      if depth < 5 then return select(2, safe:run()) + 1 end
      return 0
    end })
    assert.same({ true, 4 }, { safe:run() })
  end)

  it("may unregister its service, which ends when it returns", function ()
    local set <close> = cbench.services {}
    local service, seen
    service = running(set, { name = "one", call = function ()
      seen = { service:unregister(), service:active(),
        select(3, service:quiesce(1)) }
      return 5
    end })
    assert.same({ true, 5 }, { service:run() })
    assert.same({ true, true, "EDEADLK" }, seen)
    assert.is_false(service:active())
    assert(set:register { name = "one", call = "nop" })
  end)

  it("cannot close its set from inside", function ()
    local set = cbench.services {}
    local seen
    local service = running(set, { name = "one", call = function ()
      seen = select(3, set:close())
    end })
    assert.is_true(service:run())
    assert.equal("EDEADLK", seen)
    assert.is_true(set:close())
  end)

  it("stays on the calling thread", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "one", call = print })
    local lcore = set:lcore {}
    assert.error_matches(function () service:map(lcore) end,
      "on the calling thread only")
  end)

  it("is called from any coroutine", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "one",
      call = function () return coroutine.isyieldable() end })
    assert.same({ true, false }, { coroutine.wrap(function ()
      return service:run()
    end)() })
    local stackful = cbench.coroutine.create(function ()
      return service:run()
    end)
    assert.same({ true, false }, { select(-2, stackful:enter()) })
  end)
end)

describe("an lcore", function ()
  it("runs what is mapped to it", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "one", call = "nop",
      stats = "count" })
    local lcore = assert(set:lcore {})
    assert.is_true(service:map(lcore))
    assert.is_false(lcore:active())
    assert.is_true(lcore:start())
    assert.equal("EALREADY", select(3, lcore:start()))
    until_true(function () return service:stats().calls > 10 end)
    assert.is_true(lcore:stats().loops > 0)
    assert.equal(1, lcore:stats().services)
    local stopped, message, code = lcore:stop()
    assert.is_nil(stopped)
    assert.equal("lcore 0 is the only one of the running service 'one'",
      message)
    assert.equal("EBUSY", code)
    assert.equal("EBUSY", select(3, lcore:close()))
    assert.is_true(service:stop())
    assert.is_true(service:quiesce())
    local calls = service:stats().calls
    assert.is_true(lcore:stop())
    assert.is_true(lcore:join())
    assert.equal("EALREADY", select(3, lcore:stop()))
    assert.equal(calls, service:stats().calls)
    assert.is_true(lcore:close())
    assert.is_true(lcore:close())
    assert.error_matches(function () lcore:start() end, "lcore is closed")
  end)

  it("needs a CPU that is there", function ()
    local set <close> = cbench.services {}
    local lcore, message, code = set:lcore { cpu = 99999 }
    assert.is_nil(lcore)
    assert.matches("99999", message)
    assert.equal("EINVAL", code)
  end)

  it("may outnumber the CPUs", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "one", call = "again",
      mt_safe = true, stats = "count" })
    local lcores = {}
    for i = 1, 5 do
      lcores[i] = assert(set:lcore {})
      assert.equal(i - 1, lcores[i]:stats().number)
      assert(service:map(lcores[i]))
      assert(lcores[i]:start())
    end
    for i = 1, 5 do
      until_true(function () return lcores[i]:stats().loops > 0 end)
    end
    assert(service:stop())
    assert(service:quiesce())
    local stats = service:stats()
    assert.equal(stats.calls, stats.idle)
    assert.is_true(set:close())
  end)

  it("runs code in a state of its own", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "counter", stats = "count",
      mt_safe = true, values = { step = 3, names = { "a", [2.5] = true } },
      code = [[
        assert(names[1] == "a" and names[2.5] == true and math.type(step))
        count = (count or 0) + step
        if count >= 30 then return 7 end
        return false]] })
    local lcore = assert(set:lcore {})
    assert(service:map(lcore))
    assert(lcore:start())
    until_true(function () return service:stats().errors > 0 end)
    local stats = service:stats()
    assert.is_nil(stats.error)
    assert.equal(9, stats.idle)
    assert.is_nil(rawget(_G, "count"))
    -- The calling thread has another state.
    assert.same({ true, -11 }, { service:run() })
  end)

  it("keeps the first error of its code", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "bad", stats = "count",
      code = "error('no such luck')" })
    assert.same({ true, -5 }, { service:run() })
    assert.matches("no such luck", service:stats().error, 1, true)
    assert.equal(1, service:stats().errors)
  end)

  it("is named when its callback never returns, and ended by close",
    function ()
      local set = cbench.services {}
      local service = running(set, { name = "endless",
        code = "while true do end" })
      local lcore = assert(set:lcore {})
      assert(service:map(lcore))
      assert(lcore:start())
      until_true(function () return service:active() end)
      assert(service:stop())
      local rest, message, code = service:quiesce(0.05)
      assert.is_nil(rest)
      assert.equal("the callback of service 'endless' has not returned for "
        .. "0.05 s on lcore 0", message)
      assert.equal("ETIMEDOUT", code)
      assert.is_true(set:close())
    end)

  it("runs on, like all others, when its set could not be closed",
    function ()
      local set = cbench.services {}
      local path = os.tmpname()
      os.remove(path)
      assert(os.execute("mkfifo " .. path))
      -- Nothing interrupts it before somebody opens the other end.
      local stubborn = running(set, { name = "stubborn",
        values = { path = path }, code = "io.open(path):close()" })
      local other = running(set, { name = "other",
        code = "for i = 1, 100000 do end return 7" })
      assert.same({ true, 7 }, { other:run() })
      local lcore = assert(set:lcore {})
      assert(stubborn:map(lcore))
      assert(lcore:start())
      until_true(function () return stubborn:active() end)
      local closed, message, code = set:close(0.1)
      local opened <close> = assert(io.open(path, "r+"))
      os.remove(path)
      assert.is_nil(closed)
      assert.matches("the callback of service 'stubborn'", message, 1, true)
      assert.equal("ETIMEDOUT", code)
      assert.equal("file", io.type(opened))
      assert.same({ true, 7 }, { other:run() })
      assert.is_nil(other:stats().error)
      assert.is_true(set:close())
    end)
end)

describe("a set", function ()
  it("dumps what there is", function ()
    local set <close> = cbench.services {}
    running(set, { name = "one", call = "nop", stats = "count" }):run()
    set:lcore {}
    assert.equal("Services Summary\n  one: stats count\tcalls 1\tticks 0\t"
      .. "avg: 0\t(never mapped to an lcore)\nService Cores Summary\n00\t0\n",
      set:dump())
  end)

  it("is closed once for all its objects", function ()
    local set = cbench.services {}
    local service = running(set, { name = "one", call = "nop" })
    local gone = set:register { name = "gone", call = "nop" }
    assert(gone:unregister())
    local lcore = set:lcore {}
    assert(service:map(lcore))
    assert(lcore:start())
    assert.is_true(set:close())
    assert.is_true(set:close())
    assert.is_false(gone:active())
    assert.is_true(gone:quiesce())
    assert.error_matches(function () set:dump() end, "services are closed")
    assert.error_matches(function () set:lcore {} end, "services are closed")
    assert.error_matches(function () service:run() end, "service is closed")
    assert.error_matches(function () lcore:join() end, "lcore is closed")
    assert.is_false(service:active())
    assert.is_true(service:quiesce())
    assert.matches("closed", tostring(set))
  end)

  it("is collected with running lcores", function ()
    for _ = 1, 10 do
      local set = cbench.services {}
      local service = running(set, { name = "one", call = "nop" })
      local lcore = set:lcore {}
      assert(service:map(lcore))
      assert(lcore:start())
    end
    collectgarbage()
    collectgarbage()
  end)

  it("knows no objects of another", function ()
    local first <close> = cbench.services { lock = "mcs", order = "seqcst" }
    local second <close> = cbench.services { lock = "ticket", order = "fence" }
    local service = running(first, { name = "one", call = "nop" })
    local lcore = second:lcore {}
    assert.error_matches(function () service:map(lcore) end,
      "an lcore of another set")
    assert.same({ true, 0 }, { service:run() })
  end)
end)

describe("a live service", function ()
  it("is measured and left as it was found", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "one", call = "nop",
      stats = "count" })
    service:run()
    local record = cbench.measure(cbench.workload.service_run {
      service = service }, { time = 20, rounds = 5 })
    assert.equal("ok", record.status)
    assert.equal(1, record.counters.success)
    assert.is_nil(record.interpreter)
    assert.equal(1, service:stats().calls)
    assert.same({ true, 0 }, { service:run() })
    assert(service:stop())
    record = cbench.measure(cbench.workload.service_run {
      service = service }, { time = 20, rounds = 5 })
    assert.equal("fail", record.status)
    assert.matches("'one' is not running", record.reason, 1, true)
  end)

  it("may be a Lua function, which is marked", function ()
    local set <close> = cbench.services {}
    local calls = 0
    local service = running(set, { name = "one",
      call = function () calls = calls + 1 end })
    local record = cbench.measure(cbench.workload.service_run {
      service = service }, { time = 20, rounds = 5 })
    assert.equal("ok", record.status)
    assert.is_true(record.interpreter)
    assert.is_true(calls > 5)
    assert.has_error(function ()
      cbench.measure(cbench.workload.service_run { service = service,
        contenders = 1 }, { time = 20, rounds = 5 })
    end)
  end)

  it("is named when its callback never returns, and works after", function ()
    local set <close> = cbench.services {}
    local endless, gate = true, os.tmpname()
    local callbacks = {
      { name = "endless function",
        call = function () while endless do end return 3 end },
      -- Until the file is gone.
      { name = "endless chunk", values = { gate = gate }, code = [[
        repeat
          local file <close> = io.open(gate)
        until not file
        return 3 ]] },
    }
    for _, callback in ipairs(callbacks) do
      local service = running(set, callback)
      local record = cbench.measure(cbench.workload.service_run {
        service = service },
        { time = os.getenv "VALGRIND" and 5 or 0.1, rounds = 5 })
      assert.equal("fail", record.status)
      assert.matches("did not return; the watchdog ended it", record.reason, 1,
        true)
      assert.matches(("in the callback of the service '%s'"):format(
        callback.name), record.reason, 1, true)
      endless = false
      if callback.code then os.remove(gate) end
      assert.same({ true, 3 }, { service:run() })
      assert.is_true(service:unregister())
    end
  end)

  it("fails its row when the function raises", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "one", call = error })
    local record = cbench.measure(cbench.workload.service_run {
      service = service }, { time = 20, rounds = 5 })
    assert.equal("fail", record.status)
    assert.matches("runs of the Lua callback raised", record.reason, 1, true)
  end)
end)

describe("services", function ()
  local function given(options, method)
    return function ()
      local set <close> = cbench.services {}
      return set[method or "register"](set, options)
    end
  end

  local refused = {
    { function () cbench.services { lock = "ttsa" } end,
      "did you mean 'ttas'?" },
    { function () cbench.services { order = "relaxed" } end,
      "'relaxed' is none of acqrel|seqcst|fence" },
    { function () cbench.services { lokc = "tas" } end,
      "did you mean 'lock'?" },
    { function () cbench.services "ttas" end, "table expected" },
    { function () cbench.services { "ttas" } end, "options have names" },
    { given {}, "option 'name' is needed" },
    { given { name = "", call = "nop" }, nil, "EINVAL" },
    { given { name = ("x"):rep(64), call = "nop" }, nil, "EINVAL" },
    { given { name = "one" }, "option 'call' (or 'code') is needed" },
    { given { name = "one", call = "nop", code = "return" },
      "call or code, not both" },
    { given { name = "one", call = "nop", values = {} },
      "option 'values': they go with 'code'" },
    { given { name = "one", call = "pon" }, "unknown call 'pon'" },
    { given { name = "one", call = { "spin", tick = 3 } },
      "did you mean 'ticks'?" },
    { given { name = "one", call = { "spin", ticks = -1 } },
      "option 'ticks': -1 is out of range" },
    { given { name = "one", call = 3 }, "a call is wanted" },
    { given { name = "one", call = { "coroutine_resume" }, mt_safe = true },
      "cannot be mt_safe" },
    { given { name = "one", call = "nop", stats = "on" },
      "'on' is none of off|count|time|chain" },
    { given { name = "one", call = "nop", mtsafe = true },
      "did you mean 'mt_safe'?" },
    { given { name = "one", code = "retrun 1" }, "syntax error" },
    { given { name = "one", code = "\27Lua" }, "attempt to load" },
    { given { name = "one", code = "return", values = 3 },
      "option 'values': table expected" },
    { given { name = "one", code = "return", values = { f = print } },
      "option 'values': 'f' is a function" },
    { given { name = "one", code = 3 }, "string expected" },
    { given({ cpu = "0" }, "lcore"), "integer expected" },
    { given({ cpu = -2 }, "lcore"), "out of range" },
    { given({ core = 1 }, "lcore"), "unknown option 'core'" },
  }
  for i, case in ipairs(refused) do
    it(("refuse mistake %d: %s"):format(i, case[2] or case[3]), function ()
      local results = table.pack(pcall(case[1]))
      if case[3] then
        assert.is_true(results[1])
        assert.is_nil(results[2])
        assert.is_string(results[3])
        assert.equal(case[3], results[4])
      else
        assert.is_false(results[1])
        assert.matches(case[2], results[2], 1, true)
      end
    end)
  end

  it("refuse a cycle among the values", function ()
    local cycle = {}
    cycle.cycle = cycle
    assert.error_matches(given { name = "one", code = "return",
      values = cycle }, "20 deep")
  end)

  it("take no self of another kind", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "one", call = "nop" })
    local lcore = set:lcore {}
    local objects = { set, service, lcore, io.stdout, 3, "x", {}, print }
    for _, object in ipairs { set, service, lcore } do
      local methods = getmetatable(object).__index
      for _, method in pairs(methods) do
        for _, other in ipairs(objects) do
          if other ~= object then assert.has_error(function ()
            method(other)
          end) end
        end
      end
    end
    assert.error_matches(function () service:map() end, "cbench.lcore expected")
    assert.error_matches(function () service:component() end,
      "boolean expected")
    assert.error_matches(function () service:quiesce(-1) end, "seconds")
    assert.error_matches(function () service:quiesce(0 / 0) end, "seconds")
    assert.error_matches(function () service:run { serialise = false } end,
      "did you mean 'serialize'?")
  end)

  it("want to be told that a race is meant", function ()
    local set <close> = cbench.services {}
    local service = running(set, { name = "one", call = "nop" })
    assert.same({ true, 0 }, { service:run { serialize = false } })
    local lcore = set:lcore {}
    assert(service:map(lcore))
    assert.equal("EPERM", select(3, service:run { serialize = false }))
    assert.same({ true, 0 },
      { service:run { serialize = false, allow_race = true } })
  end)
end)
