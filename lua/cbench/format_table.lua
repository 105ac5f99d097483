--- The table on the terminal.
local import = ...

return { summary = "for people, up to 100 columns", write = import "table" }
