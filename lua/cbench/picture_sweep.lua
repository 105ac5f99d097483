--- Cost against a parameter that was swept.
local import = ...
local data = import "picture_data"
local figure = import "figure"
local frame = import "frame"

local most_series, most_pictures = 8, 6

-- The numeric parameter with the most values, three at least.
local function swept(parameters)
  local best
  for _, parameter in ipairs(parameters) do
    local more = not best or #parameter.values > #best.values
    if parameter.numeric and #parameter.values >= 3 and more then
      best = parameter
    end
  end
  return best
end

local function others(parameters, one)
  local list = {}
  for _, parameter in ipairs(parameters) do
    if parameter ~= one then list[#list + 1] = parameter end
  end
  return list
end

local function point_of(record, x)
  local low, high, kind = data.interval(record)
  return { x = x, y = record.ticks.typical, low = low, high = high,
           kind = kind, record = record }
end

-- Rows that differ only in the swept parameter.
local function series_of(rows, by, parameters)
  local list, by_label = {}, {}
  for _, record in ipairs(rows) do
    local x = (record.params or {})[by.name]
    if type(x) == "number" then
      local label = #parameters > 0 and data.label(record, parameters) or
        data.unit(rows)
      local series = by_label[label]
      if not series then
        series = { label = label, points = {} }
        by_label[label] = series
        list[#list + 1] = series
      end
      series.points[#series.points + 1] = point_of(record, x)
    end
  end
  for _, series in ipairs(list) do
    table.sort(series.points, function (a, b) return a.x < b.x end)
  end
  return list
end

local function reference_of(part, rows)
  local name
  for _, record in ipairs(rows) do
    local to = record.ratio and record.ratio.to
    if not to or (name and to ~= name) then return nil end
    name = to
  end
  local record = part[name]
  return record and record.reference and data.has_figures(record) and record
end

local function extent(series, reference, log)
  local xs, ys = {}, {}
  for _, one in ipairs(series) do
    for _, point in ipairs(one.points) do
      xs[#xs + 1] = point.x
      ys[#ys + 1], ys[#ys + 2] = point.low, point.high
    end
  end
  if reference and log then ys[#ys + 1] = reference.ticks.typical end
  return xs, ys
end

local function x_ticks(canvas, by, is_log)
  local list, last = {}, nil
  local values = table.move(by.values, 1, #by.values, 1, {})
  table.sort(values)
  local low, high = values[1], values[#values]
  local function place(x)
    if is_log then return math.log(x / low) / math.log(high / low) end
    return (x - low) / (high - low)
  end
  local room = canvas:is_narrow() and 0.13 or 0.075
  for _, value in ipairs(values) do
    if not last or place(value) - last >= room then
      last = place(value)
      list[#list + 1] = { value, figure.value(value) }
    end
  end
  frame.ticks(canvas, "x", list)
end

local function add_series(canvas, plots, series)
  for i, one in ipairs(series) do
    local rows = {}
    for n, point in ipairs(one.points) do
      rows[n] = { point.x, point.y, point.low, point.high }
    end
    local block = canvas:data(rows, 4)
    plots[#plots + 1] = ("%s using 1:2 with lines %s notitle"):format(block,
      frame.line(canvas, i))
    plots[#plots + 1] = ("%s using %s %s title %s"):format(block,
      canvas:is_text() and "1:2" or "1:2:3:4",
      frame.points(canvas, i, "yerrorbars"), canvas:text(one.label, 40))
  end
end

local function draw(canvas, self)
  local xs, ys = extent(self.series, self.reference, self.log_y)
  local low, high = data.range(ys)
  frame.axes(canvas, { title = self.title, x = self.by.name, y = self.unit,
    log_x = self.log_x, log_y = self.log_y })
  x_ticks(canvas, self.by, self.log_x)
  local left, right = data.range(xs)
  if self.log_x then
    local margin = (right / left) ^ 0.04
    canvas:add("set xrange [%.9g:%.9g]", left / margin, right * margin)
  else
    local margin = (right - left) * 0.04
    canvas:add("set xrange [%.9g:%.9g]", left - margin, right + margin)
  end
  frame.y_range(canvas, low, high, self.log_y)
  local plots = {}
  local reference = self.log_y and self.reference
  if reference then
    plots[1] = ("%.12g with lines lc %s lw 1.2 dt (2,3) title %s"):format(
      reference.ticks.typical, frame.colour "muted",
      canvas:text(reference.name .. " (reference)", 40))
  end
  add_series(canvas, plots, self.series)
  canvas:plot(plots)
end

-- ---- in words

local function alternative(self)
  local words = {}
  for i, one in ipairs(self.series) do
    local first, last = one.points[1], one.points[#one.points]
    words[i] = ("%s: %s at %s, %s at %s"):format(one.label,
      figure.significant(first.y), figure.value(first.x),
      figure.significant(last.y), figure.value(last.x))
  end
  return ("Line chart of %s against %s%s. %s."):format(self.unit, self.by.name,
    self.log_y and ", logarithmic" or "", table.concat(words, "; "))
end

local function table_of(self)
  local list = { columns = { self.by.name, "series", self.unit, "low",
                             "high" }, rows = {} }
  for _, one in ipairs(self.series) do
    for _, point in ipairs(one.points) do
      list.rows[#list.rows + 1] = { figure.value(point.x), one.label,
        figure.significant(point.y), figure.significant(point.low),
        figure.significant(point.high) }
    end
  end
  return list
end

local function kinds_of(series)
  local kinds = {}
  for _, one in ipairs(series) do
    for _, point in ipairs(one.points) do kinds[point.kind] = true end
  end
  return kinds
end

local function key_of(self)
  local labels = {}
  for i, one in ipairs(self.series) do labels[i] = one.label end
  if self.log_y and self.reference then
    labels[#labels + 1] = self.reference.name .. " (reference)"
  end
  return #labels > 1 and data.key(labels) or nil
end

local function picture(given)
  local self = { kind = "sweep", by = given.by, series = given.series,
                 unit = data.unit(given.rows), reference = given.reference }
  local xs, ys = extent(self.series)
  self.log_x = data.wants_log(data.range(xs))
  self.log_y = data.wants_log(data.range(ys))
  self.title = ("%s against %s%s"):format(self.unit, given.by.name,
    given.where and ", " .. given.where or "")
  self.note = data.interval_words(kinds_of(self.series)) .. (given.rest or "")
    .. data.without_words(given.without)
  self.alternative = alternative(self)
  self.data = table_of(self)
  self.key = key_of(self)
  self.draw = function (canvas) draw(canvas, self) end
  self.height = function () return 320, 270, 22 end
  return self
end

-- Too many series for one picture: one picture for each value of the
-- parameter that comes first.
local function split(given, parameters)
  local series = series_of(given.rows, given.by, parameters)
  local first = parameters[1]
  if #series <= most_series or not first then
    given.series, given.rest = series, nil
    if #series > most_series then
      given.series = table.move(series, 1, most_series, 1, {})
      given.rest = (". The first %d of %d series"):format(most_series, #series)
    end
    return { picture(given) }
  end
  local list = {}
  for _, value in ipairs(first.values) do
    local rows, text = {}, figure.value(value)
    for _, record in ipairs(given.rows) do
      if figure.value((record.params or {})[first.name]) == text then
        rows[#rows + 1] = record
      end
    end
    local where = ("%s%s=%s"):format(
      given.where and given.where .. " " or "", first.name, text)
    local more = split({ by = given.by, rows = rows, where = where,
      reference = given.reference,
      without = #list == 0 and given.without or 0 },
      table.move(parameters, 2, #parameters, 1, {}))
    table.move(more, 1, #more, #list + 1, list)
    if #list >= most_pictures then break end
  end
  return table.move(list, 1, most_pictures, 1, {})
end

return {
  summary = "cost against a swept parameter",
  of = function (part)
    local rows, without = data.rows(part)
    local parameters = data.varying(part, rows)
    local by = swept(parameters)
    if not by then return {} end
    return split({ by = by, rows = rows, without = without,
      reference = reference_of(part, rows) }, others(parameters, by))
  end,
}
