--- Tables of a page: the same columns and cells as on the terminal.
local import = ...
local check = import "check"
local figure = import "figure"
local markup = import "markup"
local sheet = import "sheet"

local escape = markup.escape

local page_table = {}

-- A table that is too wide is scrolled, also by keys.
local function scroll(name, rows)
  return ('<div class="scroll" tabindex="0" role="region" aria-label="%s">'
    .. '<table>\n%s\n</table></div>'):format(escape(name),
    table.concat(rows, "\n"))
end

-- ---- results

local words = { param = true, text = true, interval = true }

-- Numbers to the right, what is read to the left.
local function class_of(column, records)
  if column.kind == "interval" then return "i" end
  local class = not words[column.kind] and "n" or nil
  for _, record in ipairs(records) do
    local value = not record.reference and column.get(record)
    if type(value) == "number" then return "n" end
    if value then class = nil end
  end
  return class
end

local function attribute(name, value)
  return value and (' %s="%s"'):format(name, value) or ""
end

local function group_row(list)
  local cells, any, i = {}, false, 1
  while i <= #list do
    local last = i
    while list[i].group and list[last + 1] and
        list[last + 1].group == list[i].group do
      last = last + 1
    end
    any = any or list[i].group ~= nil
    cells[#cells + 1] = ("<th%s%s>%s</th>"):format(
      last > i and attribute("colspan", last - i + 1) or "",
      attribute("class", list[i].group and "n" or nil),
      escape(list[i].group or ""))
    i = last + 1
  end
  return any and '<tr class="groups">' .. table.concat(cells) .. "</tr>" or nil
end

local function head(list)
  local cells = {}
  for i, column in ipairs(list) do
    cells[i] = ('<th scope="col"%s>%s</th>'):format(
      attribute("class", column.class), escape(column.title))
  end
  return ("<thead>%s<tr>%s</tr></thead>"):format(group_row(list) or "",
    table.concat(cells))
end

local function cell(column, text)
  local class = column.class
  local verdict = column.key == "verdict" and text:match "^%a+"
  if verdict == "faster" or verdict == "slower" then class = verdict end
  return ("<td%s>%s</td>"):format(attribute("class", class), escape(text))
end

local function body_row(line, list, parameters)
  local cells, i = {}, 1
  if line.lead then
    cells[1] = ("<td%s>%s</td>"):format(
      parameters > 1 and attribute("colspan", parameters) or "",
      escape(line.lead))
    i = parameters + 1
  end
  while list[i] and not (line.over and i >= line.from) do
    cells[#cells + 1] = cell(list[i], line.cells[i] or "")
    i = i + 1
  end
  if line.over then
    cells[#cells + 1] = ('<td class="over" colspan="%d">%s</td>'):format(
      math.max(1, #list - i + 1), escape(line.over))
  end
  local class = line.lead and
    (line.lead:find "^ " and "role" or "reference") or nil
  return ("<tr%s>%s</tr>"):format(attribute("class", class),
    table.concat(cells))
end

--- The table of the results of one scenario.
function page_table.results(part)
  if #part == 0 then return "<p>No rows.</p>" end
  local made = sheet.of(part, {})
  local rows = {}
  for _, column in ipairs(made.columns) do
    column.class = class_of(column, made.records)
  end
  rows[1] = head(made.columns)
  for i, line in ipairs(made.lines) do
    rows[i + 1] = body_row(line, made.columns, made.parameters)
  end
  local list = {}
  for i, reason in ipairs(made.reasons) do
    list[i] = "<p>" .. escape(reason) .. "</p>"
  end
  return scroll("Results", rows) .. table.concat(list, "\n")
end

-- ---- other tables

local function looks_like_number(text)
  return text == "" or text:find "^[<%-]?[%d.]+[e%d+%-]*%s?%%?$"
end

--- A table of texts: { columns, rows }.
function page_table.plain(name, given)
  local rows, numeric = {}, {}
  for c in ipairs(given.columns) do
    numeric[c] = true
    for _, row in ipairs(given.rows) do
      numeric[c] = numeric[c] and looks_like_number(row[c] or "")
    end
  end
  local list = {}
  for c, title in ipairs(given.columns) do
    list[c] = { title = title, class = numeric[c] and "n" or nil }
  end
  rows[1] = head(list)
  for i, row in ipairs(given.rows) do
    local cells = {}
    for c, column in ipairs(list) do cells[c] = cell(column, row[c] or "") end
    rows[i + 1] = "<tr>" .. table.concat(cells) .. "</tr>"
  end
  return scroll(name, rows)
end

local function causes_text(causes)
  local list = {}
  for _, name in ipairs(check.keys(type(causes) == "table" and causes or {}))
  do
    if type(causes[name]) == "number" then
      list[#list + 1] = ("%s %s"):format(name, figure.share(causes[name]))
    end
  end
  return table.concat(list, ", ")
end

--- The noise verdict of each row, or nil when none has one.
function page_table.noise(part)
  local given = { columns = { "row", "noise", "disturbed", "causes" },
                  rows = {} }
  for _, record in ipairs(part) do
    local noise = record.noise
    if type(noise) == "table" then
      given.rows[#given.rows + 1] = { tostring(record.name),
        tostring(noise.verdict or "unknown"),
        type(noise.disturbed) == "number" and figure.share(noise.disturbed)
          or "", causes_text(noise.causes) }
    end
  end
  return #given.rows > 0 and page_table.plain("Noise of each row", given)
    or nil
end

-- ---- descriptions

local function fact_text(value)
  if type(value) == "number" then
    local whole = math.tointeger(value)
    return whole and ("%d"):format(whole) or figure.significant(value, 4)
  end
  return type(value) ~= "table" and tostring(value) or figure.value(value)
end

--- What is known of a machine or a build, by name.
function page_table.facts(facts)
  local rows = {}
  for _, key in ipairs(check.keys(facts)) do
    local value = facts[key]
    if key:find "hz$" and type(value) == "number" then
      value = figure.frequency(value)
    end
    rows[#rows + 1] = ("<dt>%s</dt><dd>%s</dd>"):format(
      escape((key:gsub("_", " "))), escape(fact_text(value)))
  end
  return "<dl>" .. table.concat(rows, "\n") .. "</dl>"
end

return page_table
