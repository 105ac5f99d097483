-- Runs what a user sees on the shell:
-- `cbench tests/cli/transcript.lua FILE [LABEL]`.
--
-- In FILE a line "$ command" is a command ("> " continues it), the lines below
-- it are what it prints, stdout and stderr together; "? N" is its exit code
-- when that is not 0; an empty line ends it. In what is printed "[..]" stands
-- for anything within a line, and a line "..." for any number of lines. Other
-- text explains. In a file that ends in .md only blocks that begin with
-- ```console count, or with a label only those that begin with
-- ```console LABEL.
--
-- All commands of a file run in one new folder, with `cbench` in PATH. The
-- result is TAP.
local path, label = ...

local function quote(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

local function read(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- ---- reading the file

-- Without assembly there is another back end, and another clock.
local function as_built(text)
  if require "cbench".machine().build.assembly ~= "no" then return text end
  return (text:gsub("%f[%w_]asm%f[^%w_]", "sigaltstack")
    :gsub("ticks = TSC", "ticks = [..]"))
end

-- The lines that count: all, or those of console blocks.
local function lines_of(name)
  local lines, open, markdown = {}, false, name:find "%.md$"
  for line in (as_built(read(name)) .. "\n"):gmatch "([^\n]*)\n" do
    if markdown and line:find "^```" then
      open = line == "```console" .. (label and " " .. label or "")
      line = ""
    elseif markdown and not open then
      line = ""
    end
    lines[#lines + 1] = line
  end
  return lines
end

local function parse(name)
  local steps, step = {}, nil
  for number, line in ipairs(lines_of(name)) do
    local command, code = line:match "^%$ (.*)", line:match "^%? (%d+)$"
    if command then
      step = { line = number, command = command, code = 0, expected = {} }
      steps[#steps + 1] = step
    elseif line == "" then
      step = nil
    elseif step and #step.expected == 0 and line:find "^>%f[ \0]" then
      step.command = step.command .. "\n" .. line:sub(3)
    elseif step and code then
      step.code = math.tointeger(tonumber(code))
    elseif step then
      step.expected[#step.expected + 1] = line
    end
  end
  return steps
end

-- ---- comparing

local function line_matches(expected, got)
  local pattern = expected:gsub("[%^%$%(%)%%%.%[%]%*%+%-%?]", "%%%0")
  pattern = pattern:gsub("%%%[%%%.%%%.%%%]", ".-")
  return got:find("^" .. pattern .. "$") ~= nil
end

local function matches(expected, got, i, j)
  if i > #expected then return j > #got end
  if expected[i] == "..." then
    for k = j, #got + 1 do
      if matches(expected, got, i + 1, k) then return true end
    end
    return false
  end
  return j <= #got and line_matches(expected[i], got[j]) and
    matches(expected, got, i + 1, j + 1)
end

-- ---- running

-- ThreadSanitizer makes a coroutine in a millisecond: what documents take for
-- their tables is for others.
local slow = (os.getenv "SANITIZE" or ""):find "thread" and path:find "%.md$"
local function patient(command)
  if not slow then return command end
  return (command:gsub(" %-T (%d+)", function (seconds)
    return " -T " .. 10 * seconds
  end))
end

-- One shell for all commands, so that variables and functions last.
local function script_of(steps, folder)
  local parts = { "cd " .. quote(folder) }
  local line = "{\n%s\n} >%s/out.%d 2>&1 </dev/null\necho $? >%s/code.%d"
  for i, step in ipairs(steps) do
    parts[#parts + 1] = line:format(patient(step.command),
      quote(folder .. "/.steps"),
      i, quote(folder .. "/.steps"), i)
  end
  return table.concat(parts, "\n") .. "\n"
end

local function new_folder()
  local pipe = assert(io.popen("mktemp -d"))
  local folder = pipe:read "l"
  pipe:close()
  return folder
end

local function run_all(steps)
  local folder = new_folder()
  local bin = folder .. "/.bin"
  assert(os.execute(("mkdir %s %s && ln -s %s %s/cbench"):format(quote(bin),
    quote(folder .. "/.steps"), quote(os.getenv "CBENCH"), quote(bin))))
  local name = folder .. "/.script"
  local file = assert(io.open(name, "wb"))
  file:write("PATH=", quote(bin), ":$PATH; export PATH\n",
    script_of(steps, folder))
  file:close()
  os.execute("sh " .. quote(name))
  for i, step in ipairs(steps) do
    local out = io.open(("%s/.steps/out.%d"):format(folder, i), "rb")
    step.got = {}
    if out then
      for line in (out:read "a"):gmatch "([^\n]*)\n?" do
        step.got[#step.got + 1] = line
      end
      if step.got[#step.got] == "" then step.got[#step.got] = nil end
      out:close()
    end
    local code = io.open(("%s/.steps/code.%d"):format(folder, i))
    step.got_code = code and code:read "n"
    if code then code:close() end
  end
  os.execute("rm -rf " .. quote(folder))
end

-- ---- the report

local steps = parse(path)
run_all(steps)
print("1.." .. #steps)
for i, step in ipairs(steps) do
  local good = step.code == step.got_code and
    matches(step.expected, step.got, 1, 1)
  print(("%s %d - line %d: %s"):format(good and "ok" or "not ok", i, step.line,
    (step.command:match "^[^\n]*":gsub("#", "%%"))))
  if not good then
    print(("# exit code %s, expected %d; printed:"):format(
      tostring(step.got_code), step.code))
    for _, line in ipairs(step.got) do print("# " .. line) end
  end
end
