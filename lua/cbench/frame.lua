--- What all pictures have in common: axes, grid, lines, bars.
local import = ...
local markup = import "markup"
local palette = import "palette"

local frame = {}

local light = palette.light

-- Pixels that a character takes, so that labels have room in wide fonts too.
local function character(terminal, width)
  if terminal == "dumb" then return 1 end
  return width < 500 and 7 or 7.5
end

--- Pixels that a line of text takes.
function frame.line_height(terminal)
  return terminal == "dumb" and 1 or 20
end

--- The share of the canvas that so many characters take.
function frame.share(canvas, characters)
  return characters * character(canvas.terminal, canvas.width) / canvas.width
end

--- Where the line so far below the picture's upper edge is, as a share of the
-- whole canvas.
function frame.from_top(canvas, lines)
  local height = canvas.height - lines * frame.line_height(canvas.terminal)
  return (canvas.below + height) / canvas.whole
end

-- Entries of a key that have room side by side.
local function key_columns(terminal, width, key)
  local entry = (key.longest + (terminal == "dumb" and 8 or 6.5))
    * character(terminal, width)
  return math.max(1, (width - 10) // entry)
end

--- Lines that a key takes; nil is no key.
-- @param key { longest = characters of an entry, entries = how many }
function frame.key_lines(terminal, width, key)
  if not key then return 0 end
  return math.ceil(key.entries / key_columns(terminal, width, key))
end

--- Lines above the picture itself: title and key, and some room.
function frame.head_lines(canvas)
  return (canvas.titled and 1 or 0)
    + frame.key_lines(canvas.terminal, canvas.width, canvas.key)
    + (canvas.key and canvas.terminal ~= "dumb" and 0.9 or 0.5)
end

-- The key above the picture, from the left edge on.
local function place_key(canvas)
  if not canvas.key then
    canvas:add "set key off"
    return
  end
  local columns = key_columns(canvas.terminal, canvas.width, canvas.key)
  canvas:add("set key at screen %.4f, screen %.4f left top horizontal "
    .. "maxcols %d Left reverse samplen 1.5 spacing %s width 1 "
    .. "textcolor rgb '%s'", frame.share(canvas, 0.5),
    frame.from_top(canvas, canvas.titled and 1.3 or 0.1), columns,
    canvas.terminal == "dumb" and "1" or "1.1", light.ink)
end

--- Axes at the left and below, a quiet grid, room for the title.
-- @param canvas to draw on
-- @param given { title, x, y, log_x, log_y }
function frame.axes(canvas, given)
  canvas:add("set border 3 lc rgb '%s' lw 1", light.faint)
  canvas:add "set tics nomirror scale 0.6"
  canvas:add("set tics textcolor rgb '%s'", light.muted)
  if not canvas:is_text() then
    canvas:add("set grid %s lc rgb '%s' lw 1 lt 1", given.grid or "ytics",
      light.line)
  end
  canvas:add "set pointintervalbox 0"
  canvas:add "set bars 0.6"
  place_key(canvas)
  if canvas.titled and given.title then
    canvas:add("set label 9999 %s at screen %.4f, screen %.4f left front "
      .. "textcolor rgb '%s'", canvas:text(given.title, frame.columns(canvas)),
      frame.share(canvas, 1), frame.from_top(canvas, 0.8), light.ink)
  end
  canvas:add("set tmargin at screen %.4f",
    frame.from_top(canvas, frame.head_lines(canvas)))
  local most = frame.columns(canvas) * 2 // 3
  if given.x then
    canvas:add("set xlabel %s textcolor rgb '%s'", canvas:text(given.x, most),
      light.muted)
  end
  if given.y then
    canvas:add("set ylabel %s textcolor rgb '%s'",
      canvas:text(given.y, canvas:is_narrow() and 30 or 44), light.muted)
  end
  if given.log_x then canvas:add "set logscale x" end
  if given.log_y then canvas:add "set logscale y" end
end

--- How many characters stand side by side in the picture.
function frame.columns(canvas)
  if canvas.terminal == "dumb" then return canvas.width - 4 end
  return canvas.width // 8
end

-- The distance of ticks at round numbers: 1, 2 or 5 times a power of ten.
local function round_step(low, high, most)
  local least = (high - low) / most
  local power = 10 ^ math.floor(math.log(least, 10))
  for _, factor in ipairs { 1, 2, 5 } do
    if factor * power >= least * 0.85 then return factor * power end
  end
  return 10 * power
end

--- Ticks at round numbers, as many as have room.
-- @param axis "x" or "y"
function frame.round_ticks(canvas, axis, low, high, is_log)
  local most = axis == "x" and (canvas:is_narrow() and 4 or 7) or
    canvas:is_narrow() and 6 or 8
  canvas:add("set format %s '%%g'", axis)
  if is_log then
    local decades = math.log(high / low, 10)
    if decades > 1.2 then
      canvas:add("set %stics %g, %g", axis,
        10 ^ math.ceil(math.log(low, 10)), 10 ^ math.ceil(decades / most))
    end
  else
    canvas:add("set %stics %.9g", axis, round_step(low, high, most))
  end
end

--- Ticks of an axis at values: labels are written as they are in tables.
-- gnuplot takes them for formats, the only texts of which it does so.
-- @param axis "x" or "y"
-- @param list of { value, text }
-- @param most characters of a text (40)
function frame.ticks(canvas, axis, list, most)
  canvas:add("set %stics ()", axis)
  for _, tick in ipairs(list) do
    local words = markup.clip(tick[2], most or 40):gsub("%%", "%%%%")
    canvas:add("set %stics add (%s %s)", axis, canvas:text(words, 2 * #words),
      canvas:number(tick[1]))
  end
end

--- A vertical axis for costs: from zero, or logarithmic around them.
function frame.y_range(canvas, low, high, is_log)
  low, high = is_log and low / 1.4 or 0, is_log and high * 1.4 or high * 1.1
  canvas:add("set yrange [%.9g:%.9g]", low, high)
  frame.round_ticks(canvas, "y", low, high, is_log)
end

local dashes = { "1", "(12,5)", "(3,4)", "(12,4,3,4)" }
local symbols = { 7, 5, 9, 13, 6, 4, 8, 12 }

local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

--- How the i-th series is drawn: `lc rgb ... dt ... pt ...`.
function frame.line(canvas, i)
  if canvas:is_text() then return "lt 0" end
  local colour = palette.series[(i - 1) % #palette.series + 1]
  return ("lc rgb '%s' lw 1.6 dt %s"):format(light[colour],
    dashes[(i - 1) // 2 % #dashes + 1])
end

--- Points with or without bars: `with yerrorbars ...`; of characters there are
-- points only.
function frame.points(canvas, i, bars)
  if canvas:is_text() then
    local at = (i - 1) % #letters + 1
    return ("with points pt '%s'"):format(letters:sub(at, at))
  end
  local colour = palette.series[(i - 1) % #palette.series + 1]
  return ("with %s lc rgb '%s' lw 1.2 pt %d ps 0.55"):format(
    bars or "points", light[colour], symbols[(i - 1) % #symbols + 1])
end

--- The colour of that name for gnuplot.
function frame.colour(name)
  return ("rgb '%s'"):format(light[name])
end

return frame
