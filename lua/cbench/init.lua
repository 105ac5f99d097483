--- What a primitive costs, in ticks, on this machine.
-- The module table. The C half comes in as the chunk's argument; every other
-- file of this folder is a chunk that is run once, when it is first wanted, as
-- `chunk(import, core)` and returns one value.
local core = ...

local imported = {}

--- What the file lua/cbench/NAME.lua returns.
local function import(name)
  local value = imported[name]
  if value == nil then
    value = core.load(name)(import, core)
    imported[name] = value
  end
  return value
end

local cbench = { _VERSION = core.version }

-- Files that the module's fields come from, loaded with the first use.
local homes = {}

setmetatable(cbench, {
  __index = function (self, key)
    local home = homes[key]
    if not home then return nil end
    local value = import(home)
    if type(value) == "table" and value[key] ~= nil then value = value[key] end
    rawset(self, key, value)
    return value
  end,
})

return cbench
