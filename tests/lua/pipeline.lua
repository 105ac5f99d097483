-- Pipelines from Lua: chains with and without a name, what is refused, layers,
-- latency, and the way to other processes.
local cbench = require "cbench"
local pipeline = cbench.workload.pipeline

local function block(source, more)
  local chain = {
    source, { "ring", burst = 8 }, { "service", lcores = 0, stats = "chain" },
    { "coroutine", backend = "ucontext", depth = 2, bytes = 100 },
    { "device", ticks = 200 }, { "ring", burst = 8 }, { "sink" },
  }
  for key, value in pairs(more or {}) do chain[key] = value end
  return pipeline(chain)
end

local patience = dofile(os.getenv "top_srcdir" .. "/tests/lua/patience.lua")
local quick = { time = 0.05 * patience, rounds = 3 }

local function refused(chain, sentence)
  local ok, message = pcall(function ()
    return cbench.measure(pipeline(chain), quick)
  end)
  assert.is_false(ok)
  assert.is_truthy(message:find(sentence, 1, true), message)
end

describe("a pipeline", function ()
  it("has a chain when nothing is said", function ()
    local result = cbench.measure(pipeline {}, quick)
    assert.equal("ok", result.status, result.reason)
    assert.equal(2, result.threads)
    assert.equal("one item from source to sink", result.op)
  end)

  it("takes stages in their order, or by their name", function ()
    local one = pipeline { { "source", depth = 4.0 }, "sink" }
    local other = pipeline { stages = { { "source", depth = 4 }, { "sink" } } }
    assert.equal("cbench.workload.pipeline{stages=source{depth=4}>sink}",
      tostring(one))
    assert.equal(tostring(one), tostring(other))
    assert.equal("ok", cbench.measure(one, quick).status)
    refused({ { "source" }, stages = { { "source" }, { "sink" } } },
      "option 'stages': given by name and without")
  end)

  it("goes to other processes and into JSON", function ()
    local results = cbench.measure({ block { "source", depth = 8 } },
      { time = 20, forks = 3, rounds = 3 })
    assert.equal("ok", results[1].status, results[1].reason)
    assert.equal(3, results[1].forks)
    local path = os.tmpname()
    cbench.write(results, path, "json")
    local stages = cbench.read(path)[1].params.stages
    os.remove(path)
    assert.equal("coroutine", stages[4].kind)
    assert.equal(2, stages[4].depth)
  end)

  it("is refused with the stage and what it needs", function ()
    refused({ { "source" }, { "ring" } },
      "stage 2 (ring): the chain needs a sink at its end")
    refused({ { "source" }, { "coroutine" }, { "sink" } },
      "stage 2 (coroutine): it needs a back end")
    refused({ { "source", rate = 0 }, { "sink" } },
      "stage 1 (source): option 'rate': 0 is out of range")
    refused({ { "source" }, { "ring", size = 16 }, { "sink" } },
      "stage 2 (ring): a burst of 32 does not fit into 16 elements")
    refused({ { "source" }, { "rings" }, { "sink" } },
      "stage 2 (rings): unknown stage 'rings'")
    refused({ { "source" }, { "ring", brust = 2 }, { "sink" } },
      "stage 2 (ring): unknown option 'brust' of 'ring' (did you mean "
        .. "'burst'?)")
    refused({ { "source" }, { size = 2 }, { "sink" } }, "stage 2: ")
    refused({ stages = {} }, "a list of the family 'stage' is wanted")
    refused({ stages = "source" }, "a list of the family 'stage' is wanted")
    refused({ stages = { { "source" }, { "sink" }, x = 1 } },
      "a list of the family 'stage' is wanted")
  end)

  it("uses a live ring and a live pool, and leaves them as they were",
    function ()
      local ring = cbench.ring { "spsc", size = 64 }
      local pool = cbench.pool { "batch_spare", backend = "ucontext" }
      for i = 1, 5 do ring:enqueue(i) end
      pool:prefill(3)
      local result = cbench.measure(pipeline {
        { "source" }, { "ring", ring = ring },
        { "coroutine", backend = "ucontext", pool = pool }, { "sink" },
      }, quick)
      assert.equal("ok", result.status, result.reason)
      assert.equal(5, ring:count())
      assert.same({ 1, 2, 3, 4, 5 }, (ring:dequeue_burst(5)))
      assert.equal(3, pool:stats().idle)
      pool:close()
    end)
end)

describe("an open loop", function ()
  local function open(options)
    return cbench.measure({ block({ "source", rate = 100000 },
      { name = "open", wait = "pause" }) }, options)[1]
  end

  it("has the percentiles of all processes", function ()
    local result = open { time = 20, forks = 3, rounds = 2 }
    assert.equal("ok", result.status, result.reason)
    local latency = result.latency
    assert.equal("ns", latency.unit)
    assert.is_true(latency.count >= 6)
    assert.is_true(latency.min <= latency.p50 and latency.p50 <= latency.p90
      and latency.p90 <= latency.p99 and latency.p99 <= latency.p999
      and latency.p999 <= latency.max)
    assert.is_number(result.counters.late)
  end)

  it("shows them in its table, its JSON and its picture", function ()
    local results = cbench.measure({ block({ "source", rate = 100000 },
      { name = "open" }) }, quick)
    local text = cbench.format(results)
    assert.is_truthy(text:find "p99.9")
    assert.is_truthy(text:find "latency")
    assert.is_truthy(cbench.format(results, "json"):find '"p999"')
  end)
end)

describe("layers", function ()
  local function names(layers)
    local list = {}
    for i, layer in ipairs(layers) do list[i] = layer.name end
    return list
  end

  it("are the growing parts of the chain", function ()
    assert.same({ "direct", "+ ring", "+ service", "+ statistics",
      "+ coroutine", "+ yield", "+ nesting", "+ stack", "+ device" },
      names(block({ "source" }):layers()))
    assert.same({ "direct", "+ ring" },
      names(pipeline { { "source" }, { "ring" }, { "sink" } }:layers()))
    assert.same({ "direct" }, names(pipeline { "source", "sink" }:layers()))
  end)

  it("end with the open loop of a chain with a rate", function ()
    local layers = block({ "source", rate = 1e5 }):layers()
    assert.equal("open loop", layers[#layers].name)
    assert.is_nil(layers.direct.params.stages[1].rate)
    assert.equal(1e5, layers["open loop"].params.stages[1].rate)
  end)

  it("are measured, with the price of each", function ()
    local layers = block({ "source" }):layers { rates = { 1e6, 2.5e6 } }
    local results = cbench.scenario {
      title = "t", workload = layers, reference = "direct",
      columns = { "name", table.unpack(layers.columns) },
    }:run({}, { forks = 1, rounds = 3, time = 2 })
    assert.equal(9, #results)
    assert.is_nil(results.direct.derived.delta)
    local ring, direct = results["+ ring"], results.direct
    assert.equal(ring.ticks.typical - direct.ticks.typical,
      ring.derived.delta)
    assert.equal(("%.3g %%"):format(ring.ns.typical * 2.5e6 / 1e9 * 100),
      ring.derived["2.5M/s"])
    assert.is_string(ring.derived["max/s per CPU"])
  end)

  it("belong to pipelines only", function ()
    local ok, message = pcall(function ()
      return cbench.workload.call {}:layers()
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find("only a pipeline has layers", 1, true))
  end)
end)
