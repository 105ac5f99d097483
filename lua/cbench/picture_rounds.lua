--- Every round of a row, process beside process, so that modes of the machine
-- are seen; what disturbed a round is marked with its cause.
local import = ...
local data = import "picture_data"
local figure = import "figure"
local frame = import "frame"

-- Rows that were disturbed most are seen at once, others on demand.
local most_at_once, most_pictures = 12, 36

-- Points of a picture: more only hide each other, and make a page large.
local most_points, fewer_points = 1000, 250

-- Name, colour, symbol and its size; the character where there are neither.
local causes = {
  { "undisturbed", "s1", 7, 0.35, "." },
  { "preempted", "s2", 9, 0.6, "p" },
  { "migrated", "s4", 5, 0.5, "m" },
  { "stolen", "s7", 13, 0.65, "s" },
  { "throttled", "s3", 1, 0.6, "t" },
  { "host-slow", "s5", 11, 0.6, "h" },
  { "other", "s8", 2, 0.6, "o" },
}

-- The first of several causes that is known.
local function cause_of(round)
  local text = round.cause
  if type(text) ~= "string" or text == "" then return "undisturbed" end
  for _, cause in ipairs(causes) do
    if text:find(cause[1], 1, true) then return cause[1] end
  end
  return "other"
end

local function disturbed_share(record)
  local count, disturbed = 0, 0
  for _, sample in ipairs(record.samples or {}) do
    count = count + 1
    if type(sample.cause) == "string" then disturbed = disturbed + 1 end
  end
  return count > 0 and disturbed / count or 0
end

-- Modes of the machine are what is looked for; what a round lost to a cause of
-- its own is another matter.
local own_causes = { preempted = true, migrated = true, stolen = true,
                     throttled = true, other = true }

-- Up to where the axis reaches: rounds that took many times as long for a
-- cause of their own must not flatten all others.
local function ceiling(forks)
  local all, clean = {}, {}
  for _, one in ipairs(forks) do
    for _, round in ipairs(one.rounds) do
      local cost = data.cost(round)
      all[#all + 1] = cost
      if not own_causes[cause_of(round)] then clean[#clean + 1] = cost end
    end
  end
  table.sort(all)
  table.sort(clean)
  local most = data.quantile(#clean > 0 and clean or all, 0.97)
  return all[1], math.max(most * 1.06, all[1] * 1.05), #all
end

-- Rows of x, y by cause; what lies beyond the ceiling stands at the edge.
local function points_of(forks, top, stride)
  local groups, above = {}, 0
  local edge = top * 1.02
  for place, one in ipairs(forks) do
    local count = #one.rounds
    for i = 1, count, stride do
      local round = one.rounds[i]
      local cause, x = cause_of(round), place - 0.4 + 0.8 * (i - 0.5) / count
      local cost = data.cost(round)
      if cost > top then above = above + 1 end
      groups[cause] = groups[cause] or {}
      table.insert(groups[cause], { x, math.min(cost, edge) })
    end
  end
  return groups, above
end

local function process_ticks(canvas, forks)
  local ticks, step = {}, #forks > 20 and (#forks + 9) // 10 or 1
  for place = 1, #forks, step do
    ticks[#ticks + 1] = { place, ("%d"):format(forks[place].fork + 1) }
  end
  frame.ticks(canvas, "x", ticks)
  canvas:add "set xtics scale 0"
  for place = 1, #forks - 1 do
    if #forks <= 50 and not canvas:is_text() then
      canvas:add("set arrow from first %.1f, graph 0 to first %.1f, graph 1 "
        .. "nohead back lc %s lw 1", place + 0.5, place + 0.5,
        frame.colour "line")
    end
  end
end

local function points(canvas, rows, cause, scale)
  if canvas:is_text() then
    return ("%s using 1:2 with points pt '%s' title '%s'"):format(
      canvas:data(rows, 2), cause[5], cause[1])
  end
  return ("%s using 1:2 with points pt %d ps %.3g lc %s title '%s'"):format(
    canvas:data(rows, 2), cause[3], cause[4] * scale, frame.colour(cause[2]),
    cause[1])
end

-- Many rounds are drawn smaller, so that those beneath are seen too.
local function scale_of(self)
  local shown = self.count / self.stride
  return shown > 900 and 0.65 or shown > 450 and 0.8 or 1
end

local function plots_of(canvas, self)
  local plots = { ("%.12g with lines %s title 'typical'"):format(self.typical,
    canvas:is_text() and "lt 0" or
      "lw 1 dt (6,4) lc " .. frame.colour "muted") }
  for _, cause in ipairs(causes) do
    if self.groups[cause[1]] then
      plots[#plots + 1] = points(canvas, self.groups[cause[1]], cause,
        scale_of(self))
    end
  end
  return plots
end

local function draw(canvas, self)
  local floor, top = self.floor, self.top
  local span = top - floor
  frame.axes(canvas, { title = self.title, x = "process", y = self.unit })
  process_ticks(canvas, self.forks)
  canvas:add("set xrange [0.5:%d.5]", #self.forks)
  canvas:add("set yrange [%.9g:%.9g]", floor - span * 0.06,
    top * 1.02 + span * 0.06)
  if self.above > 0 and not canvas:is_text() then
    canvas:add("set arrow from graph 0, first %.9g to graph 1, first %.9g "
      .. "nohead back lc %s lw 1 dt (2,3)", top, top, frame.colour "faint")
  end
  frame.round_ticks(canvas, "y", floor, top)
  canvas:plot(plots_of(canvas, self))
end

-- ---- in words

local function count_causes(rounds)
  local counts, words = {}, {}
  for _, round in ipairs(rounds) do
    local cause = cause_of(round)
    counts[cause] = (counts[cause] or 0) + 1
  end
  for _, cause in ipairs(causes) do
    if counts[cause[1]] and cause[1] ~= "undisturbed" then
      words[#words + 1] = ("%s %d"):format(cause[1], counts[cause[1]])
    end
  end
  return #words > 0 and table.concat(words, ", ") or "none"
end

local function table_of(self)
  local list = { columns = { "process", "rounds", "fastest", "median",
    "slowest", "disturbed" }, rows = {} }
  for i, one in ipairs(self.forks) do
    local costs = {}
    for k, round in ipairs(one.rounds) do costs[k] = data.cost(round) end
    local middle = data.median(costs)
    list.rows[i] = { tostring(one.fork + 1), tostring(#costs),
      figure.significant(costs[1]), figure.significant(middle),
      figure.significant(costs[#costs]), count_causes(one.rounds) }
  end
  return list
end

local function note_of(self, given)
  local words = { "dashes: typical, the median of the clean rounds" }
  if self.above > 0 then
    words[#words + 1] = ("%d above %s %s at the upper edge"):format(self.above,
      figure.significant(self.top), self.above == 1 and "stands" or "stand")
  end
  if self.stride > 1 then
    words[#words + 1] = ("one round in %d is drawn"):format(self.stride)
  end
  return table.concat(words, "; ") .. (given.rest or "")
end

local function key_of(self)
  local labels = { "typical" }
  for name in pairs(self.groups) do labels[#labels + 1] = name end
  return data.key(labels)
end

local function picture(record, given)
  local self = { kind = "rounds", record = record, unit = data.unit { record },
                 forks = data.forks(record), typical = record.ticks.typical }
  self.floor, self.top, self.count = ceiling(self.forks)
  local most = given.on_demand and fewer_points or most_points
  self.stride = math.max(1, (self.count + most - 1) // most)
  self.on_demand = given.on_demand
  self.groups, self.above = points_of(self.forks, self.top, self.stride)
  self.title = "Rounds of " .. given.label
  self.note = note_of(self, given)
  self.alternative = ("Scatter plot of %d rounds in %d processes, %s: typical "
    .. "%s, fastest %s. Disturbed: %.3g %%."):format(self.count, #self.forks,
    self.unit, figure.significant(self.typical),
    figure.significant(self.floor), disturbed_share(record) * 100)
  self.data = table_of(self)
  self.key = key_of(self)
  self.draw = function (canvas) draw(canvas, self) end
  self.height = function () return 250, 220, 20 end
  return self
end

local function by_share(a, b)
  if a.share ~= b.share then return a.share > b.share end
  return a.place < b.place
end

local function by_place(a, b) return a.place < b.place end

-- Where there are many rows, those whose rounds were disturbed most, in the
-- order of the table; behind them those to be drawn on demand.
local function chosen(rows)
  local list = {}
  for place, record in ipairs(rows) do
    if #data.forks(record) > 0 then
      list[#list + 1] = { record = record, place = place,
                          share = disturbed_share(record) }
    end
  end
  table.sort(list, by_share)
  local first = table.move(list, 1, math.min(#list, most_at_once), 1, {})
  local rest = table.move(list, most_at_once + 1, most_pictures, 1, {})
  table.sort(first, by_place)
  table.sort(rest, by_place)
  return first, rest, #list
end

local function rest_words(shown, count)
  if count > most_pictures then
    return (". Drawn are the %d rows disturbed most, of %d"):format(
      most_pictures, count)
  elseif count > shown then
    return (". These are the %d rows disturbed most, of %d"):format(shown,
      count)
  end
end

return {
  summary = "the rounds of each row, by process",
  of = function (part)
    local rows = data.rows(part)
    local varying = data.varying(part, rows)
    local first, rest, count = chosen(rows)
    local pictures = {}
    for i, one in ipairs(first) do
      pictures[i] = picture(one.record, {
        label = data.label(one.record, varying),
        rest = i == #first and rest_words(#first, count) or nil,
      })
    end
    for _, one in ipairs(rest) do
      pictures[#pictures + 1] = picture(one.record, {
        label = data.label(one.record, varying), on_demand = true,
      })
    end
    return pictures
  end,
}
