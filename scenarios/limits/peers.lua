-- By how much we promise to be ahead of the real peers on this machine: the
-- scenario `versus`.
return require "cbench".scenario "versus"
