--- The sentences around a table: what was asked and what one operation is
-- above it; how far the figures can be believed, how they are read and how
-- they were made below. Formats only differ in how they set them.
local import = ...
local columns = import "columns"
local figure = import "figure"
local results = import "results"
local text = import "text"

local summary = {}

-- ---- above

local question_words = {}
for word in ("A An Are Can Do Does How In Is One The What When Where Which " ..
    "Who Why"):gmatch("%a+") do
  question_words[word] = true
end

--- "Title: what does it cost?": the question goes on after the title.
-- @return a line, or nil when there is neither title nor question
function summary.title(meta)
  local about = meta.about
  if not meta.title then return about end
  if not about or about == "" then return meta.title end
  local first = about:match("^%a+")
  if question_words[first] then
    about = first:lower() .. about:sub(#first + 1)
  end
  return ("%s: %s"):format((meta.title:gsub("[%s:]+$", "")), about)
end

local sources = { tsc = "TSC", cntvct = "CNTVCT", cntvct_el0 = "CNTVCT" }

local function clock_text(clock)
  if not (clock and clock.hz) then return nil end
  local source = clock.source or "ticks"
  return ("ticks = %s, %s"):format(sources[source] or source,
    figure.frequency(clock.hz))
end

-- What one operation is, each once, in order of appearance; of which row or,
-- where several rows do the same, of which kind of work.
local function operations(self)
  local list, by_op = {}, {}
  for _, record in ipairs(self) do
    local op, one = record.op, by_op[record.op or ""]
    if op and one then
      one.of = record.workload or one.of
    elseif op and not record.reference then
      one = { op = op, of = record.name }
      if record.name:find("=", 1, true) then
        one.of = record.workload or record.name
      end
      by_op[op] = one
      list[#list + 1] = one
    end
  end
  return list
end

--- "1 operation = ...", a line for each when there are several, and what a
-- tick is.
function summary.operations(self)
  local lines = {}
  for i, one in ipairs(operations(self)) do
    lines[i] = ("1 operation of %s = %s."):format(one.of, one.op)
  end
  if #lines == 1 then lines[1] = lines[1]:gsub(" of [^=]* =", " =", 1) end
  local clock = clock_text(self.meta.clock)
  if clock and #lines == 1 then
    lines[1] = lines[1] .. "  " .. clock
  elseif clock then
    lines[#lines + 1] = clock
  end
  return lines
end

-- ---- below

local function percent(share)
  if share > 0 and share < 0.01 then return "< 1 %" end
  return figure.share(math.floor(share * 100 + 0.5) / 100)
end

-- Causes as a list of { name, share }, the largest first.
local function causes_of(noise)
  local list = {}
  for name, share in pairs(noise.causes or {}) do
    if type(share) == "number" and share > 0 then
      list[#list + 1] = { name, share }
    end
  end
  table.sort(list, function (a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  return list
end

local function noise_text(noise)
  local line = noise.verdict or "unknown"
  local words, sum = {}, 0
  for i, cause in ipairs(causes_of(noise)) do
    words[i] = ("%s %s"):format(cause[1], percent(cause[2]))
    sum = sum + cause[2]
  end
  if #words == 0 then return line end
  return ("%s (%s of rounds disturbed: %s)"):format(line,
    percent(noise.disturbed or math.min(sum, 1)), table.concat(words, ", "))
end

local function any_below_resolution(self)
  for _, record in ipairs(self) do
    if record.below_resolution then return true end
  end
  return false
end

-- What is to be known of rows of threads that hardly met.
local function apart_text(self)
  local apart, count = 0, 0
  for _, record in ipairs(self) do
    local overlap = columns.field("overlap").get(record)
    if overlap and not record.reference then
      count = count + 1
      apart = apart + (columns.is_marked("overlap", overlap) and 1 or 0)
    end
  end
  if apart == 0 then return nil end
  return ("in %d of %d rows the threads ran beside each other for less than "
    .. "%d %% of the time: the rest they did alone"):format(apart, count,
    columns.enough_overlap * 100 // 1)
end

local most_notes, longest_note = 3, 150

-- Notes are for the eye as long as they are few and short.
local function notes_of(meta, elsewhere)
  local list = {}
  for i, note in ipairs(meta.notes or {}) do
    if i > most_notes then
      list[i] = ("and %d more%s"):format(#meta.notes - most_notes, elsewhere)
      break
    end
    list[i] = note
    if #note > longest_note then
      list[i] = note:sub(1, longest_note):gsub("%s+%S*$", "") .. " ..."
    end
  end
  return list
end

--- Whether `below` leaves out or cuts notes.
function summary.has_more_notes(meta)
  local notes = meta.notes or {}
  for _, note in ipairs(notes) do
    if #note > longest_note then return true end
  end
  return #notes > most_notes
end

-- "7 of 8 hold; exceeded: ..."; nil without limits.
local function limits_of(self)
  local by_state, count = {}, 0
  for _, record in ipairs(self) do
    if record.limit then
      count = count + 1
      local list = by_state[record.limit.state] or {}
      list[#list + 1] = record.name
      by_state[record.limit.state] = list
    end
  end
  if count == 0 then return nil end
  local words = { ("%d of %d hold"):format(#(by_state.ok or {}), count) }
  for _, state in ipairs { "exceeded", "not resolved" } do
    if by_state[state] then
      words[#words + 1] = ("%s: %s"):format(state,
        table.concat(by_state[state], ", "))
    end
  end
  return table.concat(words, "; ")
end

--- What has to be known about the figures.
-- @param self results
-- @param elsewhere where notes are that had no room (", which --format json
-- has")
-- @return a list of { label, text }
function summary.below(self, elsewhere)
  local meta, list = self.meta, {}
  local function add(label, line)
    if line then list[#list + 1] = { label, line } end
  end
  for _, fit in ipairs(meta.fits or {}) do add("fit", fit.text) end
  add("limit", limits_of(self))
  add("noise", meta.noise and noise_text(meta.noise))
  if any_below_resolution(self) then
    add("<res", "below resolution: less than the clock can tell from nothing")
  end
  add("!", apart_text(self))
  elsewhere = elsewhere or ", which --format json has"
  for _, note in ipairs(notes_of(meta, elsewhere)) do add("note", note) end
  if meta.partial then
    add("partial", results.why_partial(self))
  end
  local first = true
  for line in (meta.reading or ""):gmatch("[^\n]+") do
    add(first and "read" or "", line)
    first = false
  end
  return list
end

-- What processors call themselves, without what they all say.
local function short_cpu(name)
  name = name:gsub("%b()", ""):gsub("@.*", "")
  for _, word in ipairs { "Processor", "CPU", "%d+%-Core" } do
    name = name:gsub("%f[%w]" .. word .. "%f[%W]", "")
  end
  return (text.clean(name):gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

-- The CPU on which all rows ran, or nil.
local function common_cpu(records)
  local common
  for _, record in ipairs(records) do
    for _, role in ipairs(record.roles or {}) do
      if not role.cpu or (common and common ~= role.cpu) then return nil end
      common = role.cpu
    end
  end
  return common
end

--- The machine in a few words: "AMD EPYC 7R13 guest, cpu 1"; nil when it is
-- not known.
-- @param meta what is true of the run
-- @param records rows that may all have run on one CPU, or nil
function summary.machine(meta, records)
  local machine = meta.machine or {}
  if type(machine.cpu) ~= "string" then return nil end
  local name = short_cpu(machine.cpu)
  local hypervisor = machine.hypervisor
  if type(hypervisor) == "string" and hypervisor ~= "none" and
      hypervisor ~= "unknown" then
    name = name .. " guest"
  end
  local cpu = common_cpu(records or {})
  return cpu and ("%s, cpu %d"):format(name, cpu) or name
end

local function level_text(self)
  for _, record in ipairs(self) do
    local ratio = record.ratio
    if ratio and ratio.level and ratio.low then
      local level = math.floor(ratio.level * 1000) / 1000
      return figure.share(level) .. " intervals"
    end
  end
end

local function processes(meta)
  local forks, rounds = meta.forks, meta.rounds
  if not forks then return nil end
  local words = forks == 1 and "one process" or ("%d processes"):format(forks)
  if not rounds then return words end
  rounds = math.max(1, math.floor(rounds / forks + 0.5))
  return ("%s x %d round%s"):format(words, rounds, rounds == 1 and "" or "s")
end

--- How much was measured: "10 processes x 22 rounds, 98 % intervals, 13.2 s".
function summary.effort(self)
  local words = {}
  words[#words + 1] = processes(self.meta)
  words[#words + 1] = level_text(self)
  if self.meta.elapsed_s then
    words[#words + 1] = figure.duration(self.meta.elapsed_s)
  end
  return table.concat(words, ", ")
end

--- The effort and the machine, as far as they are known; or nil.
function summary.circumstances(self)
  local effort, machine = summary.effort(self), summary.machine(self.meta, self)
  if effort == "" then return machine end
  return machine and effort .. ", " .. machine or effort
end

return summary
