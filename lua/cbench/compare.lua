--- Comparing two runs of the same rows, and gates built on it.
-- Raw times of two runs, even minutes apart, differ by tens of per cent for
-- reasons that have nothing to do with the code. What is compared is how each
-- row stands to the reference of its own run: the change is the quotient of
-- the two ratios, and its interval follows from the two intervals, which are
-- independent.
local import = ...

local check = import "check"
local document = import "document"
local figure = import "figure"
local results = import "results"

local compare = {}

local function load_side(value, which)
  if results.is(value) then return value end
  if type(value) == "string" then return document.read(value) end
  return nil, ("%s: results or the path of a file expected, got %s"):format(
    which, type(value))
end

-- Rows by scenario and name, so that files of several scenarios can be
-- compared.
local function by_key(all)
  local rows, order = {}, {}
  for _, part in ipairs(results.parts(all)) do
    for _, record in ipairs(part) do
      local key = (part.meta.scenario or "") .. "\0" .. tostring(record.name)
      if not rows[key] then
        rows[key] = record
        order[#order + 1] = key
      end
    end
  end
  return rows, order
end

local function is_reference(record)
  return record.reference
    or record.ratio and record.ratio.to == record.name
end

-- Half the width of a ratio's interval on the logarithmic scale.
local function half_width(ratio)
  if not ratio.low or not ratio.high then return nil end
  return (math.log(ratio.high) - math.log(ratio.low)) / 2
end

local function verdict_of(change, floor)
  if not change.low then return "unresolved" end
  if change.low > 1 + floor then return "slower" end
  if change.high < 1 / (1 + floor) then return "faster" end
  if change.low >= 1 / (1 + floor) and change.high <= 1 + floor then
    return "same"
  end
  return "unresolved"
end

-- The fast rounds of both runs must not speak against a verdict: with the
-- machine in one mode then and in another now, the ratio of two operations
-- that feel it differently changes although neither has changed.
local function fast_agrees(change, floor)
  if change.verdict ~= "slower" and change.verdict ~= "faster" then
    return true
  end
  if not change.fast then return false end
  if change.verdict == "slower" then return change.fast > 1 + floor end
  return change.fast < 1 / (1 + floor)
end

-- Why the two rows cannot be compared, or nil.
local function hindrance(old, new)
  if not old then return "not in the old results" end
  if not new then return "not in the new results" end
  for side, record in pairs { old = old, new = new } do
    if record.status ~= "ok" and record.status ~= "partial" then
      return ("%s in the %s results: %s"):format(record.status, side,
        record.reason or "no reason given")
    end
  end
  if not old.ratio or not new.ratio then return "no reference was measured" end
  if old.ratio.to ~= new.ratio.to then
    return ("compared to '%s' then, to '%s' now"):format(old.ratio.to,
      new.ratio.to)
  end
end

local function change_of(old, new, options)
  local change = { to = "old", value = new.ratio.value / old.ratio.value }
  local one, other = half_width(old.ratio), half_width(new.ratio)
  if one and other then
    local width = math.sqrt(one * one + other * other)
    change.low = change.value * math.exp(-width)
    change.high = change.value * math.exp(width)
    change.level = math.min(old.ratio.level or 1, new.ratio.level or 1)
  end
  change.verdict = verdict_of(change, options.floor)
  change.fast = old.ratio.fast and new.ratio.fast
    and new.ratio.fast / old.ratio.fast
  if not fast_agrees(change, options.floor) then
    change.verdict = "unresolved"
    change.reason = "the fast rounds differ less"
  end
  if options.foreign then
    change.verdict, change.reason = "unresolved", "another machine"
  elseif not change.low then
    local few = math.min(old.forks or 1, new.forks or 1)
    change.reason = few == 1 and "one process" or "too few processes"
  end
  return change
end

local function compare_row(old, new, options)
  local known = new or old
  local row = { name = known.name, params = known.params, op = known.op,
    order = known.order, unit = known.unit, workload = known.workload,
    threads = known.threads, same_workload = true }
  row.reason = hindrance(old, new)
  row.status = row.reason and "n/a" or "ok"
  if row.reason then return row end
  row.ratio = change_of(old, new, options)
  row.old = { ratio = old.ratio.value, ticks = old.ticks }
  row.new = { ratio = new.ratio.value, ticks = new.ticks }
  row.reference_name = new.ratio.to
  return row
end

local function text_of(meta, group, name)
  return meta[group] and meta[group][name]
end

-- What the reader must know before he believes a line.
local function differences(old, new)
  local notes, foreign = {}, false
  local before = text_of(old.meta, "machine", "fingerprint")
  local after = text_of(new.meta, "machine", "fingerprint")
  if before ~= after then
    foreign = true
    notes[#notes + 1] = ("the machines differ (%s, then %s): ratios are "
      .. "shown, no verdict is given"):format(
      text_of(old.meta, "machine", "cpu") or "unknown",
      text_of(new.meta, "machine", "cpu") or "unknown")
  end
  local known = #notes
  for _, name in ipairs { "version", "compiler", "flags" } do
    local was, is = text_of(old.meta, "build", name),
      text_of(new.meta, "build", name)
    if was ~= is then
      notes[#notes + 1] = ("the builds differ: %s was %s, is %s"):format(name,
        tostring(was), tostring(is))
    end
  end
  local was, is = text_of(old.meta, "build", "code"),
    text_of(new.meta, "build", "code")
  if #notes == known and was and is and was ~= is then
    notes[#notes + 1] =
      ("the builds differ in their code (%s, then %s)"):format(was, is)
  end
  for side, meta in pairs { old = old.meta, new = new.meta } do
    if meta.partial then
      notes[#notes + 1] = ("the %s results are partial"):format(side)
    end
  end
  return notes, foreign
end

local function columns()
  return {
    { "old", function (row) return row.old and row.old.ratio end },
    { "new", function (row) return row.new and row.new.ratio end },
    "ratio", "interval", "verdict",
  }
end

local function rows_of(old, new, options)
  local old_rows, old_order = by_key(old)
  local new_rows, new_order = by_key(new)
  local rows = {}
  for _, key in ipairs(new_order) do
    if not is_reference(new_rows[key]) then
      rows[#rows + 1] = compare_row(old_rows[key], new_rows[key], options)
    end
  end
  for _, key in ipairs(old_order) do
    if not new_rows[key] and not is_reference(old_rows[key]) then
      rows[#rows + 1] = compare_row(old_rows[key], nil, options)
    end
  end
  return rows
end

--- Compares results, or files of them. Each row's ratio is new over old of its
-- ratios to the reference of its run.
-- @param options `min_effect` in per cent (2)
-- @return results; or nil and a sentence
function compare.of(old, new, options)
  options = options or {}
  local message
  old, message = load_side(old, "old")
  if not old then return nil, message end
  new, message = load_side(new, "new")
  if not new then return nil, message end
  local notes, foreign = differences(old, new)
  local rows = rows_of(old, new, {
    floor = (options.min_effect or 2) / 100, foreign = foreign })
  return results.new(rows, {
    title = ("%s: new against old"):format(new.meta.title or "Results"),
    notes = notes, foreign = foreign or nil, view = {
      reference = "old", columns = columns(),
    },
    reading = "old and new are ratios to the reference of each run; ratio is "
      .. "new over old, above 1 is slower.",
    machine = new.meta.machine, build = new.meta.build, clock = new.meta.clock,
  })
end

--- `cbench.compare(old, new)`: raises where it cannot compare at all.
function compare.call(old, new, options)
  if options ~= nil then
    local message = type(options) == "table" and check.fields(options,
      { min_effect = "number" }, "option")
      or type(options) ~= "table" and "option table expected"
    if message then error("compare: " .. message, 2) end
  end
  local done, message = compare.of(old, new, options)
  if not done then error("compare: " .. message, 2) end
  return done
end

-- ---- gates

--- Which rows are slower by more than `percent`, the whole interval beyond
-- it; and which rows say nothing either way.
-- @return a list of sentences, a list of sentences
function compare.gate(compared, percent)
  local worse, open = {}, {}
  local limit = 1 + percent / 100
  for _, row in ipairs(compared) do
    local ratio = row.ratio
    if not ratio then
      open[#open + 1] = ("%s: %s"):format(row.name, row.reason)
    elseif ratio.reason then
      open[#open + 1] = ("%s: %s"):format(row.name, ratio.reason)
    elseif ratio.low > limit then
      worse[#worse + 1] = ("%s: %s times the old, interval %s, allowed %s")
        :format(row.name, figure.significant(ratio.value, 4),
          figure.interval(ratio.low, ratio.high),
          figure.significant(limit, 4))
    elseif ratio.high > limit then
      open[#open + 1] = ("%s: the interval %s holds the limit %s"):format(
        row.name, figure.interval(ratio.low, ratio.high),
        figure.significant(limit, 4))
    end
  end
  return worse, open
end

return compare
