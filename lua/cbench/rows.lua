--- From a scenario's definition to the rows of its table: one descriptor of
-- measurable work each, a label, and the row it is compared to.
--
-- A row: { name, p, descriptor, rides = true or nil, reference = row or nil }.
-- A row that rides along is measured because others are compared to it, though
-- nobody asked for it. Whether it can be measured is not looked at here: that
-- makes the work and drops it again.
local import = ...
local check = import "check"
local params = import "params"
local figure = import "figure"
local workload = import "workload"

local rows = {}

local function copy(t)
  local new = {}
  for key, value in pairs(t) do new[key] = value end
  return new
end

-- Constructors complain about their first argument, which nobody wrote here:
-- "bad argument #1 to 'nesting' (...)" becomes "nesting: ...".
local function strip(message)
  return (tostring(message):gsub("^bad argument #1 to '([%w_]+)' (%b())$",
    function (name, inner) return name .. ": " .. inner:sub(2, -2) end))
end

-- The descriptor of one combination, or nil and a sentence. A function may
-- say nil and why: that row is n/a.
local function describe(make, p)
  local ok, descriptor, reason = pcall(make, copy(p))
  if not ok then return nil, strip(descriptor) end
  if descriptor == nil and type(reason) == "string" then
    return workload.absent(copy(p), reason)
  end
  if not workload.is(descriptor) then
    return nil, ("workload: the function gave a %s instead of a workload")
      :format(type(descriptor))
  end
  return descriptor
end

-- A descriptor is made by its constructor and never changed after; what is
-- the row's own goes into a copy.
local function changed(descriptor, fields)
  local new = setmetatable(copy(descriptor), getmetatable(descriptor))
  for key, value in pairs(fields) do new[key] = value end
  return new
end

-- The descriptor on the threads or at the place that the row asks for: a
-- function of p need not know of them.
-- @return the descriptor, or nil and a sentence
local function placed(descriptor, p, placement)
  for _, name in ipairs(placement) do
    if name == "threads" then
      if descriptor.params.threads == nil then
        return nil, workload.threads_follow(descriptor.kind)
      end
      local parameters = copy(descriptor.params)
      parameters.threads = p.threads
      descriptor = changed(descriptor, { params = parameters,
                                         threads = p.threads })
    else
      descriptor = changed(descriptor, { place = p.place })
    end
  end
  return descriptor
end

local function new_row(name, p, descriptor)
  return { name = name, p = p,
           descriptor = changed(descriptor, { name = name }) }
end

-- ---- rows of combinations

-- The workload's own parameter order, as its first descriptor tells it.
local function workload_order(make, checked)
  local first = params.first(checked)
  local descriptor = first and describe(make, first)
  return descriptor and descriptor.order or {}
end

-- Names of parameters among the columns that a scenario wants.
local function column_names(columns)
  local names = {}
  for _, column in ipairs(columns or {}) do
    if type(column) == "string" then names[#names + 1] = column end
  end
  return names
end

--- The names of the parameters in the order of the columns.
function rows.order(definition, checked)
  return params.order(checked, {
    column_names(definition.columns),
    workload_order(definition.workload, checked),
  })
end

-- @return a list of rows and the order of the parameters; nil and a sentence
local function from_combinations(definition, checked, placement)
  local make, order = definition.workload, rows.order(definition, checked)
  local combinations, message = params.combine(checked, order)
  if not combinations then return nil, message end
  local list = {}
  for _, p in ipairs(combinations) do
    if not definition.where or definition.where(copy(p)) then
      local descriptor
      descriptor, message = describe(make, p)
      if descriptor then
        descriptor, message = placed(descriptor, p, placement)
      end
      if not descriptor then return nil, message end
      local label = params.label(p, order)
      if label == "" then label = descriptor.name or descriptor.kind end
      list[#list + 1] = new_row(label, p, descriptor)
    end
  end
  return list, order
end

-- ---- rows of a list of descriptors

-- Parameters that do not have the same value in all descriptors of a list, in
-- the order in which they first stand there.
local function varying(descriptors)
  local order, seen, differs = {}, {}, {}
  for _, descriptor in ipairs(descriptors) do
    for _, name in ipairs(descriptor.order or check.keys(descriptor.params)) do
      local text = figure.value(descriptor.params[name])
      if not seen[name] then
        order[#order + 1] = name
        seen[name] = text
      elseif seen[name] ~= text then
        differs[name] = true
      end
    end
  end
  local names = {}
  for _, name in ipairs(order) do
    if differs[name] then names[#names + 1] = name end
  end
  return names
end

local function descriptor_label(descriptor, names, several_kinds)
  if descriptor.name then return descriptor.name end
  local words = {}
  if several_kinds then words[1] = descriptor.kind end
  for _, name in ipairs(names) do
    local value = descriptor.params[name]
    if value ~= nil then
      words[#words + 1] = name .. "=" .. figure.value(value)
    end
  end
  if #words == 0 then return descriptor.kind end
  return table.concat(words, "/")
end

local function unique(name, taken)
  local result, count = name, 1
  while taken[result] do
    count = count + 1
    result = ("%s#%d"):format(name, count)
  end
  taken[result] = true
  return result
end

-- The columns of such a list: the row's name where rows have one of their
-- own, else the kind of work where there are several, and what varies.
local function from_descriptors(definition)
  local descriptors = definition.workload
  local kinds, kind_count, any_name = {}, 0, false
  for _, descriptor in ipairs(descriptors) do
    if not kinds[descriptor.kind] then
      kinds[descriptor.kind] = true
      kind_count = kind_count + 1
    end
    any_name = any_name or descriptor.name ~= nil
  end
  local names = varying(descriptors)
  local order = any_name and { "name" } or copy(names)
  if kind_count > 1 and not any_name then
    table.insert(order, 1, "workload")
  end
  local list, taken = {}, {}
  for _, descriptor in ipairs(descriptors) do
    local p = copy(descriptor.params)
    p.workload = kind_count > 1 and descriptor.kind or nil
    if not definition.where or definition.where(copy(p)) then
      local label = descriptor_label(descriptor, names, kind_count > 1)
      list[#list + 1] = new_row(unique(label, taken), p, descriptor)
    end
  end
  return list, order
end

-- ---- references

local function by_name(list, name)
  for _, row in ipairs(list) do
    if row.name == name then return row end
  end
end

-- A row that nobody asked for: once for each name.
local function ride(list, name, p, descriptor)
  local row = by_name(list, name)
  if not row then
    row = new_row(name, p, descriptor)
    row.rides = true
    list[#list + 1] = row
  end
  return row
end

-- The row that is like this one but for some parameters.
local function like(list, row, values, context)
  local p = copy(row.p)
  for name, value in pairs(values) do
    if p[name] == nil then
      return nil, "reference: " .. check.unknown("parameter", name,
        check.keys(p))
    end
    p[name] = value
  end
  if type(context.make) ~= "function" and not getmetatable(context.make) then
    for _, other in ipairs(list) do
      local same = other.descriptor.kind == row.descriptor.kind
      for name, value in pairs(p) do
        same = same and figure.value(other.p[name]) == figure.value(value)
      end
      if same then return other end
    end
    return nil, ("reference: no row is like '%s' with other values")
      :format(row.name)
  end
  local name = params.label(p, context.order)
  local found = by_name(list, name)
  if found then return found end
  local descriptor, message = describe(context.make, p)
  if not descriptor then return nil, "reference: " .. message end
  return ride(list, name, p, descriptor)
end

local function by_word(list, word)
  local row = by_name(list, word)
  if row then return row end
  local make = workload.constructors[word]
  if not make then
    local names = {}
    for i, other in ipairs(list) do names[i] = other.name end
    return nil, "reference: " .. check.unknown("row or workload", word, names)
  end
  return ride(list, word, {}, make {})
end

local function resolve(list, row, wanted, context)
  if type(wanted) == "function" then wanted = wanted(copy(row.p), row.name) end
  if wanted == nil then wanted = "call" end
  if wanted == false then return nil end
  if type(wanted) == "string" then return by_word(list, wanted) end
  if workload.is(wanted) then
    return ride(list, wanted.name or wanted.kind, {}, wanted)
  elseif type(wanted) == "table" then
    return like(list, row, wanted, context)
  end
  return nil, ("reference: parameter values or a name expected, got %s")
    :format(type(wanted))
end

-- Rows that ride along are compared to nothing, so the list may grow.
local function set_references(list, definition, context)
  for i = 1, #list do
    local message
    list[i].reference, message =
      resolve(list, list[i], definition.reference, context)
    if message then return message end
  end
end

-- ---- filter

local function keep(name, filters)
  local wanted = true
  for _, filter in ipairs(filters) do
    if filter:sub(1, 1) ~= "-" then wanted = false end
  end
  for _, filter in ipairs(filters) do
    if filter:sub(1, 1) == "-" then
      if name:find(filter:sub(2), 1, true) then return false end
    elseif name:find(filter, 1, true) then
      wanted = true
    end
  end
  return wanted
end

-- Rows that the filter leaves, and those that they are compared to.
local function filtered(list, filters)
  local kept, left, used = {}, 0, {}
  for _, row in ipairs(list) do
    if not row.rides and keep(row.name, filters) then
      left = left + 1
      used[row] = true
      if row.reference then used[row.reference] = true end
    end
  end
  for _, row in ipairs(list) do
    if used[row] then
      row.rides = row.rides or not keep(row.name, filters) or nil
      kept[#kept + 1] = row
    end
  end
  return kept, left
end

-- ---- together

--- The rows of a scenario.
-- @param definition what was given to `cbench.scenario`, checked
-- @param checked its parameters, overridden
-- @param placement names of parameters that place the threads
-- @param filters list of texts: a row's label must contain one of them, and
-- none of those with a leading "-"
-- @return a list of rows and the order of its parameters; or nil, a sentence
-- and, when it is the filter that leaves nothing, "filter"
function rows.build(definition, checked, placement, filters)
  local list, order
  if type(definition.workload) ~= "table" then
    list, order = from_combinations(definition, checked, placement)
  elseif placement[1] then
    return nil, ("option '%s': a list of workloads takes one value"):format(
      placement[1])
  else
    list, order = from_descriptors(definition)
  end
  if not list then return nil, order end
  if #list == 0 then return nil, "where: no row is left", "filter" end
  local message = set_references(list, definition, {
    make = definition.workload, order = order,
  })
  if message then return nil, message end
  local kept, left = filtered(list, filters or {})
  if left == 0 then
    local names = {}
    for i, row in ipairs(list) do names[i] = row.name end
    return nil, ("no row matches the filter %s (the first is '%s')"):format(
      "'" .. table.concat(filters, "' '") .. "'", names[1]), "filter"
  end
  return kept, order
end

return rows
