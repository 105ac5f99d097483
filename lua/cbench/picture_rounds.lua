--- Every round of a row, process beside process, so that modes of the machine
-- are seen; what disturbed a round is marked with its cause.
local import = ...
local data = import "picture_data"
local figure = import "figure"
local frame = import "frame"

local most_pictures, most_points = 12, 3000

-- Name, colour, symbol, and the character where there are neither.
local causes = {
  { "undisturbed", "s1", "pt 7 ps 0.35", "." },
  { "preempted", "s2", "pt 9 ps 0.6", "p" },
  { "migrated", "s4", "pt 5 ps 0.5", "m" },
  { "stolen", "s7", "pt 13 ps 0.65", "s" },
  { "throttled", "s3", "pt 1 ps 0.6", "t" },
  { "host-slow", "s5", "pt 11 ps 0.6", "h" },
  { "other", "s8", "pt 2 ps 0.6", "o" },
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
      all[#all + 1] = round.cost
      if not own_causes[cause_of(round)] then
        clean[#clean + 1] = round.cost
      end
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
      if round.cost > top then above = above + 1 end
      groups[cause] = groups[cause] or {}
      table.insert(groups[cause], { x, math.min(round.cost, edge) })
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

local function points(canvas, rows, cause)
  if canvas:is_text() then
    return ("%s using 1:2 with points pt '%s' title '%s'"):format(
      canvas:data(rows, 2), cause[4], cause[1])
  end
  return ("%s using 1:2 with points %s lc %s title '%s'"):format(
    canvas:data(rows, 2), cause[3], frame.colour(cause[2]), cause[1])
end

local function plots_of(canvas, self)
  local plots = { ("%.12g with lines %s title 'typical'"):format(self.typical,
    canvas:is_text() and "lt 0" or
      "lw 1 dt (6,4) lc " .. frame.colour "muted") }
  for _, cause in ipairs(causes) do
    if self.groups[cause[1]] then
      plots[#plots + 1] = points(canvas, self.groups[cause[1]], cause)
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
    for k, round in ipairs(one.rounds) do costs[k] = round.cost end
    local middle = data.median(costs)
    list.rows[i] = { tostring(one.fork + 1), tostring(#costs),
      figure.significant(costs[1]), figure.significant(middle),
      figure.significant(costs[#costs]), count_causes(one.rounds) }
  end
  return list
end

local function note_of(self, given)
  local words = { "dashes: the typical round" }
  if self.above > 0 then
    words[#words + 1] = ("%d above %s %s at the upper edge"):format(self.above,
      figure.significant(self.top), self.above == 1 and "stands" or "stand")
  end
  if self.stride > 1 then
    words[#words + 1] = ("every %dth round"):format(self.stride)
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
  local count
  self.floor, self.top, count = ceiling(self.forks)
  self.stride = math.max(1, (count + most_points - 1) // most_points)
  self.groups, self.above = points_of(self.forks, self.top, self.stride)
  self.title = "Rounds of " .. given.label
  self.note = note_of(self, given)
  self.alternative = ("Scatter plot of %d rounds in %d processes, %s: typical "
    .. "%s, fastest %s. Disturbed: %.3g %%."):format(count, #self.forks,
    self.unit, figure.significant(self.typical),
    figure.significant(self.floor), disturbed_share(record) * 100)
  self.data = table_of(self)
  self.key = key_of(self)
  self.draw = function (canvas) draw(canvas, self) end
  self.height = function () return 250, 220, 20 end
  return self
end

-- Where there are too many rows, those whose rounds were disturbed most.
local function chosen(rows)
  local list = {}
  for place, record in ipairs(rows) do
    if #data.forks(record) > 0 then
      list[#list + 1] = { record = record, place = place,
                          share = disturbed_share(record) }
    end
  end
  local count = #list
  if count > most_pictures then
    table.sort(list, function (a, b)
      if a.share ~= b.share then return a.share > b.share end
      return a.place < b.place
    end)
    list = table.move(list, 1, most_pictures, 1, {})
    table.sort(list, function (a, b) return a.place < b.place end)
  end
  return list, count
end

return {
  summary = "the rounds of each row, by process",
  of = function (part)
    local rows = data.rows(part)
    local varying = data.varying(part, rows)
    local list, count = chosen(rows)
    local pictures = {}
    for i, one in ipairs(list) do
      local last = i == #list and count > #list
      pictures[i] = picture(one.record, {
        label = data.label(one.record, varying),
        rest = last and (". Shown are the %d rows disturbed most, of %d")
          :format(#list, count) or nil,
      })
    end
    return pictures
  end,
}
