--- Whether a page or a picture is well formed: tags nest, attributes stand in
-- quotes, text is escaped. Stricter than a browser.

local void = { meta = true, link = true, br = true, ["!doctype"] = true,
               ["?xml"] = true }

local function check_text(text, where)
  local bad = text:find "&[^#%w]" or text:find "&%w+[^%w;]"
  if bad then
    error(("unescaped '&' near '%s' in %s"):format(text:sub(bad, bad + 20),
      where))
  end
end

local function check_attributes(rest, name)
  local left = rest:gsub("%s+[%w:-]+%s*=%s*\"([^\"<]*)\"", function (value)
    check_text(value .. " ", name)
    return ""
  end)
  left = left:gsub("%s+[%w:-]+%f[%s/>%z]", ""):gsub("[%s/?]", "")
  if left ~= "" and name:lower() ~= "!doctype" then
    error(("attributes of <%s> are odd: %s"):format(name, left:sub(1, 60)))
  end
end

--- Raises when it is not. Returns how often each element stands in it.
return function (source)
  local stack, counts, at = {}, {}, 1
  source = source:gsub("<style>.-</style>", "<style></style>")
  while at <= #source do
    local open = source:find("<", at, true)
    check_text(source:sub(at, (open or #source + 1) - 1),
      stack[#stack] or "top")
    if not open then break end
    local slash, name, rest, close, last = source:match(
      "^<(/?)([!?%w]+)([^<>]*)(>)()", open)
    assert(close, "no tag at: " .. source:sub(open, open + 60))
    if slash == "/" then
      local expected = table.remove(stack)
      assert(expected == name, ("</%s> closes <%s>"):format(name,
        tostring(expected)))
    else
      check_attributes(rest, name)
      counts[name] = (counts[name] or 0) + 1
      if not void[name:lower()] and not rest:find "/$" then
        stack[#stack + 1] = name
      end
    end
    at = last
  end
  assert(#stack == 0, "not closed: " .. table.concat(stack, " "))
  return counts
end
