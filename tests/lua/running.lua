-- A service of the set that is registered, ready and started.
return function (set, options)
  local service = assert(set:register(options))
  assert(service:component(true))
  assert(service:start())
  return service
end
