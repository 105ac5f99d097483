--- Checks of what scripts hand in, and sentences for what is wrong with it.
-- Nothing here raises: a check returns nil when all is well, else a sentence.
local _, core = ...

local check = {}

--- The keys of a table that are strings, in the order of the alphabet.
function check.keys(t)
  local keys = {}
  for key in pairs(t) do
    if type(key) == "string" then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

--- " (did you mean 'x'?)", or all the names when none is near.
function check.hint(word, names)
  local nearest = core.nearest(tostring(word), names)
  if nearest then return (" (did you mean '%s'?)"):format(nearest) end
  if #names == 0 then return " (there are none)" end
  return (" (there %s %s)"):format(#names == 1 and "is" or "are",
    table.concat(names, ", "))
end

--- Is the word one of the names of a list?
function check.is_among(word, names)
  for _, name in ipairs(names) do
    if name == word then return true end
  end
  return false
end

--- "unknown parameter 'dept' (did you mean 'depth'?)"
function check.unknown(what, word, names)
  return ("unknown %s '%s'%s"):format(what, tostring(word),
    check.hint(word, names))
end

--- That the table has no other keys than those of `types`, and that each
-- value has its type: a name of `type()`, or several separated by "|".
-- @param t what was handed in
-- @param types key = type
-- @param what the singular of what a key is, for the sentence
function check.fields(t, types, what)
  local known = check.keys(types)
  for key in pairs(t) do
    if not types[key] then return check.unknown(what, key, known) end
  end
  for _, key in ipairs(known) do
    local value, wanted = t[key], types[key]
    if value ~= nil and not ("|" .. wanted .. "|"):find(
        "|" .. type(value) .. "|", 1, true) then
      return ("%s '%s': %s expected, got %s"):format(what, key,
        wanted:gsub("|", " or "), type(value))
    end
  end
end

return check
