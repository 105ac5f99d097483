--- Text as HTML and SVG: whatever it holds, it stays text.
local markup = {}

-- What moves or hides its neighbours, or is no character at all.
local function is_plain(point)
  return point >= 0x20 and point ~= 0x7f
    and not (point >= 0x80 and point < 0xa0)
    and not (point >= 0x202a and point <= 0x202e)
    and not (point >= 0x2066 and point <= 0x2069)
    and point & 0xfffe ~= 0xfffe
end

local function mend_characters(s, out)
  for _, point in utf8.codes(s) do
    if is_plain(point) then
      out[#out + 1] = utf8.char(point)
    else
      out[#out + 1] = point < 0x20 and " " or "\u{fffd}"
    end
  end
end

--- Valid UTF-8 on one line, without control characters.
function markup.plain(s)
  s = tostring(s)
  if not s:find("[^\x20-\x7e]") then return s end
  local out, from = {}, 1
  while from <= #s do
    local good, bad = utf8.len(s, from)
    mend_characters(s:sub(from, good and #s or bad - 1), out)
    if good then break end
    out[#out + 1] = "\u{fffd}"
    from = bad + 1
  end
  return table.concat(out)
end

--- At most so many characters, the last of them an ellipsis where some were
-- left out.
function markup.clip(s, most)
  s = markup.plain(s)
  if #s <= most or utf8.len(s) <= most then return s end
  return s:sub(1, utf8.offset(s, most) - 1) .. "\u{2026}"
end

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;",
                   ['"'] = "&quot;", ["'"] = "&#39;" }

--- For content and for attributes in quotes of either kind.
function markup.escape(s)
  return (markup.plain(s):gsub("[&<>\"']", entities))
end

return markup
