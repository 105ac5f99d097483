--- The layers of a pipeline as shares of its whole cost.
--
-- Each row adds one layer to the row above; what it adds is the difference of
-- the two. A layer that adds less than nothing (noise, or a part that overlaps
-- with the rest) is drawn as nothing and said so.
local import = ...
local data = import "picture_data"
local figure = import "figure"
local frame = import "frame"
local palette = import "palette"

local most_bars, most_layers = 24, 12

-- What a row adds to the one above: told by the parameter `layer`, or by a
-- name such as "+ ring".
local function layer_of(record)
  local layer = record.layer or (record.params or {}).layer
  if type(layer) == "string" then return layer end
  local name = type(record.name) == "string" and record.name or ""
  return name:match "^(%+ .+)$" or name:match "/(%+ .+)$"
end

local function group_of(record, varying)
  local others = {}
  for _, parameter in ipairs(varying) do
    if parameter.name ~= "layer" then others[#others + 1] = parameter end
  end
  if #others == 0 then return "all layers" end
  return data.label(record, others)
end

-- Chains of rows, one a bar; the row before the first "+ ..." is the ground.
local function chains_of(rows, varying)
  local list, by_group, before = {}, {}, nil
  for _, record in ipairs(rows) do
    local layer = layer_of(record)
    local group = group_of(record, varying)
    if layer and layer:find "^%+" and not by_group[group] and before then
      by_group[group] = { label = group, rows = { before } }
      list[#list + 1] = by_group[group]
    elseif layer and not by_group[group] then
      by_group[group] = { label = group, rows = {} }
      list[#list + 1] = by_group[group]
    end
    if layer then table.insert(by_group[group].rows, record) end
    before = record
  end
  return list
end

local function measure(chain)
  local before, total = 0, 0
  chain.layers = {}
  for i, record in ipairs(chain.rows) do
    local cost = record.ticks.typical
    local added = cost - before
    chain.layers[i] = { name = layer_of(record) or record.name, added = added,
                        shown = math.max(added, 0) }
    total = total + chain.layers[i].shown
    before = cost
  end
  chain.cost = before
  local from = 0
  for _, layer in ipairs(chain.layers) do
    layer.from = from
    from = from + (total > 0 and layer.shown / total * 100 or 0)
    layer.to = from
  end
end

local function names_of(chains)
  local list, seen = {}, {}
  for _, chain in ipairs(chains) do
    for _, layer in ipairs(chain.layers) do
      if not seen[layer.name] then list[#list + 1] = layer.name end
      seen[layer.name] = #list
    end
  end
  return list
end

local fills = { 0.85, 0.5 }

local function add_layer(canvas, plots, chains, name, i)
  local rows = {}
  for y, chain in ipairs(chains) do
    for _, layer in ipairs(chain.layers) do
      if layer.name == name and layer.to > layer.from then
        rows[#rows + 1] = { layer.from, layer.to, y,
                            (layer.from + layer.to) / 2, y }
      end
    end
  end
  if #rows == 0 then return end
  if canvas:is_text() then
    plots[#plots + 1] = ("%s using 1:3:($2-$1):(0) with vectors nohead lt %d "
      .. "title %s"):format(canvas:data(rows, 3), i, canvas:text(name, 30))
    return
  end
  local colour = palette.series[(i - 1) % #palette.series + 1]
  plots[#plots + 1] = ("%s using 4:3:1:2:($3-0.34):($3+0.34) with boxxyerror "
    .. "fs solid %g noborder lc %s title %s"):format(canvas:data(rows, 5),
    fills[(i - 1) // #palette.series % 2 + 1], frame.colour(colour),
    canvas:text(name, 30))
end

-- Shares that have room are written into their part.
local function add_shares(canvas, chains)
  local least = canvas:is_narrow() and 12 or 6
  local tag = 0
  for y, chain in ipairs(chains) do
    for _, layer in ipairs(chain.layers) do
      local share = layer.to - layer.from
      if share >= least then
        tag = tag + 1
        canvas:add("set label %d %s at first %.6g, first %d center front "
          .. "textcolor %s", tag, canvas:text(("%.0f %%"):format(share)),
          (layer.from + layer.to) / 2, y, frame.colour "ink")
      end
    end
  end
end

local function draw(canvas, self)
  local chains, ticks = self.chains, {}
  frame.axes(canvas, { title = self.title, x = "share of the cost, %",
    grid = "xtics" })
  for y, chain in ipairs(chains) do
    ticks[y] = { y, ("%s  %s"):format(
      canvas:is_narrow() and chain.label:sub(1, 14) or chain.label,
      figure.significant(chain.cost)) }
  end
  frame.ticks(canvas, "y", ticks)
  canvas:add "set ytics scale 0"
  canvas:add "set xrange [0:100]"
  canvas:add("set yrange [%d.5:0.5]", #chains)
  add_shares(canvas, chains)
  local plots = {}
  for i, name in ipairs(self.names) do
    add_layer(canvas, plots, chains, name, i)
  end
  canvas:plot(plots)
end

-- ---- in words

local function table_of(self)
  local list = { columns = { "pipeline", "layer", "added " .. self.unit,
    "share" }, rows = {} }
  for _, chain in ipairs(self.chains) do
    for _, layer in ipairs(chain.layers) do
      list.rows[#list.rows + 1] = { chain.label, layer.name,
        layer.added < 0 and "-" .. figure.significant(-layer.added) or
          figure.significant(layer.added),
        ("%.1f %%"):format(layer.to - layer.from) }
    end
  end
  return list
end

local function alternative(self)
  local words = {}
  for i, chain in ipairs(self.chains) do
    local parts = {}
    for k, layer in ipairs(chain.layers) do
      parts[k] = ("%s %.0f %%"):format(layer.name, layer.to - layer.from)
    end
    words[i] = ("%s (%s %s): %s"):format(chain.label,
      figure.significant(chain.cost), self.unit, table.concat(parts, ", "))
  end
  return "Stacked bars, share of each layer. " .. table.concat(words, "; ")
    .. "."
end

local function picture(chains, rest)
  local self = { kind = "layers", chains = chains }
  local negative = 0
  for _, chain in ipairs(chains) do
    for _, layer in ipairs(chain.layers) do
      if layer.added < 0 then negative = negative + 1 end
    end
  end
  self.unit = data.unit(chains[1].rows)
  self.names = names_of(chains)
  self.title = "Layers as shares of the whole"
  self.note = ("beside each bar the whole in %s%s%s"):format(self.unit,
    negative > 0 and ("; %d that added less than nothing %s drawn as nothing")
      :format(negative, negative == 1 and "is" or "are") or "", rest)
  self.alternative = alternative(self)
  self.data = table_of(self)
  self.key = data.key(self.names)
  self.draw = function (canvas) draw(canvas, self) end
  self.height = function ()
    local count = #chains
    return 66 + 34 * count, 66 + 34 * count, 8 + 2 * count
  end
  return self
end

return {
  summary = "layers of a pipeline as stacked shares",
  of = function (part)
    local rows = data.rows(part)
    local chains, kept = chains_of(rows, data.varying(part, rows)), {}
    for _, chain in ipairs(chains) do
      if #chain.rows >= 2 and #chain.rows <= most_layers then
        measure(chain)
        kept[#kept + 1] = chain
      end
    end
    if #kept == 0 then return {} end
    local rest = #kept > most_bars and
      (". The first %d of %d"):format(most_bars, #kept) or ""
    return { picture(table.move(kept, 1, math.min(#kept, most_bars), 1, {}),
      rest) }
  end,
}
