--- `cbench.pool{ "batch_spare", backend = "asm", size = 64 }`.
local import, core = ...

local check = import "check"

local pool = {}

-- What a pool takes besides the options of its policy.
local own = { backend = "any", stack_size = "integer", colour = "boolean",
  guard = "string" }
local guards = { "auto", "madvise", "mprotect", "none" }

local LEAST, MOST = 4 << 10, 1 << 30

local function check_size(size)
  local whole = math.type(size) and math.tointeger(size)
  if not whole then
    return nil, ("option 'stack_size': a whole number of bytes expected, got "
      .. "%s"):format(math.type(size) and size or type(size))
  end
  if whole < LEAST or whole > MOST then
    return nil, ("option 'stack_size': %d is out of range [%d, %d]"):format(
      whole, LEAST, MOST)
  end
  return whole
end

local function check_guard(guard)
  for _, name in ipairs(guards) do
    if guard == name then return guard end
  end
  return nil, ("option 'guard': '%s' is none of them%s"):format(
    tostring(guard), check.hint(guard, guards))
end

-- Splits a table into the policy with its options, and what is the pool's own.
local function split(given)
  local policy, settings = {}, {}
  for key, value in pairs(given) do
    if own[key] then settings[key] = value else policy[key] = value end
  end
  local message
  if settings.stack_size ~= nil then
    settings.size, message = check_size(settings.stack_size)
    if not settings.size then return nil, message end
  end
  if settings.guard ~= nil then
    settings.guard, message = check_guard(settings.guard)
    if not settings.guard then return nil, message end
  end
  if settings.colour ~= nil and type(settings.colour) ~= "boolean" then
    return nil, "option 'colour': boolean expected, got "
      .. type(settings.colour)
  end
  return policy, settings
end

-- Sentences about misuse come as errors with a position of the C call; the
-- caller adds his own.
local function make(policy, settings)
  local results = table.pack(pcall(core.pool, policy, settings.backend,
    settings))
  if results[1] then return table.unpack(results, 2, results.n) end
  return nil, (tostring(results[2]):gsub("^.-%.lua:%d+: ", "")), "misuse"
end

--- A pool of coroutines.
-- @param given a policy's name, or { "batch_spare", size = 64 }; with backend,
-- stack_size in bytes (4 KiB to 1 GiB), colour and guard
-- @return the pool; or nil, a sentence and the name of the error when the
-- machine refuses
function pool.call(given)
  if given == nil then given = { "batch_spare" } end
  if type(given) == "string" then given = { given } end
  if type(given) ~= "table" then
    error(("bad argument #1 to 'pool' (table expected, got %s)"):format(
      type(given)), 2)
  end
  local policy, settings = split(given)
  if not policy then
    error(("bad argument #1 to 'pool' (%s)"):format(settings), 2)
  end
  if policy[1] == nil then policy[1] = "batch_spare" end
  local made, message, code = make(policy, settings)
  if made then return made end
  if code == "misuse" or code == "EINVAL" then
    error(("bad argument #1 to 'pool' (%s)"):format(message), 2)
  end
  return nil, message, code
end

pool.check_size = check_size
return pool
