-- Rings as objects, on every kind.
local cbench = require "cbench"

-- Kinds that keep what they are given; plug-ins' kinds come along.
local keeping = {}
for _, name in ipairs(cbench.kinds "ring") do
  if not cbench.kinds("ring")[name].limits.forgets then
    keeping[#keeping + 1] = name
  end
end

local function numbers(first, last)
  local list = {}
  for i = first, last do list[#list + 1] = i end
  return list
end

describe("a ring", function ()
  for _, kind in ipairs(keeping) do
    it("is a queue (" .. kind .. ")", function ()
      local ring <close> = cbench.ring { kind, size = 8 }
      local capacity = ring:capacity()
      assert.is_true(capacity == 8 or capacity == 7)
      assert.equal(0, #ring)
      assert.equal(capacity, ring:free_count())
      assert.is_nil(ring:dequeue())
      for i = 1, capacity do assert.is_true(ring:enqueue(i * 11)) end
      assert.is_false(ring:enqueue(1))
      assert.equal(capacity, ring:count())
      assert.equal(capacity, #ring)
      assert.equal(0, ring:free_count())
      for i = 1, capacity do assert.equal(i * 11, ring:dequeue()) end
      assert.is_nil(ring:dequeue())
    end)

    it("moves many or says who can (" .. kind .. ")", function ()
      local ring <close> = cbench.ring { kind, size = 8 }
      local limits = cbench.kinds("ring")[kind].limits
      local capacity = ring:capacity()
      local function try(method, ...)
        if limits[method] then return ring[method](ring, ...) end
        assert.error_matches(function () ring[method](ring, {}) end,
          "cannot .* %(.+ can%)")
      end
      if limits.enqueue_bulk then
        local n, room = try("enqueue_bulk", numbers(1, capacity + 1))
        assert.equal(0, n)
        assert.equal(capacity, room)
        n, room = try("enqueue_bulk", numbers(1, 5))
        assert.equal(5, n)
        assert.equal(capacity - 5, room)
      else
        try("enqueue_bulk")
        for i = 1, 5 do ring:enqueue(i) end
      end
      if limits.dequeue_bulk then
        local list, left = try("dequeue_bulk", 6)
        assert.is_nil(list)
        assert.equal(5, left)
        list, left = try("dequeue_bulk", 2)
        assert.same({ 1, 2 }, list)
        assert.equal(3, left)
      else
        ring:dequeue()
        ring:dequeue()
      end
      if limits.dequeue_burst then
        local list, left = try("dequeue_burst", 100)
        assert.same({ 3, 4, 5 }, list)
        assert.equal(0, left)
        assert.same({}, (try("dequeue_burst", 0)))
      end
      ring:enqueue(9)
      if limits.enqueue_burst then
        local n, room = try("enqueue_burst", numbers(1, 100))
        assert.equal(capacity - 1, n)
        assert.equal(0, room)
      else
        try("enqueue_burst", {})
      end
    end)
  end

  it("keeps every 64-bit integer", function ()
    local ring <close> = cbench.ring "spsc"
    for _, value in ipairs { 0, -1, math.maxinteger, math.mininteger } do
      assert.is_true(ring:enqueue(value))
      assert.equal(value, ring:dequeue())
    end
  end)

  it("refuses 0 where a free slot looks like that", function ()
    for _, kind in ipairs { "ptr_ring", "skb_array", "ff" } do
      local ring <close> = cbench.ring { kind, size = 8 }
      assert.error_matches(function () ring:enqueue(0) end,
        "bad argument #1 to 'enqueue' %(" .. kind .. " cannot hold 0")
      assert.error_matches(function () ring:enqueue_burst { 1, 0 } end,
        "cannot hold 0")
      assert.equal(0, #ring)
    end
  end)

  it("can be resized, and hands out what no longer fits", function ()
    local ring <close> = cbench.ring { "ptr_ring", size = 64 }
    for i = 1, 40 do ring:enqueue(i) end
    assert.same(numbers(17, 40), ring:resize(16))
    assert.equal(16, ring:capacity())
    assert.same(numbers(1, 16), (ring:dequeue_burst(100)))
    assert.same({}, ring:resize(100))
    assert.error_matches(function () ring:resize(0) end,
      "size 0 is out of range")
    assert.error_matches(function () ring:resize(-1) end,
      "size %-1 is out of range %[1, 16777216%]")
    assert.error_matches(function () ring:resize(1 << 40) end,
      "1099511627776 is out of range")
    local spsc <close> = cbench.ring "spsc"
    assert.error_matches(function () spsc:resize(8) end,
      "this spsc ring cannot be resized %(ptr_ring, skb_array can%)")
  end)

  it("takes elements back in front", function ()
    local ring <close> = cbench.ring { "ptr_ring", size = 32 }
    for i = 1, 32 do ring:enqueue(i) end
    local batch = ring:dequeue_burst(20)
    for i = 33, 48 do assert.is_true(ring:enqueue(i)) end
    local back, dropped = ring:unconsume(batch)
    assert.equal(4, back)
    assert.equal(16, #dropped)
    assert.equal(16, dropped[1])
    assert.equal(1, dropped[16])
    assert.same(numbers(17, 48), (ring:dequeue_burst(100)))
  end)

  it("has a mode for each side", function ()
    local both <close> = cbench.ring { "rte", size = 8,
      sync = { producer = "mt", consumer = "st" } }
    assert.equal(7, both:capacity())
    local same <close> = cbench.ring { "rte", size = 8, exact = true,
      sync = { producer = "hts", consumer = "hts" } }
    assert.equal(8, same:capacity())
    local alf <close> = cbench.ring { "alf",
      sync = { producer = "sp", consumer = "mp" } }
    assert.equal(1024, alf:capacity())
    assert.error_matches(function ()
      cbench.ring { "rte", sync = { producer = "mt" } }
    end, "one for producer and one for consumer")
    assert.error_matches(function ()
      cbench.ring { "rte", sync = { producer = "mt", consumer = "xx" } }
    end, "'mt/xx' is none of")
  end)

  it("closes once, twice and at the end of its block", function ()
    local ring = cbench.ring "spsc"
    assert.matches("^cbench%.ring %(spsc, 0 of 1024%)", tostring(ring))
    ring:close()
    ring:close()
    assert.matches("closed", tostring(ring))
    for _, method in ipairs { "enqueue", "dequeue", "enqueue_bulk",
      "dequeue_burst", "count", "free_count", "capacity", "resize" } do
      assert.error_matches(function () ring[method](ring, 1) end,
        "ring is closed")
    end
    assert.error_matches(function () return #ring end, "ring is closed")
    local kept
    do
      local inner <close> = cbench.ring "ff"
      kept = inner
    end
    assert.error_matches(function () kept:count() end, "ring is closed")
  end)

  it("fails a row where there is not always room for a burst", function ()
    local pair = cbench.workload.ring_pair
    local results = cbench.measure({
      pair { ring = { "ptr_ring", size = 32 }, burst = 31 },
      pair { ring = { "ptr_ring", size = 64 }, prefill = 63 },
      pair { ring = { "ptr_ring", size = 64 }, burst = 31 },
    }, { time = 20, rounds = 2 })
    local sentence = "ptr_ring of %d elements had no room for %d more: it "
      .. "frees its slots in batches"
    assert.equal(sentence:format(32, 31), results[1].reason)
    assert.equal(sentence:format(64, 1), results[2].reason)
    assert.equal("ok", results[3].status)
  end)

  it("can be measured, and is left as full as it was", function ()
    local ring <close> = cbench.ring { "vyukov", size = 64 }
    ring:enqueue_bulk { 5, 6, 7 }
    local record = cbench.measure(cbench.workload.ring_pair { ring = ring },
      { time = 20, rounds = 3 })
    assert.equal("ok", record.status)
    assert.same({ 5, 6, 7 }, (ring:dequeue_burst(10)))
  end)

  it("labels a workload with its modes", function ()
    local work = cbench.workload.ring_pair {
      ring = { "rte", sync = { producer = "mt", consumer = "st" } } }
    assert.equal("mt/st", work.params.ring.sync)
  end)

  it("is refused where it cannot do the work", function ()
    local work = cbench.workload
    local closed = cbench.ring "spsc"
    closed:close()
    local open <close> = cbench.ring "spsc"
    for _, case in ipairs {
      { "ring_stream", { ring = "spsc", producers = 2 },
        "spsc: one producer, got 2 (any number: vyukov," },
      { "ring_stream", { producers = 0 }, "0 is out of range [1, 64]" },
      { "ring_stream", { ring = "vyukov", consumers = 65 },
        "65 is out of range [1, 64]" },
      { "ring_pair", { burst = 0 }, "0 is out of range [1, 256]" },
      { "ring_pair", { ring = { "alf", size = 16 }, burst = 32 },
        "alf: a burst of 32 does not fit into 16 elements" },
      { "ring_pair", { prefill = 1024 }, "does not fit into 1024 elements" },
      { "ring_pair", { via = "poniter" }, "did you mean 'pointer'?" },
      { "ring_parallel", { prefill = -2 }, "-2 is out of range" },
      { "ring_parallel", { loops = 0 }, "0 is out of range" },
      { "ring_parallel", { cap = 0 }, "0 is out of range [0.01, 3600]" },
      { "ring_stream", { wait = "never" }, "'never' is none of" },
      { "ring_pingpong", { ring = open }, "a round trip needs two rings" },
      { "ring_pair", { ring = closed }, "closed" },
    } do
      local kind, given, text = table.unpack(case)
      local done, message = pcall(function ()
        cbench.measure(work[kind](given), { time = 0.1, rounds = 1 })
      end)
      assert.is_false(done, text)
      assert.is_truthy(message:find(text, 1, true), message)
    end
  end)

  it("is no longer measured when it was closed meanwhile", function ()
    local ring = cbench.ring "spsc"
    local work = cbench.workload.ring_pair { ring = ring }
    ring:close()
    assert.error_matches(function ()
      cbench.measure(work, { time = 0.1, rounds = 1 })
    end, "closed")
  end)

  local refused = {
    { "spcs", "did you mean 'spsc'?" },
    { "zzzzzz", "there are spsc, ff" },
    { { "spsc", size = 0 }, "0 is out of range [1, 16777216]" },
    { { "spsc", size = 1 << 40 }, "out of range [1, 16777216]" },
    { { "spsc", size = 1.5 }, "not a whole number" },
    { { "spsc", szie = 8 }, "did you mean 'size'?" },
    { { "alf", size = 100 }, "powers of two" },
    { { "rte", size = 100 }, "exact = true takes any size" },
    { { "ptr_ring", wait = "yeild" }, "did you mean 'yield'?" },
    { { "rte", sync = { producer = "mt", consumr = "st" } },
      "option 'sync': unknown side 'consumr' (there are producer, consumer)" },
    { { "rte", sync = { producer = "mt", consumer = "st", both = "hts" } },
      "option 'sync': unknown side 'both'" },
    { { "rte", sync = { producer = "mt" } },
      "one for producer and one for consumer, is wanted" },
    { {}, "the first element names the ring" },
    { 7, "a ring is wanted" },
    { cbench.pool "none", "got cbench.pool" },
    { false, "a ring is wanted" },
  }
  for _, case in ipairs(refused) do
    it("is refused with " .. case[2], function ()
      local good, message = pcall(cbench.ring, case[1])
      assert.is_false(good)
      assert.is_truthy(message:find(case[2], 1, true), message)
      assert.is_truthy(message:find("bad argument #1", 1, true), message)
    end)
  end

  it("takes integers and nothing else", function ()
    local ring <close> = cbench.ring "spsc"
    for _, value in ipairs { 1.5, "7", "x", {}, true } do
      assert.is_false((pcall(ring.enqueue_burst, ring, { value })))
    end
    assert.is_false((pcall(ring.enqueue, ring)))
    assert.is_false((pcall(ring.enqueue, ring, 1.5)))
    assert.is_false((pcall(ring.enqueue, ring, "x")))
    assert.error_matches(function () ring:enqueue_bulk { 1, 2, "x" } end,
      "element 3: integer expected, got string")
    assert.is_false((pcall(ring.dequeue_burst, ring, -1)))
    assert.is_false((pcall(ring.dequeue_burst, ring, 1 << 40)))
    assert.is_false((pcall(ring.enqueue_burst, ring, setmetatable({},
      { __len = function () return 1 << 40 end }))))
    assert.is_false((pcall(ring.enqueue, {}, 1)))
    assert.equal(0, #ring)
  end)
end)
