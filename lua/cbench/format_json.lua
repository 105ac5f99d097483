--- One JSON document with everything in it; `cbench.read` reads it back.
local import = ...

return { summary = "everything, one document; cbench.read reads it back",
         write = import("document").text }
