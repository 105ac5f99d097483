local support = dofile(os.getenv "top_srcdir" .. "/tests/lua/support.lua")

local core = support.core
local encode, decode = core.json_encode, core.json_decode

local function refused(value, sentence)
  local ok, message = pcall(encode, value)
  assert.is_false(ok)
  assert.is_truthy(tostring(message):find(sentence, 1, true), message)
end

describe("JSON", function ()
  it("keeps integers and floats apart and every bit of both", function ()
    local numbers = { 0, -1, math.maxinteger, math.mininteger, 2^53 + 1, 0.1,
                      1e300, 5e-324, -0.0, 1 / 3, 3.0 }
    local back = assert(decode(encode(numbers)))
    for i, number in ipairs(numbers) do
      assert.equal(number, back[i])
      assert.equal(math.type(number), math.type(back[i]))
    end
  end)

  it("writes keys in the wanted order, then by the alphabet", function ()
    local value = { b = 1, a = 2, z = { y = 1, x = 2 }, first = 3 }
    for _ = 1, 20 do
      assert.equal([[{"first":3,"z":{"y":1,"x":2},"a":2,"b":1}]],
        encode(value, { "first", "z", "y" }))
    end
  end)

  it("does not care for the locale", function ()
    local before = os.setlocale(nil)
    for _, name in ipairs { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8" } do
      if os.setlocale(name) then break end
    end
    local text, back = encode { 1.5 }, decode "[2.5]"
    os.setlocale(before)
    assert.equal("[1.5]", text)
    assert.equal(2.5, back[1])
  end)

  it("has null with a reason for what is no number", function ()
    assert.equal([[{"x":null,"x_reason":"not a number"}]],
      encode { x = 0 / 0 })
    assert.equal([[{"x":null,"x_reason":"infinite"}]], encode { x = 1 / 0 })
    assert.equal([[{"x":null,"x_reason":"negative infinite"}]],
      encode { x = -1 / 0 })
    assert.equal("[null]", encode { 0 / 0 })
  end)

  it("tells empty lists from empty objects", function ()
    assert.equal("{}", encode {})
    assert.equal("[]", encode(core.json_array {}))
    assert.equal("[]", encode(assert(decode "[]")))
    assert.equal("{}", encode(assert(decode "{}")))
  end)

  it("keeps places in lists and drops absent fields", function ()
    local back = assert(decode [[{"a":null,"b":[1,null,3]}]])
    assert.is_nil(back.a)
    assert.equal(3, #back.b)
    assert.equal([[{"b":[1,null,3]}]], encode(back))
  end)

  it("is refused without a place in here", function ()
    local document = support.fakes {} "document"
    assert.same({ false, "a function in field f is no JSON" },
      { pcall(document.encode, { f = print }) })
  end)

  it("is UTF-8 whatever it is given", function ()
    assert.equal('"\u{fffd}a\u{fffd}"', encode "\xffa\xc0")
    assert.equal('{"a":{"k\u{fffd}":["\u{fffd}"],"\u{e9}":1}}',
      encode { a = { ["k\xff"] = { "\xfe" }, ["\u{e9}"] = 1 } })
    assert.equal('"\u{20ac}\u{10ffff}"', encode "\u{20ac}\u{10ffff}")
    assert.equal('"\u{fffd}\u{fffd}\u{fffd}"', encode "\xed\xa0\x80")
    assert.equal("a\0b", decode(encode "a\0b"))
  end)

  it("refuses what it cannot say", function ()
    refused({ f = print }, "a function in field f is no JSON")
    refused({ 1, x = 2 }, "a list with holes, or with names too, is no JSON")
    refused({ [1.5] = 1 }, "names and positions")
    refused({ 1, nil, 3 }, "holes")
    refused(io.stdout, "a userdata is no JSON")
    local cycle = {}
    cycle.self = cycle
    refused(cycle, "nested deeper than 100")
    refused({ ["a\xff"] = 1, ["a\xfe"] = 2 },
      "two keys that are 'a\u{fffd}' in UTF-8")
    refused({ ["\x80"] = 1, ["\u{fffd}"] = 2 }, "two keys")
    refused({ ["a\0b"] = 1 }, "zero octet")
  end)

  it("reads nothing but JSON", function ()
    for _, text in ipairs {
      "", " ", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "[1] 2", "nan", "[NaN]",
      "[Infinity]", "[01]", "[1.]", "\"\xff\"", "{\"a\":1,\"a\":2}", "[1e999]",
      "[9223372036854775808]", "// comment\n1", "{\"a\" 1}", "[\"\t\"]",
      ("["):rep(5000), "\"\\ud800\"",
    } do
      local value, message = decode(text)
      assert.is_nil(value, text:sub(1, 20))
      assert.is_truthy(message:find "^line %-?%d+, column %-?%d+: ", message)
    end
  end)

  it("survives any text", function ()
    local seed = os.time()
    math.randomseed(seed)
    local pieces = { "{", "}", "[", "]", ",", ":", "1", "-", ".5", "e9",
                     "\"a\"", "\"", "null", "true", "\\u00", " ", "\xc3" }
    for _ = 1, 3000 do
      local text = {}
      for i = 1, math.random(12) do text[i] = pieces[math.random(#pieces)] end
      local value = decode(table.concat(text))
      if value ~= nil then
        assert(encode(value), "seed " .. seed)
      end
    end
  end)
end)
