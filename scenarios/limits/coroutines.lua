-- What coroutines promise on this machine: the scenario `floor`.
return {
  title = "Limits of coroutines",
  about = "Do coroutines cost what they promise?",
  require "cbench".scenario "floor",
}
