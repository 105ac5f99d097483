-- Writes doc/versus.md:   cbench doc/versus.lua >doc/versus.md
-- Each table of the scenario is measured for its own time, or for so many
-- seconds as the first argument says. Run it on a machine that does nothing
-- else. What is said of the figures stands in doc/versus.notes.
local cbench = require "cbench"

local folder = arg[0]:match "^(.*/)" or "./"
local seconds = tonumber(arg[1])

-- Which of the list only, as in 3-5: to do it in parts.
local first, last = (arg[2] or "1-1000"):match "^(%d+)-(%d+)$"

local function copy_notes()
  local file = assert(io.open(folder .. "versus.notes"))
  io.write(file:read "a")
  file:close()
end

local function machine(results)
  local one = results.meta.machine
  return ("%s, %s, %d CPUs%s, %s, %s"):format(one.cpu, one.kernel,
    one.cpus_online, one.hypervisor and " under " .. one.hypervisor or "",
    one.libc, results.meta.build.compiler)
end

-- The times of a row's threads would double each table.
local function without_roles(text)
  return (text:gsub("\n|   [^\n]*", ""))
end

local told = false
for i, one in ipairs(dofile(folder .. "../scenarios/versus.lua")) do
  if i >= tonumber(first) and i <= tonumber(last) then
    local results, message = one:run({}, { time = seconds, forks = 10 })
    if not told and i == 1 then
      io.write("# Against the real peers\n\n")
      copy_notes()
      io.write(("\nMeasured on %s: %s.\nCommand: `cbench versus`; this page: "
        .. "`cbench doc/versus.lua >doc/versus.md`.\n\n"):format(
        os.date "!%Y-%m-%d", results and machine(results) or "?"))
      told = true
    end
    io.write(results and without_roles(cbench.format(results, "markdown"))
      or message, "\n\n")
    io.flush()
  end
end
