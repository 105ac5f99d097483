-- What launchers say in the environment, and names of files made of it.
local folder = os.getenv "top_srcdir" .. "/tests/lua/"
local support = dofile(folder .. "support.lua")
local fleet = support.import {} "fleet"

local function within(environment, test)
  fleet.getenv = function (name) return environment[name] end
  local good, message = pcall(test)
  fleet.getenv = os.getenv
  assert(good, message)
end

describe("a run", function ()
  local srun = { SLURM_JOB_ID = "17", SLURM_STEP_ID = "2",
    SLURM_PROCID = "3", SLURM_NTASKS = "8", SLURM_STEP_NUM_TASKS = "4" }
  local array = { SLURM_JOB_ID = "21", SLURM_ARRAY_JOB_ID = "20",
    SLURM_ARRAY_TASK_ID = "12", SLURM_ARRAY_TASK_MIN = "8",
    SLURM_ARRAY_TASK_STEP = "2", SLURM_ARRAY_TASK_COUNT = "5",
    SLURM_PROCID = "0", SLURM_NTASKS = "1" }
  local array_step = { SLURM_STEP_NUM_TASKS = "2", SLURM_STEP_ID = "0" }
  for key, value in pairs(array) do
    array_step[key] = array_step[key] or value
  end
  array_step.SLURM_PROCID = "1"

  for name, case in pairs {
    ["alone"] = { {} },
    ["of srun"] = { srun, 3, 4, "17", "slurm-17.2" },
    ["in the script of a batch job"] = { { SLURM_JOB_ID = "5",
      SLURM_PROCID = "0", SLURM_NTASKS = "9" }, nil, nil, "5", "slurm-5" },
    ["of an array"] = { array, 2, 5, "20_12", "slurm-20" },
    ["of steps in an array"] = { array_step, 5, 10, "20_12", "slurm-20.0" },
    ["of Open MPI"] = { { OMPI_COMM_WORLD_RANK = "1",
      OMPI_COMM_WORLD_SIZE = "2", PMIX_RANK = "1", PMIX_NAMESPACE = "99" },
      1, 2, "99", "mpi-99" },
    ["of Open MPI in a batch job"] = { { OMPI_COMM_WORLD_RANK = "1",
      OMPI_COMM_WORLD_SIZE = "2", PMIX_NAMESPACE = "7", SLURM_JOB_ID = "5",
      SLURM_PROCID = "0", SLURM_STEP_NUM_TASKS = "1" }, 1, 2, "5", "mpi-7" },
    ["of another MPI"] = { { PMI_RANK = "4", PMI_SIZE = "6" }, 4, 6 },
    ["of GNU parallel"] = { { PARALLEL_SEQ = "3", PARALLEL_PID = "123" }, 2,
      nil, "123", "parallel-123" },
    ["told by hand"] = { { CBENCH_RANK = "0", CBENCH_SIZE = "3",
      CBENCH_RUN = "mine", PARALLEL_SEQ = "9" }, 0, 3, nil, "mine" },
    ["in an odd environment"] = { { SLURM_PROCID = "x", PMI_RANK = "1.5",
      SLURM_ARRAY_TASK_ID = "", PARALLEL_SEQ = "-" } },
  } do
    it(name, function ()
      within(case[1], function ()
        assert.equal(case[2], fleet.rank())
        assert.equal(case[3], fleet.size())
        assert.equal(case[4], fleet.job())
        if case[5] then assert.equal(case[5], fleet.run()) end
      end)
    end)
  end

  it("alone has an identifier that no other has", function ()
    within({}, function ()
      assert.is_not.equal(fleet.run(), fleet.run())
    end)
  end)
end)

describe("a file's name", function ()
  local function expand(path, environment)
    local expanded, message
    within(environment or {}, function ()
      expanded, message = fleet.expand(path)
    end)
    return expanded, message
  end

  it("holds host, rank and job", function ()
    local srun = { SLURM_JOB_ID = "17", SLURM_PROCID = "3",
                   SLURM_STEP_NUM_TASKS = "4" }
    assert.equal(("a-%s-3-17-%%.json"):format(fleet.host()),
      expand("a-%h-%r-%j-%%.json", srun))
    assert.equal("0-0", expand("%r-%j"))
  end)

  it("stays in its folder whatever the job is called", function ()
    assert.equal("x/.._.._etc", expand("x/%j",
      { PMIX_NAMESPACE = "../../etc" }))
  end)

  it("is refused with the letters there are", function ()
    local expanded, message = expand "a-%x.json"
    assert.is_nil(expanded)
    assert.is_truthy(message:find("'%x' in 'a-%x.json' means nothing", 1,
      true))
  end)

  it("of a whole file must not be shared by ranks", function ()
    local function refuse(path, appended, environment)
      local message
      within(environment, function ()
        message = fleet.refuse_shared(path, appended)
      end)
      return message
    end
    local two = { PMI_RANK = "0", PMI_SIZE = "2" }
    assert.is_truthy(refuse("a.json", false, two):find("2 ranks would write "
      .. "the one file 'a.json'", 1, true))
    assert.is_truthy(refuse("%h-%%r.json", false, two))
    assert.is_truthy(refuse("a.json", false, { PARALLEL_SEQ = "1" }))
    assert.is_nil(refuse("a-%r.json", false, two))
    assert.is_nil(refuse("a.jsonl", true, two))
    assert.is_nil(refuse("/dev/null", false, two))
    assert.is_nil(refuse("a.json", false, { PMI_RANK = "0", PMI_SIZE = "1" }))
    assert.is_nil(refuse("a.json", false, {}))
  end)
end)
