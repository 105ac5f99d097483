--- The text of Go's benchmarks, which benchstat and others read: a line for
-- each process and row, so that they see how processes differ.
--
-- benchstat makes a table of its own for each set of "key: value" lines; so
-- only what is the same before and after a change stands in one, and the
-- command that repeats the run stands in a line that it skips.
local import = ...
local figure = import "figure"
local results = import "results"
local text = import "text"

-- A name has no spaces, and what follows "Benchmark" is no small letter.
local function word(s)
  return (text.clean(s):gsub("%s+", "_"))
end

local function name_of(part, record)
  local scenario = part.meta.scenario or part.meta.title or "cbench"
  scenario = word(scenario):gsub("[^%w_]", "_"):gsub("^%l", string.upper)
  return ("Benchmark%s/%s-%d"):format(scenario, word(record.name),
    record.threads or 1)
end

local function median(values)
  table.sort(values)
  local middle = #values // 2
  if #values % 2 == 1 then return values[middle + 1] end
  return (values[middle] + values[middle + 1]) / 2
end

-- Ticks per operation and operations of each process, in their order.
local function by_process(record)
  local forks, order = {}, {}
  for _, sample in ipairs(record.samples or {}) do
    local fork = sample.fork or 0
    if not forks[fork] then
      forks[fork] = { ticks = {}, operations = 0 }
      order[#order + 1] = fork
    end
    if sample.n > 0 then
      table.insert(forks[fork].ticks, sample.ticks / sample.n)
      forks[fork].operations = forks[fork].operations + sample.n
    end
  end
  table.sort(order)
  local list = {}
  for _, fork in ipairs(order) do
    local one = forks[fork]
    if #one.ticks > 0 then
      list[#list + 1] = { median(one.ticks), one.operations }
    end
  end
  return list
end

-- Without samples (a file that left them out) the row is one line.
local function lines_of(lines, part, record)
  local hz = part.meta.clock and part.meta.clock.hz
  local list = by_process(record)
  if #list == 0 and record.ticks and record.ticks.typical then
    list[1] = { record.ticks.typical, record.iterations or 1 }
  end
  for _, one in ipairs(list) do
    local line = ("%s\t%d"):format(name_of(part, record), one[2])
    if hz then
      line = ("%s\t%s ns/op"):format(line, figure.exact(one[1] / hz * 1e9))
    end
    lines[#lines + 1] =
      ("%s\t%s ticks/op"):format(line, figure.exact(one[1]))
  end
end

local function write(self)
  local lines = {}
  for _, part in ipairs(results.parts(self)) do
    local machine = part.meta.machine or {}
    lines[#lines + 1] = "pkg: cbench/" .. word(part.meta.scenario or "run")
    if type(machine.cpu) == "string" then
      lines[#lines + 1] = "cpu: " .. text.clean(machine.cpu)
    end
    for _, record in ipairs(part) do
      if record.ticks and not record.below_resolution then
        lines_of(lines, part, record)
      end
    end
    if part.meta.command then
      lines[#lines + 1] = "# again: " .. text.clean(part.meta.command)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return { summary = "Go's benchmark lines, for benchstat", write = write }
