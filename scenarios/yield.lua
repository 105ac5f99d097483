local cbench = require "cbench"

return cbench.scenario {
  title    = "Yield",
  about    = "What does it cost to enter a coroutine that yields?",
  params   = {
    backend = { "call", "inline", "asm", "asm_fpu", "ucontext", "sigaltstack",
                "swapcontext", "lua" },
  },
  workload = cbench.workload.yield,
  time     = 4,
  reading  = "One operation is two switches. call and lua are there to compare "
    .. "with: a call through a pointer, and Lua's own coroutines. swapcontext "
    .. "asks the kernel for the signal mask at each switch.",
}
