-- Calls the whole Lua interface at random:
-- `cbench tests/fuzz/interface.lua [CALLS [SEED [trace]]]`.
--
-- Every function of the module and every method and metamethod of its objects
-- is called with values from a pool of likely and unlikely ones, in any order,
-- also on objects that are closed, from inside coroutines (of both sorts), and
-- from inside callbacks. What is looked for: a crash, a leak (with a build
-- that is sanitized), a call that never returns, a Lua error that is no
-- sentence about the caller's mistake but one of cbench's own, such as
-- "attempt to index a nil value".
--
-- The seed is printed; the same number of calls with the same seed repeats a
-- run as far as threads allow. With `trace` each call is written to stderr
-- before it is made. The result is TAP.
local cbench = require "cbench"

local calls = tonumber(arg[1]) or 1000
local seed = tonumber(arg[2]) or os.time()
local trace = arg[3] == "trace"
local out, real_stdout = io.stdout, io.stdout
local random = math.random

out:setvbuf "line"
out:write("1..1\n# seed ", seed, ", ", calls, " calls\n")
math.randomseed(seed)

-- What help and tables print is not looked at.
local null = assert(io.open("/dev/null", "w"))
io.stdout = null -- luacheck: ignore
io.output(null)
print = function () end -- luacheck: ignore
warn(trace and "@on" or "@off")

-- Files that calls write lie in a folder of their own.
local folder
do
  local pipe = assert(io.popen "mktemp -d")
  folder = pipe:read "l"
  pipe:close()
end

local function pick(list)
  return list[random(#list)]
end

-- ---- values

local MARK = "raised on purpose"
local live = {} -- objects, open and closed
local LIVE_MAX = 24
local depth = 0 -- of calls inside of callbacks
local any, call_something

local integers = { 0, 1, 2, 3, 7, 8, 64, 100, 255, 256, 1000, -1, -2,
  65536, 1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 32, 1 << 53,
  math.maxinteger, math.mininteger }
local floats = { 0.0, -0.0, 0.5, 1.0, 2.0, 1.5, 1e-300, 1e300, -1e300,
  math.huge, -math.huge, 0 / 0, 2.0 ^ 53, 2.0 ^ 63 }
local strings = { "", "a", "%s%n", "x=1", "\0", "a\0b", ("x"):rep(300),
  "\xff\xfe", "-1", "0x10", "1e400", "nan", "asm", "spsc", "mt", "st", "spin",
  "nop", "table", "json", "csv", "same", "yield", "burst", "0-3", "1,2",
  "0-99999999999", "none", "all", "[1", "%d", "name", "size", "1", "ticks",
  "params", "typical" }

local families = { "backend", "pool", "ring", "lock", "workload", "call" }
local kinds = {}
for _, family in ipairs(families) do kinds[family] = cbench.kinds(family) end

local function broken_table()
  return setmetatable({}, pick {
    { __index = function () error(MARK) end },
    { __newindex = function () error(MARK) end },
    { __pairs = function () error(MARK) end },
    { __len = function () return pick { -1, 1 << 40, 2.5, 3 } end },
    { __len = function () error(MARK) end },
    { __tostring = function () return 7 end },
    { __tostring = function () error(MARK) end },
    { __name = "cbench.ring" }, { __name = 7 },
    { __metatable = "locked" },
    { __eq = function () error(MARK) end, __lt = function () error(MARK) end },
    { __call = function () return pick(integers) end },
  })
end

local function callback()
  return function (...)
    local what = random(10)
    if what == 1 then error(MARK) end
    if what == 2 then error { MARK } end
    if what == 3 and depth < 3 then return call_something() end
    if what == 4 then return pcall(cbench.coroutine.yield, ...) end
    if what == 5 and coroutine.isyieldable() then
      return coroutine.yield(...)
    end
    if what == 6 then return any(1) end
    if what == 7 then return cbench.workload.chain { adds = 1 } end
    if what == 8 then collectgarbage() end
    return ...
  end
end

local function small()
  return random(0, 16)
end

-- A value for an option of a kind: most fit, and are small, so that what they
-- ask for does not take long.
local function fitting(option)
  if option.type == "integer" or option.type == "number" then
    local low = math.max(option.min, -8)
    return math.tointeger(math.min(option.max, low + small()))
  elseif option.type == "boolean" then
    return random(2) == 1
  elseif option.type == "choice" then
    return pick(option.choices)
  elseif option.type == "kind" then
    local list = kinds[option.family]
    if not list or #list == 0 then return "live" end
    return pick { pick(list), pick(list), pick(live) or "none" }
  end
  return pick(strings)
end

-- { "spsc", size = 8 }, or what a workload takes, with a flaw here and there.
local function kind_table(family, named, level)
  local list = kinds[family]
  local name = pick(list)
  local given = {}
  if named then given[1] = name end
  for _, option in ipairs(list[name].parameters) do
    if random(3) == 1 then given[option.name] = fitting(option) end
    if random(40) == 1 then given[option.name] = any(level + 1) end
  end
  if random(30) == 1 then given[pick(strings)] = any(level + 1) end
  return given, name
end

local function adjust_workload(name, given)
  -- A compiler for each call would be slow.
  if name == "c" then given.threads = 0 end
  for _, key in ipairs { "threads", "producers", "consumers", "contenders" } do
    local value = given[key]
    if math.type(value) and value > 3 and value <= 1024 then
      given[key] = random(1, 3)
    end
  end
  return given
end

local function descriptor(level)
  local given, name = kind_table("workload", false, level)
  if name == "lua" then given = { call = pick { callback(), "x = 1" } } end
  local good, made = pcall(cbench.workload[name],
    adjust_workload(name, given))
  return good and made or nil
end

local function plain_table(level)
  local made = {}
  for _ = 1, random(0, 4) do
    local key = pick { random(1, 4), pick(strings), random(1, 2) }
    made[key] = any(level + 1)
  end
  if random(8) == 1 then made.self = made end
  return made
end

-- Options of measure and of scenario:run: cheap ones, whatever else they are.
local function measure_options(level)
  local made = plain_table(level)
  for _, key in ipairs { "seed", "threads", "cpus", "place", "min_effect",
      "reference", "forks" } do
    if random(8) == 1 then made[key] = any(level + 1) end
  end
  made.rounds, made.forks = 1, made.forks and random(0, 1) or nil
  made.time = random(20) == 1 and pick(floats) or 0.001
  if math.type(made.time) and made.time > 1 then made.time = 0.002 end
  return made
end

local function scenario_table(level)
  local made = {
    title = "T", params = { adds = { 1, random(2, 9) } },
    workload = cbench.workload.chain,
  }
  for _, key in ipairs { "title", "about", "params", "workload", "where",
      "reference", "columns", "across", "reading", "formats", "setup",
      "teardown", "fit", "limit", "name", "min_effect" } do
    if random(12) == 1 then made[key] = any(level + 1) end
  end
  -- Many lists of many values are many rows, which take their time.
  if type(made.params) == "table" then
    made.params = { adds = { 1, random(2, 9) },
      [pick(strings)] = any(level + 1) }
  end
  return made
end

--- Any value at all.
function any(level)
  level = level or 0
  local what = random(level > 2 and 8 or 16)
  if what == 1 then return nil end
  if what == 2 then return random(2) == 1 end
  if what == 3 then return pick(integers) end
  if what == 4 then return pick(floats) end
  if what <= 6 then return pick(strings) end
  if what == 7 then return small() end
  if what == 8 then return pick(live) end
  if what == 9 then return callback() end
  if what == 10 then return broken_table() end
  if what == 11 then return plain_table(level) end
  if what == 12 then return (kind_table(pick(families), true, level)) end
  if what == 13 then return descriptor(level) end
  if what == 14 then
    return pick { null, coroutine.create(callback()), cbench, _G }
  end
  if what == 15 then return measure_options(level) end
  local list = {}
  for i = 1, random(0, 20) do list[i] = random(-2, 100) end
  return list
end

-- ---- what is called

local function keep(value)
  if type(value) ~= "userdata" and type(value) ~= "table" then return end
  local meta = debug.getmetatable(value)
  if not meta or value == null then return end
  -- Descriptors and lists of kinds are many and have no methods.
  if type(value) == "table" and type(meta.__index) ~= "table" and
      random(20) > 1 then
    return
  end
  if #live < LIVE_MAX then
    live[#live + 1] = value
  else
    local index = random(LIVE_MAX)
    local old = live[index]
    live[index] = value
    -- Some are closed, others are left to the collector.
    if type(old) == "userdata" and random(2) == 1 and old.close then
      pcall(old.close, old)
    end
  end
end

local function path()
  return folder .. "/" .. pick { "a", "b", "c.json", "none/d", "%h" }
end

-- Arguments of functions for which any would mostly be refused, or which
-- would do too much.
local makers = {
  ring = function () return kind_table("ring", true, 0) end,
  pool = function () return kind_table("pool", true, 0) end,
  services = function ()
    return { lock = random(3) == 1 and pick(kinds.lock) or nil,
      order = random(3) == 1 and pick { "acqrel", "seqcst", "fence" } or nil }
  end,
  ["coroutine.create"] = function ()
    return callback(), random(2) == 1 and {
      backend = random(3) == 1 and pick(kinds.backend) or nil,
      pool = random(4) == 1 and pick(live) or nil } or nil
  end,
  measure = function ()
    local work = descriptor(0)
    if random(3) > 1 then work = { work, descriptor(0) } end
    return work, measure_options(0)
  end,
  scenario = function () return scenario_table(0) end,
  kinds = function () return pick(families) end,
  help = function () return pick { pick(strings), pick(live) } end,
  write = function () return pick(live), path(), pick { "json", "csv" } end,
  read = function () return path() end,
  load = function () return path(), pick { "p", nil } end,
  compare = function () return pick(live), pick(live) end,
  format = function () return pick(live), pick { "table", "json", "csv",
    "markdown", "gobench", "bmf", "jsonl", "mail" } end,
  enter = function () return any(), any() end,
  enqueue = function () return random(0, 5) end,
  enqueue_bulk = function () return { random(9), random(9), random(9) } end,
  enqueue_burst = function () return { random(9), random(9), random(9) } end,
  unconsume = function () return { random(9), random(9) } end,
  dequeue_bulk = small, dequeue_burst = small, resize = small,
  prefill = small, trim = small, quiesce = function () return 0.001 end,
  register = function ()
    return { name = "s" .. random(9), call = pick { "nop", "again", "fail",
        callback(), { "touch", bytes = 64 }, any(1) },
      mt_safe = random(2) == 1, stats = pick { "off", "count", "time", nil } }
  end,
  lcore = function () return { cpu = pick { nil, 0, "anywhere" } } end,
  map = function () return pick(live) end,
  unmap = function () return pick(live) end,
  component = function () return random(2) == 1 end,
  run = function ()
    if random(2) == 1 then return { allow_race = true } end
    return {}, measure_options(0)
  end,
  find = function () return { adds = 1 } end,
}

-- Numbers that are no mistake but would take for ever.
local bounded = { prefill = true, quiesce = true, join = true, resize = true,
  ring = true }

local function bound(name, arguments)
  if name == "measure" or name == "run" then
    local at = name == "run" and 3 or 2
    local options = arguments[at]
    if name == "run" and type(arguments[1]) == "userdata" then return end
    -- Raw, since the table may be one whose metamethods raise.
    if type(options) ~= "table" or rawget(options, "rounds") ~= 1 then
      arguments[at] = measure_options(1)
      arguments.n = math.max(arguments.n, at)
    end
  end
  if name == "load" or name == "write" or name == "read" then
    for i = 1, arguments.n do
      if type(arguments[i]) == "string" and #arguments[i] > 2 then
        arguments[i] = path()
      end
    end
  end
  if not bounded[name] then return end
  for i = 1, arguments.n do
    local value = arguments[i]
    if math.type(value) and value > 1000 and value < 1e9 then
      arguments[i] = small()
    end
  end
end

local function arguments_for(name, object)
  local made
  local maker = makers[name] or makers[name:match "[^.]*$"]
  if maker and random(4) > 1 then
    made = table.pack(maker())
  else
    made = { n = random(0, 4) }
    for i = 1, made.n do made[i] = any() end
  end
  if object ~= nil then
    table.insert(made, 1, object)
    made.n = made.n + 1
  end
  bound(name, made)
  return made
end

local functions, constructors = {}, {}
local function gather(prefix, fields)
  for key, value in pairs(fields) do
    if type(value) == "function" then
      local list = functions
      if prefix == "workload." then list = constructors end
      list[#list + 1] = { prefix .. key, value }
    elseif type(value) == "table" and prefix == "" then
      gather(key .. ".", value)
    end
  end
end
gather("", cbench)
for _, list in ipairs { functions, constructors } do
  table.sort(list, function (a, b) return a[1] < b[1] end)
end
-- Those that take longer come more rarely.
local slow = { measure = true, compare = true, read = true, write = true,
  scenario = true, help = true, machine = true, load = true }

local metamethods = { "__tostring", "__len", "__gc", "__close", "__concat" }

-- Those of tables are written in Lua, and reached by what they are for only.
local operators = {
  __tostring = tostring,
  __len = function (object) return #object end,
  __concat = function (a, b) return a .. b end,
}

local function method_of(object)
  local meta = debug.getmetatable(object)
  if not meta then return end
  if random(12) == 1 then
    local name = pick(metamethods)
    local method = rawget(meta, name)
    if type(object) == "table" then method = method and operators[name] end
    if type(method) == "function" then return name, method end
    return
  end
  local methods = rawget(meta, "__index")
  if type(methods) ~= "table" then return end
  local names = {}
  for name, method in next, methods do
    if type(name) == "string" and type(method) == "function" then
      names[#names + 1] = name
    end
  end
  if #names == 0 then return end
  table.sort(names)
  local name = pick(names)
  if (name == "close" or name == "unregister") and random(4) > 1 then
    name = pick(names)
  end
  return name, methods[name]
end

-- ---- calling

local made, refused, suspect = 0, 0, {}
local seen = {}

local function spell(value)
  local good, text = pcall(tostring, value)
  return good and text:sub(1, 60) or "?"
end

local function write_trace(name, arguments)
  local words = {}
  for i = 1, arguments.n do words[i] = spell(arguments[i]) end
  io.stderr:write(made, " ", ("  "):rep(depth), name, "(",
    table.concat(words, ", "), ")\n")
end

-- A mistake of ours rather than a sentence about the caller's.
local function judge(name, message)
  if type(message) ~= "string" then return end
  if message:find(MARK, 1, true) then return end
  if message:find "cbench/[%w_]+%.lua:%d+: attempt to " or
      message:find "cbench/[%w_]+%.lua:%d+: bad argument" or
      message:find "cbench/[%w_]+%.lua:%d+: invalid " or
      message:find "cbench/[%w_]+%.lua:%d+: assertion" then
    local key = message:match "cbench/[%w_]+%.lua:%d+"
    if not seen[key] then
      seen[key] = true
      suspect[#suspect + 1] = ("call %d, %s: %s"):format(made, name, message)
    end
  end
end

local function attempt(name, f, object)
  local arguments = arguments_for(name, object)
  made = made + 1
  if trace then write_trace(name, arguments) end
  local begun = os.time()
  depth = depth + 1
  local results = table.pack(xpcall(f, function (message)
    return type(message) == "string" and message or spell(message)
  end, table.unpack(arguments, 1, arguments.n)))
  depth = depth - 1
  if trace and os.time() - begun > 2 then
    io.stderr:write("slow: ", name, " ", os.time() - begun, " s\n")
  end
  if results[1] then
    for i = 2, results.n do keep(results[i]) end
    return table.unpack(results, 2, results.n)
  end
  refused = refused + 1
  judge(name, results[2])
end

function call_something()
  if #live > 0 and random(3) > 1 then
    local object = pick(live)
    local name, method = method_of(object)
    if name then
      if (name == "run" or name == "rows") and type(object) == "table" and
          random(20) > 1 then
        return
      end
      -- Sometimes the method gets another object than its own.
      if random(30) == 1 and type(object) == "userdata" then
        object = any()
      end
      return attempt(name, method, object)
    end
  end
  local entry = pick(random(5) == 1 and constructors or functions)
  local name = entry[1]
  if slow[name] and random(name == "measure" and 20 or 6) > 1 then return end
  return attempt(name, entry[2])
end

local function inside_lua_coroutine()
  local co = coroutine.wrap(function ()
    for _ = 1, 3 do call_something() end
  end)
  for _ = 1, 2 do
    if not pcall(co) then break end
  end
end

local function inside_coroutine()
  local good, co = pcall(cbench.coroutine.create, function ()
    for _ = 1, 3 do call_something() end
    cbench.coroutine.yield()
    for _ = 1, 3 do call_something() end
  end)
  if not good or not co then return end
  pcall(co.enter, co)
  if random(3) > 1 then pcall(co.enter, co) end
  if random(3) > 1 then pcall(co.close, co) end
  if random(3) == 1 then keep(co) end
end

while made < calls do
  depth = 0 -- a coroutine that is dropped does not come back from its calls
  local way = random(12)
  if way == 1 then
    inside_lua_coroutine()
  elseif way == 2 then
    inside_coroutine()
  else
    call_something()
  end
end

for _, object in ipairs(live) do
  if type(object) == "userdata" and object.close then
    pcall(object.close, object)
  end
end
live = {}
collectgarbage()
collectgarbage()
os.execute("rm -rf '" .. folder .. "'")
io.stdout = real_stdout -- luacheck: ignore
out:write("# ", made, " calls, ", refused, " refused\n")
for _, text in ipairs(suspect) do out:write("# ", text, "\n") end
out:write(#suspect == 0 and "ok" or "not ok", " 1 - ",
  "every call is done or refused in a sentence\n")
os.exit(#suspect == 0, true)
