--- Whether records that were read are shaped as their schema says. A row that
-- is not stays in sight: it becomes one that failed, with the reason.
local import = ...
local check = import "check"
local results = import "results"

local shape = {}

-- A form is the name of a type, or a table of forms by key; `each` is the form
-- of every other key, `needed` lists the keys that must be there. Of what a
-- form does not mention anything is right.
local figures = { fast = "number", typical = "number", p90 = "number",
                  min = "number", max = "number" }
local noise = { verdict = "string", disturbed = "number",
                causes = { each = "number" } }
local texts = { each = "string" }

local fields = {
  name = "string", status = "string", reason = "string", op = "string",
  params = {}, unit = "string", threads = "number", ticks = figures,
  ns = figures, per_second = "number", counters = {}, noise = noise,
  forks = "number", rounds = "number", iterations = "number",
  stopped_by = "string", order = {}, latency = {}, workload = "string",
  overlap = "number", checks = {}, derived = {}, host = "string",
  ratio = { needed = { "value" }, to = "string", value = "number",
            low = "number", high = "number", level = "number",
            fast = "number", verdict = "string", reason = "string" },
  roles = { each = { role = "string", cpu = "number", operations = "number",
                     ticks = "number", overlap = "number" } },
  samples = { each = { needed = { "n", "ticks" }, fork = "number",
                       round = "number", n = "number", ticks = "number",
                       cause = "string" } },
}

local wrong

-- A column is a name, or a list of its title and what gives its value.
local function wrong_column(value, path)
  if type(value) == "table" then value = value[1] end
  return wrong(value, "string", path)
end

local function wrong_inside(value, form, path)
  for _, key in ipairs(form.needed or {}) do
    if value[key] == nil then return ("%s.%s: missing"):format(path, key) end
  end
  for key, entry in pairs(value) do
    local wanted = form[key] or form.each
    local message = wanted and wrong(entry, wanted,
      ("%s.%s"):format(path, tostring(key)))
    if message then return message end
  end
end

function wrong(value, form, path)
  if type(form) == "function" then return form(value, path) end
  local wanted = type(form) == "table" and "table" or form
  if type(value) ~= wanted then
    return ("%s: %s expected, got %s"):format(path, wanted, type(value))
  end
  return wanted == "table" and wrong_inside(value, form, path) or nil
end

--- What is wrong with the record, or nil.
function shape.refuse(record)
  for _, key in ipairs(check.keys(fields)) do
    if record[key] ~= nil then
      local message = wrong(record[key], fields[key], key)
      if message then return message end
    end
  end
end

local bounded = { needed = { "value" }, value = "number", low = "number",
                  high = "number" }

local meta_fields = {
  title = "string", about = "string", command = "string", host = "string",
  scenario = "string", started = "string", reading = "string",
  run = "string", rank = "number", size = "number", seed = "number",
  machine = {}, build = {}, state = {}, options = {}, partial = "boolean",
  clock = { source = "string", basis = "string", hz = "number",
            cost = "number" },
  noise = noise, notes = texts, elapsed_s = "number", forks = "number",
  rounds = "number", stopped_by = "string", limits_exceeded = "number",
  view = { parameters = texts, across = "string", reference = "string",
           columns = { each = wrong_column } },
  fits = { each = { needed = { "parameter", "params", "a", "b", "text" },
                    parameter = "string", params = {}, a = bounded,
                    b = bounded, points = "number", text = "string" } },
  merge = { needed = { "rows", "runs", "hosts", "notes" }, rows = "number",
            notes = texts,
            hosts = { each = { needed = { "host", "machine", "build", "rows" },
                               host = "string", machine = "string",
                               build = "string", rows = "number" } },
            runs = { each = { needed = { "run", "ranks", "missing" },
                              run = "string", size = "number",
                              missing = { each = "number" },
                              ranks = { each = { rank = "number",
                                                 host = "string",
                                                 rows = "number" } } } } },
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
