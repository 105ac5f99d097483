--- Text on a terminal: how wide it is, how it is filled up and broken.
local text = {}

-- Ranges of code points that take no column, and that take two.
local narrow = { { 0x300, 0x36f }, { 0x200b, 0x200f }, { 0xfe00, 0xfe0f } }
local wide = {
  { 0x1100, 0x115f }, { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 },
  { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 },
  { 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd },
}

local function within(point, ranges)
  for _, range in ipairs(ranges) do
    if point >= range[1] and point <= range[2] then return true end
  end
  return false
end

--- Columns that the text takes. What is not UTF-8 counts an octet a column.
function text.width(s)
  if not s:find("[\x80-\xff]") or not utf8.len(s) then return #s end
  local columns = 0
  for _, point in utf8.codes(s) do
    if within(point, wide) then
      columns = columns + 2
    elseif not within(point, narrow) then
      columns = columns + 1
    end
  end
  return columns
end

--- The text as UTF-8: an octet that is none of it, and a zero, become U+FFFD,
-- as in JSON.
function text.utf8(s)
  if s:find "%z" then s = s:gsub("%z", "\u{fffd}") end
  if utf8.len(s) then return s end
  local parts, from = {}, 1
  while true do
    local good, bad = utf8.len(s, from)
    if good then break end
    parts[#parts + 1] = s:sub(from, bad - 1) .. "\u{fffd}"
    from = bad + 1
  end
  return table.concat(parts) .. s:sub(from)
end

--- The text without what would move the cursor, and as UTF-8: control
-- characters become spaces.
function text.clean(s)
  return text.utf8((s:gsub("%c", " ")))
end

--- Filled up to so many columns, at the right or (`align = "right"`) left.
function text.pad(s, columns, align)
  local fill = (" "):rep(columns - text.width(s))
  if align == "right" then return fill .. s end
  return s .. fill
end

-- Pieces of a word that are not wider than the columns.
local function pieces(word, columns)
  if text.width(word) <= columns then return { word } end
  local list, piece = {}, ""
  local pattern = utf8.len(word) and utf8.charpattern or "."
  for character in word:gmatch(pattern) do
    if text.width(piece .. character) > columns then
      list[#list + 1] = piece
      piece = ""
    end
    piece = piece .. character
  end
  list[#list + 1] = piece
  return list
end

--- Broken into lines of at most so many columns, at spaces where there are
-- some.
-- @param s the text; runs of spaces inside a line are kept
-- @param columns the limit
-- @param indent how far the lines after the first are indented
-- @return a list of lines
function text.wrap(s, columns, indent)
  local lines, line = {}, ""
  local margin = (" "):rep(indent or 0)
  for space, word in text.clean(s):gmatch("(%s*)(%S+)") do
    for i, piece in ipairs(pieces(word, columns - #margin)) do
      local longer = line .. (i == 1 and space or "") .. piece
      if line:find("%S") and text.width(longer) > columns then
        lines[#lines + 1] = line
        longer = margin .. piece
      end
      line = longer
    end
  end
  lines[#lines + 1] = line
  return lines
end

--- A command broken at spaces into lines that a shell joins again.
function text.wrap_command(command, columns)
  local lines, line = {}, nil
  for word in text.clean(command):gmatch("%S+") do
    if line and text.width(line) + text.width(word) + 3 > columns then
      lines[#lines + 1] = line .. " \\"
      line = "   "
    end
    line = line and line .. " " .. word or word
  end
  lines[#lines + 1] = line
  return lines
end

--- ASCII for what can be said so, "?" for the rest.
function text.ascii(s)
  if not s:find("[\x80-\xff]") then return s end
  if not utf8.len(s) then return (s:gsub("[\x80-\xff]", "?")) end
  return (s:gsub("[\xc2-\xf4][\x80-\xbf]*", function (character)
    return text.spelled[character] or "?"
  end))
end

text.spelled = {
  ["\u{b5}"] = "u", ["\u{3bc}"] = "u", ["\u{d7}"] = "x", ["\u{b1}"] = "+-",
  ["\u{2013}"] = "-", ["\u{2014}"] = "-", ["\u{2212}"] = "-",
  ["\u{2018}"] = "'", ["\u{2019}"] = "'", ["\u{201c}"] = '"',
  ["\u{201d}"] = '"', ["\u{2026}"] = "...", ["\u{2264}"] = "<=",
  ["\u{2265}"] = ">=", ["\u{2248}"] = "~", ["\u{a0}"] = " ",
}

--- A word for a POSIX shell, quoted when it has to be.
function text.quote(word)
  if word:find("^[%w@%%+=:,./_-]+$") then return word end
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

return text
