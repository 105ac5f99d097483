--- What `help` says of the public functions. Kinds and workloads are not in
-- this list: they describe themselves.
-- A topic: { name, signature, text, example, kinds = family or nil }. `name`
-- is the field of the module; an example runs as it stands.
return {
  {
    name = "kinds",
    signature = "cbench.kinds(family)",
    text = [[
A list of the names of a family's kinds: backend, pool, ring, lock, workload.
[name] of it is { summary, parameters, limits }.]],
    example = [[print(cbench.kinds "lock")]],
  }, {
    name = "machine",
    signature = "cbench.machine()",
    text = "What this machine and this build are: a table, printed as lines.",
    example = [[print(cbench.machine())]],
  }, {
    name = "clock",
    signature = "cbench.clock.now(), .hz, .source, .cost",
    text = [[
The clock that all figures are measured by: ticks now, ticks per second, what
counts them, and the ticks that reading it takes.]],
    example = [[print(cbench.clock.source, cbench.clock.hz)]],
  }, {
    name = "coroutine",
    kinds = "backend",
    signature = "cbench.coroutine.create(f [, { backend=, pool=, "
      .. "stack_size= }])",
    text = [[
A coroutine with a stack of its own that runs the Lua function f.
co:enter(...) runs it until it yields or ends, and gives what it hands out;
co:entered(), co:status(), co:close(). Inside: cbench.coroutine.yield(...),
.self(), .in_coroutine(). An error in f is raised by co:enter.]],
    example = [[
co = cbench.coroutine.create(function (a) cbench.coroutine.yield(a + 1) end)
print(co:enter(1), co:status())]],
  }, {
    name = "pool",
    kinds = "pool",
    signature = 'cbench.pool { "batch_spare", backend=, stack_size=, size= }',
    text = [[
A pool keeps ended coroutines for the next ones. pool:stats(), pool:prefill(n),
pool:trim(), pool:close().]],
    example = [[
pool = cbench.pool { "batch_spare", backend = "ucontext" }
print(pool:stats())]],
  }, {
    name = "ring",
    kinds = "ring",
    signature = 'cbench.ring { "spsc", size=, sync=, exact=, wait= }',
    text = [[
A ring of integers between threads. enqueue(v) gives false when it is full,
dequeue() nil when it is empty; enqueue_bulk(t) all or none, enqueue_burst(t) as
many as fit; count(), free_count(), capacity(), resize(n), close(); #ring.]],
    example = [[
ring = cbench.ring { "spsc", size = 8 }
print(ring:enqueue(7), ring:dequeue(), ring:dequeue())]],
  }, {
    name = "services",
    kinds = "lock",
    signature = "cbench.services { lock=, order= }",
    text = [[
A set of services and the lcores that run them. set:register{ name=, call=,
mt_safe=, stats= }, set:lcore{ cpu= }, set:dump(); service:run(), :map(lcore),
:start(), :stop(), :quiesce(seconds), :stats().]],
    example = [[
set = cbench.services {}
service = set:register { name = "count", call = function () return 7 end }
service:component(true) service:start()
print(service:run())]],
  }, {
    name = "workload",
    kinds = "workload",
    signature = "cbench.workload.NAME { ... }",
    text = [[
Describes measurable work; every parameter has a default. All take name,
threads, cpus and place. `help "NAME"` shows the parameters of one. A pipeline
is a list of stages; pipeline{...}:layers() gives the list of its growing parts,
whose `columns` are for a scenario.]],
    example = [[print(cbench.workload.call {})]],
  }, {
    name = "measure",
    signature = "cbench.measure(workload [, options])",
    text = [[
Measures a workload, or a list of them interleaved, and gives one result or the
results in that order. options: time (seconds), rounds, forks, seed, threads,
cpus, place, min_effect, reference (default: the workload call).]],
    example = [[cbench.measure(cbench.workload.call {}, { time = 0.1 })]],
  }, {
    name = "scenario",
    signature = "cbench.scenario { title=, params=, workload=, ... }",
    text = [=[
A table of rows: one for each combination of params, made by workload. Further
keys: about, where(p), reference, columns, across, reading, fit, limit(p),
formats, setup, teardown. limit: the highest ratio, or { lowest, highest }.
A file may return a list of them, with a title and an about for the whole.
With a name instead of a table: the shipped scenario of that name.
scenario:run([params [, options]]) gives results, scenario:rows() the rows.]=],
    example = [[
s = cbench.scenario { title = "Adds", params = { adds = { 100, 200 } },
  workload = cbench.workload.chain }
print(s:run({}, { time = 0.1 }))]],
  }, {
    name = "format",
    signature = "cbench.format(results [, format [, { columns=, across= }]])",
    text = "Results as text: table, markdown, csv, json, jsonl and others.",
    example = [[
r = cbench.measure({ cbench.workload.call {} }, { time = 0.1 })
print(cbench.format(r, "csv"))]],
  }, {
    name = "write",
    signature = "cbench.write(results, path [, format])",
    text = "Writes results to a file, whole or not at all.",
    example = [[
r = cbench.measure({ cbench.workload.call {} }, { time = 0.1 })
cbench.write(r, "/dev/null", "json")]],
  }, {
    name = "read",
    signature = "cbench.read(path)",
    text = "Results again, from a file that was written as JSON.",
    example = [[
path = os.tmpname()
cbench.write(cbench.measure({ cbench.workload.call {} }, { time = 0.1 }), path)
print(#cbench.read(path)) os.remove(path)]],
  }, {
    name = "compare",
    signature = "cbench.compare(old, new)",
    text = "Two results (or their paths), row by row: ratios and verdicts.",
    example = [[
r = cbench.measure({ cbench.workload.call {} }, { time = 0.1 })
print(cbench.compare(r, r))]],
  }, {
    name = "load",
    signature = "cbench.load(path [, prefix])",
    text = [[
Adds the kinds of a plug-in, a shared object that uses CB_PLUGIN of
cbench/plugin.h; with a prefix, as prefix_name. A path, or the name of one that
is installed. Gives its entry, or nil, a sentence and a code.]],
    example = [[print(cbench.load "./mine.so")]],
  }, {
    name = "derive",
    signature = "cbench.derive.per_op(seconds, iterations, base_seconds, "
      .. "base_iterations)",
    text = [[
Arithmetic on figures. per_op: ns of one operation, the baseline taken off;
.share(ns, rate): fraction of a second; .max_rate(ns): operations a second;
.gain(before, after): a fraction; .delta(row, other): ticks between two rows of
a run, { value, low, high }.]],
    example = [[print(cbench.derive.share(100, 1e6))]],
  }, {
    name = "help",
    signature = "cbench.help([topic])",
    text = [[
Explains a function, a family, a kind, a workload or a shipped scenario, given
by name or as the value itself.]],
    example = [[cbench.help "kinds"]],
  },
}
