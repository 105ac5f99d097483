--- Where a script describes something wrongly.
--
-- The usual last line of a script, `return cbench.scenario {...}`, is a tail
-- call, and Lua keeps no line of that. So the script is named, and of its lines
-- the one that returns a scenario, when there is only one.
local blame = {}

-- The number of the line; nil when it is not clear. Only a file that is called
-- one of Lua is opened a second time: anything else may be a pipe.
local function returning_line(path)
  local file = path:find "%.lua$" and io.open(path, "rb")
  if not file then return nil end
  local number, found = 0, nil
  for line in file:lines() do
    number = number + 1
    local code = line:gsub("%-%-.*", "")
    if code:find "%f[%w_]return%f[^%w_].*%f[%w_]scenario%f[^%w_]" then
      if found then
        found = nil
        break
      end
      found = number
    end
  end
  file:close()
  return found
end

-- The script that the program runs.
local function program_script()
  local words = rawget(_G, "arg")
  return type(words) == "table" and words[-1] and words[0] or nil
end

--- Raises the sentence at the line that called whoever calls this.
-- @param message the sentence
-- @param script what is being opened, if not what the program runs
function blame.caller(message, script)
  local caller = debug.getinfo(3, "l")
  script = debug.getinfo(2, "t").istailcall and (script or program_script())
  if not script or caller and caller.currentline > 0 then
    error(message, 3)
  end
  local line = returning_line(script)
  error(("%s:%s %s"):format(script, line and line .. ":" or "", message), 0)
end

return blame
