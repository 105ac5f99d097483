-- What coroutines promise on this machine: the scenario `floor`.
return require "cbench".scenario "floor"
