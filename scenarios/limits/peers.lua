-- By how much we promise to be ahead of the real peers on this machine: the
-- scenario `versus`.
return {
  title = "Limits against the peers",
  about = "Are we ahead of the real peers by what we promise?",
  require "cbench".scenario "versus",
}
