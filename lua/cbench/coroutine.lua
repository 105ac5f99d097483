--- `cbench.coroutine`: Lua functions in stackful coroutines.
-- Unlike Lua's own, one can yield across any C function on its stack.
local import, core = ...

local check = import "check"
local pool = import "pool"

local coroutine = {}

-- Calls from C to Lua and back can nest 200 deep; that takes this much.
local LEAST = 1 << 20

local types = { backend = "string|table", pool = "string|table|userdata",
  stack_size = "number" }

-- Pools that coroutines without a pool of their own come from, by back end and
-- stack size: made once, kept.
local shared = {}

local function shared_pool(backend, size)
  local key = ("%s/%d"):format(backend or "", size)
  local known = shared[key]
  if known then return known end
  local made, message, code = pool.call { "batch_spare", backend = backend,
    stack_size = size }
  shared[key] = made
  return made, message, code
end

local function stack_size(options)
  local size = options.stack_size or LEAST
  local whole, message = pool.check_size(size)
  if not whole then return nil, message end
  if whole < LEAST then
    return nil, ("option 'stack_size': %d is out of range [%d, %d]: a Lua "
      .. "function needs 1 MiB for calls from C to Lua and back"):format(whole,
      LEAST, 1 << 30)
  end
  return whole
end

-- The pool object that the options mean.
local function pool_of(options)
  local size, message = stack_size(options)
  if not size then return nil, message, "EINVAL" end
  local given = options.pool
  if type(given) == "userdata" then
    if options.backend or options.stack_size then
      local stats = given:stats()
      if options.backend and options.backend ~= stats.backend then
        return nil, ("option 'backend': the pool's is '%s'"):format(
          stats.backend), "EINVAL"
      elseif options.stack_size and options.stack_size ~= stats.stack_size then
        return nil, ("option 'stack_size': the pool's is %d"):format(
          stats.stack_size), "EINVAL"
      end
    end
    return given
  elseif given == nil and type(options.backend) ~= "table" then
    return shared_pool(options.backend, size)
  end
  local asked = {}
  for key, value in pairs(type(given) == "table" and given or { given }) do
    asked[key] = value
  end
  asked.backend = asked.backend or options.backend
  asked.stack_size = asked.stack_size or size
  return pool.call(asked)
end

--- A suspended coroutine that will run f.
-- @param f a function; what `enter` hands over are its arguments
-- @param options backend, pool (a name, a table or an object), stack_size
-- @return an object with enter, entered, status and close; or nil, a sentence
-- and the name of the error when the machine refuses
function coroutine.create(f, options)
  if type(f) ~= "function" then
    error(("bad argument #1 to 'create' (function expected, got %s)"):format(
      type(f)), 2)
  end
  if options ~= nil and type(options) ~= "table" then
    error(("bad argument #2 to 'create' (table expected, got %s)"):format(
      type(options)), 2)
  end
  local wrong = check.fields(options or {}, types, "option")
  if wrong then
    error(("bad argument #2 to 'create' (%s)"):format(wrong), 2)
  end
  local good, from, message, code = pcall(pool_of, options or {})
  if not good then
    message, code = tostring(from):gsub("^.-%.lua:%d+: ", ""), "EINVAL"
    from = nil
    message = message:match "^bad argument #1 to 'pool' %((.*)%)$" or message
  end
  if not from and code == "EINVAL" then
    error(("bad argument #2 to 'create' (%s)"):format(message), 2)
  elseif not from then
    return nil, message, code
  end
  local made = table.pack(pcall(core.coroutine, f, from))
  if not made[1] then
    error(("bad argument #2 to 'create' (%s)"):format(
      (tostring(made[2]):gsub("^.-%.lua:%d+: ", ""))), 2)
  end
  return table.unpack(made, 2, made.n)
end

--- Hands values to whoever entered the running coroutine, and returns what it
-- is entered with next.
coroutine.yield = core.coroutine_yield

--- The running coroutine, or nil outside of one.
coroutine.self = core.coroutine_self

--- Does a coroutine run?
coroutine.in_coroutine = core.coroutine_running

return coroutine
