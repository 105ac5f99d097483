-- Objects that are closed while something else is at work with them.
local cbench = require "cbench"

local running = dofile(os.getenv "top_srcdir" .. "/tests/lua/running.lua")
local patience = dofile(os.getenv "top_srcdir" .. "/tests/lua/patience.lua")

local function refused_with(code, what, good, message, name)
  assert.is_nil(good)
  assert.matches(what, message, 1, true)
  assert.equal(code, name)
end

describe("what a service uses", function ()
  it("stays open until the service is gone (ring)", function ()
    local ring = cbench.ring { "spsc", size = 8 }
    local set <close> = cbench.services {}
    local service = running(set,
      { name = "one", call = { "ring_consume", ring = ring } })
    ring:enqueue(1)
    refused_with("EBUSY", "uses the ring", ring:close())
    assert.same({ true, 0 }, { service:run() })
    assert.equal(0, ring:count())
    assert.is_true(service:unregister())
    assert.is_true(ring:close())
    assert.is_true(ring:close())
  end)

  -- The function that is its callback has the ring, and the set the function.
  it("is let go when it has unregistered itself", function ()
    local set <close> = cbench.services {}
    local kept = setmetatable({}, { __mode = "k" })
    local function register(fail)
      local ring = cbench.ring { "spsc", size = 8 }
      local service
      service = running(set, { name = "one", call = function ()
        assert(ring:enqueue(1))
        assert(service:unregister())
        if fail then error "after that" end
        return ring:count()
      end })
      kept[ring], kept[service] = true, true
      return service
    end
    assert.same({ true, 1 }, { register(false):run() })
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(kept))
    assert.error_matches(function () register(true):run() end, "after that")
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(kept))
  end)

  it("is let go when its set closes", function ()
    local ring = cbench.ring { "spsc", size = 8 }
    local set = cbench.services {}
    running(set, { name = "one", call = { "ring_consume", ring = ring } })
    refused_with("EBUSY", "uses the ring", ring:close())
    assert.is_true(set:close())
    assert.is_true(ring:close())
  end)

  it("is not used by a service that was refused", function ()
    local ring = cbench.ring { "spsc", size = 8 }
    local set <close> = cbench.services {}
    local call = { "ring_consume", ring = ring }
    assert.has_error(function () set:register { name = "", call = call,
      stats = "nonsense" } end)
    set:register { name = "one", call = "nop" }
    refused_with("EEXIST", "already", set:register { name = "one",
      call = call })
    assert.is_true(ring:close())
  end)
end)

describe("what is being measured", function ()
  local W = cbench.workload

  -- Measures the workload beside a function that does try once, and returns
  -- what that returned.
  local function during(workload, try)
    local got
    local results = cbench.measure({ workload, W.lua { call = function ()
      got = got or table.pack(try())
    end } }, { time = 0.02 * patience })
    for _, row in ipairs(results) do
      assert.not_equal("fail", row.status)
    end
    return table.unpack(got, 1, got.n)
  end

  it("stays open (ring)", function ()
    local ring = cbench.ring { "spsc", size = 8 }
    refused_with("EBUSY", "a measurement uses the ring",
      during(W.ring_pair { ring = ring },
        function () return ring:close() end))
    assert.is_true(ring:enqueue(1))
    assert.is_true(ring:close())
  end)

  it("stays open (pool)", function ()
    local pool = cbench.pool { "batch_spare" }
    refused_with("EBUSY", "a measurement uses the pool",
      during(W.lifecycle { pool = pool },
        function () return pool:close() end))
    assert.is_true(pool:close())
  end)

  it("stays open (service and set)", function ()
    local set = cbench.services {}
    local service = running(set, { name = "one", call = "nop" })
    local workload = W.service_run { service = service }
    refused_with("EBUSY", "a measurement uses the service 'one'",
      during(workload, function () return service:unregister() end))
    refused_with("EBUSY", "a measurement uses the service 'one'",
      during(workload, function () return service:close() end))
    refused_with("EBUSY", "a measurement uses the service 'one'",
      during(workload, function () return set:close() end))
    assert.same({ true, 0 }, { service:run() })
    assert.is_true(service:unregister())
    assert.is_true(set:close())
  end)

  it("can be closed when a measurement was refused", function ()
    local ring = cbench.ring { "spsc", size = 8 }
    assert.has_error(function ()
      cbench.measure({ W.ring_pair { ring = ring },
        W.ring_pair { ring = ring, burst = 100 } }, { time = 0.02 * patience })
    end)
    assert.is_true(ring:close())
    assert.error_matches(function ()
      cbench.measure(W.ring_pair { ring = ring }, { time = 0.02 * patience })
    end, "ring is closed")
  end)
end)

describe("a metamethod that closes the ring it is read for", function ()
  local function list_that_closes(ring)
    return setmetatable({}, { __len = function () return 6 end,
      __index = function (_, i) ring:close() return i end })
  end

  for _, method in ipairs { "enqueue_bulk", "enqueue_burst", "unconsume" } do
    it("is noticed (" .. method .. ")", function ()
      local ring = cbench.ring { "ptr_ring", size = 8 }
      assert.error_matches(function ()
        ring[method](ring, list_that_closes(ring))
      end, "ring is closed")
    end)
  end
end)

-- The finaliser runs wherever something is allocated. Tries again and again,
-- each time on another object, until it has run inside the call and the call
-- has raised message; without one the call need not notice, only live.
describe("a finaliser that closes what a call is at work with", function ()
  local pause, step

  before_each(function ()
    collectgarbage "collect"
    pause = collectgarbage("setpause", 100)
    step = collectgarbage("setstepmul", 1000)
  end)

  after_each(function ()
    collectgarbage("setpause", pause)
    collectgarbage("setstepmul", step)
  end)

  local function try(make, close, call, message)
    local seen = 0
    for _ = 1, 300 do
      local object = make()
      local closed = false
      for _ = 1, 200 do
        setmetatable({}, { __gc = function ()
          if not closed then closed = close(object) end
        end })
        local before = closed
        local good, text = pcall(call, object)
        if not good then
          assert.matches(message or "closed", text, 1, true)
          if not before then seen = seen + 1 end
        end
        if closed then break end
      end
      close(object)
      if seen > 3 then break end
    end
    assert.is_true(not message or seen > 0)
  end

  local function ring_call(name, kind, call)
    it("is noticed (ring:" .. name .. ")", function ()
      try(function ()
        local ring = cbench.ring { kind, size = 64 }
        for i = 1, 32 do ring:enqueue(i) end
        return ring
      end, function (ring) return ring:close() end, call, "ring is closed")
    end)
  end

  ring_call("dequeue_burst", "ptr_ring", function (ring)
    ring:enqueue_burst(ring:dequeue_burst(32))
  end)
  ring_call("dequeue_bulk", "rte", function (ring)
    ring:enqueue_bulk(assert(ring:dequeue_bulk(4)))
  end)
  ring_call("resize", "ptr_ring", function (ring)
    ring:resize(32)
    ring:resize(64)
  end)
  ring_call("unconsume", "ptr_ring", function (ring)
    ring:unconsume { ring:dequeue() }
  end)

  it("is noticed (pool:stats, coroutine.create)", function ()
    local function make()
      return cbench.pool { "none", stack_size = 1 << 20 }
    end
    local function close(pool) return pool:close() end
    try(make, close, function (pool) pool:stats() end)
    try(make, close, function (pool)
      local co = assert(cbench.coroutine.create(function () end,
        { pool = pool }))
      co:close()
    end, "closed")
  end)

  it("is noticed (sets and their services)", function ()
    local function make() return cbench.services {} end
    local function close(set) return set:close() end
    local function attempt(call) try(make, close, call, "closed") end
    attempt(function (set) set:lcore {}:close() end)
    try(make, close, function (set) set:dump() end)
    attempt(function (set)
      set:register { name = "one", call = "nop" }:unregister()
    end)
    attempt(function (set)
      set:register { name = "one", code = "return 1" }:unregister()
    end)
    attempt(function (set)
      local service <close> = running(set, { name = "one",
        call = function () return 1 end })
      service:stats()
      service:run { serialize = true }
    end)
  end)

  it("is noticed (what a description names)", function ()
    local function make() return cbench.ring { "spsc", size = 8 } end
    local function close(ring) return ring:close() end
    local set <close> = cbench.services {}
    try(make, close, function (ring)
      set:register { name = "one", call = { "ring_consume", ring = ring } }
        :unregister()
    end, "ring is closed")
    try(make, close, function (ring)
      cbench.workload.ring_pair { ring = ring }
      local core = debug.getregistry()["cbench.core"]
      local good, message = core.check_workload { kind = "ring_pair",
        params = { ring = ring } }
      if not good then error(message) end
    end, "ring is closed")
  end)
end)
