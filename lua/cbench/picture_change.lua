--- Old against new: for each row the change of its ratio to the reference.
local import = ...
local bars = import "bars"
local compare = import "compare"
local data = import "picture_data"

local most_pages = 3

local function rows_of(compared)
  local rows, without, good = {}, 0, {}
  for _, record in ipairs(compared) do
    if record.ratio and record.ratio.value and record.ratio.value > 0 then
      good[#good + 1] = record
    else
      without = without + 1
    end
  end
  local varying = data.varying(compared, good)
  for i, record in ipairs(good) do
    local ratio = record.ratio
    rows[i] = { label = data.label(record, varying), full = record.name,
                value = ratio.value, low = ratio.low, high = ratio.high,
                verdict = ratio.verdict }
  end
  return rows, without
end

local function picture(compared, rows, effect, rest)
  local self = { kind = "change", rows = rows, effect = effect }
  self.title = "New against old"
  self.x = "new / old; above 1 is slower"
  self.note = ("each row by its ratio to the reference of its own run; the "
    .. "band is %g %% to each side%s"):format(effect, rest)
  if compared.meta.foreign then
    self.note = "two machines: no verdicts. " .. self.note
  end
  self.alternative = ("Bar chart of new over old: %s."):format(
    bars.words(rows))
  self.data = bars.table(rows, "row")
  self.draw = function (canvas) bars.draw(canvas, self) end
  self.height = function () return bars.height(rows) end
  return self
end

return {
  summary = "old against new, when there are two files",
  --- @param old results
  -- @param new results
  -- @return pictures and the comparison; or no pictures
  between = function (old, new)
    local options = new.meta.options or {}
    local effect = type(options.min_effect) == "number" and
      options.min_effect or 2
    local compared = compare.of(old, new, { min_effect = effect })
    if not compared then return {} end
    local rows, without = rows_of(compared)
    local list = {}
    local shown = math.min(#rows, most_pages * bars.most)
    for i, page in ipairs(bars.pages(rows, most_pages)) do
      local rest = shown < #rows and
        (". The first %d of %d rows"):format(shown, #rows) or ""
      list[i] = picture(compared, page, effect,
        rest .. data.without_words(i == 1 and without or 0))
    end
    return list, compared
  end,
}
