/*
 * measure.h - measuring and estimating, for lua/cbench/measure.lua.
 *
 * Samples cross this border as one flat list of integers, SAMPLE_FIELDS for
 * each batch in the order of struct cb_sample, so that they are cheap to hand
 * on from one process to another.
 */
#ifndef CB_LUA_MEASURE_H
#define CB_LUA_MEASURE_H

#include <lua.h>

/* core.measure(rows, options): one process's measurement. A row is { work =
 * descriptor, name =, cpus =, place =, n = }; options: seconds, rounds, seed,
 * fork, progress (a function of phase, name, round, elapsed, seconds). Returns
 * { rows = { { status, reason, op, n, own_n, samples, roles, counters, ... } },
 * seed, rounds, stopped_by, elapsed }, or nil and a sentence. */
int cb_lua_measure(lua_State *L);

/* core.analyse(rows, options): what samples mean. A row is { samples =,
 * reference = index of a row }; options: min_effect (a fraction), compared (how
 * many verdicts share the table). Returns for each row { fast, typical, p90,
 * min, max, per_second, ..., shares = {}, ratio = {} }. */
int cb_lua_analyse(lua_State *L);

/* core.percentiles(list): of histograms as rows of core.measure have them, all
 * together: { count, min, p50, p90, p99, p999, max }, in ticks. */
int cb_lua_percentiles(lua_State *L);

/* core.clock(): { source, basis, hz, cost }. core.now(): ticks. */
int cb_lua_clock(lua_State *L);
int cb_lua_now(lua_State *L);

/* core.perf(): { available, reason, names = {} }: the hardware counters. */
int cb_lua_perf(lua_State *L);

/* core.machine([topology]): { machine = {}, build = {}, state = {} }; with
 * topology true also cores, caches and packages. */
int cb_lua_machine(lua_State *L);

/* core.check_cpus(list): true, or nil and a sentence. */
int cb_lua_check_cpus(lua_State *L);
/* core.place(place, threads): true, or nil and a sentence. */
int cb_lua_place(lua_State *L);

#endif
