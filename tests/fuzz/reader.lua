-- What is done with a file that may hold results: a chunk of the file's path
-- that returns a function, which reads the file, prints what it holds in every
-- format and compares it with itself. It raises when something is refused by
-- an error of cbench's own instead of a sentence.
local cbench = require "cbench"
local path = ...

local formats = { "table", "json", "jsonl", "csv", "markdown", "mail", "bmf",
  "gobench" }

local function attempt(f, ...)
  local good, result, message = pcall(f, ...)
  if not good and (type(result) ~= "string" or
      result:find "cbench/[%w_]+%.lua:%d+: " and
      result:find "attempt to ") then
    error(result, 0)
  end
  return good and result or nil, message
end

return function ()
  local results, message = attempt(cbench.read, path)
  if not results then return message end
  for _, format in ipairs(formats) do
    attempt(cbench.format, results, format)
  end
  attempt(cbench.compare, results, results)
  attempt(tostring, results)
  return nil
end
