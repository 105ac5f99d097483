-- What help says: nothing is missing, and every example runs as it stands.
local cbench = require "cbench"

local output
local stdout = io.stdout

-- What the function writes through io.stdout and print.
local function printed(f, ...)
  output = {}
  local catcher = setmetatable({}, { __index = {
    write = function (self, ...)
      for _, text in ipairs { ... } do output[#output + 1] = text end
      return self
    end,
  } })
  io.stdout = catcher -- luacheck: ignore
  local ok, message = pcall(f, ...)
  io.stdout = stdout -- luacheck: ignore
  assert(ok, message)
  return table.concat(output)
end

-- Topics stand in the overview, behind their headings.
local function topics()
  local list = {}
  for line in printed(cbench.help):gmatch "\n  ([^\n]+)" do
    for topic in line:gmatch "[%w_/]+" do list[#list + 1] = topic end
  end
  return list
end

-- The chunks below "example:" of a page.
local function examples(page)
  local list, current = {}, nil
  for line in (page .. "\n"):gmatch "([^\n]*)\n" do
    if line == "example:" then
      current = {}
      list[#list + 1] = current
    elseif current and line:find "^  " then
      current[#current + 1] = line
    else
      current = nil
    end
  end
  for i, lines in ipairs(list) do list[i] = table.concat(lines, "\n") end
  return list
end

describe("help", function ()
  it("has a topic for every public field", function ()
    local known = {}
    for _, topic in ipairs(topics()) do known[topic] = true end
    for name in pairs(cbench) do
      if not name:find "^_" then
        assert.truthy(known[name], "no topic for cbench." .. name)
      end
    end
  end)

  it("lists only what has a page", function ()
    local list = topics()
    assert.truthy(#list > 30)
    for _, topic in ipairs(list) do
      local page = printed(cbench.help, topic)
      assert.falsy(page:find "^no help on", topic)
      assert.truthy(page:find "%S", topic)
    end
  end)

  it("fits 100 columns, names aside", function ()
    for _, topic in ipairs(topics()) do
      for line in printed(cbench.help, topic):gmatch "[^\n]+" do
        local text = line:gsub("%b()", "")
        assert.truthy(utf8.len(text) <= 100, topic .. ": " .. line)
      end
    end
  end)

  it("knows functions, workloads and objects by themselves", function ()
    assert.truthy(printed(cbench.help, cbench.measure):find(
      "cbench.measure(", 1, true))
    assert.truthy(printed(cbench.help, cbench.workload.chain):find(
      "chain (workload)", 1, true))
    assert.truthy(printed(cbench.help, cbench.coroutine.create):find(
      "cbench.coroutine.create(", 1, true))
    assert.truthy(printed(cbench.help, print):find "no help on this function")
    assert.truthy(printed(cbench.help, 7):find "no help on this number")
    assert.truthy(printed(cbench.help, {}):find "no help on this table")
  end)

  it("says what a ring's limits mean", function ()
    local text = printed(cbench.help, "ptr_ring")
    for _, limit in ipairs { "forgets", "lazy_free", "late_visible",
                             "zero_allowed" } do
      assert.matches("\n  " .. limit .. " +%l+ +%w+ %l+", text)
    end
  end)

  it("takes names as scripts write them", function ()
    local function same(name, topic)
      assert.equal(printed(cbench.help, topic), printed(cbench.help, name))
    end
    same("cbench.measure", "measure")
    same("cbench.workload.chain", "chain")
    same("cbench.coroutine.create", "coroutine")
    same("ring:enqueue", "ring")
    assert.truthy(printed(cbench.help, "string.rep"):find(
      "no help on 'string.rep'", 1, true))
  end)

  it("suggests the nearest topic", function ()
    assert.truthy(printed(cbench.help, "mesure"):find(
      "did you mean 'measure'", 1, true))
    assert.truthy(printed(cbench.help, "qqqqqq"):find "no help on 'qqqqqq'")
  end)

  describe("example of", function ()
    local measure = cbench.measure
    local quick = setmetatable({
      -- Figures do not matter here.
      measure = function (work, options)
        options = options or {}
        options.time = 0.02
        return measure(work, options)
      end,
    }, { __index = cbench })

    for _, topic in ipairs(topics()) do
      for _, example in ipairs(examples(printed(cbench.help, topic))) do
        -- Those of scenarios are for a shell.
        if not example:find "^  cbench " then
          it(topic, function ()
            local env = setmetatable({
              cbench = quick, print = function () end,
            }, { __index = _G })
            local chunk = assert(load(example, "=" .. topic, "t", env))
            printed(chunk)
          end)
        end
      end
    end
  end)
end)
