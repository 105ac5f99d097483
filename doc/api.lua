--- What a primitive costs, in ticks, on this machine.
--
--     local cbench = require "cbench"
--
-- One table, no globals, the same from the program and from a stock lua5.4.
-- Misuse raises an error that names the argument; a refusal by the environment
-- or the state of things is nil, a sentence and a code. Objects are closed by
-- `close`, by `<close>` and by the collector, and raise "ring is closed"
-- afterwards.
--
-- This file holds the text for LDoc; a test compares it with the module.
-- @module cbench

--- Measures a workload, or several interleaved.
-- @function measure
-- @param work a descriptor of `cbench.workload`, or a list of them
-- @param[opt] options `time` (seconds, for all), `rounds`, `forks`
--   (processes; default 1), `seed`, `threads`, `cpus`, `place`, `min_effect`
--   (percent), `reference` (a name or a workload; default `call{}`, which rides
--   along)
-- @return one result for one workload, else `results` in the order of the
--   list, also by name
-- @usage
-- print(cbench.measure(cbench.workload.call {}, { time = 0.05 }))

--- Describes a scenario, or gives a shipped one.
-- @function scenario
-- @param what a table with `title`, `about`, `params`, `workload`, `where`,
--   `reference`, `columns`, `across`, `reading`, `fit`, `limit`, `formats`,
--   `setup`, `teardown`; or the name of a shipped scenario. A file may return
--   a list of scenarios, with a `title` and an `about` for the whole
-- @return a `scenario`
-- @usage
-- print(cbench.scenario "nesting")

--- The kinds of a family.
-- @function kinds
-- @param family "backend", "pool", "ring", "lock", "workload" or "call"
-- @param[opt] kind one of them
-- @param[opt] parameter a name
-- @return a list of names in table order; `[name]` of it is `{ summary,
--   parameters, limits }`. With a kind and a name, that parameter of the kind:
--   nil where it has none, or there is no such kind
-- @usage
-- print(cbench.kinds "ring")
-- print(cbench.kinds("ring", "rte", "wait").preset)

--- Adds the kinds of a plug-in.
-- @function load
-- @param path a shared object, or the name of an installed one
-- @param[opt] prefix an identifier: its kinds are called `prefix_name`
-- @return `{ path, name, prefix, ... }`; or nil, a sentence and a code

--- A ring of integers.
-- @function ring
-- @param kind a name, or `{ "spsc", size = 64 }` with the options of the
--   kind
-- @return a `ring`; or nil, a sentence and "ENOMEM"
-- @usage
-- print(cbench.ring { "spsc", size = 8 })

--- A pool that keeps coroutines which ended for the next to come.
-- @function pool
-- @param[opt] kind a name, or `{ "batch_spare", backend =, stack_size =,
--   colour =, guard = }` with the options of the policy
-- @return a `pool`; or nil, a sentence and a code
-- @usage
-- print(cbench.pool { "batch_spare" }:stats().idle)

--- A set of services and of the lcores that run them.
-- @function services
-- @param[opt] options `lock`: a kind of lock; `order`: "acqrel", "seqcst"
--   or "fence"
-- @return a `set`
-- @usage
-- print(cbench.services {})

--- What is known of machine and build.
-- @function machine
-- @return a table of tables, which prints as lines
-- @usage
-- print(cbench.machine())

--- Results as text.
-- @function format
-- @param results results
-- @param[opt] format "table" (the default), "markdown", "csv", "json",
--   "jsonl", "mail", "bmf", "gobench"
-- @param[opt] options `columns` and `across`, as a scenario has them
-- @return a string

--- Writes results to a file: whole, or not at all.
-- @function write
-- @param results results
-- @param path the file
-- @param[opt] format as in `format`; default: by the end of the name, else
--   "json"
-- @return true; or nil, a sentence and a code

--- Results again, from a file that was written as JSON.
-- @function read
-- @param path the file
-- @return results; or nil and a sentence

--- Compares two results row by row.
-- @function compare
-- @param old results, or the path of such a file
-- @param new the same
-- @return results whose ratios are new / old

--- Prints what there is to say about a topic; without one, the topics.
-- @function help
-- @param[opt] topic a name, or a function, workload or object itself
-- @usage
-- cbench.help "kinds"

--- The clock of all figures: `hz` (ticks a second), `source`, `basis` (how hz
-- is known) and `cost` (ticks of one reading).
-- @type clock

--- The counter's value.
-- @function clock.now
-- @return ticks
-- @usage
-- print(cbench.clock.now())

--- Arithmetic on figures.
-- @type derive

--- Nanoseconds of one operation, the loop around it taken off.
-- @function derive.per_op
-- @param seconds time of the loop
-- @param iterations of it
-- @param baseline_seconds time of the empty loop
-- @param baseline_iterations of that
-- @return ns
-- @usage
-- print(cbench.derive.per_op(1, 1e8, 0.1, 1e8))

--- The share of a CPU that a rate takes.
-- @function derive.share
-- @param ns of one operation
-- @param rate operations a second
-- @return a fraction
-- @usage
-- print(cbench.derive.share(100, 1e6))

--- The rate that one CPU can do.
-- @function derive.max_rate
-- @param ns of one operation
-- @return operations a second
-- @usage
-- print(cbench.derive.max_rate(100))

--- What was gained.
-- @function derive.gain
-- @param before a time
-- @param after a time
-- @return a fraction of `before`
-- @usage
-- print(cbench.derive.gain(12, 9))

--- What one row costs more than another of the same run.
-- @function derive.delta
-- @param row a record with samples
-- @param other another
-- @return `{ value, low, high }` in ticks per operation, or nil when they
--   have no round in common

--- How many times as long a row takes as parts of it that were measured alone.
-- @function derive.sum_ratio
-- @param row a record
-- @param results results that hold the parts
-- @param parts a list of `{ name of a row, how often it is part of one }`
-- @return `{ to, value, low, high }` for the limit of a scenario, or nil when
--   a row has no figure

--- Lua functions on stacks of their own: they may yield from anywhere, across C
-- functions too.
-- @type coroutine

--- A suspended coroutine.
-- @function coroutine.create
-- @param f a Lua function
-- @param[opt] options `backend`, `pool` (a name, a table or an object),
--   `stack_size` in bytes (1 MiB at least)
-- @return an object; or nil, a sentence and a code
-- @usage
-- co = cbench.coroutine.create(function (a) cbench.coroutine.yield(a) end)
-- print(co:enter(7), co:status())

--- Back to whoever entered the running coroutine. Raises outside of one, and
-- where the running coroutine measures or runs a service.
-- @function coroutine.yield
-- @param ... handed to the enterer
-- @return what it is entered with next

--- The running coroutine.
-- @function coroutine.self
-- @return the object, or nil
-- @usage
-- print(cbench.coroutine.self())

--- Does a coroutine run?
-- @function coroutine.in_coroutine
-- @return a boolean
-- @usage
-- print(cbench.coroutine.in_coroutine())

--- Runs it until it yields or ends; raises what it raises.
-- @function coroutine:enter
-- @param ... arguments of the function, or results of its yield
-- @return what it yields or returns

--- Is it running, or waiting for one that it entered?
-- @function coroutine:entered
-- @return a boolean

--- How it stands.
-- @function coroutine:status
-- @return "suspended", "running", "normal" or "dead"

--- Frees the stack; what stood on it is not run to its end. Raises while it is
-- entered.
-- @function coroutine:close

--- See `pool`. A pool is closed by the collector too.
-- @type pool

--- Counters.
-- @function pool:stats
-- @return `{ hits, hits_local, hits_global, new, deleted, live, idle, peak,
--   stack_size, guard, backend }`

--- Creates coroutines and keeps them.
-- @function pool:prefill
-- @param n how many
-- @return true; or nil, a sentence and a code

--- Deletes idle coroutines.
-- @function pool:trim
-- @param[opt] keep how many may stay (0)
-- @return how many were deleted

--- Ends the pool.
-- @function pool:close
-- @return true; or nil, a sentence and "EBUSY" while its coroutines live, or a
--   service or a measurement uses it

--- See `ring`. `#ring` is `ring:count()`. What a kind cannot do raises and
-- names those that can.
-- @type ring

--- Puts one element in.
-- @function ring:enqueue
-- @param value an integer
-- @return true, or false when the ring is full

--- Takes the oldest element out.
-- @function ring:dequeue
-- @return the element, or nil when the ring is empty

--- Puts all elements in, or none.
-- @function ring:enqueue_bulk
-- @param list integers
-- @return how many
-- @return free slots afterwards

--- Puts as many elements in as fit.
-- @function ring:enqueue_burst
-- @param list integers
-- @return how many
-- @return free slots afterwards

--- Takes n elements out, or none.
-- @function ring:dequeue_bulk
-- @param n how many
-- @return a list, or nil
-- @return how many are left

--- Takes up to n elements out.
-- @function ring:dequeue_burst
-- @param n how many
-- @return a list
-- @return how many are left

--- Elements inside.
-- @function ring:count
-- @return an integer

--- Enqueues that would succeed.
-- @function ring:free_count
-- @return an integer

--- Elements that really fit.
-- @function ring:capacity
-- @return an integer

--- Gives the ring another size; the oldest elements stay.
-- @function ring:resize
-- @param size as at its creation
-- @return the elements that no longer fit, oldest first

--- Puts elements that were just taken out back in front.
-- @function ring:unconsume
-- @param list integers, oldest first
-- @return how many went back
-- @return those that did not

--- Frees the ring, unless a service or a measurement uses it ("EBUSY").
-- @function ring:close
-- @return true; or nil, a sentence and a code

--- A set of services, see `services`.
-- @type set

--- Adds a service, stopped.
-- @function set:register
-- @param options `name`; `call`: a name, `{ "spin", ticks = 300 }` or a Lua
--   function; or `code`, a chunk that every lcore loads for itself, with
--   `values`; `mt_safe`; `stats`: "off", "count", "time" or "chain"
-- @return a `service`; or nil, a sentence and a code
-- @usage
-- set = cbench.services {}
-- service = set:register { name = "one", call = "nop" }
-- print(service)

--- Adds a service lcore, a thread, stopped.
-- @function set:lcore
-- @param[opt] options `cpu`: the CPU it is tied to
-- @return an `lcore`; or nil, a sentence and a code

--- What there is, and what it has done.
-- @function set:dump
-- @return text

--- Stops the lcores, waits for them and ends the set. It stays when a callback
-- does not return in time ("ETIMEDOUT") or a measurement uses one of its
-- services ("EBUSY").
-- @function set:close
-- @param[opt] seconds how long to wait, 10 if not said
-- @return true; or nil, a sentence and a code

--- A service of a set. Refusals are nil, a sentence and DPDK's code.
-- @type service

--- Calls it once, on the calling thread.
-- @function service:run
-- @param[opt] options `serialize` (true): take the lock where it is not
--   mt_safe; `allow_race`
-- @return true and the callback's result; or nil, a sentence and a code

--- Says whether what it works for is there.
-- @function service:component
-- @param ready a boolean
-- @return true

--- Lets it run.
-- @function service:start
-- @return true; or nil, a sentence and a code

--- Lets it run no more; see `service:quiesce`.
-- @function service:stop
-- @return true; or nil, a sentence and a code

--- Has an lcore run it.
-- @function service:map
-- @param lcore an `lcore` of the set
-- @return true; or nil, a sentence and a code

--- Has an lcore run it no more.
-- @function service:unmap
-- @param lcore an `lcore` of the set
-- @return true; or nil, a sentence and a code

--- Is it inside its callback anywhere?
-- @function service:active
-- @return a boolean

--- Waits until it is not active.
-- @function service:quiesce
-- @param[opt] seconds at most (10)
-- @return true; or nil, a sentence and "ETIMEDOUT"

--- Counters.
-- @function service:stats
-- @return a table

--- Takes it out of its set.
-- @function service:unregister
-- @return true; or nil, a sentence and "EBUSY"

--- The same, and no error when it is gone already.
-- @function service:close
-- @return true; or nil, a sentence and a code

--- A service lcore of a set.
-- @type lcore

--- Begins to run its services.
-- @function lcore:start
-- @return true; or nil, a sentence and a code

--- Asks it to stop after this pass.
-- @function lcore:stop
-- @return true; or nil, a sentence and a code

--- Waits until it has stopped.
-- @function lcore:join
-- @param[opt] seconds at most (10)
-- @return true; or nil, a sentence and a code

--- Is it in its loop?
-- @function lcore:active
-- @return a boolean

--- Counters.
-- @function lcore:stats
-- @return `{ loops, ticks, number, services, cpu }`

--- Ends its thread.
-- @function lcore:close
-- @return true; or nil, a sentence and "EBUSY" while it runs

--- See `scenario`.
-- @type scenario

--- Measures its rows.
-- @function scenario:run
-- @param[opt] params values in place of its own, `{ depth = { 10, 100 } }`
-- @param[opt] options as for `measure`, and `filter`
-- @return results; or nil and a sentence when the filter leaves none
-- @usage
-- s = cbench.scenario { title = "T", params = { adds = { 1, 2 } },
--   workload = cbench.workload.chain }
-- print(s:run({}, { time = 0.05 }))

--- The rows that `run` would measure.
-- @function scenario:rows
-- @param[opt] params the same
-- @param[opt] options the same
-- @return a list of `{ name, params, descriptor, refused, reference }`
-- @usage
-- print(#cbench.scenario("nesting"):rows())

--- Its parameters, in the order of the columns.
-- @function scenario:params
-- @return a list of `{ name, values }`

--- Reads words of a command line.
-- @function scenario:parse
-- @param words a list of texts like "depth=10,100"
-- @return a table for `run`; or nil and a sentence

--- The formats that it adds.
-- @function scenario:formats
-- @return name = function of the results, or nil

--- A list of result records, in the order of the rows; `results[name]` is one
-- by its label, `print(results)` the table, `a .. b` both.
-- @type results

--- The first row that fits.
-- @function results:find
-- @param criteria parameters or fields of the record, `{ depth = 10 }`
-- @return the record, or nil

--- What `cbench.workload.pipeline` gives.
-- @type pipeline

--- Its growing parts, each of which can be measured.
-- @function pipeline:layers
-- @param[opt] options `rates`: items a second at which shares are told
-- @return a list of descriptors

--- Descriptors of measurable work; nothing is created until it is measured.
-- Every parameter has a default, and `help "NAME"` shows them; all take
-- `name`, `threads`, `cpus` and `place` too.
-- @type workload

--- A call that is not inlined: the yardstick.
-- @function workload.call
-- @param[opt] parameters a table
-- @return a descriptor

--- Dependent adds: shows the frequency.
-- @function workload.chain
-- @param[opt] parameters a table
-- @return a descriptor

--- Independent adds: shows a neighbour on the core. Up to 8 `adds` are one turn
-- of a loop; more of them, of all operations of a batch, are one unrolled loop.
-- @function workload.throughput
-- @param[opt] parameters a table
-- @return a descriptor

--- One atomic operation on a word of memory.
-- @function workload.atomic
-- @param[opt] parameters a table
-- @return a descriptor

--- Lock and unlock, alone or in contention.
-- @function workload.lock
-- @param[opt] parameters a table
-- @return a descriptor

--- One read of the clock that times everything.
-- @function workload.clock
-- @param[opt] parameters a table
-- @return a descriptor

--- A cache line to another CPU and back.
-- @function workload.cacheline
-- @param[opt] parameters a table
-- @return a descriptor

--- Enter a coroutine, which yields.
-- @function workload.yield
-- @param[opt] parameters a table
-- @return a descriptor

--- Create a coroutine and enter it; it ends.
-- @function workload.lifecycle
-- @param[opt] parameters a table
-- @return a descriptor

--- A coroutine that yields once and ends ("Run operation").
-- @function workload.request
-- @param[opt] parameters a table
-- @return a descriptor

--- Coroutines that each create and enter the next.
-- @function workload.nesting
-- @param[opt] parameters a table
-- @return a descriptor

--- Map a stack, prepare a coroutine on it, delete both.
-- @function workload.create
-- @param[opt] parameters a table
-- @return a descriptor

--- Visit coroutines that use their stacks.
-- @function workload.stack
-- @param[opt] parameters a table
-- @return a descriptor

--- Take coroutines from a pool and give them back.
-- @function workload.pool_pair
-- @param[opt] parameters a table
-- @return a descriptor

--- Create on one thread what another frees.
-- @function workload.pool_handover
-- @param[opt] parameters a table
-- @return a descriptor

--- One element into a ring and out again, on one CPU.
-- @function workload.ring_pair
-- @param[opt] parameters a table
-- @return a descriptor

--- Threads that only enqueue beside threads that only dequeue, until full or
-- empty.
-- @function workload.ring_parallel
-- @param[opt] parameters a table
-- @return a descriptor

--- Elements from some threads through a ring to others.
-- @function workload.ring_stream
-- @param[opt] parameters a table
-- @return a descriptor

--- One element to another CPU and back.
-- @function workload.ring_pingpong
-- @param[opt] parameters a table
-- @return a descriptor

--- Run a service on an application lcore.
-- @function workload.service_run
-- @param[opt] parameters a table
-- @return a descriptor

--- One pass of a service lcore over what is mapped to it.
-- @function workload.service_loop
-- @param[opt] parameters a table
-- @return a descriptor

--- Items through rings, services, coroutines and devices.
-- @function workload.pipeline
-- @param[opt] parameters a table
-- @return a descriptor

--- A statement in C, compiled by the local compiler.
-- @function workload.c
-- @param[opt] parameters a table
-- @return a descriptor

--- A Lua function, called from C.
-- @function workload.lua
-- @param[opt] parameters a table
-- @return a descriptor
