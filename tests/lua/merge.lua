-- Joining results of many runs, and comparing their hosts.
local folder = os.getenv "top_srcdir" .. "/tests/lua/"
local support = dofile(folder .. "support.lua")
local made_up = dofile(folder .. "made_up.lua")

local schema = dofile(folder .. "schema.lua")

local core = support.core
local import = support.import {}
local document = import "document"
local hosts = import "hosts"
local merge = import "merge"

local work

local function path(name) return work .. "/" .. name end

local function put(name, text)
  local file = assert(io.open(path(name), "wb"))
  file:write(text)
  file:close()
  return path(name)
end

local function get(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local function lines(name, made)
  return put(name, made_up.lines(made, document.encode))
end

local function whole(name, made)
  return put(name, document.text(assert(document.parse(
    core.json_encode(made)))))
end

-- Pools on rank r of a run of `size`, a host each.
local function rank(r, size, given)
  local full = { rank = r, size = size, host = "host" .. r, seed = r + 1,
                 run = "slurm-17.0", samples = false }
  for key, value in pairs(given or {}) do full[key] = value end
  return made_up.pools(full)
end

-- The merged document, what was said, and the answer.
local function join(paths)
  local all = path "all.json"
  local output = assert(core.output(all, "whole"))
  local joined, message = merge.files(paths, output)
  output:close()
  if not joined then return nil, message end
  return assert(core.json_decode(get(all))), table.concat(joined.notes, "\n"),
    joined
end

local function says(notes, ...)
  for _, words in ipairs { ... } do
    assert.is_truthy(notes:find(words, 1, true), notes .. "\nshould say\n"
      .. words)
  end
end

setup(function ()
  local pipe = assert(io.popen "mktemp -d")
  work = pipe:read "l"
  pipe:close()
end)
teardown(function () os.execute("rm -rf '" .. work .. "'") end)

describe("merging", function ()
  it("joins lines and documents, a table for each run", function ()
    local all, notes, joined = join {
      lines("a.jsonl", rank(0, 2)), whole("b.json", rank(1, 2)),
      put("c.json", core.json_encode(made_up.layers { host = "host2" })),
    }
    assert.equal("", notes)
    assert.equal(24, #all.results)
    assert.equal(24, joined.rows)
    assert.same({ 6, 6, 12 }, { all.tables[1].rows, all.tables[2].rows,
                                all.tables[3].rows })
    assert.equal("host1", all.results[7].host)
    assert.equal(1, all.results[7].rank)
    assert.equal("slurm-17.0", all.results[7].run)
    assert.equal(false, all.partial)
  end)

  it("gives a document as its schema says", function ()
    local file = assert(io.open(os.getenv "top_srcdir"
      .. "/doc/results.schema.json"))
    local rules = assert(core.json_decode(file:read "a"))
    file:close()
    local all = join { lines("a.jsonl", rank(1, 4)),
      lines("b.jsonl", rank(1, 4, { seed = 99 })) }
    assert.is_nil(schema.check(all, rules))
  end)

  it("keeps every figure of every row", function ()
    local made = rank(0, 1, { samples = true })
    join { lines("a.jsonl", made) }
    local again = assert(document.read(path "all.json"))
    for i, record in ipairs(made.results) do
      for _, key in ipairs { "ticks", "ns", "ratio", "samples", "counters",
          "noise", "params" } do
        assert.same(record[key], again[i][key])
      end
    end
    assert.same(made.machine, again.meta.machine)
    assert.equal(made.title, again.meta.title)
  end)

  it("of merged documents gives the same again", function ()
    join { lines("a.jsonl", rank(0, 2)), lines("b.jsonl", rank(1, 2)) }
    local first = get(path "all.json")
    os.rename(path "all.json", path "once.json")
    join { path "once.json" }
    assert.equal(first, get(path "all.json"))
  end)

  it("names ranks that are missing", function ()
    local all, notes, joined = join { lines("a.jsonl", rank(1, 9)),
      lines("b.jsonl", rank(2, 9)), lines("c.jsonl", rank(7, 9)) }
    says(notes, "6 of 9 ranks of run slurm-17.0 are missing: "
      .. "ranks 0, 3-6, 8")
    assert.is_true(joined.incomplete)
    assert.is_true(all.partial)
    assert.same({ 0, 3, 4, 5, 6, 8 }, all.merge.runs[1].missing)
    notes = select(2, join { lines("a.jsonl", rank(1, 2)) })
    says(notes, "1 of 2 ranks of run slurm-17.0 is missing: rank 0")
  end)

  it("takes copies once and says so", function ()
    local one = lines("a.jsonl", rank(0, 1))
    local all, notes = join { one, put("b.jsonl", get(one)) }
    assert.equal(6, #all.results)
    says(notes, "b.jsonl: 6 rows stand also in " .. one .. "; taken once")
  end)

  it("keeps other rows of the same name, marked", function ()
    local one, two = lines("a.jsonl", rank(0, 1)),
      lines("b.jsonl", rank(0, 1, { seed = 99, factor = 2 }))
    local all, notes = join { one, two }
    assert.equal(12, #all.results)
    assert.is_nil(all.results[6].duplicate)
    assert.is_true(all.results[7].duplicate)
    says(notes, "rank 0 of run slurm-17.0: 6 rows have the names of others in "
      .. one)
  end)

  it("names a rank that comes from two hosts", function ()
    local _, notes = join { lines("a.jsonl", rank(0, 1)),
      lines("b.jsonl", rank(0, 1, { host = "other" })) }
    says(notes, "rank 0 of run slurm-17.0 comes from two hosts: host0",
      "and other")
  end)

  it("says when ranks shared a host, and when hosts differ", function ()
    local _, notes = join { lines("a.jsonl", rank(0, 3)),
      lines("b.jsonl", rank(1, 3, { host = "host0" })),
      lines("c.jsonl", rank(2, 3, { build = "b", fingerprint = "f" })) }
    says(notes, "2 ranks of run slurm-17.0 shared the host host0: that tests "
      .. "the plumbing, not performance", "not the build of host0: host2",
      "not the kind of machine of host0: host2")
  end)

  it("survives files that are cut at any octet", function ()
    local files = { lines("a.jsonl", rank(0, 2)), whole("b.json", rank(1, 2)) }
    for n, name in ipairs(files) do
      local text = get(name)
      for cut = 1, #text - 3, #text // 37 + n do
        local all, notes = join { lines("c.jsonl", rank(0, 2)),
          put("cut", text:sub(1, cut)) }
        assert.is_true(#all.results >= 6, cut)
        assert.is_truthy(notes:find "cut", cut)
      end
    end
  end)

  it("keeps the rows before the cut, and names the line", function ()
    local text = get(lines("a.jsonl", rank(0, 1)))
    local all, notes = join { put("cut.jsonl", text:sub(1, #text - 100)) }
    assert.equal(5, #all.results)
    says(notes, "cut.jsonl, line 6: left out (the file is cut here)")
    local _, middle = text:find(("[^\n]*\n"):rep(2))
    text = text:sub(1, middle - 40) .. text:sub(middle + 1)
    all, notes = join { put("torn.jsonl", text) }
    assert.equal(4, #all.results)
    says(notes, "torn.jsonl, line 2: left out (column")
  end)

  it("says what it cannot read, and goes on", function ()
    local all, notes, joined = join {
      put("empty", ""), put("other", '{"schema":"x/1","results":[]}'),
      put("words", "hello\n"), path "missing", work,
      put("rows", '{"schema":"x/1","name":"a","status":"ok"}\n{"name":1}\n'),
      lines("a.jsonl", rank(0, 1)),
    }
    assert.equal(6, #all.results)
    assert.equal(4, joined.unread)
    says(notes, "empty: it is empty", "other: schema 'x/1'", "words, line 1",
      "missing: No such file", "it is a directory",
      'rows, line 1: left out (schema "x/1", not "cbench/1")',
      "rows, line 2: left out (no result: it has no name or no status)")
    local nothing, message = join { put("empty", "") }
    assert.is_nil(nothing)
    says(table.concat(message, "\n"), "it is empty",
      "there is no row in the files")
  end)

  it("is bounded when ranks and sizes are odd", function ()
    local all, notes = join { lines("a.jsonl", rank(-1, math.maxinteger)),
      lines("b.jsonl", rank(1.5, "many", { seed = 3 })) }
    assert.equal(12, #all.results)
    assert.is_true(#notes < 2000)
  end)
end)

describe("places of members", function ()
  it("are found", function ()
    local text = ' { "a" : [1, {"b":"}"}] ,"\\u0062":-0.5e3, "c":"\\"" } '
    local list = assert(core.json_members(text))
    local found = {}
    for i = 1, #list, 4 do
      found[#found + 1] = list[i] .. "=" .. text:sub(list[i + 2], list[i + 3])
      assert.equal('"', text:sub(list[i + 1], list[i + 1]))
    end
    assert.same({ 'a=[1, {"b":"}"}]', "\\u0062=-0.5e3", 'c="\\""' }, found)
    assert.same({}, core.json_members "{}")
  end)

  -- What the one reader takes the other takes too, or the file that was merged
  -- could not be read.
  it("are refused where the whole reader refuses", function ()
    local pieces = { "{", "}", "[", "]", ",", ":", '"a"', '"b"', "1", "-",
      "0", ".5", "e9", "e999", "true", "nul", "null", '"\\ud800"',
      '"\\ud83d\\ude00"', '"\xff"', '"\xc3\xa4"', '"\xed\xa0\x80"', " ",
      "99999999999999999999", "9223372036854775807", '"\n"', '"\\x"',
      "1E400", "0.1E-400", "00", "+1" }
    local seed = os.time()
    math.randomseed(seed)
    local refused = 0
    for _ = 1, 20000 do
      local parts = { '{"k":' }
      for i = 1, math.random(4) do
        parts[i + 1] = pieces[math.random(#pieces)]
      end
      parts[#parts + 1] = "}"
      local text = table.concat(parts)
      local members = core.json_members(text)
      local value = core.json_decode(text)
      refused = refused + (members and 0 or 1)
      assert.equal(value ~= nil, members ~= nil,
        ("%q, seed %d"):format(text, seed))
    end
    assert.is_true(refused > 1000 and refused < 19990)
  end)

  it("of what is no object are none", function ()
    for _, text in ipairs { "", " ", "[]", '{"a":1\0}', '{"a\0":1}',
        "1", "{} {}", "{", '{"a":1',
        '{"a":1,}', '{"a":1,"a":2}', ("["):rep(1000), '{"a":' ..
        ("["):rep(100) .. ("]"):rep(100) .. "}" } do
      local list, message = core.json_members(text)
      assert.is_nil(list)
      assert.is_truthy(message:find "^column %d+: ")
    end
  end)
end)

describe("comparing hosts", function ()
  local function by_host(count, change, given)
    local files = {}
    for r = 0, count - 1 do
      local made = rank(r, count, { seed = 7 })
      if change then change(made, r) end
      files[r + 1] = lines(("h%d.jsonl"):format(r), made)
    end
    return assert(hosts.compare(files, given or {}, error))
  end

  local function scale(made, name, factor)
    for _, record in ipairs(made.results) do
      if record.name == name and record.ratio then
        for _, key in ipairs { "value", "low", "high" } do
          local value = record.ratio[key]
          record.ratio[key] = value and value * factor
        end
      end
    end
  end

  it("pools their ratios into one with an interval", function ()
    local compared = by_host(5)
    local row = compared["pool=mutex"]
    assert.equal(5, #row.hosts)
    assert.is_true(math.abs(row.ratio.value - 118 / 50) < 1e-6)
    assert.is_true(row.ratio.low < row.ratio.value and
      row.ratio.high > row.ratio.value)
    assert.equal("slower", row.ratio.verdict)
    assert.equal("none", row.disagrees)
    assert.is_nil(compared["pool=batch_spare"])
  end)

  it("decides nothing from one host or two", function ()
    for count, reason in ipairs { "one host", "two hosts" } do
      local ratio = by_host(count)["pool=mutex"].ratio
      assert.equal("unresolved", ratio.verdict)
      assert.equal(reason, ratio.reason)
    end
  end)

  it("names the one that disagrees", function ()
    local compared = by_host(6, function (made, r)
      if r == 4 then scale(made, "pool=mutex", 1.3) end
    end)
    assert.equal("host4", compared["pool=mutex"].disagrees)
    assert.equal("none", compared["pool=release"].disagrees)
    says(table.concat(compared.meta.notes, "\n"),
      "disagree with the others: host4 in 1 of 5 rows")
    compared = by_host(2, function (made, r)
      scale(made, "pool=mutex", 1 + r)
    end)
    assert.equal("both", compared["pool=mutex"].disagrees)
  end)

  it("does not call a difference one that does not count", function ()
    local compared = by_host(4, function (made, r)
      if r == 1 then
        for _, record in ipairs(made.results) do
          if record.ratio then
            record.ratio.low, record.ratio.high = nil, nil
          end
        end
        scale(made, "pool=mutex", 1.015)
      end
    end)
    assert.equal("none", compared["pool=mutex"].disagrees)
  end)

  it("pools times only of one kind of machine and build", function ()
    local function typical(change)
      return by_host(4, change)["pool=mutex"].ticks
    end
    assert.is_number(typical().typical)
    for _, key in ipairs { "machine", "build" } do
      assert.is_nil(typical(function (made, r)
        if r == 2 then made[key].fingerprint = "another" end
      end))
    end
    assert.is_nil(typical(function (made)
      made.machine.fingerprint = nil
    end))
  end)

  it("says which hosts have another build or another machine", function ()
    local compared = by_host(3, function (made, r)
      if r == 2 then
        made.build.fingerprint, made.build.version = "x", "0.2"
        made.machine.fingerprint, made.machine.cpu = "y", "Other CPU"
      end
    end)
    says(table.concat(compared.meta.notes, "\n"),
      "hosts with different builds: host0, host1 (0.1.0); host2 (0.2)",
      "no times are pooled: host0, host1 (AMD EPYC 7R13 Processor); host2 "
        .. "(Other CPU)")
  end)

  it("takes ranks of one host for one host", function ()
    local compared = by_host(4, function (made, r)
      made.host, made.machine.host = "h" .. r // 2, "h" .. r // 2
    end)
    local row = compared["pool=mutex"]
    assert.equal(2, #row.hosts)
    assert.equal(2, row.hosts[1].ranks)
    assert.equal("two hosts", row.ratio.reason)
  end)

  it("reads merged documents as their files", function ()
    local files = {}
    for r = 0, 2 do files[r + 1] = lines(r .. ".jsonl", rank(r, 3)) end
    local apart = assert(hosts.compare(files, {}, error))
    join(files)
    local together = assert(hosts.compare({ path "all.json" }, {}, error))
    assert.equal(tostring(apart), tostring(together))
  end)

  it("prints a table, and a document that is read again", function ()
    local compared = by_host(3)
    local text = tostring(compared)
    for _, words in ipairs { "Pools, by host", "3 of 3", "lowest", "host0",
        "disagrees" } do
      assert.is_truthy(text:find(words, 1, true), words)
    end
    local again = assert(document.parse(document.text(compared)))
    assert.equal(compared[1].ratio.value, again[1].ratio.value)
  end)

  it("leaves out what is no result, with a sentence", function ()
    local said = {}
    local compared = hosts.compare({ lines("a.jsonl", rank(0, 1)),
      put("b.jsonl", "{}\n") }, {}, function (words)
        said[#said + 1] = words
      end)
    assert.equal(5, #compared)
    assert.equal(1, #said)
    local nothing, message = hosts.compare({ path "missing" }, {}, error)
    assert.is_nil(nothing)
    says(message, "No such file")
  end)
end)
