--- How numbers are written for people: three significant digits, whatever
-- their size, and a unit with each column in which they stay short.
local figure = {}

--- The number with `digits` significant digits (3) and no exponent as long as
-- it can be read without: 3.81, 0.0123, 36900. What is not zero never looks
-- like zero.
function figure.significant(x, digits)
  if x ~= x then return "nan" end
  if x == 0 then return "0" end
  if x == math.huge or x == -math.huge then return x < 0 and "-inf" or "inf" end
  digits = digits or 3
  local text = ("%%.%de"):format(digits - 1):format(x)
  local exponent = tonumber(text:match("e(.*)$"))
  if exponent < -6 or exponent > 11 then return text end
  local rounded = tonumber(text)
  return ("%%.%df"):format(math.max(0, digits - 1 - exponent)):format(rounded)
end

--- The shortest text that reads back as the same number.
function figure.exact(x)
  if math.type(x) == "integer" then return ("%d"):format(x) end
  for digits = 15, 16 do
    local text = ("%%.%dg"):format(digits):format(x)
    if tonumber(text) == x then return text end
  end
  return ("%.17g"):format(x)
end

--- A number that is exactly whole stays bare: 1 instead of 1.00.
function figure.ratio(x)
  if x == 1 then return "1" end
  return figure.significant(x)
end

--- A fraction as a percentage: 0.083 is "8.3 %". Three digits, except where
-- they say nothing: 100 %, 0 %, 42 %.
function figure.share(x)
  local percent = x * 100
  local whole = math.floor(percent + 0.5)
  if math.abs(percent - whole) < 1e-9 then return ("%d %%"):format(whole) end
  return figure.significant(percent, math.abs(percent) < 10 and 2 or 3) .. " %"
end

--- "9610 .. 9770": both ends with as many digits as tell them apart, three at
-- least and five at most.
function figure.interval(low, high)
  local digits = 3
  while digits < 5 and low ~= high and
      figure.significant(low, digits) == figure.significant(high, digits) do
    digits = digits + 1
  end
  return figure.significant(low, digits) .. " .. " ..
    figure.significant(high, digits)
end

local time_units = {
  { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
}

local rate_units = {
  { "G", 1e9 }, { "M", 1e6 }, { "k", 1e3 }, { "", 1 },
}

-- The largest unit in which the smallest of the values is still 10 or more,
-- so that no cell needs more than a few zeros.
local function unit_for(values, units, enough)
  local smallest = math.huge
  for _, value in ipairs(values) do
    if value > 0 and value < smallest then smallest = value end
  end
  for _, unit in ipairs(units) do
    if smallest ~= math.huge and smallest >= unit[2] * enough then
      return unit[1], unit[2]
    end
  end
  return units[#units][1], units[#units][2]
end

--- The unit of a column of nanoseconds: its name and what to divide by.
function figure.time_unit(values)
  return unit_for(values, time_units, 10)
end

--- The prefix of a column of rates: its name and what to divide by.
function figure.rate_unit(values)
  return unit_for(values, rate_units, 1)
end

--- A duration in seconds: "13.2 s", "41 ms".
function figure.duration(seconds)
  if seconds >= 1 then return ("%.1f s"):format(seconds) end
  return ("%.0f ms"):format(seconds * 1000)
end

--- A frequency in Hz: "2.445 GHz".
function figure.frequency(hz)
  for _, unit in ipairs(rate_units) do
    if hz >= unit[2] then
      local value = figure.significant(hz / unit[2], 4)
      return ("%s %sHz"):format(value:gsub("%.?0+$", function (tail)
        return tail:find("%.") and "" or tail
      end), unit[1])
    end
  end
  return ("%g Hz"):format(hz)
end

local DEPTH_MAX = 4

--- A parameter's value as it stands in labels and cells: 10, asm, true, and
-- spsc{size=64} for a kind with options, a>b for a list of kinds. What lies
-- deep in a table, or a table in itself, is left out.
function figure.value(value, depth)
  depth = depth or 0
  if type(value) == "number" then
    local whole = math.tointeger(value)
    return whole and ("%d"):format(whole) or ("%.14g"):format(value)
  elseif type(value) == "function" then
    return "function"
  elseif type(value) ~= "table" then
    return (tostring(value):gsub(":? 0x%x+$", ""))
  elseif depth == DEPTH_MAX then
    return "..."
  end
  local words, names = {}, {}
  if type(value[1]) == "table" then -- a list of kinds
    for i, item in ipairs(value) do
      words[i] = figure.value(item, depth + 1)
    end
    return table.concat(words, ">")
  end
  for key in pairs(value) do
    if type(key) == "string" and key ~= "kind" then names[#names + 1] = key end
  end
  table.sort(names)
  for i, item in ipairs(value) do
    if i > 1 then words[#words + 1] = figure.value(item, depth + 1) end
  end
  for _, key in ipairs(names) do
    words[#words + 1] = key .. "=" .. figure.value(value[key], depth + 1)
  end
  local name = figure.value(value.kind or value[1] or "", depth + 1)
  if #words == 0 then return name end
  return ("%s{%s}"):format(name, table.concat(words, ","))
end

return figure
