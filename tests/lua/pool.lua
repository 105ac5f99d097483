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

  -- With threads that keep some of it until they end.
  local works = {
    { "lifecycle", { threads = 2 } }, { "request", { threads = 1 } },
    { "request", { threads = 3 } }, { "nesting", { depth = 300 } },
    { "pool_pair", { burst = 200, threads = 2 } }, { "pool_handover", {} },
  }
  for _, policy in ipairs(cbench.kinds "pool") do
    it("of " .. policy .. " is left as full as any work found it", function ()
      local pool <close> = cbench.pool { policy }
      pool:prefill(30)
      local idle = pool:stats().idle
      for _, work in ipairs(works) do
        local parameters = { pool = pool }
        for key, value in pairs(work[2]) do parameters[key] = value end
        local record = cbench.measure(cbench.workload[work[1]](parameters),
          { time = 20, rounds = 2 })
        assert.equal("ok", record.status, record.reason)
        local stats = pool:stats()
        assert.equal(idle, stats.idle, policy .. " after " .. work[1])
        assert.equal(stats.new, stats.deleted + stats.live + stats.idle)
      end
    end)
  end

  it("is left as full as several rows together found it", function ()
    local pool <close> = cbench.pool { "batch_spare" }
    pool:prefill(20)
    cbench.measure({
      cbench.workload.request { pool = pool },
      cbench.workload.nesting { pool = pool, depth = 30 },
      cbench.workload.pool_pair { pool = pool, burst = 40 },
    }, { time = 20, rounds = 2 })
    assert.equal(20, pool:stats().idle)
  end)

  it("is refused where a row wants another back end or stack", function ()
    local pool <close> = cbench.pool { "mutex", backend = "ucontext" }
    local function measured(parameters)
      parameters.pool = pool
      return function ()
        return cbench.measure(cbench.workload.request(parameters),
          { rounds = 2 })
      end
    end
    assert.error_matches(measured { backend = "swapcontext" },
      "its coroutines have the back end 'ucontext', not 'swapcontext'", 1, true)
    assert.error_matches(measured { backend = "ucontext", stack_size = 131072 },
      "its coroutines have stacks of 65536 bytes, not 131072", 1, true)
    assert.equal(0, pool:stats().new)
  end)

  it("cannot be measured once it is closed", function ()
    local pool = cbench.pool { "local" }
    pool:close()
    assert.error_matches(function ()
      cbench.measure(cbench.workload.request { pool = pool }, { rounds = 2 })
    end, "pool is closed", 1, true)
  end)

  it("has constants that a scenario can sweep", function ()
    local results = cbench.scenario {
      title = "Constants",
      params = { size = { 64, 200 }, t = { 10, 100 } },
      workload = function (p)
        return cbench.workload.pool_pair {
          burst = 200, pool = { "release", size = p.size, threshold = p.t },
        }
      end,
    }:run({}, { forks = 1, rounds = 3, time = 20 })
    local function new(name) return results[name].counters.new end
    assert.is_true(new "size=64/t=10" > 0.5)
    assert.equal(0, new "size=200/t=10")
    assert.equal("n/a", results["size=64/t=100"].status)
    assert.matches("option 'threshold': 100 must be less than size = 64",
      results["size=64/t=100"].reason, 1, true)
  end)

  local refused = {
    { { "batch_spar" }, "did you mean 'batch_spare'?" },
    { { "none", stack_size = 100 }, "out of range [4096, 1073741824]" },
    { { "none", stack_size = 2 ^ 40 }, "out of range [4096, 1073741824]" },
    { { "none", stack_size = 0.5 }, "a whole number of bytes" },
    { { "none", backend = "sam" }, "unknown backend" },
    { { "none", guard = "mprotec" }, "did you mean 'mprotect'?" },
    { { "batch_spare", size = 0 }, "'size': 0 is out of range [1, 10000000]" },
    { { "mutex", size = -1 }, "'size': -1 is out of range [1, 10000000]" },
    { { "local", size = math.maxinteger }, "is out of range [1, 10000000]" },
    { { "mutex", size = 0.5 }, "option 'size'" },
    { { "release", size = 64 },
      "'threshold': 64 must be less than size = 64, or nothing is ever taken" },
    { { "release_stash", threshold = 500 }, "must be less than size = 128" },
    { { "release_stash", stash = -1 }, "'stash': -1 is out of range" },
    { { "batch", batch = 0 }, "'batch': 0 is out of range [1, 65536]" },
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
