--- Who this run is among others: the launchers say it in the environment.
--
-- cbench starts nothing on other machines. It is told by what started it: its
-- rank, how many ranks there are, and what they have in common. CBENCH_RANK,
-- CBENCH_SIZE and CBENCH_RUN say so where a launcher does not.
local _, core = ...

local fleet = {
  --- Where variables come from.
  getenv = os.getenv,
}

local function number(name)
  return math.tointeger(tonumber(fleet.getenv(name) or ""))
end

-- ---- launchers

-- A step of srun. Its array, if it is in one, is counted on top.
local function srun()
  local tasks = number "SLURM_STEP_NUM_TASKS"
  return tasks and number "SLURM_PROCID", tasks
end

-- The script of a batch job is one process, whatever the job is given.
local function sbatch()
  if number "SLURM_ARRAY_TASK_ID" then return 0, 1 end
end

-- Sequence numbers start at 1; how many there will be, nobody knows.
local function parallel()
  local sequence = number "PARALLEL_SEQ"
  return sequence and sequence - 1
end

local function variables(rank, size)
  return function () return number(rank), size and number(size) end
end

-- The most particular first: a step may run mpirun, a batch job parallel.
local launchers = {
  variables("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
  variables("PMI_RANK", "PMI_SIZE"),
  srun,
  variables "PMIX_RANK",
  parallel,
  sbatch,
}

-- The tasks of a Slurm array stand one behind the other.
local function in_array(rank, size)
  local task = number "SLURM_ARRAY_TASK_ID"
  if not task or not size then return rank, size end
  local first = number "SLURM_ARRAY_TASK_MIN" or 0
  local step = math.max(1, number "SLURM_ARRAY_TASK_STEP" or 1)
  local count = number "SLURM_ARRAY_TASK_COUNT"
  return (task - first) // step * size + rank, count and count * size
end

local function place()
  for _, launcher in ipairs(launchers) do
    local rank, size = launcher()
    if rank then return in_array(rank, size) end
  end
end

--- The rank of this run, from 0, or nil outside of a launcher.
function fleet.rank()
  local rank = place()
  return number "CBENCH_RANK" or rank
end

--- How many runs there are, or nil.
function fleet.size()
  local _, size = place()
  return number "CBENCH_SIZE" or size
end

-- ---- jobs and runs

local function slurm_job()
  return fleet.getenv "SLURM_ARRAY_JOB_ID" or fleet.getenv "SLURM_JOB_ID"
end

--- The job's number at the launcher, a text; with the index of an array job
-- after an underscore. nil outside of one.
function fleet.job()
  local job, index = slurm_job(), fleet.getenv "SLURM_ARRAY_TASK_ID"
  if job then return index and job .. "_" .. index or job end
  return fleet.getenv "PMIX_NAMESPACE" or fleet.getenv "PARALLEL_PID"
end

-- What all ranks of one launch have in common, or nil.
local function common()
  local job, step = slurm_job(), fleet.getenv "SLURM_STEP_ID"
  local namespace = fleet.getenv "PMIX_NAMESPACE"
  if job and step then return ("slurm-%s.%s"):format(job, step) end
  if namespace then return "mpi-" .. namespace end
  if fleet.getenv "PARALLEL_SEQ" and fleet.getenv "PARALLEL_PID" then
    return "parallel-" .. fleet.getenv "PARALLEL_PID"
  end
  return job and "slurm-" .. job
end

--- An identifier that the ranks of one launch share and no other run has.
function fleet.run()
  local run = fleet.getenv "CBENCH_RUN"
  if run and run ~= "" then return run end
  return common() or ("%x-%x"):format(os.time(), core.now() & 0xffffffff)
end

--- The name of this machine, without its domain.
function fleet.host()
  local file = io.open "/proc/sys/kernel/hostname"
  local name = file and file:read "l" or fleet.getenv "HOSTNAME"
  if file then file:close() end
  return (name or "localhost"):match "^[^.]+" or "localhost"
end

-- ---- names of files

-- A host's or a job's name as part of a path stays in its folder.
local function in_path(name)
  return (name:gsub("[^%w%._@+-]", "_"))
end

local values = {
  h = function () return in_path(fleet.host()) end,
  r = function () return tostring(fleet.rank() or 0) end,
  j = function () return in_path(fleet.job() or "0") end,
  ["%"] = function () return "%" end,
}

--- %h, %r and %j in the name of an output file: host, rank, job; %% is a
-- percent sign.
-- @return the name; or nil and a sentence
function fleet.expand(path)
  local unknown
  local expanded = path:gsub("%%(.?)", function (letter)
    if values[letter] then return values[letter]() end
    unknown = unknown or "%" .. letter
  end)
  if unknown then
    return nil, ("'%s' in '%s' means nothing (%%h host, %%r rank, %%j job, "
      .. "%%%% a percent sign)"):format(unknown, path)
  end
  return expanded
end

--- Why ranks must not share the file of that name, or nil. Lines may be
-- appended by all of them; a file that is written whole would be the last
-- one's.
-- @param path with %h, %r and %j not yet filled in
-- @param appended whether lines are appended to it
function fleet.refuse_shared(path, appended)
  local rank, size = fleet.rank(), fleet.size()
  if appended or not rank or size == 1 or path:find "^/dev/" or
      path:gsub("%%%%", ""):find "%%r" then
    return nil
  end
  return ("%s would write the one file '%s': put %%r into its name, or use "
    .. "--format jsonl"):format(size and size .. " ranks" or "all ranks", path)
end

return fleet
