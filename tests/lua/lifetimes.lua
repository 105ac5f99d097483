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
