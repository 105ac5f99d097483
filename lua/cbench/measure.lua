--- Measuring: descriptors in, result records out.
-- The work is done by `processes`: the calling process, or several fresh ones
-- that get the descriptors as plain values. Each gives raw rows; they are
-- joined here, estimated and compared by the C core, and made into records.
local import, core = ...

local workload = import "workload"
local processes = import "processes"
local record = import "record"

local measure = {}

-- Options of a measurement: type, range and what it is for.
local option_list = {
  { "time", "number", 1e-3, 1e6 },
  { "rounds", "integer", 1, 1000000 },
  { "forks", "integer", 1, 1000 },
  { "seed", "integer", 0, math.maxinteger },
  { "threads", "integer", 1, 1024 },
  { "cpus", "cpus" },
  { "place", "place" },
  { "min_effect", "number", 0, 100 },
  { "reference", "any" },
  { "progress", "function" },
  { "samples", "boolean" },
}
local option_names = {}
for i, option in ipairs(option_list) do
  option_names[i] = option[1]
  option_names[option[1]] = option
end

local function nearest(word)
  return core.nearest and core.nearest(tostring(word), option_names)
end

local function in_range(option, value)
  local name, kind, low, high = table.unpack(option)
  if kind == "any" then return value end
  if kind == "cpus" or kind == "place" then
    return workload.check_common(name, value)
  end
  if kind == "integer" then
    local whole = math.type(value) and math.tointeger(value)
    if math.type(value) and not whole then
      return nil, ("option '%s': %s is not a whole number"):format(name, value)
    end
    if not whole then
      return nil, ("option '%s': integer expected, got %s"):format(name,
        type(value))
    end
    value = whole
  elseif type(value) ~= kind then
    return nil, ("option '%s': %s expected, got %s"):format(name, kind,
      type(value))
  end
  if low and not (value >= low and value <= high) then
    return nil, ("option '%s': %s is out of range [%.16g, %.16g]"):format(name,
      value, low, high)
  end
  return value
end

--- Checks options by name, type and range: a copy, or nil and a sentence.
function measure.check_options(options)
  local checked, names = {}, {}
  for name in pairs(options) do names[#names + 1] = name end
  table.sort(names, function (a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(names) do
    local option = option_names[name]
    if not option then
      local meant = nearest(name)
      return nil, ("unknown option '%s'%s"):format(tostring(name),
        meant and (" (did you mean '%s'?)"):format(meant) or "")
    end
    local value, message = in_range(option, options[name])
    if value == nil then return nil, message end
    checked[name] = value
  end
  return checked
end

-- Options for all rows stand in where a descriptor says nothing itself.
local function place_row(descriptor, options)
  local copy = {}
  for key, value in pairs(descriptor) do copy[key] = value end
  setmetatable(copy, getmetatable(descriptor))
  copy.cpus = copy.cpus or (not copy.place and options.cpus) or nil
  copy.place = copy.place or (not copy.cpus and options.place) or nil
  if options.threads and copy.params.threads ~= nil then
    local params = {}
    for key, value in pairs(copy.params) do params[key] = value end
    params.threads = options.threads
    copy.params, copy.threads = params, options.threads
  end
  return copy
end

local function names_of(rows)
  local names, count = {}, {}
  for i, row in ipairs(rows) do
    local name = row.name or workload.label(row, row.given)
    names[i], count[name] = name, (count[name] or 0) + 1
  end
  local seen = {}
  for i, row in ipairs(rows) do
    if count[names[i]] > 1 then
      -- Told apart by the kind, then by a number.
      local name = row.name or (row.kind .. "/" .. names[i])
      seen[name] = (seen[name] or 0) + 1
      names[i] = seen[name] > 1 and name .. "#" .. seen[name] or name
    end
  end
  return names
end

-- Do two descriptors say the same?
local function same_work(a, b)
  return a == b or a.kind == b.kind and workload.is_plain(a)
    and workload.is_plain(b) and a.cpus == b.cpus and a.place == b.place
    and workload.label(a) == workload.label(b)
end

-- The index of the row that a name or descriptor means, adding a row that
-- rides along where it is none of those measured.
local function reference_row(wanted, rows, names)
  if workload.is(wanted) then
    for i, row in ipairs(rows) do
      if same_work(row.source or row, wanted) then return i end
    end
    rows[#rows + 1] = wanted
    return #rows
  end
  for i, name in ipairs(names) do
    if name == wanted then return i end
  end
  local descriptor, message = workload.describe(wanted, {})
  if not descriptor then return nil, message end
  rows[#rows + 1] = descriptor
  return #rows
end

-- A list of one index for each row: the row it is compared to.
local function resolve_references(rows, names, wanted)
  local references, count = {}, #rows
  local common
  for i = 1, count do
    local own = wanted
    if type(wanted) == "table" and not workload.is(wanted) then
      own = wanted[i]
    end
    if math.type(own) == "integer" then
      if own < 1 or own > count then
        return nil, ("option 'reference': there is no row %d"):format(own)
      end
      references[i] = own
    else
      if own ~= nil and type(own) ~= "string" and not workload.is(own) then
        return nil, "option 'reference': a name or a workload expected, got "
          .. type(own)
      end
      if not common or common.wanted ~= (own or "call") then
        local row, message = reference_row(own or "call", rows, names)
        if not row then return nil, "option 'reference': " .. message end
        common = { wanted = own or "call", row = row }
      end
      references[i] = common.row
    end
  end
  return references
end

local function all_plain(rows)
  for _, row in ipairs(rows) do
    if not workload.is_plain(row) then return false end
  end
  return true
end


--- Seconds that so many comparisons are given when nobody says.
function measure.default_time(rows)
  return math.max(0.4, 0.4 * rows)
end

-- By index of the row, why its kind refuses to be measured so.
local function refusals(rows)
  local refused = {}
  for i, row in ipairs(rows) do
    local good, message = workload.check(row)
    if not good then refused[i] = message end
  end
  return refused
end

-- Why the option `threads` says nothing to any of the rows; or nil.
local function threads_in_vain(list, options)
  if not options.threads then return nil end
  for _, descriptor in ipairs(list) do
    if descriptor.params.threads ~= nil then return nil end
  end
  return list[1] and workload.threads_follow(list[1].kind)
end

local function plan(list, options)
  local vain = threads_in_vain(list, options)
  if vain then return nil, vain end
  local rows = {}
  for i, descriptor in ipairs(list) do
    rows[i] = place_row(descriptor, options)
    rows[i].source = descriptor
  end
  local names = names_of(rows)
  local references, message = resolve_references(rows, names,
    options.reference)
  if not references then return nil, message end
  for i = #list + 1, #rows do
    rows[i] = place_row(rows[i], options)
    names[i] = rows[i].name or workload.label(rows[i], rows[i].given)
  end
  return { rows = rows, names = names, references = references,
           count = #list, refused = refusals(rows) }
end

local function check_places(rows)
  for _, row in ipairs(rows) do
    if row.cpus then
      local good, message = core.check_cpus(row.cpus)
      if not good then return nil, "option 'cpus': " .. message end
    elseif row.place then
      local good, message = core.place(row.place, row.threads or 1)
      if not good then return nil, "option 'place': " .. message end
    end
  end
  return true
end

--- A descriptor with what `threads`, `cpus` and `place` of the options say to
-- all rows; or nil and a sentence. A list of several is no business of one row.
function measure.placed(descriptor, options)
  local single = { cpus = options.cpus }
  for _, key in ipairs { "threads", "place" } do
    if type(options[key]) ~= "table" then single[key] = options[key] end
  end
  local row = place_row(descriptor, single)
  local good, message = check_places { row }
  if not good then return nil, message end
  good, message = workload.check(row)
  if not good then return nil, message end
  return row
end

--- Measures a list of descriptors. Returns the list of records and a table
-- about the run as a whole, or nil and a sentence. Options are those of
-- `cbench.measure`; `reference` may be a list with a name, a workload or the
-- index of a row for each row. A row that its kind refuses comes back `n/a`.
function measure.run(list, options)
  local work, message = plan(list, options)
  if not work then return nil, message end
  local good
  good, message = check_places(work.rows)
  if not good then return nil, message end
  options.seed = options.seed or core.now() & 0x7fffffff
  options.time = options.time or measure.default_time(#list)
  local alone = not all_plain(work.rows)
  local started = os.time()
  local raw
  raw, message = processes.measure(work, options, alone)
  if not raw then return nil, message end
  raw.started, raw.options = started, options
  return record.build(work, raw)
end

--- `cbench.measure(workload or list, options)`: raises on misuse and on what a
-- kind refuses.
function measure.call(subject, options)
  local single = workload.is(subject)
  if type(subject) ~= "table" or (not single and #subject == 0) then
    error("bad argument #1 to 'measure' (a workload or a list of workloads "
      .. "expected)", 2)
  end
  if options ~= nil and type(options) ~= "table" then
    error(("bad argument #2 to 'measure' (table expected, got %s)"):format(
      type(options)), 2)
  end
  local list = single and { subject } or subject
  for i, descriptor in ipairs(list) do
    if not workload.is(descriptor) then
      error(("bad argument #1 to 'measure' (element %d is a %s, not a "
        .. "workload)"):format(i, type(descriptor)), 2)
    end
    local good, message = workload.check(descriptor)
    if not good then
      error(("bad argument #1 to 'measure' (%s)"):format(message), 2)
    end
  end
  local checked, message = measure.check_options(options or {})
  if not checked then
    error(("bad argument #2 to 'measure' (%s)"):format(message), 2)
  end
  checked.forks = checked.forks or 1
  local records, meta = measure.run(list, checked)
  if not records then
    -- What ended a process is in no argument.
    local blamed = meta:find "^a measuring process" and "%s" or
      "bad argument #2 to 'measure' (%s)"
    error(blamed:format(meta), 2)
  end
  if single then return record.object(records[1], meta) end
  return import("results").new(records, meta)
end

return measure
