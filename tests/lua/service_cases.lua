-- The functional cases of DPDK's service_autotest and service_perf_autotest, by
-- their names, through Lua: what tests/c/test_service.c asks of the library. A
-- callback of a service lcore has a Lua state of its own, so hands are shaken
-- by files: it marks that it is inside, and stays until the gate is there.
local cbench = require "cbench"
local until_true = dofile(os.getenv "top_srcdir" .. "/tests/lua/until_true.lua")

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

local function touch(path)
  assert(io.open(path, "w")):close()
end

-- The first lcore to come in is held; others mark their visit and leave.
local visit = [[
  local function exists(path)
    local file = io.open(path)
    if file then file:close() end
    return file ~= nil
  end
  if exists(base .. ".gate") then return 0 end
  local first = not exists(base .. ".1")
  io.open(base .. (first and ".1" or ".2"), "w"):close()
  while first and not exists(base .. ".gate") do end
  return 0]]

local base

local function register(set, options)
  options.name = options.name or "dummy_service"
  if not (options.call or options.code) then
    options.code, options.values = visit, { base = base }
  end
  local service = assert(set:register(options))
  assert(service:component(true))
  return service
end

local function mapped(set, service)
  local lcore = assert(set:lcore {})
  assert(service:map(lcore))
  return lcore
end

describe("the case", function ()
  local set

  before_each(function ()
    base = os.tmpname()
    set = cbench.services {}
  end)

  after_each(function ()
    touch(base .. ".gate")
    assert.is_true(set:close())
    for _, suffix in ipairs { "", ".1", ".2", ".gate" } do
      os.remove(base .. suffix)
    end
  end)

  it("dummy_register", function ()
    assert.error_matches(function () set:register { name = "no callback" } end,
      "option 'call'")
    local service, _, code = set:register { name = "", call = "nop" }
    assert.is_nil(service)
    assert.equal("EINVAL", code)
    assert.is_truthy(set:register { name = "dummy_service", call = "nop" })
  end)

  it("unregister_all", function ()
    local service = register(set, { call = "nop" })
    assert.is_true(service:unregister())
    assert.error_matches(function () service:unregister() end, "closed")
    assert.matches("0 services", tostring(set))
  end)

  it("service_name", function ()
    assert.matches("dummy_service", tostring(register(set, { call = "nop" })))
  end)

  -- Names find no services here, objects stand for them; but a name is one
  -- service's as long as that is registered.
  it("service_get_by_name", function ()
    local service = register(set, { call = "nop" })
    assert.equal("EEXIST", select(3, set:register { name = "dummy_service",
      call = "nop" }))
    assert.is_true(service:unregister())
    assert.is_truthy(set:register { name = "dummy_service", call = "nop" })
  end)

  it("service_dump", function ()
    register(set, { call = "nop" })
    assert.matches("dummy_service: stats off\tcalls 0\t", set:dump(), 1, true)
    register(set, { name = "counted", call = "nop", stats = "count" })
    assert.matches("counted: stats count\tcalls 0\t", set:dump(), 1, true)
  end)

  it("service_probe_capability", function ()
    local safe = register(set, { call = "nop", mt_safe = true })
    assert(safe:start())
    mapped(set, safe)
    assert.same({ true, 0 }, { safe:run { serialize = false } })
    local unsafe = register(set, { name = "unsafe", call = "nop" })
    assert(unsafe:start())
    mapped(set, unsafe)
    assert.equal("EPERM", select(3, unsafe:run { serialize = false }))
  end)

  it("service_start_stop", function ()
    local service = register(set, { call = "nop" })
    mapped(set, service)
    assert.equal("ENOEXEC", select(3, service:run()))
    assert.is_true(service:stop())
    assert.equal("ENOEXEC", select(3, service:run()))
    assert.is_true(service:start())
    assert.same({ true, 0 }, { service:run() })
    assert.is_true(service:component(false))
    assert.equal("ENOEXEC", select(3, service:run()))
  end)

  it("service_lcore_add_del", function ()
    local lcores = {}
    for i = 1, 3 do
      lcores[i] = assert(set:lcore {})
      assert.equal(i - 1, lcores[i]:stats().number)
    end
    assert.matches("3 lcores", tostring(set))
    assert.is_true(lcores[1]:close())
    assert.is_true(lcores[3]:close())
    assert.matches("1 lcores", tostring(set))
    assert.equal(0, assert(set:lcore {}):stats().number)
    assert.error_matches(function () lcores[3]:start() end, "closed")
  end)

  it("service_lcore_en_dis_able", function ()
    local service = register(set, { call = "nop", stats = "count" })
    assert.error_matches(function () service:map(100000) end, "cbench.lcore")
    assert.error_matches(function () service:unmap(100000) end, "cbench.lcore")
    local lcore = mapped(set, service)
    assert.equal(1, lcore:stats().services)
    assert.is_true(service:map(lcore))
    assert.equal(1, lcore:stats().services)
    assert.is_true(service:unmap(lcore))
    assert.equal(0, lcore:stats().services)
    assert(service:start())
    assert.is_true(lcore:start())
    assert(service:map(lcore))
    until_true(function () return service:stats().calls > 0 end)
  end)

  -- One lcore is held inside; the other passes by until it must have tried.
  local function poll_on_two(mt_safe)
    local service = register(set, { mt_safe = mt_safe })
    local other = register(set, { name = "other", call = "nop",
      mt_safe = true, stats = "count" })
    assert(other:start())
    local first, second = mapped(set, service), mapped(set, service)
    assert(first:start())
    assert(service:start())
    until_true(function () return exists(base .. ".1") end)
    assert(other:map(second))
    assert(second:start())
    local calls = other:stats().calls
    until_true(function ()
      return other:stats().calls > calls + 20
        and (not mt_safe or exists(base .. ".2"))
    end)
    assert.equal(mt_safe, exists(base .. ".2"))
    assert.is_true(service:active())
    touch(base .. ".gate")
    assert(service:stop())
    assert.is_true(service:quiesce())
  end

  it("service_mt_unsafe_poll", function () poll_on_two(false) end)

  it("service_mt_safe_poll", function () poll_on_two(true) end)

  local function becomes_inactive(lcores)
    local service = register(set, {})
    for _ = 2, lcores do set:lcore {} end
    local lcore = mapped(set, service)
    assert(lcore:start())
    assert.is_false(service:active())
    assert(service:start())
    until_true(function () return exists(base .. ".1") end)
    assert.is_true(service:active())
    assert(service:stop())
    assert.is_true(service:active())
    assert.equal("ETIMEDOUT", select(3, service:quiesce(0)))
    touch(base .. ".gate")
    assert.is_true(service:quiesce())
    assert.is_false(service:active())
  end

  it("service_may_be_active", function () becomes_inactive(1) end)

  it("service_active_two_cores", function () becomes_inactive(2) end)

  it("service_attr_get", function ()
    local service = register(set, { stats = "time", mt_safe = true,
      values = { results = { 0, false, false, -2, 5 } },
      code = [[
        turn = (turn or 0) + 1
        return results[(turn - 1) % #results + 1] ]] })
    for _, name in ipairs { "calls", "idle", "errors", "ticks" } do
      assert.equal(0, service:stats()[name])
    end
    local lcore = mapped(set, service)
    assert(service:start())
    assert(lcore:start())
    until_true(function () return service:stats().calls >= 5 end)
    assert(service:unmap(lcore))
    assert(service:stop())
    assert.is_true(service:quiesce())
    -- The chunk of that lcore went through its results from the first on.
    local stats, idle, errors = service:stats(), 0, 0
    for call = 0, stats.calls - 1 do
      local turn = call % 5 + 1
      if turn == 2 or turn == 3 then idle = idle + 1 end
      if turn == 4 or turn == 5 then errors = errors + 1 end
    end
    assert.same({ idle, errors }, { stats.idle, stats.errors })
    assert.is_true(stats.ticks > 0)
    assert.equal(stats.calls, service:stats().calls)
  end)

  it("service_lcore_attr_get", function ()
    local service = register(set, { call = "nop" })
    local lcore = mapped(set, service)
    assert.is_false(lcore:active())
    assert.equal(0, lcore:stats().loops)
    assert(service:start())
    assert(lcore:start())
    until_true(function () return lcore:stats().loops > 0 end)
    assert.is_true(lcore:active())
    assert(service:unmap(lcore))
    assert.is_true(lcore:stop())
    assert.is_true(lcore:join())
    assert.is_false(lcore:active())
    local loops = lcore:stats().loops
    assert.equal(loops, lcore:stats().loops)
  end)

  it("service_lcore_start_stop", function ()
    local service = register(set, { call = "nop", stats = "count" })
    assert(service:start())
    local lcore = mapped(set, service)
    assert.equal("EALREADY", select(3, lcore:stop()))
    assert.is_true(lcore:start())
    assert.equal("EALREADY", select(3, lcore:start()))
    until_true(function () return service:stats().calls > 0 end)
    assert.equal("EBUSY", select(3, lcore:stop()))
    assert.equal("EBUSY", select(3, lcore:close()))
    assert(service:stop())
    assert.is_true(lcore:stop())
    assert.equal("EALREADY", select(3, lcore:stop()))
    assert.is_true(lcore:join())
    local calls = service:stats().calls
    assert.is_false(service:active())
    assert.equal(calls, service:stats().calls)
    assert.is_true(lcore:close())
  end)

  -- A service lcore is held inside; this thread, an application lcore, comes.
  local function late_run(mt_safe)
    local service = register(set, { mt_safe = mt_safe })
    local lcore = mapped(set, service)
    assert(lcore:start())
    assert(service:start())
    until_true(function () return exists(base .. ".1") end)
    return service:run()
  end

  it("service_app_lcore_mt_safe", function ()
    assert.same({ true, 0 }, { late_run(true) })
    assert.is_true(exists(base .. ".2"))
  end)

  it("service_app_lcore_mt_unsafe", function ()
    local good, message, code = late_run(false)
    assert.is_nil(good)
    assert.equal("the service 'dummy_service' is running on another lcore",
      message)
    assert.equal("EBUSY", code)
    assert.is_false(exists(base .. ".2"))
  end)
end)
