--- `cbench report`: results as a page, as pictures in a file, or on the
-- terminal.
local import = ...
local document = import "document"
local gather = import "gather"
local picture = import "picture"
local results = import "results"
local shape = import "shape"
local svg = import "svg"

local report = {}

-- A file of pictures holds no more than one wants to look through.
local most_in_file = 24

-- ---- what is shown

local function same_place(one, other)
  local a, b = one.machine or {}, other.machine or {}
  local c, d = one.build or {}, other.build or {}
  return a.fingerprint == b.fingerprint and a.host == b.host and
    c.fingerprint == d.fingerprint
end

local function section_of(part, title)
  return { part = part, title = title, pictures = picture.of(part),
           missing = {} }
end

-- The comparison of two files; or nil and a sentence.
local function change_section(old, new)
  local list, compared = import("picture_change").between(old, new)
  if not compared or #list == 0 then
    return nil, "the two files have no row in common that can be compared"
  end
  compared.meta.about = nil
  return { part = compared, title = compared.meta.title, pictures = list,
           missing = {}, joint = true }
end

local function several_hosts(files)
  local first
  for _, file in ipairs(files) do
    for _, part in ipairs(results.parts(file.results)) do
      local host = part.meta.host
      if first and host and host ~= first then return true end
      first = first or host
    end
  end
  return false
end

-- What several hosts say together, if they measured the same.
local function hosts_section(files)
  local names = {}
  for i, file in ipairs(files) do names[i] = file.name end
  local compared = import("hosts").compare(names, {}, function () end)
  local list = compared and import("picture_ratio").of(compared) or {}
  if #list == 0 then return nil end
  return { part = compared, title = compared.meta.title, pictures = list,
           missing = {}, joint = true }
end

-- What files show together stands before what each shows: a section; or nil
-- and, when it was to be expected, a sentence.
local function together(files)
  if #files == 2 then
    return change_section(files[1].results, files[2].results)
  elseif several_hosts(files) then
    return hosts_section(files)
  end
end

local function sections_of(files)
  local joint, why = together(files)
  local sections = { joint }
  for n, file in ipairs(files) do
    for _, part in ipairs(results.parts(file.results)) do
      local which = #files == 2 and (n == 1 and "Old: " or "New: ") or ""
      local title = part.meta.title
      sections[#sections + 1] = section_of(part,
        which .. (type(title) == "string" and title or file.name))
    end
  end
  -- A machine is described once, with the last run on it.
  for i = 1, #sections - 1 do
    sections[i].alike = same_place(sections[i].part.meta,
      sections[i + 1].part.meta)
  end
  return sections, why
end

-- ---- drawing

-- What could not be drawn is missing with a sentence, which is said once.
local function say_once(messages, more)
  for _, message in ipairs(more) do
    local known = false
    for _, other in ipairs(messages) do known = known or other == message end
    if not known then messages[#messages + 1] = message end
  end
end

local function draw_section(section, messages)
  local kept = {}
  local wide, why = picture.svgs(section.pictures, "wide")
  say_once(messages, why)
  local narrow = #wide > 0 and picture.svgs(section.pictures, "narrow") or {}
  for i, one in ipairs(section.pictures) do
    one.wide, one.narrow = wide[i], narrow[i]
    if one.wide and one.narrow then kept[#kept + 1] = one end
  end
  section.pictures = kept
end

-- ---- the four outputs

local function title_of(sections)
  local title = sections[1].title
  if #sections == 1 or sections[1].joint then return title or "Results" end
  for _, section in ipairs(sections) do
    if section.title ~= title then
      return ("%d tables of results"):format(#sections)
    end
  end
  return title or "Results"
end

-- What was said when the files were merged belongs to what they show.
local function with_merge_notes(files, notes)
  local all = table.move(notes, 1, #notes, 1, {})
  for _, file in ipairs(files) do
    local merge = file.results.meta.merge
    for _, note in ipairs(type(merge) == "table" and merge.notes or {}) do
      all[#all + 1] = tostring(note)
    end
  end
  return all
end

local function as_html(files, notes)
  local messages = {}
  local sections, why = sections_of(files)
  notes = with_merge_notes(files, notes)
  notes[#notes + 1] = why
  for _, section in ipairs(sections) do draw_section(section, messages) end
  if #sections > 0 then sections[1].missing = messages end
  return import("page").html(sections, {
    title = tostring(title_of(sections)),
    notes = notes,
  }), messages
end

-- Pictures for a file, and how many there are in all.
local function pictures_of(files)
  local list, count = {}, 0
  for _, section in ipairs(sections_of(files)) do
    for _, one in ipairs(section.pictures) do
      count = count + 1
      if not one.on_demand and #list < most_in_file then
        list[#list + 1] = one
      end
    end
  end
  return list, count
end

-- What there is to say when nothing could be drawn, or not all.
local function left_out(count, chosen, shown, messages)
  if count == 0 then return nil, "there is no row with figures to draw" end
  if shown == 0 then return nil, messages[1] end
  if #chosen < count then
    messages[#messages + 1] = ("these are %d of %d pictures; a page holds all")
      :format(#chosen, count)
  end
  return true
end

local function as_svg(files)
  local drawn = {}
  local chosen, count = pictures_of(files)
  local drawings, messages = picture.svgs(chosen, "wide", true)
  for i in ipairs(chosen) do
    drawn[#drawn + 1] = drawings[i] or nil
  end
  local good, message = left_out(count, chosen, #drawn, messages)
  if not good then return nil, message end
  return svg.file(drawn), messages
end

local function as_png(files)
  local messages = {}
  local chosen, count = pictures_of(files)
  local drawn, message
  if #chosen > 0 then drawn, message = picture.stack(chosen, "png", "wide") end
  messages[1] = not drawn and message or nil
  local good
  good, message = left_out(count, chosen, drawn and #chosen or 0, messages)
  if not good then return nil, message end
  return drawn, messages
end

-- Columns of a terminal that a picture makes use of.
local function columns_of(columns)
  return math.max(40, math.min(columns or 80, 120))
end

local function as_text(files, options)
  local messages, lines, hopeless = {}, {}, nil
  for _, section in ipairs(sections_of(files)) do
    lines[#lines + 1] = tostring(section.part)
    for _, one in ipairs(section.pictures) do
      local drawn, message
      if not hopeless and not one.on_demand then
        drawn, message, hopeless = picture.text(one,
          columns_of(options.columns))
      end
      lines[#lines + 1] = drawn
      say_once(messages, { message })
    end
  end
  return table.concat(lines, "\n"), messages
end

--- The first picture of results as characters.
-- @return text; or nil and a sentence
function report.plot(self, columns)
  for _, part in ipairs(results.parts(self)) do
    local one = picture.first(part)
    if one then return picture.text(one, columns_of(columns)) end
  end
  return nil, "there is no row with figures to draw"
end

local makers = { html = as_html, svg = as_svg, png = as_png, term = as_text }

--- Makes a report.
-- @param files a list of { name, results }
-- @param form "html", "svg", "png" or "term"
-- @param options { notes, columns }
-- @return text and a list of sentences for the user; or nil and a sentence
function report.make(files, form, options)
  if form == "html" then return as_html(files, options.notes or {}) end
  return makers[form](files, options)
end

-- A document; else lines, or what is left of either.
local function read_one(name, complaints)
  local found, message, code = document.read(name)
  if found or code == "ENOENT" or code == "EISDIR" then
    return found, message
  end
  local said = {}
  local sound = gather.results(name, function (sentence)
    said[#said + 1] = sentence
  end)
  if not sound then return nil, message end
  table.move(said, 1, #said, #complaints + 1, complaints)
  return sound
end

--- Reads files of results: documents and lines.
-- @return a list of { name, results }, and sentences about what cannot be read
function report.read(names)
  local files, complaints = {}, {}
  for _, name in ipairs(names) do
    local found, message = read_one(name, complaints)
    if found then
      files[#files + 1] = { name = name, results = shape.mend(found) }
    else
      complaints[#complaints + 1] = message
    end
  end
  return files, complaints
end

return report
