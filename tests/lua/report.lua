-- Pages and pictures of results, without a browser.
local folder = os.getenv "top_srcdir" .. "/tests/lua/"
local support = dofile(folder .. "support.lua")
local made_up = dofile(folder .. "made_up.lua")
local well_formed = dofile(folder .. "wellformed.lua")

local import = support.import {}
local document = import "document"
local gnuplot = import "gnuplot"
local markup = import "markup"
local picture = import "picture"
local report = import "report"
local shape = import "shape"
local svg = import "svg"

local has_gnuplot = gnuplot.find() ~= nil

local function results(made)
  return shape.mend(assert(document.parse(support.core.json_encode(made))))
end

local function files(...)
  local list = {}
  for i, made in ipairs { ... } do
    list[i] = { name = "file" .. i .. ".json", results = results(made) }
  end
  return list
end

local function page(...)
  local html, messages = report.make(files(...), "html", {})
  well_formed(html)
  return html, messages
end

-- The same where no picture is looked for.
local function words_of(...)
  local find = gnuplot.find
  gnuplot.find = function () return nil end
  local good, html = pcall(page, ...)
  gnuplot.find = find
  return assert(good and html, html)
end

local few = { forks = 3, rounds = 5 }

-- it, where there is a gnuplot.
local function drawn(name, test)
  it(name, function ()
    if not has_gnuplot then pending "gnuplot is not installed" end
    if has_gnuplot then test() end
  end)
end

local function count(text, pattern)
  local _, found = text:gsub(pattern, "")
  return found
end

describe("a page", function ()
  it("says what was asked, what came out and how to repeat it", function ()
    local html = words_of(made_up.nesting())
    for _, words in ipairs {
      "<h1>Nested coroutines</h1>",
      "What does a coroutine cost when each creates and enters the next?",
      "1 operation = one coroutine of the nest: create, enter, end.",
      "noise: ok", "10 processes x 22 rounds", "97.9 % intervals",
      "AMD EPYC 7R13 Processor", "gcc 12.2.0",
      "<pre>cbench nesting --seed 7351</pre>", "n/a: not deeper than 500",
      '<tr class="reference"><td colspan="3">call (reference)</td>',
      "Made by " .. support.core.version .. ".",
    } do
      assert.is_truthy(html:find(words, 1, true), words)
    end
  end)

  it("brings nothing in from elsewhere and runs nothing", function ()
    local html = page(made_up.pools(few))
    assert.is_truthy(html:find("default-src 'none'", 1, true))
    for _, word in ipairs { "<script", "https?:", "@import", "src=", "url%(",
        " on%a+=" } do
      assert.is_nil(html:lower():find(word), word)
    end
  end)

  drawn("has each picture twice, in words, and as a table", function ()
    local html, messages = page(made_up.nesting { rounds = 5 })
    local figures = count(html, "<figure ")
    assert.same({}, messages)
    assert.is_true(figures >= 3)
    assert.equal(2 * figures, count(html, '<svg class="[%a]+" viewBox="0 0 '
      .. '[%d]+ [%d]+" role="img" aria%-label="[^"]+"'))
    assert.equal(figures, count(html, "<summary>Data</summary>"))
    assert.equal(figures, count(html, "<figcaption><b>[^<]+</b>"))
  end)

  -- As many rounds as are drawn at most, all with the costliest symbol.
  it("of a thousand rows stays below three megabytes", function ()
    local made = made_up.many(1000, { samples = false })
    for i = 1, 36 do
      local samples = {}
      for round = 1, i <= 12 and 1000 or 250 do
        samples[round] = { fork = round % 10, round = round, n = 1000,
          ticks = 5000 + round * 7919 % 1000,
          cause = (i <= 12 or round % 10 > 0) and "stolen" or nil }
      end
      made.results[i].samples = samples
    end
    local html = page(made)
    assert.is_true(#html < 3000000, tostring(#html))
    assert.is_true(count(html, "<tr") > 1000)
    assert.equal(has_gnuplot and 45 or 0, count(html, "<figure "))
  end)

  it("of two files begins with what changed", function ()
    local html = page(made_up.pools(few), made_up.pools(few))
    assert.is_truthy(html:find("new against old.-Old: Pools.-New: Pools"))
    if has_gnuplot then
      assert.is_truthy(html:find("<b>New against old</b>", 1, true))
    end
  end)

  it("of several hosts begins with what they say together", function ()
    local list = {}
    for r = 0, 2 do
      local made = made_up.pools { host = "host" .. r, rank = r, size = 3,
        samples = false }
      local path = os.tmpname()
      local file = assert(io.open(path, "w"))
      file:write(support.core.json_encode(made))
      file:close()
      list[r + 1] = { name = path, results = results(made) }
    end
    local html = report.make(list, "html", {})
    for _, file in ipairs(list) do os.remove(file.name) end
    well_formed(html)
    assert.is_truthy(html:find("<h1>Pools, by host</h1>", 1, true))
    assert.is_truthy(html:find("host1 &#183; rank 1 of 3", 1, true) or
      html:find("host1 \u{b7} rank 1 of 3", 1, true))
  end)

  it("of rows that all failed has no pictures and says the reasons",
    function ()
      local made = made_up.pools()
      for _, record in ipairs(made.results) do
        record.status, record.reason = "fail", "7 of 9 elements <lost>"
        record.ticks, record.ratio, record.ns = nil, nil, nil
      end
      local html = page(made)
      assert.equal(0, count(html, "<figure"))
      assert.is_truthy(html:find("FAIL: 7 of 9 elements &lt;lost&gt;", 1,
        true))
      assert.is_truthy(html:find("6 FAIL", 1, true))
    end)

  it("of no rows, and of a run that was stopped, says so", function ()
    local made = made_up.pools { partial = true }
    assert.is_truthy(words_of(made):find("stopped before its end", 1, true))
    made.results = support.core.json_array {}
    assert.is_truthy(words_of(made):find("No rows.", 1, true))
  end)

  it("names files that could not be read", function ()
    local html = report.make(files(made_up.pools(few)), "html",
      { notes = { "cannot read <x>: it is empty" } })
    well_formed(html)
    assert.is_truthy(html:find("cannot read &lt;x&gt;: it is empty", 1, true))
  end)
end)

-- ---- what stands in a results file is text

local nasty = {
  markup = [[</title><script>alert(1)</script><img src=x onerror=a>]],
  quotes = [["'` ' onload=' " \" \' `touch made_by_gnuplot`]],
  gnuplot = [[@m $x %s %d %5000s "; system("touch made_by_gnuplot") #]],
  formats = [[{/Symbol a}_b^c ~d{.4-} \n \\ %% %]],
  ending = "a\nEND_OF_TEXT\nsystem 'touch made_by_gnuplot'\n$text << X",
  controls = "a\27[31mb\0c\u{202e}d\u{7f}e\u{ffff}",
  long = ("long `title` & "):rep(700),
  empty = "",
}

local function poison(made, text)
  made.title, made.about, made.command = text, text, "cbench '" .. text .. "'"
  made.reading, made.scenario = text, text
  made.machine.cpu, made.build.compiler = text, text
  made.notes = { text }
  for i, record in ipairs(made.results) do
    record.name = i == 1 and text or record.name .. text
    record.op, record.reason = text, text
    if record.params.pool then record.params.pool = text .. i end
    if record.ratio then record.ratio.to = made.results[1].name end
    for _, sample in ipairs(record.samples or {}) do
      sample.cause = sample.cause and text
    end
  end
  return made
end

describe("text from a results file", function ()
  for name, text in pairs(nasty) do
    it("stays text: " .. name, function ()
      os.remove "made_by_gnuplot"
      local html, messages = page(poison(made_up.pools(few), text))
      assert.same({}, has_gnuplot and messages or {})
      assert.is_nil(io.open "made_by_gnuplot")
      assert.is_nil(html:find("<script", 1, true))
      assert.is_nil(html:find("<img", 1, true))
      assert.equal(has_gnuplot and 7 or 0, count(html, "<figure "))
      assert.is_true(#html < 600000)
    end)
  end

  it("is whole in the page even when it is cut in the heading", function ()
    local html = words_of(poison(made_up.pools(few), nasty.long))
    assert.is_truthy(html:find(markup.escape(nasty.long), 1, true))
    local heading = html:match "<h1>(.-)</h1>"
    assert.is_true(utf8.len(heading) < 1200)
  end)

  -- One drawing with all of them: each row has another.
  drawn("stays text in files of pictures", function ()
    local made = made_up.pools { samples = false }
    local record, place = made.results[2], 0
    for name, text in pairs(nasty) do
      local copy = {}
      for key, value in pairs(record) do copy[key] = value end
      copy.name, copy.params = name .. text, { pool = text .. name }
      place = place + 1
      made.results[1 + place] = copy
    end
    local one = files(made)
    well_formed(assert(report.make(one, "svg", {})))
    assert.equal("\x89PNG", assert(report.make(one, "png", {})):sub(1, 4))
    assert.is_truthy(assert(report.make(one, "term", { columns = 80 }))
      :find("Ratio to pool=batch_spare", 1, true))
    assert.is_nil(io.open "made_by_gnuplot")
  end)
end)

-- ---- gnuplot that is missing, fails, hangs or lies

local function with_gnuplot(script, seconds, test)
  local find, limit = gnuplot.find, gnuplot.limit
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write("#!/bin/sh\n", script, "\n")
  file:close()
  os.execute("chmod +x " .. path)
  gnuplot.find = function () return path end
  gnuplot.limit = seconds or limit
  local good, message = pcall(test)
  gnuplot.find, gnuplot.limit = find, limit
  os.remove(path)
  assert(good, message)
end

describe("gnuplot", function ()
  it("that is missing leaves the page without pictures, and is said once",
    function ()
      local find = gnuplot.find
      gnuplot.find = function () return nil end
      local html, messages = page(made_up.pools())
      gnuplot.find = find
      assert.equal(1, #messages)
      assert.is_truthy(messages[1]:find("apt-get install gnuplot", 1, true))
      assert.equal(0, count(html, "<figure"))
      assert.is_truthy(html:find(markup.escape(messages[1]), 1, true))
      assert.is_truthy(html:find("batch_spare", 1, true))
    end)

  local troubles = {
    fails = { "echo '\"-\" line 7: no such thing' >&2; exit 1",
      "gnuplot failed: no such thing" },
    hangs = { "exec tail -f /dev/null", "gnuplot did not finish within 0.1 s",
      0.1 },
    loops = { "while :; do :; done", "gnuplot did not finish within 0.1 s",
      0.1 },
    crashes = { "kill -SEGV $$", "gnuplot was ended by signal 11" },
    ["says nothing"] = { "cat >/dev/null", "gnuplot drew nothing" },
    ["is no program"] = { "exec /nonexistent/gnuplot", "gnuplot failed" },
  }
  for name, trouble in pairs(troubles) do
    it("that " .. name .. " leaves the page without pictures", function ()
      with_gnuplot(trouble[1], trouble[3], function ()
        local html, messages = page(made_up.pools(few))
        assert.equal(1, #messages)
        assert.is_truthy(messages[1]:find(trouble[2], 1, true), messages[1])
        assert.equal(0, count(html, "<figure"))
        for _, form in ipairs(trouble[3] and {} or { "svg", "png" }) do
          local text, message = report.make(files(made_up.pools(few)), form, {})
          assert.is_nil(text)
          assert.is_truthy(message:find(trouble[2], 1, true), message)
        end
      end)
    end)
  end

  -- As on a busy machine: longer than the limit on the wall, but at work.
  it("that works is waited for", function ()
    local output, how, code, forced = support.core.run_program({ "/bin/sh",
      "-c", [[for i in 1 2 3 4 5 6; do
        j=0; while [ $j -lt 3000 ]; do j=$((j+1)); done; sleep 0.1
      done; echo done]] }, "", 0.3, true)
    assert.same({ "done\n", "exit", 0, false }, { output, how, code, forced })
  end)

  it("that leaves somebody behind is not waited for", function ()
    local output, how, code, forced = support.core.run_program({ "/bin/sh",
      "-c", "sleep 600 & echo $!; trap '' TERM; wait" }, "", 0.1, true)
    assert.is_truthy(os.execute("kill " .. output))
    assert.same({ "signal", 9, true }, { how, code, forced })
  end)

  it("that lies brings nothing into the page but shapes", function ()
    local lie = [[<svg onload="x()"><defs><g><script>x()</script></g></defs>
      <script>alert(1)</script><foreignObject><body>b</body></foreignObject>
      <image href="http://x/y.png"/><a href="javascript:x()">t</a>
      <g stroke-width="1"><path stroke='url(http://x)' d='M1,2 L3,4'
      onclick='x()'/></g><path d='M1 2" onload="x()'/>
      <g transform="translate(1,2)" fill="black"><text>&lt;b&gt; "q" <!-- --></text>
      </g></svg>]]
    local elements = svg.elements(lie)
    well_formed("<svg>" .. elements .. "</svg>")
    for _, word in ipairs { "script", "http", "href", "on%a+=", "foreign",
        "image", "url" } do
      assert.is_nil(elements:find(word), word)
    end
    assert.is_truthy(elements:find('d="M1,2L3,4"', 1, true))
    assert.is_truthy(elements:find("&lt;b&gt; &quot;q&quot;", 1, true))
  end)
end)

-- ---- the kinds of pictures

local function kinds(made)
  local list = {}
  for i, one in ipairs(picture.of(results(made))) do list[i] = one.kind end
  return table.concat(list, " "):gsub("rounds.*", "rounds")
end

describe("pictures", function ()
  it("are those that the rows give", function ()
    assert.equal("sweep ratio rounds", (kinds(made_up.nesting())))
    assert.equal("ratio rounds", (kinds(made_up.pools())))
    assert.equal("layers rounds", (kinds(made_up.layers())))
    assert.equal("sweep latency rounds", (kinds(made_up.latency())))
    assert.equal("ratio", (kinds(made_up.pools { samples = false })))
  end)

  it("have logarithmic axes where the range asks for them", function ()
    local one = picture.of(results(made_up.nesting()))[1]
    assert.is_true(one.log_x)
    assert.is_true(one.log_y)
    one = picture.of(results(made_up.latency()))[1]
    assert.is_false(one.log_x)
    assert.is_false(one.log_y)
  end)

  it("mark disturbed rounds with their cause", function ()
    local one = picture.of(results(made_up.pools()))[2]
    assert.equal("rounds", one.kind)
    for _, cause in ipairs { "undisturbed", "preempted", "host-slow" } do
      assert.is_truthy(one.groups[cause], cause)
    end
    assert.equal(10, #one.data.rows)
  end)

  it("of layers add up to the whole", function ()
    local one = picture.of(results(made_up.layers()))[1]
    assert.equal(2, #one.chains)
    for _, chain in ipairs(one.chains) do
      assert.equal(6, #chain.layers)
      assert.is_true(math.abs(chain.layers[6].to - 100) < 1e-9)
    end
    assert.is_truthy(one.note:find("added less than nothing", 1, true))
  end)

  -- Points that stand beside their own bars convince nobody.
  it("have intervals that hold the figure", function ()
    local data = import "picture_data"
    local made = made_up.pools()
    local record = results(made)[1]
    local typical = record.ticks.typical
    for _, sample in ipairs(record.samples) do
      if sample.fork ~= 4 or sample.cause then
        sample.cause, sample.ticks = "host-slow", sample.ticks * 2
      end
    end
    local low, high = data.interval(record)
    assert.is_true(low <= typical and typical < 1.5 * typical and
      1.5 * typical < high, ("%g .. %g"):format(low, high))
  end)

  it("leave rounds of a slow host out of intervals where they are felt",
    function ()
      local data = import "picture_data"
      for factor, cost in pairs { [1] = 1.01, [2] = 1 } do
        local samples = {}
        for fork = 1, 10 do
          for round = 1, 9 do
            local slow = round > 3
            samples[#samples + 1] = { fork = fork, round = round, n = 1,
              cause = slow and "host-slow" or nil,
              ticks = slow and 1010 * factor or 1000 }
          end
        end
        local low, high = data.interval { samples = samples,
          ticks = { typical = 1000 * cost } }
        assert.same({ 1000 * cost, 1000 * cost }, { low, high })
      end
    end)

  it("of the rounds beyond the first dozen rows are there on demand",
    function ()
      local list = picture.of(results(made_up.nesting { rounds = 2 }))
      local first, more = 0, 0
      for _, one in ipairs(list) do
        if one.kind == "rounds" and one.on_demand then more = more + 1 end
        if one.kind == "rounds" and not one.on_demand then
          first = first + 1
        end
      end
      assert.same({ 12, 10 }, { first, more })
    end)

  it("give intervals over processes, and say which", function ()
    local data = import "picture_data"
    local record = results(made_up.pools())[1]
    local low, high, kind = data.interval(record)
    assert.equal("order", kind)
    assert.is_true(low <= high and high < low * 1.5)
    record.samples = nil
    assert.equal("rounds", select(3, data.interval(record)))
    record = results(made_up.pools { forks = 4 })[1]
    assert.equal("range", select(3, data.interval(record)))
  end)

  drawn("are drawn as characters within the width asked for", function ()
    for _, columns in ipairs { 40, 80, 120 } do
      local text = report.plot(results(made_up.nesting()), columns)
      assert.is_truthy(text:find("ticks/op against depth", 1, true))
      for line in text:gmatch "[^\n]+" do
        assert.is_true(utf8.len(line) <= columns, line)
      end
    end
  end)

  it("survive results that are not as they should be", function ()
    for _, change in ipairs {
      function (r) r.ticks = "fast" end, function (r) r.ticks = {} end,
      function (r) r.ratio = { value = "x" } end,
      function (r) r.ratio = { value = -1, low = 0, high = 1e308 } end,
      function (r) r.samples = { { fork = "a" }, { n = 0 }, {} } end,
      function (r) r.params = { pool = { 1, { 2 } } } end,
      function (r) r.unit = 7 end, function (r) r.noise = { causes = 3 } end,
      function (r) r.ticks.typical = 1e300 end,
    } do
      local made = made_up.pools { forks = 3, rounds = 5 }
      change(made.results[2])
      change(made.results[4])
      local good, html = pcall(page, made)
      assert.is_true(good, html)
    end
  end)
end)

describe("text of markup", function ()
  it("is mended where it is no UTF-8", function ()
    assert.equal("a?b????c d?e", (markup.plain
      "a\xffb\xc3\xed\xa0\x80c\td\x7fe":gsub("\u{fffd}", "?")))
    assert.equal("&lt;a href=&quot;&#39;&quot;&gt;&amp;",
      markup.escape [[<a href="'">&]])
    assert.equal("abc\u{2026}", markup.clip("abcdef", 4))
    assert.equal("\u{e4}\u{f6}\u{2026}", markup.clip("\u{e4}\u{f6}\u{fc}\u{df}",
      3))
  end)
end)
