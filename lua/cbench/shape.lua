--- Whether records that were read are shaped as their schema says. A row that
-- is not stays in sight: it becomes one that failed, with the reason.
local import = ...
local check = import "check"
local results = import "results"

local shape = {}

local figures = { fast = "number", typical = "number", p90 = "number",
                  min = "number", max = "number" }

local ratio = { to = "string", value = "number", low = "number",
                high = "number", level = "number", verdict = "string",
                reason = "string" }

local fields = {
  name = "string", status = "string", reason = "string", op = "string",
  params = "table", unit = "string", threads = "number", ticks = figures,
  ns = figures, per_second = "number", ratio = ratio, counters = "table",
  noise = { verdict = "string", disturbed = "number", causes = "table" },
  roles = "table", samples = "table", forks = "number", rounds = "number",
  order = "table", latency = "table", workload = "string",
}

local function wrong(value, wanted, path)
  local kind = type(wanted) == "table" and "table" or wanted
  if type(value) ~= kind then
    return ("%s: %s expected, got %s"):format(path, kind, type(value))
  end
  if type(wanted) ~= "table" then return nil end
  for _, key in ipairs(check.keys(wanted)) do
    if value[key] ~= nil then
      local message = wrong(value[key], wanted[key], path .. "." .. key)
      if message then return message end
    end
  end
end

local function elements(list, path)
  for i, value in ipairs(list or {}) do
    if type(value) ~= "table" then
      return ("%s: element %d is a %s"):format(path, i, type(value))
    end
  end
end

--- What is wrong with the record, or nil.
function shape.refuse(record)
  for _, key in ipairs(check.keys(fields)) do
    if record[key] ~= nil then
      local message = wrong(record[key], fields[key], key)
      if message then return message end
    end
  end
  return elements(record.samples, "samples") or elements(record.roles, "roles")
end

local meta_fields = {
  title = "string", about = "string", command = "string", host = "string",
  scenario = "string", started = "string", reading = "string",
  machine = "table", build = "table", state = "table", options = "table",
  clock = { source = "string", hz = "number" }, noise = fields.noise,
  notes = "table", fits = "table", view = "table", elapsed_s = "number",
  forks = "number", rounds = "number", stopped_by = "string",
}

-- What is said of the whole run and cannot be used is left out.
local function mend_meta(meta)
  for _, key in ipairs(check.keys(meta_fields)) do
    if meta[key] ~= nil and wrong(meta[key], meta_fields[key], key) then
      meta[key] = nil
    end
  end
end

local function mend_record(record)
  local message = shape.refuse(record)
  if not message then return end
  for key in pairs(record) do
    if key ~= "name" and key ~= "reference" then record[key] = nil end
  end
  record.status = "fail"
  record.reason = "not as the schema says: " .. message
end

--- Makes rows that cannot be used ones that failed.
-- @param self results
-- @return the same results
function shape.mend(self)
  for _, part in ipairs(results.parts(self)) do
    mend_meta(part.meta)
    for _, record in ipairs(results.whole(part)) do mend_record(record) end
  end
  return self
end

return shape
