--- Bars of ratios, one a row, with intervals and the band in which a
-- difference does not matter.
local import = ...
local data = import "picture_data"
local figure = import "figure"
local frame = import "frame"

local bars = {}

--- How many rows one picture holds.
bars.most = 40

local colours = { faster = "s6", slower = "s2", same = "muted",
                  unresolved = "faint" }

-- One row: { label, value, low, high, verdict }. low and high may be missing.

local function extent(rows, effect)
  local values = { 1 - 2 * effect / 100, 1 + 2 * effect / 100 }
  for _, row in ipairs(rows) do
    values[#values + 1] = row.value
    values[#values + 1] = row.low
    values[#values + 1] = row.high
  end
  return data.range(values)
end

local function value_words(row)
  local words = figure.ratio(row.value)
  return row.verdict and words .. " " .. row.verdict or words
end

local function longest(rows, words_of, most)
  local length = 0
  for _, row in ipairs(rows) do
    local words = words_of(row)
    length = math.max(length, utf8.len(words) or #words)
  end
  return math.min(length, most)
end

-- Beside the bars where there is room for both, else above each.
local function margins(canvas, rows, label_room)
  local verdicts = longest(rows, value_words, 20)
  if canvas.terminal == "dumb" then
    canvas:add("set lmargin %d", label_room + 2)
    canvas:add("set rmargin %d", verdicts + 3)
  else
    canvas:add("set lmargin at screen %.4f", canvas:is_narrow() and 0.03 or
      frame.share(canvas, label_room + 2))
    canvas:add("set rmargin at screen %.4f",
      1 - frame.share(canvas, verdicts + 2.5))
  end
end

-- By verdict, so that each has its colour: rows of x, y, low, high.
local function by_verdict(rows)
  local groups = {}
  for i, row in ipairs(rows) do
    local colour = colours[row.verdict] or "s1"
    groups[colour] = groups[colour] or {}
    table.insert(groups[colour], { row.value, i, row.low or row.value,
                                   row.high or row.value })
  end
  return groups
end

local function axis(canvas, rows, effect)
  local low, high = extent(rows, math.min(effect, 20))
  local log = data.wants_log(low, high)
  if log then
    low, high = low / 1.15, high * 1.15
    canvas:add "set logscale x"
  else
    local reach = (high - low) * 0.06
    low, high = low < 0.5 and 0 or low - reach, high + reach
  end
  canvas:add("set xrange [%.9g:%.9g]", low, high)
  frame.round_ticks(canvas, "x", low, high, log)
end

local order = { "faint", "s1", "muted", "s6", "s2" }

-- Under a label that stands above it, a bar is thin and a little lower.
local function offset(canvas) return canvas:is_narrow() and 0.18 or 0 end
local function half(canvas) return canvas:is_narrow() and 0.2 or 0.32 end

-- Of characters: a line from 1 to the value, and the value.
local function text_plots(canvas, rows)
  local list = {}
  for i, row in ipairs(rows) do list[i] = { row.value, i } end
  local block = canvas:data(list, 2)
  return { block .. " using (1):2:($1-1):(0) with vectors nohead lt 6 notitle",
           block .. " using 1:2 with points pt 'o' notitle" }
end

local function plots_of(canvas, rows)
  if canvas:is_text() then return text_plots(canvas, rows) end
  local plots = {}
  local groups = by_verdict(rows)
  local shift, thick = offset(canvas), half(canvas)
  for _, colour in ipairs(order) do
    if groups[colour] then
      local block = canvas:data(groups[colour], 4)
      plots[#plots + 1] = ("%s using 1:2:(1):1:($2%+g):($2%+g) "
        .. "with boxxyerror fs solid 0.45 noborder lc %s notitle"):format(
        block, shift - thick, shift + thick, frame.colour(colour))
      plots[#plots + 1] = ("%s using 1:($2%+g):3:4 with xerrorbars pt 7 "
        .. "ps 0.4 lw 1.4 lc %s notitle"):format(block, shift,
        frame.colour "ink")
    end
  end
  return plots
end

-- Labels at the left, or above the bars.
local function add_labels(canvas, rows, room)
  if not canvas:is_narrow() then
    local ticks = {}
    for i, row in ipairs(rows) do ticks[i] = { i, row.label } end
    frame.ticks(canvas, "y", ticks, room)
    canvas:add "set ytics scale 0"
    return
  end
  canvas:add "unset ytics"
  for i, row in ipairs(rows) do
    canvas:add("set label %d %s at graph 0, first %.2f left offset 0.5,0 "
      .. "front textcolor %s", #rows + i, canvas:text(row.label, 34), i - 0.28,
      frame.colour "muted")
  end
end

local function text_colour(verdict)
  if verdict == "faster" or verdict == "slower" then
    return frame.colour(colours[verdict])
  end
  return frame.colour "ink"
end

local function add_band(canvas, effect)
  if canvas:is_text() then return end
  local factor = 1 + effect / 100
  canvas:add("set object 1 rectangle from first %.6g, graph 0 to first %.6g, "
    .. "graph 1 behind fs solid 1 noborder fc %s", 1 / factor, factor,
    frame.colour "band")
  canvas:add("set arrow 1 from first 1, graph 0 to first 1, graph 1 nohead "
    .. "back lc %s lw 1", frame.colour "faint")
end

--- Draws rows from top to bottom.
-- @param canvas to draw on
-- @param given { title, x, rows, effect = smallest that matters, in % }
function bars.draw(canvas, given)
  local rows = given.rows
  local room = longest(rows, function (row) return row.label end, 36)
  frame.axes(canvas, { title = given.title, x = given.x, grid = "xtics" })
  margins(canvas, rows, room)
  axis(canvas, rows, given.effect)
  canvas:add("set yrange [%d.5:0.5]", #rows)
  add_labels(canvas, rows, room)
  for i, row in ipairs(rows) do
    canvas:add("set label %d %s at graph 1, first %.2f left offset 1,0 "
      .. "textcolor %s", i, canvas:text(value_words(row), 20),
      i + offset(canvas), text_colour(row.verdict))
  end
  add_band(canvas, given.effect)
  canvas:plot(plots_of(canvas, rows))
end

--- Heights of a picture of so many rows: wide, narrow, in lines of text.
function bars.height(rows)
  return 70 + 24 * #rows, 70 + 36 * #rows, 7 + #rows
end

--- The rows as a table.
function bars.table(rows, first_column)
  local list = { columns = { first_column, "ratio", "low", "high", "verdict" },
                 rows = {} }
  for i, row in ipairs(rows) do
    list.rows[i] = { row.full or row.label, figure.ratio(row.value),
      row.low and figure.significant(row.low, 4) or "",
      row.high and figure.significant(row.high, 4) or "", row.verdict or "" }
  end
  return list
end

--- The rows in words, for who cannot see them.
function bars.words(rows)
  local words = {}
  for i, row in ipairs(rows) do
    if i > 12 then
      words[i] = ("and %d more"):format(#rows - 12)
      break
    end
    words[i] = ("%s %s"):format(row.label, value_words(row))
  end
  return table.concat(words, "; ")
end

--- Lists of rows that fit one picture each.
function bars.pages(rows, most_pages)
  local pages = {}
  for first = 1, #rows, bars.most do
    if #pages == most_pages then break end
    pages[#pages + 1] = table.move(rows, first,
      math.min(first + bars.most - 1, #rows), 1, {})
  end
  return pages
end

return bars
