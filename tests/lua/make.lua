--- Writes documents of made-up results, for tests of the program:
-- lua make.lua FOLDER [many]
local source = os.getenv "top_srcdir" .. "/tests/lua/"
local support = dofile(source .. "support.lua")
local made_up = dofile(source .. "made_up.lua")
local folder = assert(arg[1], "usage: make.lua FOLDER [many]")

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  assert(file:write(text))
  assert(file:close())
end

local document = support.import {} "document"

local function json(value) return support.core.json_encode(value) end

write("nesting.json", json(made_up.nesting()))
write("whole.json", document.text(document.parse(json(made_up.nesting()))))
write("pools.json", json(made_up.pools()))
write("pools-new.json", json(made_up.pools { factor = 1.01, seed = 5 }))
write("layers.json", json(made_up.layers()))
write("latency.json", json(made_up.latency()))
if arg[2] == "many" then write("many.json", json(made_up.many(1000))) end

local nasty = made_up.pools { title =
  "</title><script>alert('\"`touch made_by_gnuplot`\"')</script>" }
nasty.about = ("long & \"quoted\" <b>words</b> "):rep(400)
write("nasty.json", json(nasty))

for rank = 0, 2 do
  write(("rank-%d.jsonl"):format(rank), made_up.lines(made_up.pools {
    rank = rank, size = 3, host = "host" .. rank, run = "slurm-17.0",
    samples = false }, json))
end
