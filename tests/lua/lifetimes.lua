-- Objects that are closed while something else is at work with them.
local cbench = require "cbench"

local function running(set, options)
  local service = assert(set:register(options))
  assert(service:component(true))
  assert(service:start())
  return service
end

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
    end } }, { time = 0.02 })
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
        W.ring_pair { ring = ring, burst = 100 } }, { time = 0.02 })
    end)
    assert.is_true(ring:close())
    assert.error_matches(function ()
      cbench.measure(W.ring_pair { ring = ring }, { time = 0.02 })
    end, "ring is closed")
  end)
end)
