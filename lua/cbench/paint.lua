--- Colour for a table on a terminal: its title, what failed, what warns.
local _, core = ...

local STDOUT = 1
local bold, red, yellow, plain = "\27[1m", "\27[31m", "\27[33m", "\27[0m"

local function wanted(when)
  if when == "always" then return true end
  local no_color = os.getenv "NO_COLOR"
  local terminal = os.getenv "TERM" or "dumb"
  return when ~= "never" and (not no_color or no_color == "") and
    terminal ~= "dumb" and terminal ~= "" and core.columns(STDOUT) ~= nil
end

local function paint_line(line)
  if line:find "^note:" or line:find "^noise: noisy" or
      line:find "^noise: void" then
    return yellow .. line .. plain
  end
  return (line:gsub("%f[%w]FAIL%f[%W]", red .. "%0" .. plain))
end

--- The text with colours, if they are wanted.
-- @param when "always", "never", or nil to look at terminal and environment
return function (text, when)
  if not wanted(when) then return text end
  local first = true
  return (text:gsub("[^\n]+", function (line)
    if first then
      first = false
      return bold .. line .. plain
    end
    return paint_line(line)
  end))
end
