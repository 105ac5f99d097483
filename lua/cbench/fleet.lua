--- Who this run is among others: the launchers say it in the environment.
local _, core = ...

local fleet = {}

-- The first of each that is set counts: srun, Open MPI, other MPIs, GNU
-- parallel (whose sequence numbers start at 1).
local variables = {
  rank = { { "SLURM_PROCID" }, { "OMPI_COMM_WORLD_RANK" }, { "PMI_RANK" },
           { "PMIX_RANK" }, { "PARALLEL_SEQ", -1 } },
  size = { { "SLURM_NTASKS" }, { "OMPI_COMM_WORLD_SIZE" }, { "PMI_SIZE" } },
}

local function from_environment(name)
  for _, variable in ipairs(variables[name]) do
    local value = math.tointeger(tonumber(os.getenv(variable[1]) or ""))
    if value then return value + (variable[2] or 0) end
  end
end

--- The rank of this run, from 0, or nil outside of a launcher.
function fleet.rank() return from_environment "rank" end

--- How many runs there are, or nil.
function fleet.size() return from_environment "size" end

--- The job's number at the launcher, a text; with the index of an array job
-- after an underscore. nil outside of one.
function fleet.job()
  local array = os.getenv "SLURM_ARRAY_JOB_ID"
  local index = os.getenv "SLURM_ARRAY_TASK_ID"
  if array and index then return array .. "_" .. index end
  return os.getenv "SLURM_JOB_ID" or os.getenv "PARALLEL_JOBSLOT"
end

--- The name of this machine, without its domain.
function fleet.host()
  local file = io.open "/proc/sys/kernel/hostname"
  local name = file and file:read "l" or os.getenv "HOSTNAME"
  if file then file:close() end
  return (name or "localhost"):match "^[^.]+" or "localhost"
end

--- An identifier for a run that no other run has: what the runs of one job
-- share, or the time.
function fleet.run()
  local job = fleet.job()
  if job and os.getenv "SLURM_JOB_ID" then return "job-" .. job end
  return ("%x-%x"):format(os.time(), core.now() & 0xffffffff)
end

--- %h, %r and %j in the name of an output file: host, rank, job; %% is a
-- percent sign.
-- @return the name; or nil and a sentence
function fleet.expand(path)
  local unknown
  local values = {
    h = fleet.host, r = function () return fleet.rank() or 0 end,
    j = function () return fleet.job() or "0" end,
    ["%"] = function () return "%" end,
  }
  local expanded = path:gsub("%%(.?)", function (letter)
    if values[letter] then return tostring(values[letter]()) end
    unknown = unknown or "%" .. letter
  end)
  if unknown then
    return nil, ("'%s' in '%s' means nothing (%%h host, %%r rank, %%j job, "
      .. "%%%% a percent sign)"):format(unknown, path)
  end
  return expanded
end

return fleet
