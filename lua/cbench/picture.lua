--- Pictures of results.
--
-- A kind of picture is one file that returns { summary, of = function (part)
-- return list of pictures end } and one line in `kinds`. A picture:
-- { kind, title, note, alternative = the picture in words,
--   on_demand = whether it is shown only to who asks for it,
--   data = { columns, rows } of text, key = { longest, entries } or nil,
--   height = function () return wide, narrow, lines end (without the key),
--   draw = function (canvas) end }.
local import = ...
local frame = import "frame"
local gnuplot = import "gnuplot"
local svg = import "svg"

local picture = {}

local kinds = { "sweep", "ratio", "layers", "latency", "rounds" }

--- All pictures of the results of one scenario.
function picture.of(part)
  local all = {}
  for _, name in ipairs(kinds) do
    local list = import("picture_" .. name).of(part)
    table.move(list, 1, #list, #all + 1, all)
  end
  return all
end

--- Pictures of the first kind that the results give one of.
function picture.first(part)
  for _, name in ipairs(kinds) do
    local found = import("picture_" .. name).of(part)[1]
    if found then return found end
  end
end

local sizes = { wide = 640, narrow = 360 }

-- The height of a picture with its title and key.
local function height_of(one, terminal, width, titled)
  local wide, narrow, lines = one.height()
  local body = terminal == "dumb" and lines or width < 500 and narrow or wide
  local head = frame.head_lines { terminal = terminal, width = width,
    titled = titled, key = one.key }
  return body + math.ceil(head * frame.line_height(terminal))
end

-- Lines of text without what is blank around them.
local function trim(lines)
  return (lines:gsub("[ \f]+\n", "\n"):gsub("^%s*\n", ""):gsub("%s+$", "\n"))
end

local function canvas_of(one, terminal, size, titled)
  local width = sizes[size] or size
  local canvas = gnuplot.canvas(terminal, width,
    height_of(one, terminal, width, titled))
  canvas.titled, canvas.key = titled, one.key
  one.draw(canvas)
  return canvas
end

--- Draws a picture as characters.
-- @param one a picture
-- @param columns of the terminal
-- @return the drawing's text; or nil, a sentence, and true when there is no
-- use in trying another
function picture.text(one, columns)
  local drawn, message, hopeless = gnuplot.draw(canvas_of(one, "dumb", columns,
    true))
  if not drawn then return nil, message, hopeless end
  return trim(drawn)
end

local function elements_of(drawn, canvas, one)
  local elements = svg.elements(drawn)
  if not elements then return nil, "gnuplot drew nothing" end
  return { elements = elements, width = canvas.width, height = canvas.height,
    title = one.title, description = one.alternative }
end

local function draw_each(canvases, list)
  local drawings, messages = {}, {}
  for i, canvas in ipairs(canvases) do
    local drawn, message, hopeless = gnuplot.draw(canvas)
    if drawn then drawn, message = elements_of(drawn, canvas, list[i]) end
    drawings[i] = drawn or false
    if message then messages[#messages + 1] = message end
    if hopeless then break end
  end
  return drawings, messages
end

--- Draws pictures as SVG. One that cannot be drawn does not keep the others
-- from it.
-- @param list of pictures
-- @param size "wide" or "narrow"
-- @param titled whether the titles are part of the drawings
-- @return a list of { elements, width, height, title, description }, false for
-- what could not be drawn, and a list of sentences
function picture.svgs(list, size, titled)
  local canvases = {}
  for i, one in ipairs(list) do
    canvases[i] = canvas_of(one, "svg", size, titled)
  end
  if #list == 0 then return {}, {} end
  local texts, message, hopeless = gnuplot.draw_svgs(canvases)
  if hopeless then return {}, { message } end
  if not texts then return draw_each(canvases, list) end
  local drawings, messages = {}, {}
  for i, text in ipairs(texts) do
    local why
    drawings[i], why = elements_of(text, canvases[i], list[i])
    drawings[i] = drawings[i] or false
    messages[#messages + 1] = why
  end
  return drawings, messages
end

--- Draws pictures one below the other, with their titles.
-- @return the drawing's text; or nil and a sentence
function picture.stack(list, terminal, size)
  local width, whole, heights = sizes[size], 0, {}
  for i, one in ipairs(list) do
    heights[i] = height_of(one, terminal, width, true)
    whole = whole + heights[i]
  end
  local canvas = gnuplot.canvas(terminal, width, whole)
  canvas:add "set multiplot"
  local below = whole
  for i, one in ipairs(list) do
    below = below - heights[i]
    local panel = canvas:panel(heights[i], below)
    panel.titled, panel.key = true, one.key
    one.draw(panel)
  end
  canvas:add "unset multiplot"
  return gnuplot.draw(canvas)
end

return picture
