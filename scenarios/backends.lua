local cbench = require "cbench"

-- What a pool hides: with one, a back end creates each coroutine only once.
local pools = { lifecycle = "batch_spare" }

return cbench.scenario {
  title     = "Back ends",
  about     = "Which way to make a coroutine is cheaper to create, and which "
    .. "to switch?",
  params    = {
    backend  = { "ucontext", "sigaltstack", "swapcontext", "asm", "asm_fpu",
                 "inline" },
    workload = { "create", "lifecycle", "yield" },
  },
  columns   = { "backend", "workload" },
  workload  = function (p)
    return cbench.workload[p.workload] {
      backend = p.backend, pool = pools[p.workload],
    }
  end,
  reference = { backend = "ucontext" },
  across    = "workload",
  time      = 8,
  reading   = "create makes each coroutine anew, yield only switches; "
    .. "lifecycle takes coroutines from a pool and so says little about how "
    .. "they are made. ucontext and sigaltstack switch in the same way.",
}
