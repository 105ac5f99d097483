-- Results in every format; files of them, and back.
local top = os.getenv "top_srcdir"
local support = dofile(top .. "/tests/lua/support.lua")
local schema = dofile(top .. "/tests/lua/schema.lua")

local core = support.core
local import = support.fakes()
local scenario = import("scenario").scenario
local workload = import("workload").constructors
local results = import "results"
local figure = import "figure"
local text = import "text"
local format = import "format"
local document = import "document"

local function slurp(path)
  local file = assert(io.open(path, "rb"))
  local content = file:read "a"
  file:close()
  return content
end

local rules = assert(core.json_decode(slurp(top ..
  "/doc/results.schema.json")))

local function nesting(changes)
  local given = {
    title = "Nested coroutines", name = "nesting",
    about = "What does a coroutine cost?",
    params = { backend = { "asm", "sigaltstack" }, depth = { 1, 1000 },
               pool = { "none", "batch_spare" } },
    workload = workload.nesting, reading = "Compare | rows.\nTwice.",
    formats = { own = function (all) return #all .. " rows\n" end },
  }
  for key, value in pairs(changes or {}) do given[key] = value end
  return scenario(given)
end

local function pools()
  return scenario {
    title = "Pools", params = { pool = { "none", "batch_spare" } },
    workload = workload.lifecycle, reference = { pool = "none" },
    columns = { "typical", "ratio", "verdict", { "half", function (row)
      return row.ticks.typical / 2
    end } },
  }
end

local full = nesting():run()
local several = import("scenario").of({ nesting(), pools() }, "both"):run()
local short = nesting():run({ depth = 1 }, { forks = 1 })
local failed = nesting():run { depth = 1, pool = "none" }
failed[1].status, failed[1].reason = "fail", "lost | 3"
failed[1].ticks, failed[1].ns, failed[1].ratio = nil, nil, nil
local all = { full = full, several = several, short = short, failed = failed,
              empty = results.new({}, { title = "Empty" }) }

describe("every format", function ()
  for _, name in ipairs(format.names) do
    it("writes whatever there is: " .. name, function ()
      for _, one in pairs(all) do
        local made = format.format(one, name)
        assert.is_string(made)
        assert.is_truthy(utf8.len(made))
        assert.is_nil(made:find "nan" or made:find "%f[%a]inf%f[%A]")
      end
    end)

    it("holds the command that repeats the run: " .. name, function ()
      if name == "bmf" then return end
      assert.is_truthy(format.format(full, name):find(
        "cbench nesting --seed 7351", 1, true))
    end)
  end

  it("makes UTF-8 of any octets", function ()
    local made = results.new({
      { name = "a\xff\xfeb", status = "ok", ns = { typical = 5 },
        ticks = { typical = 9 }, params = { x = "\xc3" } },
      { name = "a\0b", status = "fail", reason = "\xf0\x9f!" },
    }, { title = "\xc3\xa9 \xe9", command = "x \xff", view = {
      columns = { "ns", { "y", function () return "\xfd" end } } } })
    for _, name in ipairs(format.names) do
      local got = format.format(made, name)
      assert.is_truthy(utf8.len(got), name)
      assert.is_nil(got:find "\0", name)
    end
    for _, name in ipairs { "table", "csv", "markdown", "bmf" } do
      assert.is_truthy(format.format(made, name):find(
        "a\u{fffd}\u{fffd}b", 1, true), name)
    end
    assert.equal("\u{e9}\u{fffd}x\u{fffd}", text.utf8 "\u{e9}\xe9x\0")
  end)

  it("refuses columns that no row has", function ()
    assert.has_error(function ()
      format.format(full, "csv", { columns = { "nwe" } })
    end, "format: column 'nwe': no row has it (did you mean 'new'?)")
    assert.has_error(function ()
      format.format(full, "table", { columns = { "ns.typicl" } })
    end, "format: column 'ns.typicl': unknown field of ns 'typicl' " ..
      "(did you mean 'typical'?)")
    assert.is_string(format.format(full, "csv", { columns = { "depth", "new",
      "counters.new", "ns.typical", "limit.lowest" } }))
  end)

  it("names each column of csv once", function ()
    for _, options in ipairs { {}, { columns = { "name", "typical" } } } do
      local seen = {}
      for name in format.format(short, "csv", options):match "[^\r]*"
          :gmatch "[^,]+" do
        assert.is_nil(seen[name], name)
        seen[name] = true
      end
    end
  end)

  it("has a line of help", function ()
    for _, name in ipairs(format.names) do
      assert.is_string(import("format_" .. name).summary)
    end
  end)
end)

describe("a format's name", function ()
  it("may be the scenario's own", function ()
    assert.equal("8 rows\n", format.format(full, "own"))
    assert.is_nil(format.refuse("own", full.meta.formats))
  end)

  it("that is unknown suggests the nearest", function ()
    assert.has_error(function () format.format(full, "jsno") end,
      "format: unknown format 'jsno' (did you mean 'json'?)")
    assert.equal("unknown format 'own' (there are table, mail, markdown, " ..
      "csv, json, jsonl, bmf, gobench)", format.refuse("own"))
  end)

  it("and all else is checked", function ()
    assert.has_error(function () format.format({}) end,
      "format: results expected, got table")
    assert.has_error(function () format.format(full, 5) end,
      "format: a format's name expected, got number")
    assert.has_error(function () format.format(full, "table", { colums = {} })
    end, "format: unknown option 'colums' (did you mean 'columns'?)")
    assert.has_error(function () format.format(full, "table", { columns = 1 })
    end, "format: option 'columns': table expected, got number")
  end)
end)

describe("json", function ()
  it("fits its schema", function ()
    for name, one in pairs(all) do
      local value = assert(core.json_decode(format.format(one, "json")))
      assert.is_nil(schema.check(value, rules), name)
    end
  end)

  it("would not fit it with a wrong value", function ()
    local value = core.json_decode(format.format(full, "json"))
    value.results[3].ratio.verdict = "maybe"
    assert.is_truthy(schema.check(value, rules):find "results%[3%]%.ratio")
    value = core.json_decode(format.format(full, "json"))
    value.results[7].ticks = { typical = 1 } -- of an n/a row
    assert.is_truthy(schema.check(value, rules):find "must not be there")
  end)

  it("is the same text each time", function ()
    local first = format.format(full, "json")
    for _ = 1, 20 do assert.equal(first, format.format(full, "json")) end
  end)

  it("comes back as it was", function ()
    for _, one in pairs(all) do
      local made = format.format(one, "json")
      local back = assert(document.parse(made))
      assert.equal(made, format.format(back, "json"))
      assert.equal(tostring(one), tostring(back))
      assert.equal(#one, #back)
      for i, record in ipairs(one) do
        assert.same(record, back[i])
        assert.equal(back[i], back[record.name])
      end
    end
  end)

  it("is strict for another reader", function ()
    local probe = io.popen("python3 -c 'import json' 2>&1")
    if probe:read "a" ~= "" then return pending "python3 has no json" end
    local path = os.tmpname()
    for _, name in ipairs { "json", "bmf" } do
      local file = assert(io.open(path, "wb"))
      file:write(format.format(failed, name)):close()
      local reader = io.popen(([[python3 -c '
import json, sys
def no(word): raise ValueError(word)
def once(pairs):
  assert len(set(k for k, v in pairs)) == len(pairs)
  return dict(pairs)
json.loads(open("%s", "rb").read().decode("utf-8", "strict"),
           parse_constant=no, object_pairs_hook=once)
print("fine")' 2>&1]]):format(path))
      assert.equal("fine\n", reader:read "a")
    end
    os.remove(path)
  end)
end)

-- All numbers in a value, each as a table might show it.
local function shown(value, set)
  if type(value) == "number" then
    for digits = 2, 5 do set[figure.significant(value, digits)] = true end
    for _, scale in ipairs { 1e3, 1e6, 1e9 } do
      set[figure.significant(value / scale)] = true
      set[figure.significant(value / scale, 4):gsub("%.?0+$", "")] = true
    end
    set[figure.value(value)], set[figure.ratio(value)] = true, true
    set[figure.share(value):match "%S+"] = true
    set[figure.duration(value):match "%S+"] = true
    set[("%d"):format(math.floor(value * 100 + 0.5))] = true
  elseif type(value) == "string" then
    for number in value:gmatch "%d[%d.]*" do set[number] = true end
  elseif type(value) == "table" then
    for key, inner in pairs(value) do
      if key ~= "samples" then shown(inner, set) end
    end
  end
  return set
end

describe("the table", function ()
  it("shows no number that the json has not", function ()
    for name, one in pairs(all) do
      local set = shown(core.json_decode(format.format(one, "json")), {})
      set["1"] = true -- "1 operation"
      set["22"] = true -- rounds of one process
      local lines = tostring(one):gsub("%-?%-%a+", "")
      for number in lines:gmatch "%f[%w.]%d[%d.]*%f[^%d.]" do
        number = number:gsub("%.$", "")
        assert.is_true(set[number], ("%s: %s"):format(name, number))
      end
    end
  end)
end)

describe("mail", function ()
  it("is 72 columns of ASCII with machine and command", function ()
    local run = nesting { title = "Über coroutines" }:run()
    local made = format.format(run, "mail")
    for line in made:gmatch "[^\n]+" do
      assert.is_true(#line <= 72, line)
    end
    assert.is_nil(made:find "[\x80-\xff]")
    assert.is_truthy(made:find("machine: AMD EPYC 7R13 guest", 1, true))
    assert.is_truthy(made:find("build: cbench 0.1.0, gcc 12", 1, true))
    assert.is_truthy(made:find("\nagain: cbench nesting", 1, true))
  end)
end)

describe("markdown", function ()
  it("has as many cells in each row of a table", function ()
    for _, one in ipairs { full, several, failed } do
      local cells
      for line in format.format(one, "markdown"):gmatch "[^\n]*" do
        local _, count = line:gsub("\\|", ""):gsub("|", "")
        if count == 0 then cells = nil end
        cells = cells or (count > 0 and count or nil)
        assert.is_true(count == 0 or count == cells, line)
      end
    end
  end)

  it("escapes what it would read as its own", function ()
    local made = format.format(failed, "markdown")
    assert.is_truthy(made:find("FAIL: lost \\| 3", 1, true))
    assert.is_truthy(made:find("batch\\_spare", 1, true) or
      made:find("\nread: Compare \\| rows", 1, true) or
      made:find("- read: Compare \\| rows.", 1, true))
  end)
end)

describe("csv", function ()
  local function parse(line)
    local cells, at = {}, 1
    while at <= #line + 1 do
      local quoted, next_at
      if line:sub(at, at) == '"' then
        local stop = at + 1
        while line:sub(stop, stop + 1) == '""' or
            line:sub(stop, stop) ~= '"' do
          stop = stop + (line:sub(stop, stop + 1) == '""' and 2 or 1)
        end
        quoted = line:sub(at + 1, stop - 1):gsub('""', '"')
        next_at = stop + 1
      else
        quoted, next_at = line:match("^([^,]*)()", at)
      end
      cells[#cells + 1] = quoted
      at = next_at + 1
    end
    return cells
  end

  it("has a name and unrounded figures in each line", function ()
    local made = format.format(failed, "csv")
    local rows = results.whole(failed)
    local lines = {}
    for line in made:gmatch "([^\r]*)\r\n" do lines[#lines + 1] = line end
    local head = parse(lines[1])
    assert.equal("name", head[1])
    assert.equal(#rows + 1, #lines)
    local at = {}
    for i, key in ipairs(head) do
      assert.is_nil(at[key])
      at[key] = i
    end
    for i, record in ipairs(rows) do
      local cells = parse(lines[i + 1])
      assert.equal(#head, #cells)
      assert.equal(record.name, cells[1])
      assert.equal(record.status, cells[at.status])
      assert.equal(record.ticks and record.ticks.typical,
        tonumber(cells[at["ticks.typical"]]))
    end
  end)
end)

describe("jsonl", function ()
  it("is one record a line, each of its own", function ()
    local count = 0
    local written = results.whole(several)
    for line in format.format(several, "jsonl"):gmatch "([^\n]*)\n" do
      count = count + 1
      local value = assert(core.json_decode(line))
      assert.equal("cbench/1", value.schema)
      assert.is_string(value.run)
      assert.is_string(value.host)
      assert.equal(written[count].name, value.name)
      assert.is_nil(schema.check(value, rules["$defs"].result, rules))
    end
    assert.equal(#written, count)
  end)
end)

describe("bmf", function ()
  it("has measures with their bounds and no failed row", function ()
    local value = assert(core.json_decode(format.format(failed, "bmf")))
    local row = value["nesting/" .. failed[2].name]
    assert.equal(failed[2].ns.typical, row.latency.value)
    assert.equal(failed[2].ns.fast, row.latency.lower_value)
    assert.equal(failed[2].per_second, row.throughput.value)
    assert.is_nil(value["nesting/" .. failed[1].name])
  end)
end)

describe("gobench", function ()
  it("has a line for each process and row", function ()
    local count = {}
    for line in format.format(full, "gobench"):gmatch "[^\n]+" do
      local name, n, ns, ticks = line:match(
        "^Benchmark(%u%S*)%-1\t(%d+)\t([%d.e+-]+) ns/op\t([%d.e+-]+) ticks/op$")
      if name then
        count[name] = (count[name] or 0) + 1
        assert.is_truthy(tonumber(n) > 0 and tonumber(ns) > 0 and
          tonumber(ticks) > 0)
      else
        assert.is_truthy(line:find "^%l+: " or line:find "^# again: ", line)
      end
    end
    assert.equal(10, count["Nesting/backend=asm/depth=1/pool=none"])
    assert.equal(10, count["Nesting/call"])
    assert.is_nil(count["Nesting/backend=sigaltstack/depth=1000/pool=none"])
  end)
end)

describe("files of results", function ()
  local folder

  setup(function ()
    local pipe = assert(io.popen "mktemp -d")
    folder = pipe:read "l"
    pipe:close()
  end)
  teardown(function () os.execute("rm -rf '" .. folder .. "'") end)

  local function refused(content, sentence)
    local path = folder .. "/bad.json"
    assert(io.open(path, "wb")):write(content):close()
    local back, message, code = format.read(path)
    assert.is_nil(back)
    assert.equal("EINVAL", code)
    assert.is_truthy(message:find("cannot read " .. path .. ": ", 1, true))
    assert.is_truthy(message:find(sentence, 1, true), message)
    assert.is_nil(message:find "\n")
  end

  it("come back", function ()
    local path = folder .. "/a.json"
    assert.is_true(format.write(full, path))
    assert.equal(tostring(full), tostring(assert(format.read(path))))
  end)

  it("have the format of their ending", function ()
    assert.is_true(format.write(full, folder .. "/a.csv"))
    assert.is_truthy(slurp(folder .. "/a.csv"):find "^name,")
    assert.is_true(format.write(full, folder .. "/a.md"))
    assert.is_truthy(slurp(folder .. "/a.md"):find "^### ")
    assert.is_true(format.write(full, folder .. "/a.txt", "mail"))
    assert.is_truthy(slurp(folder .. "/a.txt"):find "machine: ")
  end)

  it("of lines grow", function ()
    local path = folder .. "/a.jsonl"
    assert.is_true(format.write(short, path))
    assert.is_true(format.write(short, path))
    local _, lines = slurp(path):gsub("\n", "")
    assert.equal(2 * #results.whole(short), lines)
  end)

  it("that cannot be written are refused with the reason", function ()
    local done, message, code = format.write(full, folder .. "/no/a.json")
    assert.is_nil(done)
    assert.is_truthy(message:find("No such file or directory", 1, true))
    assert.equal("ENOENT", code)
    done, message = format.write(full, "/dev/full")
    assert.is_nil(done)
    assert.is_truthy(message:find("No space left on device", 1, true))
    assert.has_error(function () format.write(full) end)
  end)

  it("that are no results are refused, each with one sentence", function ()
    local good = format.format(full, "json")
    refused("", "it is empty")
    refused(" \n", "it is empty")
    refused(good:sub(1, #good // 2), "line ")
    refused(good:sub(1, -4), "line ")
    refused("[]", "it has no schema")
    refused("7", "no document of results")
    refused("null", "no document of results")
    refused('{"schema":"cbench/2","results":[]}',
      "schema 'cbench/2', not 'cbench/1'")
    refused('{"schema":"cbench/1"}', "it has no results")
    refused('{"schema":"cbench/1","results":[1]}',
      "result 1 has no name or no status")
    refused("\x7fELF\0\0", "line 1")
    local back, message = format.read(folder .. "/none.json")
    assert.is_nil(back)
    assert.is_truthy(message:find("No such file", 1, true))
    back, message = format.read(folder)
    assert.is_nil(back)
    assert.is_truthy(message:find("directory", 1, true))
    assert.has_error(function () format.read() end)
  end)

  it("have names with host, rank and job", function ()
    local fleet = import "fleet"
    assert.equal("res-" .. fleet.host() .. "-0.jsonl",
      fleet.expand "res-%h-%r.jsonl")
    assert.equal("100%", fleet.expand "100%%")
    local name, message = fleet.expand "a%z"
    assert.is_nil(name)
    assert.is_truthy(message:find("'%z' in 'a%z' means nothing", 1, true))
  end)
end)

describe("results", function ()
  it("are found by name and by what fits", function ()
    assert.equal(full[1], full[full[1].name])
    assert.equal(full[1], full:find { depth = 1 })
    assert.equal("call", full:find { workload = "call" }.name)
    assert.is_nil(full:find { depth = 77 })
    assert.has_error(function () full:find { backnd = "asm" } end)
    assert.has_error(function () full:find(1) end,
      "find: table expected, got number")
  end)

  it("find kinds by their name or with options", function ()
    local one = results.new {
      { name = "a", params = { ring = { "spsc", size = 64 } } },
      { name = "b", params = { ring = "ff" } },
    }
    assert.same({ kind = "spsc", size = 64 }, one[1].params.ring)
    assert.equal("a", one:find { ring = "spsc" }.name)
    assert.equal("b", one:find { ring = "ff" }.name)
    assert.equal("a", one:find { ring = { "spsc", size = 64 } }.name)
    assert.is_nil(one:find { ring = { "spsc", size = 32 } })
  end)

  it("are joined with results", function ()
    local both = full .. short
    assert.equal(#full + #short, #both)
    assert.has_error(function () return full .. "x" end)
  end)

  it("keep rows that rode along aside", function ()
    local one = results.new({ { name = "a" } },
      { references = { { name = "call" } } })
    assert.equal(1, #one)
    assert.equal(one.call, one.meta.references[1])
    assert.is_true(one.call.reference)
    assert.equal("call", results.whole(one)[2].name)
    assert.equal(1, text.width "x")
  end)
end)
