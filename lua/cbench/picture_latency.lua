--- Latency by percentile, for rows that are paced (open loops).
local import = ...
local check = import "check"
local data = import "picture_data"
local figure = import "figure"
local frame = import "frame"

local most_series = 8

-- "p99", "p99.9", "p99_9" and "p999" are shares of 0.99 and 0.999.
local function share_of(key)
  local digits, fraction = key:match "p(%d+)[._]?(%d*)$"
  if not digits then return nil end
  if fraction == "" and #digits > 2 and digits ~= "100" then
    digits, fraction = digits:sub(1, 2), digits:sub(3)
  end
  local percent = tonumber(digits .. "." .. (fraction == "" and "0" or
    fraction))
  return percent and percent > 0 and percent < 100 and percent / 100 or nil
end

local function is_cost(value)
  return type(value) == "number" and value > 0
end

-- Points { share, cost }, by the share, from a table of percentiles; the
-- largest has the share 1.
local function points_in(list)
  local points = {}
  for _, key in ipairs(check.keys(list)) do
    local share = share_of(key)
    local named = key:find "^p%d" or key:find "latency"
    if share and named and is_cost(list[key]) then
      points[#points + 1] = { share, list[key] }
    end
  end
  local largest = list.max or list.latency_max
  if #points > 0 and is_cost(largest) then
    points[#points + 1] = { 1, largest }
  end
  table.sort(points, function (a, b) return a[1] < b[1] end)
  return points
end

local function points_of(record)
  for _, list in ipairs { record.latency or false, record.counters or false } do
    local points = type(list) == "table" and points_in(list) or {}
    if #points >= 2 then return points end
  end
  return {}
end

local function unit_of(record)
  local latency = record.latency
  local unit = type(latency) == "table" and latency.unit
  return type(unit) == "string" and unit or "ns"
end

-- Each nine is a step of the axis; the largest stands one step beyond the last.
local function place(share, most)
  return share < 1 and -math.log(1 - share, 10) or most
end

local function series_of(rows, varying)
  local list = {}
  for _, record in ipairs(rows) do
    local points = points_of(record)
    if #points >= 2 then
      list[#list + 1] = { label = data.label(record, varying), points = points,
                          unit = unit_of(record) }
    end
  end
  return list
end

local function last_step(series)
  local most = 2
  for _, one in ipairs(series) do
    for _, point in ipairs(one.points) do
      if point[1] < 1 then most = math.max(most, place(point[1])) end
    end
  end
  return most + 0.6
end

local function percent_text(share)
  return share < 1 and ("%.6g"):format(share * 100) or "max"
end

local function x_ticks(canvas, series, most)
  local list, seen = {}, {}
  for _, one in ipairs(series) do
    for _, point in ipairs(one.points) do
      local x = place(point[1], most)
      if not seen[point[1]] then
        seen[point[1]] = true
        list[#list + 1] = { x, percent_text(point[1]) }
      end
    end
  end
  frame.ticks(canvas, "x", list)
end

local function draw(canvas, self)
  local most, costs = last_step(self.series), {}
  for _, one in ipairs(self.series) do
    for _, point in ipairs(one.points) do costs[#costs + 1] = point[2] end
  end
  local low, high = data.range(costs)
  local log = data.wants_log(low, high)
  frame.axes(canvas, { title = self.title, x = "percentile",
    y = "latency, " .. self.unit, log_y = log })
  x_ticks(canvas, self.series, most)
  canvas:add("set xrange [0:%.6g]", most + 0.2)
  frame.y_range(canvas, low, high, log)
  local plots = {}
  for i, one in ipairs(self.series) do
    local rows = {}
    for k, point in ipairs(one.points) do
      rows[k] = { place(point[1], most), point[2] }
    end
    local block = canvas:data(rows, 2)
    plots[#plots + 1] = ("%s using 1:2 with lines %s notitle"):format(block,
      frame.line(canvas, i))
    plots[#plots + 1] = ("%s using 1:2 %s title %s"):format(block,
      frame.points(canvas, i), canvas:text(one.label, 40))
  end
  canvas:plot(plots)
end

local function table_of(self)
  local list = { columns = { "row", "percentile", self.unit }, rows = {} }
  for _, one in ipairs(self.series) do
    for _, point in ipairs(one.points) do
      list.rows[#list.rows + 1] = { one.label, percent_text(point[1]),
        figure.significant(point[2]) }
    end
  end
  return list
end

local function alternative(self)
  local words = {}
  for i, one in ipairs(self.series) do
    local parts = {}
    for k, point in ipairs(one.points) do
      parts[k] = ("%s at p%s"):format(figure.significant(point[2]),
        percent_text(point[1]))
    end
    words[i] = one.label .. ": " .. table.concat(parts, ", ")
  end
  return ("Line chart of latency in %s by percentile. %s."):format(self.unit,
    table.concat(words, "; "))
end

local function labels_of(series)
  local labels = {}
  for i, one in ipairs(series) do labels[i] = one.label end
  return labels
end

local function picture(series, rest)
  local self = { kind = "latency", series = series, unit = series[1].unit }
  self.title = "Latency by percentile"
  self.note = "each step of the axis is one nine more" .. rest
  self.alternative = alternative(self)
  self.data = table_of(self)
  self.key = data.key(labels_of(series))
  self.draw = function (canvas) draw(canvas, self) end
  self.height = function () return 320, 270, 22 end
  return self
end

return {
  summary = "latency by percentile, for open loops",
  of = function (part)
    local rows = data.rows(part)
    local series = series_of(rows, data.varying(part, rows))
    if #series == 0 then return {} end
    local rest = #series > most_series and
      (". The first %d of %d rows"):format(most_series, #series) or ""
    return { picture(table.move(series, 1, math.min(#series, most_series), 1,
      {}), rest) }
  end,
}
