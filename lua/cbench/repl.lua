--- What the prompt shows, completes and explains.
local import = ...
local inspect = import "inspect"

local repl = {}

local stdout = io.stdout
-- Whatever a session makes of the name `_G`.
local globals = _G

--- Makes `cbench` and `help` globals, unless scripts have taken the names.
function repl.start()
  local cbench = require "cbench"
  if rawget(globals, "cbench") == nil then
    rawset(globals, "cbench", cbench)
  end
  if rawget(globals, "help") == nil then
    rawset(globals, "help", cbench.help)
  end
end

-- Tables of ours that are filled in with their first use are shown in full.
local function fill(value)
  local cbench = require "cbench"
  local workload = rawget(cbench, "workload")
  if value ~= cbench and (value ~= workload or not workload) then return end
  for _, field in pairs(value) do
    if field ~= value and field == cbench.workload then fill(field) end
  end
end

--- Keeps the first value in `_` and shows all of them.
-- @param quiet only keep it
-- @param columns width of the terminal
function repl.show(quiet, columns, ...)
  local count = select("#", ...)
  rawset(globals, "_", (...))
  if quiet then return end
  local texts = {}
  for i = 1, count do
    local value = select(i, ...)
    fill(value)
    texts[i] = inspect(value, columns)
  end
  -- A table of results ends its last line itself.
  local text = table.concat(texts, "\t")
  stdout:write(text, count == 1 and type(...) ~= "string" and
    text:find "\n$" and "" or "\n")
  stdout:flush()
end

--- @function repl.complete
repl.complete = import "complete"

return repl
