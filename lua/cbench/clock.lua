--- The counter that times everything: cbench.clock.
-- `hz`, its steps in a second; `source`, where it comes from; `cost`, ticks of
-- reading it at both ends of a batch; `now()`, what it shows.
local _, core = ...

local described = core.clock()

return {
  source = described.source, hz = described.hz, cost = described.cost,
  basis = described.basis, now = core.now,
}
