local cbench = require "cbench"

return cbench.scenario {
  title    = "Nested coroutines",
  about    = "What does a coroutine cost when each creates and enters the next?",
  params   = {
    backend = { "asm", "ucontext", "sigaltstack" },
    depth   = { 1, 10, 100, 1000 },
    pool    = { "none", "batch_spare" },
  },
  workload = cbench.workload.nesting,
  time     = 12,
  reading  = "Compare rows of one depth. new = share of coroutines really created.",
}
