local cbench = require "cbench"

return cbench.scenario {
  title    = "Lifecycle",
  about    = "What does a coroutine cost that is created, entered once and ends?",
  params   = {
    backend = { "inline", "asm", "asm_fpu", "ucontext", "sigaltstack",
                "swapcontext" },
    pool    = { "none", "batch_spare" },
  },
  workload = cbench.workload.lifecycle,
  time     = 6,
  reading  = "new = share of coroutines really created. With a pool the back "
    .. "end creates only once, so these rows tell how it switches, not how it "
    .. "creates.",
}
