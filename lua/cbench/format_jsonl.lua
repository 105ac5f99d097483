--- A line of JSON for each row, appended to the file: for runs on many
-- machines and for databases.
local import = ...
local document = import "document"

return { summary = "one JSON line a row, appended; for fleets and databases",
         write = document.lines, append = true }
