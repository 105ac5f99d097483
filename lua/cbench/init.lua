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

core.import = import -- for the program

local cbench = { _VERSION = core.version }

-- Where the module's fields come from; looked up with their first use, so
-- that opening the module loads nothing else.
local fields = {
  compare = function () return import("compare").call end,
  help = function () return import("help").help end,
  load = function () return import("plugins").call end,
  coroutine = function () return import "coroutine" end,
  pool = function () return import("pool").call end,
  ring = function () return core.ring end,
  kinds = function () return import "kinds" end,
  machine = function () return function () return core.machine() end end,
  clock = function () return import "clock" end,
  measure = function () return import("measure").call end,
  workload = function () return import("workload").constructors end,
  services = function () return core.services end,
  scenario = function () return import("scenario").scenario end,
  derive = function () return import "derive" end,
  format = function () return import("format").format end,
  read = function () return import("format").read end,
  write = function () return import("format").write end,
}

-- What a fresh process that measures is told to do; not for people.
local hidden = {
  _worker = function () return import("processes").work end,
}

setmetatable(cbench, {
  __fields = fields, -- for completion
  __index = function (self, key)
    local field = fields[key] or hidden[key]
    if not field then return nil end
    local value = field()
    rawset(self, key, value)
    return value
  end,
  -- pairs(cbench) shows every field, used or not.
  __pairs = function (self)
    for key in next, fields do
      local _ = self[key]
    end
    return next, self
  end,
})

return cbench
