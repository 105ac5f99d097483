--- Lines of a file, read in large pieces.
local lines = {}

local piece_size = 1 << 20

--- An iterator over the lines of an open file.
-- @return function that gives each line without its end, its number, and
-- whether the end was there: the last line of a file that was cut has none
function lines.of(file)
  local buffer, at, number, ended = "", 1, 0, false
  return function ()
    while true do
      local stop = buffer:find("\n", at, true)
      if stop then
        local line = buffer:sub(at, stop - 1)
        at, number = stop + 1, number + 1
        return line, number, true
      elseif ended then
        if at > #buffer then return nil end
        local rest = buffer:sub(at)
        at, number = #buffer + 1, number + 1
        return rest, number, false
      end
      local piece = file:read(piece_size)
      if piece then
        buffer, at = buffer:sub(at) .. piece, 1
      else
        ended = true
      end
    end
  end
end

return lines
