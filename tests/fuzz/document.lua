-- Files of results with mistakes in them:
-- `cbench tests/fuzz/document.lua READER RESULTS.json [COUNT [SEED]]`.
--
-- Each is the given one with a few changes: octets, numbers, names, cuts,
-- pieces twice. Reading it must give results or a sentence. The result is TAP.
local count = tonumber(arg[3]) or 300
local seed = tonumber(arg[4]) or os.time()
local random = math.random
math.randomseed(seed)
print "1..1"
print(("# seed %d, %d files"):format(seed, count))

local path = os.tmpname()
local read = assert(loadfile(arg[1]))(path)
local original
do
  local file = assert(io.open(arg[2], "rb"))
  original = file:read "a"
  file:close()
end

local values = { "0", "-1", "1e400", "1e308", "9223372036854775807",
  "18446744073709551616", "null", "true", "[]", "{}", '""', '"x"', "[[1]]",
  '{"a":1}', "1.5", "-0.0", '"\\u0000"', '"\xff"', "nan" }

local function pick(list)
  return list[random(#list)]
end

local changes = {
  function (text) -- one octet
    local at = random(#text)
    return text:sub(1, at - 1) .. string.char(random(0, 255)) ..
      text:sub(at + 1)
  end,
  function (text) return text:sub(1, random(#text)) end,
  function (text) -- a piece less
    local at = random(#text)
    return text:sub(1, at) .. text:sub(at + random(200))
  end,
  function (text) -- a piece twice
    local at = random(#text)
    return text:sub(1, at + random(200)) .. text:sub(at)
  end,
  function (text) -- another value for a name
    local at = random(#text)
    local before, rest = text:sub(1, at), text:sub(at + 1)
    return before .. rest:gsub('(:%s*)[^,:%[%]{}]+', function (colon)
      return colon .. pick(values)
    end, 1)
  end,
  function (text) -- another name
    local at = random(#text)
    return text:sub(1, at) .. text:sub(at + 1):gsub('"[%w_]+"(%s*:)',
      '"x"%1', 1)
  end,
}

local failed = {}
for number = 1, count do
  local text = original
  for _ = 1, random(3) do
    text = #text > 0 and pick(changes)(text) or text
  end
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  local good, message = pcall(read)
  if not good and not failed[message] then
    failed[message] = true
    failed[#failed + 1] = ("file %d: %s"):format(number, message)
  end
end
os.remove(path)
for _, message in ipairs(failed) do print("# " .. message) end
print((#failed == 0 and "ok" or "not ok") ..
  " 1 - a broken file is refused in a sentence")
os.exit(#failed == 0, true)
