--- A hand-shake, not a wait: returns once the condition holds, and fails when
-- that does not happen within a minute, however busy the machine is.
return function (condition)
  local deadline = os.time() + 60
  while not condition() do
    assert(os.time() < deadline, "it never came true")
  end
end
