--- The layers of a pipeline: the same chain with one part more in each row, so
-- that the difference to the row above is the price of that part.
local import = ...
local derive = import "derive"
local workload = import "workload"

local pipeline = {}

-- Items a second at which a layer's share of a CPU is told, where nobody says.
local usual_rates = { 300e3, 1e6, 5e6 }

-- ---- chains

-- What a layer has of a stage, by the stage's kind: options of the chain that
-- are not there yet. A kind that is not in the layer has `false`.
local function without_rate(options)
  options.rate = nil
end

local steps = {
  { name = "direct", source = without_rate, sink = true },
  { name = "+ ring", ring = true },
  { name = "+ service", service = function (options)
      options.stats = nil
    end },
  { name = "+ statistics", service = true },
  { name = "+ coroutine", coroutine = function (options)
      options.yields, options.depth, options.bytes = 0, nil, nil
    end },
  { name = "+ yield", coroutine = function (options)
      options.depth, options.bytes = nil, nil
    end },
  { name = "+ nesting", coroutine = function (options)
      options.bytes = nil
    end },
  { name = "+ stack", coroutine = true },
  { name = "+ device", device = true },
  { name = "open loop", source = true },
}

local function copy(stage)
  local new = {}
  for key, value in pairs(stage) do new[key] = value end
  return new
end

-- The chain as far as the layer has it.
local function chain_of(stages, has)
  local chain = {}
  for _, stage in ipairs(stages) do
    local change = has[stage[1]]
    if change then
      local new = copy(stage)
      if type(change) == "function" then change(new) end
      chain[#chain + 1] = new
    end
  end
  return chain
end

-- Statistics that are off, one yield and so on are no layer: drop what says
-- only what is preset, so that equal chains are spelled alike.
local presets = {
  service = { stats = "off" },
  coroutine = { yields = 1, depth = 1, bytes = 0 },
}

local function tidy(stages)
  local list = {}
  for i, stage in ipairs(stages) do
    local new = copy(type(stage) == "table" and stage or { stage })
    for key, value in pairs(presets[new[1]] or {}) do
      if new[key] == value then new[key] = nil end
    end
    list[i] = new
  end
  return list
end

-- ---- columns

-- The row that has one part less: the one above, among rows that are alike but
-- for the layer.
local function row_above(row, results)
  local above
  for _, other in ipairs(results) do
    if other == row then return above end
    local alike = true
    for key, value in pairs((row.params or {}).layer and row.params or {}) do
      if key ~= "layer" and key ~= "stages" and
          (other.params or {})[key] ~= value then
        alike = false
      end
    end
    if alike then above = other end
  end
end

local function layer_of(row)
  return (row.params or {}).layer or row.name
end

--- What the row's layer adds, in ticks per item, or nil.
function pipeline.delta(row, results)
  if not layer_of(row):find "^%+" then return nil end
  local above = row_above(row, results)
  if not (above and above.ticks and row.ticks) then return nil end
  return row.ticks.typical - above.ticks.typical
end

local prefixes = { { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" } }

local function rate_text(rate)
  for _, prefix in ipairs(prefixes) do
    if rate >= prefix[1] then
      return ("%.14g%s"):format(rate / prefix[1], prefix[2])
    end
  end
  return ("%.14g"):format(rate)
end

local function share_text(share)
  return ("%.3g %%"):format(share * 100)
end

local function is_closed(row)
  return row.ns and layer_of(row) ~= "open loop"
end

--- Columns for a table of layers: what each adds, its share of one CPU at the
-- rates, and the rate at which one CPU is full.
-- @param rates items a second
function pipeline.columns(rates)
  local columns = { { "delta", pipeline.delta } }
  for _, rate in ipairs(rates or usual_rates) do
    columns[#columns + 1] = { rate_text(rate) .. "/s", function (row)
      if not is_closed(row) then return nil end
      return share_text(derive.share(row.ns.typical * (row.threads or 1), rate))
    end }
  end
  columns[#columns + 1] = { "max/s per CPU", function (row)
    if not is_closed(row) then return nil end
    return rate_text(tonumber(("%.3g"):format(
      derive.max_rate(row.ns.typical) / (row.threads or 1))))
  end }
  return columns
end

-- ---- layers

--- The growing parts of a pipeline: direct, + ring, + service, + statistics,
-- + coroutine, + yield, + nesting, + stack, + device, as far as the chain has
-- them. They are closed loops; a chain with a rate has one more row, "open
-- loop", with its latency.
-- @param options `rates`: items a second for the columns
-- @return a list of descriptors, also by name; its `columns` are for a scenario
function pipeline.layers(self, options)
  if rawget(self, "kind") ~= "pipeline" then
    error(("only a pipeline has layers, not a '%s'"):format(
      tostring(rawget(self, "kind"))), 2)
  end
  if options ~= nil and type(options) ~= "table" then
    error(("layers: table of options expected, got %s"):format(type(options)),
      2)
  end
  local rates = (options or {}).rates
  if rates ~= nil and type(rates) ~= "table" then
    error(("layers: rates: a list of numbers expected, got %s"):format(
      type(rates)), 2)
  end
  local stages = tidy(self.params.stages)
  local layers, has, above = {}, {}, nil
  for _, step in ipairs(steps) do
    for kind, change in pairs(step) do
      if kind ~= "name" then has[kind] = change end
    end
    local arguments = chain_of(stages, has)
    arguments.name, arguments.wait = step.name, self.params.wait
    arguments.cpus, arguments.place = self.cpus, self.place
    local layer = workload.constructors.pipeline(arguments)
    -- The constructor has filled in presets: two chains that say the same are
    -- one layer.
    local spelled = workload.spell(layer.params.stages)
    if spelled ~= above then
      layers[#layers + 1] = layer
      layers[step.name] = layer
      above = spelled
    end
  end
  layers.columns = { "typical", "ns",
    table.unpack(pipeline.columns(rates)) }
  return layers
end

return pipeline
