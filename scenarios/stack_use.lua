local cbench = require "cbench"
local workload = cbench.workload

return cbench.scenario {
  title     = "Stacks in use",
  about     = "What does it cost that coroutines use their stacks?",
  params    = {
    backend    = { "call", "asm" },
    colour     = { false, true },
    bytes      = { 0, 256, 1024, 4096, 16384 },
    coroutines = { 1, 16, 64, 1000, 4000 },
  },
  -- A call has one stack, that of its thread, of no colour.
  where     = function (p)
    return p.backend ~= "call" or (p.coroutines == 1 and not p.colour)
  end,
  columns   = { "backend", "colour", "bytes", "coroutines", "typical" },
  across    = "coroutines",
  workload  = workload.stack,
  time      = 15,
  reading   = "One visit touches so many bytes of the stack, one store in each "
    .. "line of 64; call is a plain call that touches as much. Stacks without "
    .. "colour begin at the same place of a page, so from some 8 on they "
    .. "compete for the same lines of the first cache, which coloured ones do "
    .. "not, though with many of these translations cost more.",
}
