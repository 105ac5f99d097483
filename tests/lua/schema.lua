--- As much of JSON Schema as doc/results.schema.json uses. A word of a schema
-- that is not known here is an error, so that nothing passes unseen.
local schema = {}

local types = {
  object = function (v) return type(v) == "table" and #v == 0 end,
  array = function (v)
    return type(v) == "table" and (#v > 0 or next(v) == nil)
  end,
  string = function (v) return type(v) == "string" end,
  number = function (v) return type(v) == "number" end,
  integer = function (v) return math.type(v) == "integer" end,
  boolean = function (v) return type(v) == "boolean" end,
}

local words = {}

function words.type(value, wanted)
  return not types[wanted](value) and wanted .. " expected"
end

function words.const(value, wanted)
  return value ~= wanted and ("'%s' expected"):format(wanted)
end

function words.enum(value, list)
  for _, one in ipairs(list) do
    if value == one then return nil end
  end
  return ("'%s' is none of %s"):format(value, table.concat(list, ", "))
end

function words.minimum(value, least)
  return type(value) == "number" and value < least and "too small"
end

function words.maximum(value, most)
  return type(value) == "number" and value > most and "too big"
end

function words.exclusiveMinimum(value, least)
  return type(value) == "number" and value <= least and "too small"
end

function words.required(value, names)
  for _, name in ipairs(type(value) == "table" and names or {}) do
    if value[name] == nil then return name .. " is missing" end
  end
end

words["$ref"] = function (value, reference, root, path)
  local name = reference:match "^#/%$defs/(%w+)$"
  return schema.check(value, root["$defs"][name], root, path)
end

function words.properties(value, properties, root, path)
  for name, inner in pairs(type(value) == "table" and properties or {}) do
    if value[name] ~= nil then
      local message = schema.check(value[name], inner, root,
        path .. "." .. name)
      if message then return message end
    end
  end
end

function words.additionalProperties(value, inner, root, path, rules)
  for name, one in pairs(type(value) == "table" and value or {}) do
    if not (rules.properties or {})[name] then
      local message = schema.check(one, inner, root, path .. "." .. name)
      if message then return message end
    end
  end
end

function words.items(value, inner, root, path)
  for i, one in ipairs(type(value) == "table" and value or {}) do
    local message = schema.check(one, inner, root, ("%s[%d]"):format(path, i))
    if message then return message end
  end
end

function words.anyOf(value, list, root, path)
  for _, inner in ipairs(list) do
    if not schema.check(value, inner, root, path) then return nil end
  end
  return "fits none of several"
end

words["if"] = function (value, condition, root, path, rules)
  if schema.check(value, condition, root, path) then return nil end
  return schema.check(value, rules["then"], root, path)
end

local silent = { title = true, description = true, ["$schema"] = true,
                 ["$defs"] = true, ["then"] = true }

--- What is wrong with a value, with its path; nil when it fits.
function schema.check(value, rules, root, path)
  root, path = root or rules, path or ""
  if rules == false then return path .. ": must not be there" end
  if rules == true then return nil end
  for word, argument in pairs(rules) do
    if not silent[word] then
      local check = words[word] or error("unknown word in schema: " .. word)
      local message = check(value, argument, root, path, rules)
      if message then
        return message:find(": ", 1, true) and message or
          path .. ": " .. message
      end
    end
  end
end

return schema
