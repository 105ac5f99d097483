-- The reference, doc/api.lua: it has every public function and method, and
-- nothing else; LDoc reads it without a complaint; its examples run.
local cbench = require "cbench"

local source = os.getenv "top_srcdir"
local path = source .. "/doc/api.lua"

-- name = { text =, params =, usage = }
local function read()
  local entries, order, current = {}, {}
  local text, usage
  for line in io.lines(path) do
    local first = line:match "^%-%-%- (.*)"
    local name = line:match "^%-%- @function (%S+)"
    local tag = line:match "^%-%- @(%w+)"
    local more = line:match "^%-%- (.*)"
    if first then
      current, text, usage = nil, first, nil
    elseif name then
      assert(not entries[name], name .. " stands there twice")
      entries[name] = { text = text, returns = 0 }
      current = entries[name]
      order[#order + 1] = name
    elseif tag == "usage" then
      usage = {}
      current.usage = usage
    elseif tag then
      usage = nil
      if tag == "return" then current.returns = current.returns + 1 end
    elseif usage and more then
      usage[#usage + 1] = more
    end
  end
  return entries, order
end

local entries, order = read()

-- Adds the names of the functions in a table.
local function add(names, prefix, fields)
  for key, value in pairs(fields) do
    if type(key) == "string" and type(value) == "function"
        and not key:find "^_" then
      names[prefix .. key] = true
    end
  end
end

local function methods_of(object)
  return debug.getmetatable(object).__index
end

local function public()
  local names = {}
  add(names, "", cbench)
  for key, value in pairs(cbench) do
    if type(value) == "table" then add(names, key .. ".", value) end
  end
  local set <close> = cbench.services {}
  local service = set:register { name = "x", call = "nop" }
  local pool <close> = cbench.pool { "none" }
  local ring <close> = cbench.ring { "spsc" }
  local objects = {
    coroutine = cbench.coroutine.create(print), pool = pool, ring = ring,
    set = set, service = service, lcore = set:lcore(),
    scenario = cbench.scenario "nesting",
  }
  for name, object in pairs(objects) do
    add(names, name .. ":", methods_of(object))
  end
  local results = cbench.measure({ cbench.workload.call {} }, { time = 0.02 })
  assert(results.find)
  names["results:find"] = true
  local pipeline = rawget(cbench.workload, "pipeline")
  if pipeline and type(pipeline {}.layers) == "function" then
    names["pipeline:layers"] = true
  end
  return names
end

describe("the reference", function ()
  local names = public()

  it("has every public function and method", function ()
    local missing = {}
    for name in pairs(names) do
      if not entries[name] then missing[#missing + 1] = name end
    end
    table.sort(missing)
    assert.equal("", table.concat(missing, " "))
  end)

  it("has nothing that is not there", function ()
    local gone = {}
    for _, name in ipairs(order) do
      if not names[name] then gone[#gone + 1] = name end
    end
    assert.equal("", table.concat(gone, " "))
  end)

  it("says something of each", function ()
    for name, entry in pairs(entries) do
      assert.truthy(entry.text and #entry.text > 8, name)
    end
  end)

  it("is read by LDoc without a complaint", function ()
    local probe = io.popen "command -v ldoc"
    local found = probe:read "l"
    probe:close()
    if not found then pending "ldoc is not installed" return end
    local folder = os.tmpname()
    os.remove(folder)
    local run = io.popen(("cd '%s/doc' && ldoc -q -c config.ld -d '%s' api.lua"
      .. " 2>&1"):format(source, folder))
    local said = run:read "a"
    local good = run:close()
    said = said:gsub("reading configuration[^\n]*\n", "")
    assert.equal("", said)
    assert.truthy(good)
    local page = assert(io.open(folder .. "/index.html")):read "a"
    os.execute(("rm -rf '%s'"):format(folder))
    for _, name in ipairs { "measure", "ring:enqueue", "lcore:join" } do
      assert.truthy(page:find(name, 1, true), name)
    end
  end)

  describe("example of", function ()
    for _, name in ipairs(order) do
      local usage = entries[name].usage
      if usage then
        it(name, function ()
          local said = {}
          local stdout = io.stdout
          -- luacheck: push ignore
          io.stdout = { write = function (self) return self end }
          -- luacheck: pop
          local env = setmetatable({
            cbench = cbench,
            print = function (...) said[#said + 1] = tostring((...)) end,
          }, { __index = _G })
          local good, message = pcall(assert(load(table.concat(usage, "\n"),
            "=" .. name, "t", env)))
          io.stdout = stdout -- luacheck: ignore
          assert.truthy(good, message)
        end)
      end
    end
  end)
end)
