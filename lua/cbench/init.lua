--- What a primitive costs, in ticks, on this machine.
-- The module table. The C half comes in as the chunk's argument; every other
-- file of this folder is loaded once through `import`.
local core = ...

local cbench = { _VERSION = core.version }

return cbench
