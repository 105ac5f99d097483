-- Everything that this toolkit promises, in one run: exit code 3 when a limit
-- is exceeded, and under each table what holds.
local cbench = require "cbench"

return {
  title = "All limits",
  about = "Does everything hold that this toolkit promises?",
  cbench.scenario "limits/coroutines",
  cbench.scenario "limits/pools",
  cbench.scenario "limits/rings",
  cbench.scenario "limits/services",
  cbench.scenario "limits/pipeline",
}
