--- A page of results: one file that holds all it needs.
--
-- It has neither scripts nor links to elsewhere, and forbids both to itself,
-- so that nothing that stands in a results file can bring them in.
local import, core = ...
local markup = import "markup"
local page_table = import "page_table"
local results = import "results"
local svg = import "svg"
local summary = import "summary"

local escape = markup.escape

local page = {}

local function plural(count, one)
  return count == 1 and "1 " .. one or ("%d %ss"):format(count, one)
end

-- ---- pictures

local function drawing(one, size)
  local drawn = one[size]
  return svg.inline(drawn.elements, drawn.width, drawn.height,
    one.alternative, size)
end

local function figure_of(one)
  return ('<figure class="%s">\n<figcaption><b>%s</b><span>%s</span>'
    .. '</figcaption>\n%s\n%s\n<details><summary>Data</summary>\n%s\n'
    .. '</details>\n</figure>'):format(one.kind,
    escape(markup.clip(one.title, 160)), escape(one.note),
    drawing(one, "wide"), drawing(one, "narrow"),
    page_table.plain("Data of the picture", one.data))
end

local function figures_of(list)
  return ('<div class="pictures">\n%s\n</div>'):format(
    table.concat(list, "\n"))
end

local function pictures_of(section)
  local list, more, words = {}, {}, {}
  for _, one in ipairs(section.pictures) do
    local place = one.on_demand and more or list
    place[#place + 1] = figure_of(one)
  end
  for i, sentence in ipairs(section.missing) do
    words[i] = ('<p class="operation">%s.</p>'):format(escape(sentence))
  end
  if #list == 0 and #words == 0 then return "" end
  local rest = #more == 0 and "" or ('<details class="more"><summary>Rounds '
    .. "of %s</summary>\n%s\n</details>"):format(plural(#more, "more row"),
    figures_of(more))
  return ("<h3>Pictures</h3>\n%s\n%s\n%s"):format(
    table.concat(words, "\n"), figures_of(list), rest)
end

-- ---- words

local function chip(words, class)
  return ("<li%s>%s</li>"):format(
    class and (' class="%s"'):format(class) or "", escape(words))
end

local function count_rows(part)
  local good, failed, refused = 0, 0, 0
  for _, record in ipairs(part) do
    if record.status == "fail" then
      failed = failed + 1
    elseif record.status == "n/a" then
      refused = refused + 1
    elseif not record.reference then
      good = good + 1
    end
  end
  return good, failed, refused
end

local function chips_of(part)
  local meta, list = part.meta, {}
  local noise = type(meta.noise) == "table" and meta.noise.verdict
  if noise then
    list[1] = chip("noise: " .. tostring(noise), noise == "ok" and "ok" or
      "bad")
  end
  local good, failed, refused = count_rows(part)
  list[#list + 1] = chip(plural(good, "row"))
  if failed > 0 then list[#list + 1] = chip(failed .. " FAIL", "bad") end
  if refused > 0 then list[#list + 1] = chip(refused .. " n/a") end
  if meta.partial then list[#list + 1] = chip("partial", "bad") end
  for words in summary.effort(part):gmatch "[^,]+" do
    list[#list + 1] = chip(words:match "^%s*(.*)$")
  end
  if meta.seed then list[#list + 1] = chip("seed " .. tostring(meta.seed)) end
  return '<ul class="facts">' .. table.concat(list) .. "</ul>"
end

local function below_of(part)
  local rows = {}
  for _, pair in ipairs(summary.below(part, ", see all notes")) do
    rows[#rows + 1] = ("<dt>%s</dt><dd>%s</dd>"):format(escape(pair[1]),
      escape(pair[2]))
  end
  if #rows == 0 then return "" end
  return '<dl class="below">' .. table.concat(rows, "\n") .. "</dl>"
end

local function notes_of(meta)
  if not summary.has_more_notes(meta) then return "" end
  local items = {}
  for i, note in ipairs(meta.notes) do
    items[i] = "<li>" .. escape(note) .. "</li>"
  end
  return ("<details><summary>All notes</summary><ul>\n%s\n</ul></details>")
    :format(table.concat(items, "\n"))
end

local function noise_of(part)
  local made = page_table.noise(part)
  return made and ("<details><summary>Noise of each row</summary>\n%s\n"
    .. "</details>"):format(made) or ""
end

local function operations_of(part)
  local lines = {}
  for i, line in ipairs(summary.operations(part)) do
    lines[i] = ('<p class="operation">%s</p>'):format(escape(line))
  end
  return table.concat(lines, "\n")
end

local function again_of(meta)
  if type(meta.command) ~= "string" then return "" end
  return ("<h3>Again</h3>\n<pre>%s</pre>"):format(escape(meta.command))
end

local function described(meta)
  local parts = {}
  for _, group in ipairs { { "machine", "Machine" }, { "build", "Build" },
      { "state", "State" }, { "options", "Options" } } do
    local facts = meta[group[1]]
    if type(facts) == "table" and next(facts) ~= nil then
      parts[#parts + 1] = ("<div><h3>%s</h3>\n%s</div>"):format(group[2],
        page_table.facts(facts))
    end
  end
  if #parts == 0 then return "" end
  return '<div class="described">' .. table.concat(parts, "\n") .. "</div>"
end

-- ---- sections

-- Where a run took place, in a few words.
local function place_of(meta)
  local words = {}
  local machine = type(meta.machine) == "table" and meta.machine or {}
  words[#words + 1] = meta.host or machine.host
  if meta.rank then
    words[#words + 1] = meta.size and
      ("rank %s of %s"):format(tostring(meta.rank), tostring(meta.size)) or
      "rank " .. tostring(meta.rank)
  end
  words[#words + 1] = summary.machine(meta)
  words[#words + 1] = meta.started
  for i, word in ipairs(words) do words[i] = tostring(word) end
  return table.concat(words, " \u{b7} ")
end

local most_title, most_question = 200, 400

-- A text that is too long to head a page, as a whole.
local function whole_text(text, most, which)
  if #text <= most or utf8.len(markup.plain(text)) <= most then return nil end
  return ("<details><summary>The whole %s</summary><p>%s</p></details>")
    :format(which, escape(text))
end

local function heading(level, section)
  local meta = section.part.meta
  local title = tostring(section.title or meta.title or "Results")
  local lines = {
    ('<p class="kicker">%s</p>'):format(escape(place_of(meta))),
    ("<h%d>%s</h%d>"):format(level, escape(markup.clip(title, most_title)),
      level),
  }
  lines[#lines + 1] = whole_text(title, most_title, "title")
  if type(meta.about) == "string" and meta.about ~= "" then
    lines[#lines + 1] = ('<p class="question">%s</p>'):format(
      escape(markup.clip(meta.about, most_question)))
    lines[#lines + 1] = whole_text(meta.about, most_question, "question")
  end
  return table.concat(lines, "\n")
end

local function section_body(section)
  local part = results.whole(section.part)
  return table.concat({
    operations_of(part), chips_of(part), page_table.results(part),
    below_of(part), notes_of(part.meta), noise_of(part), pictures_of(section),
    again_of(part.meta), section.alike and "" or described(part.meta),
  }, "\n")
end

local function one_section(section)
  return "<header>\n" .. heading(1, section) .. "\n</header>\n"
    .. section_body(section)
end

local function name_of(section)
  return markup.clip(tostring(section.title or section.part.meta.title or
    "Results"), 80)
end

local function many_sections(sections, title)
  local links, bodies = {}, {}
  for i, section in ipairs(sections) do
    links[i] = ('<li><a href="#part%d">%s</a> <span class="i">%s</span></li>')
      :format(i, escape(name_of(section)),
      escape(section.part.meta.host or ""))
    bodies[i] = ('<section class="part" id="part%d">\n%s\n%s\n</section>')
      :format(i, heading(2, section), section_body(section))
  end
  return ("<header>\n<h1>%s</h1>\n<nav><ol>%s</ol></nav>\n</header>\n%s")
    :format(escape(markup.clip(title, most_title)), table.concat(links, "\n"),
    table.concat(bodies, "\n"))
end

local frame = [[
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="%s">
<link rel="icon" href="data:,">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<main>
%s
%s
<footer>Made by %s. One file; needs no network.</footer>
</main>
</body>
</html>
]]

--- The page.
-- @param sections a list of { part, title, pictures, missing = sentences about
-- what could not be drawn, alike = the machine is described elsewhere }; each
-- picture with its drawings `wide` and `narrow` = { elements, width, height }
-- @param given { title, notes = sentences about the whole }
function page.html(sections, given)
  local notes = {}
  for i, note in ipairs(given.notes) do
    notes[i] = ('<p class="operation">%s</p>'):format(escape(note))
  end
  local version = escape(core.version)
  return frame:format(version, escape(markup.clip(given.title, 120)),
    import "page_style", #sections == 1 and one_section(sections[1]) or
      many_sections(sections, given.title), table.concat(notes, "\n"), version)
end

return page
