--- Ratios to the reference, with their intervals and the band of the smallest
-- effect that counts.
local import = ...
local bars = import "bars"
local data = import "picture_data"

local most_pages = 3

-- A ratio to itself says nothing.
local function has_ratio(record)
  local ratio = record.ratio
  local good = record.status == "ok" or record.status == "partial"
  return good and ratio and
    type(ratio.value) == "number" and ratio.value > 0 and
    ratio.to ~= record.name
end

local function reference_of(rows)
  local name
  for _, row in ipairs(rows) do
    if name and row.to ~= name then return nil end
    name = row.to
  end
  return name
end

local function rows_of(part)
  local all, rows, without = {}, {}, 0
  for _, record in ipairs(part) do
    if not record.reference then all[#all + 1] = record end
  end
  local varying = data.varying(part, all)
  for _, record in ipairs(all) do
    if has_ratio(record) then
      local ratio = record.ratio
      rows[#rows + 1] = {
        label = data.label(record, varying), full = record.name,
        to = ratio.to, value = ratio.value, low = ratio.low,
        high = ratio.high,
        verdict = (record.same_workload or ratio.verdict == "unresolved") and
          ratio.verdict or nil,
      }
    elseif not (record.ratio and record.ratio.to == record.name) then
      without = without + 1
    end
  end
  return rows, without
end

local function level_of(part)
  for _, record in ipairs(part) do
    local level = record.ratio and record.ratio.low and record.ratio.level
    if type(level) == "number" then
      return ("bars: %.3g %% intervals"):format(level * 100)
    end
  end
  return "one process: no intervals"
end

local function picture(part, rows, given)
  local options = part.meta.options or {}
  local effect = type(options.min_effect) == "number" and options.min_effect
    or 2
  local self = { kind = "ratio", rows = rows, effect = effect }
  local to = given.reference and "ratio to " .. given.reference or
    "ratio to each row's reference"
  self.title = to:gsub("^r", "R") .. given.page
  self.x = to
  self.note = ("%s; the band is %g %% to each side%s%s"):format(level_of(part),
    effect, given.rest, data.without_words(given.without))
  self.alternative = ("Bar chart, %s: %s."):format(to, bars.words(rows))
  self.data = bars.table(rows, "row")
  self.draw = function (canvas) bars.draw(canvas, self) end
  self.height = function () return bars.height(rows) end
  return self
end

return {
  summary = "ratios to the reference, with intervals",
  of = function (part)
    local rows, without = rows_of(part)
    local list, pages = {}, bars.pages(rows, most_pages)
    local shown = math.min(#rows, most_pages * bars.most)
    for i, page in ipairs(pages) do
      local last = i == #pages
      list[i] = picture(part, page, {
        reference = reference_of(rows),
        page = #pages > 1 and (", %d of %d"):format(i, #pages) or "",
        rest = last and shown < #rows and
          (". The first %d of %d rows"):format(shown, #rows) or "",
        without = last and without or 0,
      })
    end
    return list
  end,
}
