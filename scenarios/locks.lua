local cbench = require "cbench"

return cbench.scenario {
  title    = "Locks",
  about    = "What do a lock and an unlock cost, alone and contended?",
  params   = {
    lock    = { "none", "tas", "ttas", "cas", "ticket", "mcs" },
    threads = { 1, 2 },
  },
  where    = function (p) return p.lock ~= "none" or p.threads == 1 end,
  workload = cbench.workload.lock,
  columns  = { "lock", "threads", "typical", "p90", "ratio", "interval" },
  across   = "threads",
  time     = 8,
  reading  = "Of two threads, what one of them takes. Locks that are not fair "
    .. "(tas, ttas, cas) look cheap\nthere because one thread keeps the lock "
    .. "for long; ticket and mcs hand it over each time.",
}
