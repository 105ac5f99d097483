-- Pools as objects.
local cbench = require "cbench"

describe("a pool", function ()
  it("counts what it keeps", function ()
    local pool <close> = cbench.pool { "batch_spare", stack_size = 65536 }
    assert.is_true(pool:prefill(10))
    local stats = pool:stats()
    assert.equal(10, stats.new)
    assert.equal(10, stats.idle)
    assert.equal(0, stats.live)
    assert.equal(65536, stats.stack_size)
    assert.equal(10, pool:trim())
    stats = pool:stats()
    assert.equal(stats.new, stats.deleted + stats.live + stats.idle)
    assert.equal(0, stats.idle)
  end)

  it("stays open while coroutines of it live", function ()
    local pool = cbench.pool { "batch_spare", stack_size = 1 << 20 }
    local c = cbench.coroutine.create(function ()
      cbench.coroutine.yield()
    end, { pool = pool })
    c:enter()
    local closed, message, code = pool:close()
    assert.is_nil(closed)
    assert.is_string(message)
    assert.equal("EBUSY", code)
    assert.equal(1, pool:stats().live)
    c:enter()
    assert.equal(0, pool:stats().live)
    assert.is_true(pool:close())
    assert.is_true(pool:close())
    assert.error_matches(function () pool:stats() end, "pool is closed")
    assert.matches("closed", tostring(pool))
  end)

  it("can be measured, and is left as full as it was", function ()
    local pool <close> = cbench.pool { "batch_spare", backend = "ucontext" }
    pool:prefill(5)
    local record = cbench.measure(cbench.workload.lifecycle {
      backend = "ucontext", pool = pool }, { time = 20, rounds = 5 })
    assert.equal("ok", record.status)
    assert.equal(5, pool:stats().idle)
    assert.equal(0, record.counters.new)
  end)

  local refused = {
    { { "batch_spar" }, "did you mean 'batch_spare'?" },
    { { "none", stack_size = 100 }, "out of range [4096, 1073741824]" },
    { { "none", stack_size = 2 ^ 40 }, "out of range [4096, 1073741824]" },
    { { "none", stack_size = 0.5 }, "a whole number of bytes" },
    { { "none", backend = "sam" }, "unknown backend" },
    { { "none", guard = "mprotec" }, "did you mean 'mprotect'?" },
    { { "batch_spare", size = 0 }, "option 'size'" },
    { { "batch_spare", szie = 1 }, "did you mean 'size'?" },
    { 3, "table expected" },
  }
  for _, case in ipairs(refused) do
    it("is refused with " .. case[2], function ()
      local good, message = pcall(cbench.pool, case[1])
      assert.is_false(good)
      assert.matches(case[2], message, 1, true)
      assert.matches("bad argument #1 to 'pool'", message, 1, true)
    end)
  end
end)
