--- Colours by what they mean, on a light and on a dark page.
--
-- gnuplot draws with the light ones; each of them is a value of its own, so
-- that a picture in a page can take the colours of the page instead. They can
-- be told apart with every usual kind of colour blindness, and no picture
-- says anything by colour alone.
local palette = {}

local list = {
  { "paper", "#ffffff", "#15181d" },
  { "ink", "#1c2128", "#e4e8ee" },
  { "muted", "#5a6472", "#9ba6b4" },
  { "faint", "#aab3bf", "#5c6672" },
  { "line", "#e1e6ec", "#2b323b" },
  { "band", "#e6edf5", "#243040" },
  { "s1", "#1f6fb4", "#6bb1ef" },
  { "s2", "#c8501e", "#f2905f" },
  { "s3", "#1d8348", "#5fca8d" },
  { "s4", "#7d3c98", "#c59ce3" },
  { "s5", "#a37400", "#e5bb50" },
  { "s6", "#0e7c86", "#55c5d0" },
  { "s7", "#b8357a", "#f18abf" },
  { "s8", "#6c5a4b", "#bcaa95" },
}

--- Colours of series, in the order in which they are used.
palette.series = {}
--- By name, the light colour.
palette.light = {}

local name_of = { ["#000000"] = "ink" }

for _, colour in ipairs(list) do
  local name, light = colour[1], colour[2]
  palette.light[name] = light
  name_of[light] = name
  if name:find "^s%d$" then palette.series[#palette.series + 1] = name end
end

--- What a colour that gnuplot drew means, or nil.
-- @param hex "#1f6fb4"
function palette.name(hex)
  return name_of[hex]
end

local function variables(column)
  local lines = {}
  for i, colour in ipairs(list) do
    lines[i] = ("--%s:%s"):format(colour[1], colour[column])
  end
  return table.concat(lines, ";")
end

--- The colours as variables of a style sheet, for all elements that `selector`
-- means: light, dark where the reader wants it so, light on paper.
function palette.css(selector)
  return ("%s{%s}\n@media (prefers-color-scheme:dark){%s{%s}}\n"
    .. "@media print{%s{%s}}\n"):format(selector, variables(2), selector,
    variables(3), selector, variables(2))
end

return palette
