-- What there is to choose from, and what a wrong choice is answered.
local cbench = require "cbench"

describe("kinds", function ()
  it("lists names in table order with their summaries", function ()
    local workloads = cbench.kinds "workload"
    assert.is_true(#workloads > 0)
    for _, name in ipairs(workloads) do
      assert.is_string(workloads[name].summary)
      for _, option in ipairs(workloads[name].parameters) do
        assert.is_string(option.help, name .. " " .. option.name)
      end
    end
  end)

  it("tells a parameter of a kind, where there is one", function ()
    assert.equal("pause", cbench.kinds("ring", "rte", "wait").preset)
    assert.is_nil(cbench.kinds("ring", "spsc", "wait"))
    assert.is_nil(cbench.kinds("ring", "no such", "wait"))
    assert.is_nil(cbench.kinds("ring", "rte", "no such"))
    assert.is_nil(cbench.kinds("ring", 1, "wait"))
  end)

  it("names the families when one is unknown", function ()
    local good, message = pcall(cbench.kinds, "rign")
    assert.is_false(good)
    assert.matches("unknown family 'rign'", message, 1, true)
    assert.matches("workload", message, 1, true)
  end)
end)

describe("descriptors", function ()
  it("of a Lua function take exactly one of call, loop and code", function ()
    assert.has_no.errors(function () cbench.workload.lua { call = print } end)
    assert.has_error(function () cbench.workload.lua {} end)
    assert.has_error(function ()
      cbench.workload.lua { call = print, loop = print }
    end)
  end)

  local refused = {
    { { call = 3 }, "option 'call': function expected, got number" },
    { { code = "x=" }, "code:1:" },
    { { cal = print }, "unknown option 'cal'" },
    { { code = "", cpus = "0-q" }, "option 'cpus'" },
    { { code = "", cpus = { -1 } }, "option 'cpus'" },
    { { code = "", place = "near" }, "'near' is none of same, smt, cache" },
    { { code = "", name = 7 }, "option 'name': string expected" },
    { { print }, "parameters are named" },
  }
  for _, case in ipairs(refused) do
    it("refuse with " .. case[2], function ()
      local good, message = pcall(cbench.workload.lua, case[1])
      assert.is_false(good)
      assert.matches(case[2], message, 1, true)
      assert.matches("bad argument #1 to 'lua'", message, 1, true)
    end)
  end

  it("show what was written", function ()
    assert.equal("cbench.workload.lua{call=function}",
      tostring(cbench.workload.lua { call = print }))
  end)
end)
