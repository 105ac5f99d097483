--- One line on a terminal that says what is running and how long it will.
-- It is written between batches only, rarely, and wiped out before anything
-- else is written there.
local _, core = ...

local progress = {}

-- Seconds between two updates.
local INTERVAL = 0.1
local STDERR = 2

local function describe(state)
  local words = {}
  if state.forks and state.forks > 1 then
    words[#words + 1] = ("process %d/%d"):format(state.fork, state.forks)
  end
  if state.round and state.round > 0 then
    words[#words + 1] = ("round %d"):format(state.round)
  elseif state.phase and state.phase ~= "rounds" then
    words[#words + 1] = state.phase
  end
  if state.name then words[#words + 1] = state.name end
  return table.concat(words, "  ")
end

local function time_left(state)
  local left = math.max((state.seconds or 0) - (state.elapsed or 0), 0)
  return ("%.0f s left"):format(math.ceil(left))
end

-- Where there is no room for both, the time left stays whole.
local function fit(what, left, width)
  if #what + 2 + #left <= width then return what .. "  " .. left end
  local room = width - #left - 2
  if room < 1 then return left:sub(1, math.max(width, 1)) end
  return what:sub(1, room) .. "  " .. left
end

--- A function for measure's option `progress` and one that wipes the line;
-- nil twice when stderr is no terminal.
-- @param title what is running
function progress.new(title)
  local columns = core.columns(STDERR)
  if not columns then return nil, function () end end
  local hz, shown, last = core.clock().hz, 0, nil
  local function wipe()
    if shown > 0 then
      io.stderr:write("\r", (" "):rep(shown), "\r")
      shown = 0
    end
  end
  local function update(state)
    local now = core.now()
    if last and (now - last) / hz < INTERVAL then return end
    last = now
    local what = ("%s: %s"):format(title, describe(state))
    local line = fit(what, time_left(state), columns - 1)
    io.stderr:write("\r", line, (" "):rep(math.max(shown - #line, 0)))
    shown = #line
  end
  return update, wipe
end

return progress
