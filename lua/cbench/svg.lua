--- gnuplot's SVG made fit for a page.
--
-- Taken are paths, polygons, points and texts; nothing else gets through, and
-- every attribute is written anew. Colours become variables, so that one
-- picture serves light and dark. Points are gathered into paths: a round costs
-- nine octets instead of ninety.
local import = ...
local markup = import "markup"
local palette = import "palette"

local svg = {}

-- ---- numbers and colours

-- One decimal is a tenth of a pixel.
local function short(x)
  local text = ("%.1f"):format(x)
  return text:byte(-1) == 48 and text:sub(1, -3) or text
end

local function shorten(numbers)
  return (numbers:gsub("%-?%d+%.%d+", function (x)
    return short(tonumber(x))
  end))
end

local function path_data(d)
  if d:find "[^MLmlhvzZ%d%s,.%-]" then return nil end
  d = shorten(d):gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")
  return (d:gsub(" ?([MLZz]) ?", "%1"))
end

local function colour_of(text)
  if not text or text == "none" then return nil end
  local r, g, b = text:match "rgb%(%s*(%d%d?%d?),%s*(%d%d?%d?),%s*(%d%d?%d?)%)"
  local hex = r and ("#%02x%02x%02x"):format(tonumber(r), tonumber(g),
    tonumber(b))
  if text == "black" or text == "currentColor" then hex = "#000000" end
  if text == "white" then hex = "#ffffff" end
  hex = hex or text:match "^#%x%x%x%x%x%x$"
  if not hex then return "var(--ink)" end
  local name = palette.name(hex)
  return name and ("var(--%s)"):format(name) or hex
end

-- ---- elements

local function attributes(text)
  local found = {}
  for name, value in text:gmatch "([%w:-]+)%s*=%s*'([^']*)'" do
    found[name] = value
  end
  for name, value in text:gmatch '([%w:-]+)%s*=%s*"([^"]*)"' do
    found[name] = value
  end
  return found
end

local function style(pairs_of)
  local words = {}
  for i = 1, #pairs_of, 2 do
    if pairs_of[i + 1] then
      words[#words + 1] = pairs_of[i] .. ":" .. pairs_of[i + 1]
    end
  end
  return table.concat(words, ";")
end

local function number(text)
  return text and tonumber(text:match "^%s*(%-?[%d.]+)")
end

local function width_of(group)
  local width = number(group["stroke-width"])
  return width and width ~= 1 and short(width) or nil
end

local function path(attribute, group)
  local d = attribute.d and path_data(attribute.d)
  if not d or d == "" then return nil end
  local dashes = attribute["stroke-dasharray"]
  dashes = dashes and not dashes:find "[^%d.,%s]" and shorten(dashes) or nil
  return ('<path d="%s" style="%s"/>'):format(d, style {
    "stroke", colour_of(attribute.stroke or group.stroke),
    "stroke-width", width_of(group), "stroke-dasharray", dashes,
  })
end

local function polygon(attribute)
  local points = attribute.points
  if not points or points:find "[^%d%s,.%-]" then return nil end
  return ('<polygon points="%s" style="%s"/>'):format(
    shorten(points):gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""), style {
      "fill", colour_of(attribute.fill), "stroke", "none",
      "fill-opacity", number(attribute["fill-opacity"]),
    })
end

local function text_element(words, group)
  local x, y, turn = (group.transform or ""):match
    "^translate%((%-?[%d.]+),(%-?[%d.]+)%)(.*)"
  local angle = turn and number(turn:match "rotate%((%-?[%d.]+)")
  words = words:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")
  words = words:match "^%s*(.-)%s*$"
  if not x or words == "" then return nil end
  x, y = short(tonumber(x)), short(tonumber(y))
  local anchor = group["text-anchor"]
  local fill = colour_of(group.fill)
  return ('<text x="%s" y="%s"%s%s style="%s">%s</text>'):format(x, y,
    angle and angle ~= 0 and (' transform="rotate(%s %s %s)"'):format(
      short(angle), x, y) or "",
    (anchor == "middle" or anchor == "end") and
      (' text-anchor="%s"'):format(anchor) or "",
    style { "fill", fill ~= "var(--ink)" and fill or nil },
    markup.escape(words))
end

-- ---- points

-- gnuplot's symbols around (0, 0), of size 1; `true` where they are filled.
local symbols = {
  [0] = { { "M", -1, 0, "h", 2 }, { "M", 0, -1, "v", 2 } },
  [1] = { { "M", -1, -1, "l", 2, 2 }, { "M", 1, -1, "l", -2, 2 } },
  [2] = { { "M", -1, 0, "h", 2 }, { "M", 0, -1, "v", 2 },
          { "M", -1, -1, "l", 2, 2 }, { "M", 1, -1, "l", -2, 2 } },
  [3] = { { "M", -1, -1, "h", 2, "v", 2, "h", -2, "z" } },
  [7] = { { "M", 0, -1.33, "l", -1.33, 2, "h", 2.66, "z" } },
  [9] = { { "M", 0, 1.33, "l", -1.33, -2, "h", 2.66, "z" } },
  [11] = { { "M", 0, -1.41, "l", 1.41, 1.41, "l", -1.41, 1.41,
             "l", -1.41, -1.41, "z" } },
}
local filled = { [4] = 3, [8] = 7, [10] = 9, [12] = 11 }

-- What follows the first pair of a piece, the only one that is absolute: the
-- same wherever the symbol stands.
local function tail_of(piece, scale)
  local words = {}
  for i = 4, #piece do
    local part = piece[i]
    local after_number = i > 4 and type(piece[i - 1]) == "number"
    words[#words + 1] = type(part) == "string" and part or
      (after_number and "," or "") .. short(part * scale)
  end
  return table.concat(words)
end

-- A symbol's pieces: where each begins, seen from the point, and its tail.
local function pieces_of(symbol, scale)
  if symbol == 6 or symbol == 5 then return { { 0, 0, "h0" } } end
  local list = {}
  for i, piece in ipairs(symbols[filled[symbol] or symbol] or symbols[0]) do
    list[i] = { piece[2] * scale, piece[3] * scale, tail_of(piece, scale) }
  end
  return list
end

local Points = {}
Points.__index = Points

-- Symbols of one kind and colour that follow each other.
local function points_of(symbol, scale, colour)
  return setmetatable({ symbol = symbol, scale = scale, colour = colour,
    pieces = pieces_of(symbol, scale), list = {} }, Points)
end

function Points:fits(symbol, scale, colour)
  return self.symbol == symbol and self.scale == scale and
    self.colour == colour
end

function Points:add(x, y)
  local list = self.list
  for _, piece in ipairs(self.pieces) do
    list[#list + 1] = ("M%s,%s%s"):format(short(x + piece[1]),
      short(y + piece[2]), piece[3])
  end
end

function Points:element()
  local dot = self.symbol == 6 or self.symbol == 5
  local fill = filled[self.symbol] and self.colour
  return ('<path d="%s" style="%s"/>'):format(table.concat(self.list), style {
    "stroke", not fill and self.colour or "none", "fill", fill,
    "stroke-width", dot and short(self.scale * 2) or
      not fill and "1.3" or nil,
    "stroke-linecap", dot and "round" or nil,
  })
end

-- ---- a whole picture

local Reader = {}
Reader.__index = Reader

function Reader:put(element)
  if self.points then
    self.out[#self.out + 1] = self.points:element()
    self.points = nil
  end
  self.out[#self.out + 1] = element
end

-- As gnuplot writes them; there are many.
local use_pattern = "^%s*xlink:href='#gpPt(%d+)'%s+transform='translate%("
  .. "(%-?[%d.]+),(%-?[%d.]+)%)%s*scale%(([%d.]+)%)'%s+color='([^']*)'"

function Reader:use(rest)
  local symbol, x, y, scale, colour = rest:match(use_pattern)
  symbol, scale = tonumber(symbol), tonumber(scale)
  if not symbol or not tonumber(x) or not tonumber(y) or not scale then
    return
  end
  colour = colour_of(colour)
  if not (self.points and self.points:fits(symbol, scale, colour)) then
    self:put(nil)
    self.points = points_of(symbol, scale, colour)
  end
  self.points:add(tonumber(x), tonumber(y))
end

-- What a closing tag ends, a stack; inside `defs` nothing is taken.
function Reader:open(name, rest, words)
  if name == "use" then return self:use(rest) end
  local group, attribute = self.groups[#self.groups], attributes(rest)
  if name == "g" then
    self.groups[#self.groups + 1] = setmetatable(attribute,
      { __index = group })
  elseif name == "path" then
    self:put(path(attribute, group))
  elseif name == "polygon" then
    self:put(polygon(attribute))
  elseif name == "text" then
    self:put(text_element(words, group))
  end
end

function Reader:read(source)
  for slash, name, rest, words in
      source:gmatch "<(/?)([%w:]+)([^<>]*)>([^<]*)" do
    if name == "defs" then
      self.inside_defs = slash == ""
    elseif self.inside_defs then
      self.skipped = true
    elseif slash == "" then
      self:open(name, rest, words)
    elseif name == "g" and #self.groups > 1 then
      self.groups[#self.groups] = nil
    end
  end
  self:put(nil)
  return table.concat(self.out, "\n")
end

--- The elements of a picture that gnuplot drew, without a frame around them.
-- @return text, or nil when there is nothing to see in it
function svg.elements(source)
  local body = setmetatable({ out = {}, groups = { {} } }, Reader):read(source)
  return body:find "<" and body or nil
end

--- An <svg> to stand in a page.
-- @param elements from `svg.elements`
-- @param width of the drawing
-- @param height of the drawing
-- @param title what a reader who cannot see it is told
-- @param class for the page's style sheet
function svg.inline(elements, width, height, title, class)
  return ('<svg class="%s" viewBox="0 0 %d %d" role="img" aria-label="%s">\n'
    .. '%s\n</svg>'):format(class, width, height, markup.escape(title),
    elements)
end

local own_style = [[
svg{font-family:system-ui,sans-serif;background:var(--paper)}
]]

--- A file of its own: pictures one below the other.
-- @param pictures a list of { elements, width, height, title, description }
function svg.file(pictures)
  local width, height, parts = 0, 0, {}
  for i, one in ipairs(pictures) do
    parts[i] = ('<g class="picture" transform="translate(0 %d)">\n'
      .. '<title>%s</title>\n<desc>%s</desc>\n%s\n</g>'):format(height,
      markup.escape(one.title), markup.escape(one.description), one.elements)
    width, height = math.max(width, one.width), height + one.height
  end
  return ('<?xml version="1.0" encoding="UTF-8"?>\n'
    .. '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
    .. 'width="%d" height="%d">\n<style>\n%s%s%s</style>\n'
    .. '<rect width="%d" height="%d" style="fill:var(--paper)"/>\n%s\n</svg>\n')
    :format(width, height, width, height, palette.css "svg", own_style,
      svg.style "svg", width, height, table.concat(parts, "\n"))
end

--- The style of what `elements` gives, for elements that `selector` means.
function svg.style(selector)
  return ("%s{font-size:13px;fill:none;stroke-width:1;"
    .. "stroke-linejoin:round}\n%s text{fill:var(--ink);stroke:none}\n")
    :format(selector, selector)
end

return svg
