--- The table for a mailing list: 72 columns of ASCII, machine and command on
-- lines of their own, so that quoting does not break it.
local import = ...
local summary = import "summary"
local text = import "text"
local write_table = import "table"

local width = 72

local function labelled(lines, label, value)
  if not value or value == "" then return end
  for _, line in ipairs(text.wrap(label .. ": " .. value, width, 2)) do
    lines[#lines + 1] = line
  end
end

local function build_text(build)
  if type(build) ~= "table" then return nil end
  local words = { build.version and "cbench " .. build.version }
  for _, key in ipairs { "compiler", "flags" } do
    if type(build[key]) == "string" then words[#words + 1] = build[key] end
  end
  return table.concat(words, ", ")
end

local function system_text(machine)
  if type(machine) ~= "table" then return nil end
  local words = {}
  for _, key in ipairs { "kernel", "libc", "hypervisor" } do
    if type(machine[key]) == "string" then words[#words + 1] = machine[key] end
  end
  return table.concat(words, ", ")
end

local function last_lines(self)
  local meta, lines = self.meta, {}
  labelled(lines, "effort", summary.effort(self))
  labelled(lines, "machine", summary.machine(self.meta, self))
  labelled(lines, "system", system_text(meta.machine))
  labelled(lines, "build", build_text(meta.build))
  if meta.command then
    for _, line in ipairs(text.wrap_command("again: " .. meta.command, width))
    do
      lines[#lines + 1] = line
    end
  end
  return lines
end

local function write(self, options)
  return text.ascii(write_table(self, {
    columns = options.columns, across = options.across,
    width = width, last_lines = last_lines,
  }))
end

return { summary = "the table in 72 columns of ASCII, for mailing lists",
         write = write }
