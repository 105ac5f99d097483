-- Lua functions in stackful coroutines, on every back end.
local cbench = require "cbench"
local co = cbench.coroutine

local backends = {}
for _, name in ipairs(cbench.kinds "backend") do
  if not cbench.kinds("backend")[name].comparison then
    backends[#backends + 1] = name
  end
end

for _, backend in ipairs(backends) do
  local function create(f)
    local made, message, code = co.create(f, { backend = backend })
    -- What the machine cannot do (a shadow stack, say) it says.
    if not made then pending(backend .. ": " .. message .. " " .. code) end
    return assert(made)
  end

  describe("a coroutine on " .. backend, function ()
    it("hands values in and out", function ()
      local c = create(function (a, b)
        local d = co.yield(a + b)
        local e, f = co.yield(d * 2)
        return e, f, "end"
      end)
      assert.equal("suspended", c:status())
      assert.equal(3, c:enter(1, 2))
      assert.equal(20, c:enter(10))
      assert.same({ 7, nil, "end" }, { c:enter(7, nil) })
      assert.equal("dead", c:status())
    end)

    it("nests, 128 deep", function ()
      local function nest(level)
        if level == 0 then return 0 end
        return 1 + create(nest):enter(level - 1)
      end
      assert.equal(128, create(nest):enter(128))
    end)

    it("knows itself, and who is entered", function ()
      local outer, inner
      inner = create(function ()
        assert.equal(inner, co.self())
        assert.is_true(outer:entered() and inner:entered())
        assert.equal("normal", outer:status())
        assert.equal("running", inner:status())
        co.yield()
      end)
      outer = create(function ()
        inner:enter()
        assert.is_false(inner:entered())
        assert.is_true(co.in_coroutine())
      end)
      assert.is_false(outer:entered())
      outer:enter()
      assert.is_false(co.in_coroutine())
      assert.is_nil(co.self())
      inner:enter()
    end)

    it("raises in the enterer what the function raised", function ()
      local c = create(function () error("broken") end)
      assert.has_error(function () c:enter() end)
      local object = {}
      c = create(function () error(object) end)
      local good, raised = pcall(c.enter, c)
      assert.is_false(good)
      assert.equal(object, raised)
      assert.equal("dead", c:status())
    end)

    it("yields across C functions", function ()
      local c = create(function ()
        return (("abc"):gsub(".", function (letter)
          return co.yield(letter)
        end))
      end)
      assert.equal("a", c:enter())
      assert.equal("b", c:enter "x")
      assert.equal("c", c:enter "y")
      assert.equal("xyz", c:enter "z")
    end)

    it("lives beside Lua's own coroutines", function ()
      local c = create(function ()
        local inner = coroutine.wrap(function ()
          coroutine.yield(1)
          coroutine.yield(co.yield "out")
        end)
        local first = inner()
        return first, inner()
      end)
      assert.equal("out", c:enter())
      assert.same({ 1, "in" }, { c:enter "in" })
    end)

    it("has room for the deepest nesting of C calls", function ()
      local deepest = {
        gsub = function (recurse)
          return ("x"):gsub("x", recurse)
        end,
        format = function (recurse)
          return ("%s"):format(setmetatable({}, { __tostring = function ()
            recurse()
            return ""
          end }))
        end,
        sort = function (recurse)
          table.sort({ 1, 2, 3 }, function () recurse() return false end)
        end,
        load = function (recurse)
          local _, why = load(function () recurse() return nil end)
          error(why, 0)
        end,
      }
      for name, call in pairs(deepest) do
        local reached = 0
        local function recurse()
          reached = reached + 1
          call(recurse)
        end
        local good, message = pcall(function () create(recurse):enter() end)
        assert.is_false(good)
        assert.matches("overflow", tostring(message))
        assert.is_true(reached > 50, name .. " " .. reached)
      end
    end)

    it("can be left suspended", function ()
      for _ = 1, 50 do
        local c = create(function () co.yield() end)
        c:enter()
      end
      collectgarbage()
      collectgarbage()
    end)
  end)
end

describe("misuse of coroutines", function ()
  local again = "Co%-routine re%-entered recursively"

  it("is an error that can be caught", function ()
    local c = co.create(function () return 1 end)
    c:enter()
    assert.error_matches(function () c:enter() end, again)
    c = co.create(function () end)
    c:close()
    c:close()
    assert.equal("dead", c:status())
    assert.error_matches(function () c:enter() end, again)
    local self
    self = co.create(function () self:enter() end)
    assert.error_matches(function () self:enter() end, again)
    assert.error_matches(function () co.yield(1) end,
      "Co%-routine is yielding to no one")
    self = co.create(function () self:close() end)
    assert.error_matches(function () self:enter() end, "cannot be closed")
  end)

  it("includes a nest without end", function ()
    -- A sanitizer's runtime holds fewer, or wants more memory for each.
    if (os.getenv "SANITIZE" or "") ~= "" then return end
    local deepest = 0
    local function nest(depth)
      deepest = depth
      local inner <close> = co.create(nest)
      return inner:enter(depth + 1)
    end
    local outer <close> = co.create(nest)
    local good, message = pcall(outer.enter, outer, 1)
    assert.is_false(good)
    assert.matches("stack overflow %(20000 coroutines have entered each other",
      message)
    assert.equal(20000, deepest)
    assert.equal("dead", outer:status())
  end)

  it("includes yielding out of a measurement", function ()
    local c = co.create(function ()
      return cbench.measure(cbench.workload.lua { call = co.yield },
        { time = 20, rounds = 3 })
    end)
    local record = c:enter()
    assert.equal("fail", record.status)
    assert.matches("cannot yield out of a measurement", record.reason)
  end)

  local refused = {
    { { 3 }, "function expected, got number" },
    { { print, 3 }, "table expected, got number" },
    { { print, { stack_size = 65536 } }, "out of range [1048576, 1073741824]" },
    { { print, { stack_size = 1.5e6 + 0.5 } }, "a whole number of bytes" },
    { { print, { backend = "ucontex" } }, "did you mean 'ucontext'?" },
    { { print, { backend = "call" } }, "call" },
    { { print, { bakend = "asm" } }, "did you mean 'backend'?" },
    { { print, { pool = "batch_spar" } }, "did you mean 'batch_spare'?" },
    { { print, { pool = cbench.pool { "none", stack_size = 65536 } } },
      "1 MiB at least" },
  }
  for _, case in ipairs(refused) do
    it("is refused with " .. case[2], function ()
      local good, message = pcall(co.create, table.unpack(case[1]))
      assert.is_false(good)
      assert.matches(case[2], message, 1, true)
    end)
  end

  it("may be entered and yield inside of a measured function", function ()
    local record = cbench.measure(cbench.workload.lua { call = function ()
      local leaving <close> = cbench.coroutine.create(function ()
        cbench.coroutine.yield()
      end)
      leaving:enter()
    end }, { time = 20, rounds = 2 })
    assert.equal("ok", record.status, record.reason)
  end)

  it("cannot yield out of a service's callback", function ()
    local set <close> = cbench.services {}
    local service = set:register { name = "leaver", call = function ()
      cbench.coroutine.yield()
    end }
    service:component(true)
    service:start()
    local leaving <close> = cbench.coroutine.create(function ()
      service:run()
    end)
    local good, message = pcall(leaving.enter, leaving)
    assert.is_false(good)
    assert.matches("cannot yield out of a service's callback", message)
  end)

  it("may describe Lua work and be gone before it is collected", function ()
    for _ = 1, 50 do
      coroutine.wrap(function ()
        return cbench.workload.lua { call = function () end }
      end)()
    end
    collectgarbage()
    collectgarbage()
  end)
end)
