--- The processes that measure: the calling one, or several fresh ones.
-- A fresh process is this program again, which gets the descriptors as JSON on
-- its standard input and answers with its samples as JSON. It makes the work
-- anew from plain values, under a new address layout; the script that
-- described it is not run again.
local import, core = ...

local fit = import "fit"

local processes = {}

-- What a process may take beyond its budget before it is ended: starting,
-- reading the topology, a body that will not stop.
local GRACE_SECONDS = 20

-- What two builds that measure together must share: the form of the job and of
-- the answer.
local PROTOCOL = 1

-- The end of the budget that is planned for nothing. The last process may need
-- longer than its share to be set up, and nobody after it can make up for that.
local RESERVE_SECONDS, RESERVE_SHARE = 0.02, 0.04

local FIELDS = 8 -- integers of a sample in a flat list; the fourth is ticks

--- The program to start: the running one, $CBENCH, or the first in PATH.
-- nil when there is none.
function processes.program()
  local own = core.program()
  if own then return own end
  local named = os.getenv "CBENCH"
  if named and named ~= "" then
    local file = io.open(named, "rb")
    if file then file:close() return named end
  end
  for folder in (os.getenv "PATH" or ""):gmatch "[^:]+" do
    local path = folder .. "/cbench"
    local file = io.open(path, "rb")
    if file then file:close() return path end
  end
end

-- ---- one process

local function call_core(rows, options, progress)
  core.arm_signals()
  -- No collection while batches run; the heap is as clean as it gets before.
  collectgarbage()
  collectgarbage "stop"
  local good, raw, message = pcall(core.measure, rows, {
    seconds = options.seconds, ["until"] = options["until"],
    guard_seconds = options.guard_seconds,
    rounds = options.rounds, seed = options.seed, fork = options.fork,
    progress = progress,
  })
  collectgarbage "restart"
  local signal = core.stop_signal()
  core.disarm_signals()
  if not good then error(raw, 0) end
  if not raw then return nil, message end
  raw.signal, raw.finished = signal, core.now()
  return raw
end

-- Parameters as JSON can carry them and the other side can read them back: a
-- kind's table keeps its name under the key 1.
local function portable(value)
  if type(value) ~= "table" then return value end
  local pairs_list = {}
  for key, entry in pairs(value) do
    pairs_list[#pairs_list + 1] = { key, portable(entry) }
  end
  return { table = core.json_array(pairs_list) }
end

local function unportable(value)
  if type(value) ~= "table" then return value end
  local t = {}
  for _, pair in ipairs(value.table) do t[pair[1]] = unportable(pair[2]) end
  return t
end

--- A descriptor as a fresh process can be sent it.
function processes.row(descriptor, name)
  return {
    work = { kind = descriptor.kind, params = portable(descriptor.params) },
    name = name, cpus = descriptor.cpus, place = descriptor.place,
  }
end

-- The numbers 1 to count in an order that the seed draws.
local function drawn_order(count, seed)
  local order = {}
  for i = 1, count do order[i] = i end
  math.randomseed(seed)
  for i = count, 2, -1 do
    local j = math.random(i)
    order[i], order[j] = order[j], order[i]
  end
  return order
end

-- Rows are made in an order that each process draws: what is made first has
-- other addresses than what is made second, which can be worth several per
-- cent, and must not be the same row in every process.
local function measure_shuffled(rows, options)
  local order, shuffled = drawn_order(#rows, options.seed or 0), {}
  for i, at in ipairs(order) do shuffled[i] = rows[at] end
  local raw, message = call_core(shuffled, options)
  if not raw then return nil, message end
  local found = raw.rows
  raw.rows = core.json_array {}
  for i, at in ipairs(order) do raw.rows[at] = found[i] end
  return raw
end

-- A process that ends before its answer has noted the row that it was at.
local function number_rows(rows)
  core.open_note()
  for i, row in ipairs(rows) do row.number = i end
end

local function do_job(job)
  for _, plugin in ipairs(job.plugins or {}) do
    local good, message = import("plugins").load(plugin.path, plugin.prefix)
    if not good then return { message = message } end
  end
  for _, row in ipairs(job.rows) do
    row.work.params = unportable(row.work.params)
  end
  if job.noted then number_rows(job.rows) end
  local raw, message = measure_shuffled(job.rows, job.options)
  return raw or { message = message }
end

--- What a fresh process does: measures what it reads, writes what it found.
function processes.work()
  core.obey_parent()
  local job, message = core.json_decode(io.read "a")
  local answer
  if not job then
    answer = { message = "a measuring process got no job: " .. message }
  elseif job.protocol ~= PROTOCOL then
    answer = { message = ("%s cannot measure for %s: their processes speak "
      .. "differently"):format(core.version, job.version) }
  else
    answer = do_job(job)
  end
  io.write(core.json_encode(answer))
end

-- `more`, a path, comes first: a side of a comparison brings its own version
-- of what this process may have loaded under the same names.
local function loaded_plugins(more)
  local list = {}
  for _, plugin in ipairs(import("plugins").loaded()) do
    list[#list + 1] = { path = plugin.path, prefix = plugin.prefix }
  end
  if more then list[#list + 1] = { path = more } end
  return core.json_array(list)
end

-- Signals by which code that is wrong ends a process.
local crashes = {
  [4] = "SIGILL", [6] = "SIGABRT", [7] = "SIGBUS", [8] = "SIGFPE",
  [9] = "SIGKILL", [11] = "SIGSEGV",
}

local function ended(how, number)
  local name = how == "signal" and crashes[number]
  return ("a measuring process ended by %s %d%s"):format(how, number,
    name and (" (%s)"):format(name) or "")
end

--- Has a fresh process of `program` measure rows that `processes.row` made.
-- Returns its raw rows, or nil and a sentence; and when the process ended
-- without an answer, the index of the row that it was at. `plugin` is loaded
-- besides those of this process.
function processes.start(program, rows, options, plugin)
  local job = core.json_encode {
    protocol = PROTOCOL, version = core.version, rows = rows,
    options = options, plugins = loaded_plugins(plugin), noted = true,
  }
  local text, how, number, forced, noted = core.run_program(
    { program, "-E", "-e", "require'cbench'._worker()" }, job,
    options.seconds + GRACE_SECONDS, false, true)
  if not text then return nil, how end
  local at = rows[noted] and noted
  if forced then
    return nil, "a measuring process did not end and was killed", at
  end
  local raw = core.json_decode(text)
  if how == "signal" or not raw then
    return nil, ended(how, number), at
  end
  if raw.message then return nil, raw.message end
  return raw
end

-- ---- joining what several processes found

--- How bad a status is, to tell the worse of two.
processes.worse = { ok = 0, partial = 1, ["n/a"] = 2, fail = 3 }
local worse = processes.worse

--- Joins what two processes say of a row, into the first: the worse of the two.
-- But one in which the row found nothing to do takes nothing from others.
function processes.join_status(sum, row)
  if sum.idle and not row.idle or
      worse[row.status] > worse[sum.status] and not row.idle then
    sum.status, sum.reason, sum.idle = row.status, row.reason, row.idle
  end
end

local function join_counters(into, from, before, now)
  for i, counter in ipairs(from) do
    local sum = into[i]
    if not sum then
      into[i] = counter
    elseif counter.type == "count" then
      sum.value = (sum.value or 0) + (counter.value or 0)
    elseif counter.type == "share" then
      local all = before + now
      if all > 0 then
        sum.value = ((sum.value or 0) * before + (counter.value or 0) * now)
          / all
      end
    else
      sum.value = math.max(sum.value or counter.value, counter.value or 0)
    end
  end
end

local function join_roles(into, from)
  for i, role in ipairs(from) do
    local sum = into[i]
    if not sum then
      into[i] = role
    else
      local all = sum.ticks + role.ticks
      if all > 0 then
        sum.overlap = (sum.overlap * sum.ticks + role.overlap * role.ticks)
          / all
      end
      sum.operations = sum.operations + role.operations
      sum.ticks = all
    end
  end
end

local function join_latencies(sum, more)
  if not more then return end
  sum.latencies = sum.latencies or {}
  table.move(more, 1, #more, #sum.latencies + 1, sum.latencies)
end

-- As the core has it: of its threads the one that met the others least.
local function least_overlap(roles)
  local least = 1
  for _, role in ipairs(roles) do least = math.min(least, role.overlap) end
  return least
end

local function join_row(sum, row)
  if not sum then return row end
  processes.join_status(sum, row)
  table.move(row.samples, 1, #row.samples, #sum.samples + 1, sum.samples)
  join_counters(sum.counters, row.counters, sum.operations, row.operations)
  join_latencies(sum, row.latencies)
  join_roles(sum.roles, row.roles)
  sum.operations = sum.operations + row.operations
  sum.overlap = least_overlap(sum.roles)
  sum.checked = sum.checked and row.checked
  return sum
end

local function join(sum, raw)
  if not sum then
    raw.forks = 1
    return raw
  end
  for at, row in pairs(raw.rows) do
    sum.rows[at] = join_row(sum.rows[at], row)
  end
  sum.forks = sum.forks + 1
  sum.rounds = sum.rounds + raw.rounds
  sum.stopped_by = raw.stopped_by
  sum.signal = raw.signal or sum.signal
  return sum
end

-- A process that was held up while it calibrated may have settled for batches
-- too short to be worth repeating.
local function long_enough(row)
  local least, sum, count = 1000 * core.clock().cost, 0, 0
  for at = 4, #row.samples, FIELDS do
    sum, count = sum + row.samples[at], count + 1
  end
  return count > 0 and sum / count >= least / 2
end

--- Lets the processes that follow use the batches of one that was measured, so
-- that all have the same.
function processes.keep_batches(rows, raw)
  for i, row in ipairs(raw.rows) do
    if (rows[i].n or 0) == 0 and long_enough(row) then rows[i].n = row.n end
  end
end

--- How much of a budget the functional checks of the first process may take
-- from the others.
function processes.guard_seconds(time) return time / 2 end

--- Spares the processes that follow the functional checks that held in one:
-- they run the same program, and under load starting the threads of a check
-- takes longer than a process's share of the budget.
function processes.keep_guards(rows, raw)
  for i, row in ipairs(raw.rows) do rows[i].guarded = row.guarded end
end

-- ---- driving them

-- The rows that can be measured, as core.measure wants them.
local function measurable(work, make)
  local rows, index = {}, {}
  for i, row in ipairs(work.rows) do
    if not work.refused[i] then
      rows[#rows + 1] = make(row, work.names[i])
      index[#index + 1] = i
    end
  end
  return rows, index
end

local function in_this_process(work, options)
  local rows, index = measurable(work, function (row, name)
    return { work = row, name = name, cpus = row.cpus, place = row.place }
  end)
  local progress = options.progress and function (phase, name, round, elapsed,
      seconds)
    options.progress { phase = phase, name = name, round = round,
      elapsed = elapsed, seconds = seconds, fork = 1, forks = 1 }
  end
  local raw, message = call_core(rows, {
    seconds = options.time, rounds = options.rounds, seed = options.seed,
    fork = 0,
  }, progress)
  if not raw then return nil, message end
  raw.forks = 1
  return raw, index
end

-- A process gets an equal share of the time that is left, and is told by the
-- counter, which all read, when that is over: so a start that was held up is
-- its own loss. What it takes after its last batch, to answer and to end, is
-- known from those before it. On a busy machine fewer may fit than were
-- planned: those share the time.
local function share_of(left, todo, tail, needs)
  if #needs > 0 then
    todo = math.min(todo, math.max(left // fit.median(needs), 1))
  end
  return math.max(left / todo - tail, 1e-3)
end

-- What a process takes besides its rounds: starting, set-up, calibration, its
-- answer. One that would not come as far as its first round is not started. The
-- first has more to do than those that follow: checks, and calibrating.
local function need_of(fork, took, raw)
  local need = took - (raw.elapsed - raw.ready)
  return fork == 0 and need / 2 or need
end

-- Rows that are measured, until one ends the process that it is measured in:
-- that one has failed, and the others go on without it.
local function new_race(rows)
  local race = { rows = {}, at = {}, failed = {} }
  for i, row in ipairs(rows) do race.rows[i], race.at[i] = row, i end
  return race
end

local function fail_row(race, number, reason)
  race.failed[table.remove(race.at, number)] = {
    status = "fail", reason = reason, threads = 1, operations = 0,
    samples = {}, counters = {}, roles = {},
  }
  table.remove(race.rows, number)
end

-- Of a process that measured those that were left, the rows by their place
-- among all.
local function put_back(race, raw)
  local found = raw.rows
  raw.rows = {}
  for i, at in ipairs(race.at) do raw.rows[at] = found[i] end
  return raw
end

-- Have all rows failed that were asked for, so that only what rides along is
-- left?
local function is_over(race, index, work)
  for _, at in ipairs(race.at) do
    if index[at] <= work.count then return false end
  end
  return next(race.failed) ~= nil
end

local function in_fresh_processes(work, options, program)
  local rows, index = measurable(work, processes.row)
  local race = new_race(rows)
  local begun, hz = core.now(), core.clock().hz
  local function clock() return (core.now() - begun) / hz end
  local time = options.time
    - math.min(RESERVE_SECONDS, RESERVE_SHARE * options.time)
  local sum, tail, needs = nil, 0.003, {}
  core.arm_signals()
  local fork, lost = 0, 0 -- seconds, which the other rows get back
  while fork < options.forks and #race.rows > 0 do
    local start = clock()
    if sum and (core.stop_signal() or is_over(race, index, work)
        or start - lost + fit.median(needs) > options.time) then
      break
    end
    if options.progress then
      options.progress { phase = "rounds", fork = fork + 1,
        forks = options.forks, elapsed = clock(), seconds = options.time }
    end
    local seconds = share_of(time - clock() + lost, options.forks - fork, tail,
      needs)
    local raw, message, number = processes.start(program, race.rows, {
      seconds = seconds, ["until"] = core.now() + math.ceil(seconds * hz),
      rounds = options.rounds, seed = options.seed + fork, fork = fork,
      guard_seconds = fork == 0 and processes.guard_seconds(options.time)
        or nil,
    })
    if raw then
      needs[#needs + 1] = need_of(fork, clock() - start, raw)
      tail = (tail + math.max((core.now() - raw.finished) / hz, 0)) / 2
      processes.keep_batches(race.rows, raw)
      processes.keep_guards(race.rows, raw)
      sum = join(sum, put_back(race, raw))
      fork = fork + 1
    elseif number and not core.stop_signal() then
      fail_row(race, number, message)
      lost = lost + clock() - start
    elseif core.stop_signal() and sum then
      -- One that a signal ended before it was ready takes none of what the
      -- others have found with it.
      break
    else
      if core.stop_signal() then
        message = "stopped before anything was measured"
      end
      core.disarm_signals()
      return nil, message
    end
  end
  sum = sum or { rows = {}, forks = fork, rounds = 0, stopped_by = "error" }
  for at, row in pairs(race.failed) do sum.rows[at] = row end
  sum.signal = core.stop_signal() or sum.signal
  core.disarm_signals()
  sum.elapsed, sum.seed = clock(), options.seed
  return sum, index
end

local function all_refused(work)
  for i in ipairs(work.rows) do
    if not work.refused[i] then return false end
  end
  return true
end

--- Measures work = { rows, names, refused }; alone: it can only be done in
-- this process. Where all rows are refused nothing is run. Returns the joined
-- raw rows by the indexes of work, or nil and a sentence.
function processes.measure(work, options, alone)
  local program = not alone and (options.forks or 1) > 1
    and processes.program()
  local raw, index
  local before = core.machine().state
  if all_refused(work) then
    raw, index = { elapsed = 0, seed = options.seed }, {}
  elseif program then
    raw, index = in_fresh_processes(work, options, program)
  else
    raw, index = in_this_process(work, options)
  end
  if not raw then return nil, index end
  local rows = {}
  for at, i in ipairs(index) do rows[i] = raw.rows[at] end
  raw.rows, raw.before = rows, before
  return raw
end

return processes
