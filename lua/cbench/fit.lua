--- Fits of cost against one parameter: a + b * parameter, in ticks.
--
-- Least squares of the relative errors (each point weighs 1 / y^2), because
-- the error of a figure is a share of it: otherwise the dearest point would
-- be the only one that counts. One fit for each combination of the other
-- parameters. Its interval comes from the processes: each is fitted on its
-- own, and order statistics of a and of b enclose their medians with at least
-- 95 %; there is none with fewer than six processes.
local import = ...
local figure = import "figure"

local fit = {}

local coverage = 0.95

--- The median of a list, which is sorted.
function fit.median(values)
  table.sort(values)
  local middle = #values // 2
  if #values % 2 == 1 then return values[middle + 1] end
  return (values[middle] + values[middle + 1]) / 2
end

-- The line through a list of { x, y }, or nil when it is not determined.
local function line(points)
  local sw, sx, sy, sxx, sxy = 0, 0, 0, 0, 0
  for _, point in ipairs(points) do
    local x, y = point[1], point[2]
    if y == 0 then return nil end
    local w = 1 / (y * y)
    sw, sx, sy = sw + w, sx + w * x, sy + w * y
    sxx, sxy = sxx + w * x * x, sxy + w * x * y
  end
  local determinant = sw * sxx - sx * sx
  if determinant <= 1e-12 * sw * sxx or determinant ~= determinant then
    return nil
  end
  local b = (sw * sxy - sx * sy) / determinant
  return (sy - b * sx) / sw, b
end

-- How many of n sorted values may be left out at each end, so that the rest
-- encloses the median with the wanted coverage; nil when even all do not.
local function trim(n)
  local probability, tail, count = 0.5 ^ n, 0, nil
  for k = 0, n // 2 do
    tail = tail + probability
    if 1 - 2 * tail < coverage then break end
    count = k
    probability = probability * (n - k) / (k + 1)
  end
  return count
end

--- A value between the order statistics that enclose the median of others.
-- @return { value, low, high }; only value when there are fewer than six
function fit.bounded(value, others)
  local count = trim(#others)
  if not count then return { value = value } end
  table.sort(others)
  return { value = value, low = math.min(value, others[count + 1]),
           high = math.max(value, others[#others - count]) }
end

--- Median ticks per operation of each process, by its number.
function fit.by_process(record)
  local lists, medians = {}, {}
  for _, sample in ipairs(record.samples or {}) do
    if sample.n > 0 then
      local list = lists[sample.fork] or {}
      lists[sample.fork] = list
      list[#list + 1] = sample.ticks / sample.n
    end
  end
  for process, list in pairs(lists) do medians[process] = fit.median(list) end
  return medians
end

-- Lists of a and b, one for each process that has all points.
local function process_lines(points)
  local count, per_process = #points, {}
  for _, point in ipairs(points) do
    for process, ticks in pairs(fit.by_process(point.record)) do
      local own = per_process[process] or {}
      per_process[process] = own
      own[#own + 1] = { point[1], ticks }
    end
  end
  local as, bs = {}, {}
  for _, own in pairs(per_process) do
    local a, b = nil, nil
    if #own == count then a, b = line(own) end
    as[#as + 1], bs[#bs + 1] = a, b
  end
  return as, bs
end

local function interval(bound)
  if not bound.low then return "" end
  return (" [%s]"):format(figure.interval(bound.low, bound.high))
end

local function sentence(one, label, unit)
  local b = one.b
  local sign = b.value < 0 and "-" or "+"
  return ("%s%s%s %s %s*%s%s %s"):format(label ~= "" and label .. ": " or "",
    figure.significant(one.a.value), interval(one.a), sign,
    figure.significant(math.abs(b.value)), one.parameter, interval(b), unit)
end

local function group_label(record, order, parameter)
  local words, params = {}, {}
  for _, name in ipairs(order) do
    if name ~= parameter then
      params[name] = record.params[name]
      words[#words + 1] = name .. "=" .. figure.value(params[name])
    end
  end
  return table.concat(words, "/"), params
end

-- Points by combination of the other parameters, in order of appearance.
local function groups_of(results, order, parameter)
  local list, by_label = {}, {}
  for _, record in ipairs(results) do
    local x = (record.params or {})[parameter]
    local y = record.ticks and record.ticks.typical
    if type(x) == "number" and y and not record.reference then
      local label, params = group_label(record, order, parameter)
      local group = by_label[label]
      if not group then
        group = { label = label, params = params, points = {} }
        by_label[label] = group
        list[#list + 1] = group
      end
      table.insert(group.points, { x, y, record = record })
    end
  end
  return list
end

--- The fits of some results.
-- @param results the results of one scenario
-- @param order names of its parameters
-- @param parameter the one on the x axis
-- @return a list of { parameter, params, a, b, points, text }; a and b are
-- { value, low, high }. Combinations with fewer than two different values of
-- the parameter have none.
function fit.of(results, order, parameter)
  local list = {}
  for _, group in ipairs(groups_of(results, order, parameter)) do
    local a, b = line(group.points)
    if a then
      local as, bs = process_lines(group.points)
      local one = {
        parameter = parameter, params = group.params, points = #group.points,
        a = fit.bounded(a, as), b = fit.bounded(b, bs),
      }
      one.text = sentence(one, group.label, "ticks/op")
      list[#list + 1] = one
    end
  end
  return list
end

return fit
