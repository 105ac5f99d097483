#include "lua/measure.h"

#include "cbench.h"
#include "lua/coroutine.h"
#include "lua/process.h"
#include "lua/signals.h"
#include "lua/workload.h"
#include "measure/histogram.h"

#include <errno.h>
#include <lauxlib.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_FIELDS = 8, CPUS_MAX = 1024 };

/* ---- fields of tables */

static void set_integer(lua_State *L, const char *key, lua_Integer value)
{
  lua_pushinteger(L, value);
  lua_setfield(L, -2, key);
}

static void set_number(lua_State *L, const char *key, double value)
{
  if (!isfinite(value))
    return; /* absent is how a table says "none" */
  lua_pushnumber(L, value);
  lua_setfield(L, -2, key);
}

static void set_string(lua_State *L, const char *key, const char *value)
{
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

static void set_boolean(lua_State *L, const char *key, bool value)
{
  lua_pushboolean(L, value);
  lua_setfield(L, -2, key);
}

static double get_number(lua_State *L, int index, const char *key)
{
  lua_getfield(L, index, key);
  double value = luaL_optnumber(L, -1, 0);
  lua_pop(L, 1);
  return value;
}

static lua_Integer get_integer(lua_State *L, int index, const char *key)
{
  lua_getfield(L, index, key);
  lua_Integer value = luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
  return value;
}

static bool get_boolean(lua_State *L, int index, const char *key)
{
  lua_getfield(L, index, key);
  bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}

/* The string stays in the table at index. */
static const char *get_string(lua_State *L, int index, const char *key)
{
  lua_getfield(L, index, key);
  const char *value = luaL_optstring(L, -1, NULL);
  lua_pop(L, 1);
  return value;
}

/* ---- samples */

static void push_samples(lua_State *L, const struct cb_sample *samples,
                         size_t count)
{
  lua_createtable(L, (int)(count * SAMPLE_FIELDS), 0);
  lua_Integer at = 0;
  for (size_t i = 0; i < count; i++) {
    const struct cb_sample *sample = &samples[i];
    const uint64_t fields[SAMPLE_FIELDS] = {
        sample->fork, sample->round,  sample->n,         sample->ticks,
        sample->wall, sample->causes, sample->canary[0], sample->canary[1]};
    for (int field = 0; field < SAMPLE_FIELDS; field++) {
      lua_pushinteger(L, (lua_Integer)fields[field]);
      lua_rawseti(L, -2, ++at);
    }
  }
}

static uint64_t element(lua_State *L, int index, size_t at)
{
  lua_rawgeti(L, index, (lua_Integer)at);
  uint64_t value = (uint64_t)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return value;
}

/* Reads the list at index into samples, which has room for it. */
static void read_samples(lua_State *L, int index, struct cb_sample *samples,
                         size_t count)
{
  for (size_t i = 0; i < count; i++) {
    size_t at = i * SAMPLE_FIELDS;
    samples[i] =
        (struct cb_sample){.fork = (uint32_t)element(L, index, at + 1),
                           .round = (uint32_t)element(L, index, at + 2),
                           .n = element(L, index, at + 3),
                           .ticks = element(L, index, at + 4),
                           .wall = element(L, index, at + 5),
                           .causes = (uint32_t)element(L, index, at + 6),
                           .canary = {(uint32_t)element(L, index, at + 7),
                                      (uint32_t)element(L, index, at + 8)}};
  }
}

/* ---- measuring */

/* What the variants need while they are measured; freed by __gc, whatever is
 * raised meanwhile. */
struct session {
  struct cb_variant *variants;
  uint32_t *numbers; /* of the rows, as whoever sent them counts; 0: none */
  int (*cpus)[CPUS_MAX];
  struct cb_measurement *measurement;
  lua_State *L;
  int progress; /* stack index of the function, or 0 */
};

static int session_gc(lua_State *L)
{
  struct session *session = lua_touserdata(L, 1);
  cb_measurement_destroy(session->measurement);
  free(session->variants);
  free(session->numbers);
  free(session->cpus);
  memset(session, 0, sizeof *session);
  return 0;
}

static struct session *new_session(lua_State *L, size_t count)
{
  struct session *session = lua_newuserdatauv(L, sizeof *session, 0);
  memset(session, 0, sizeof *session);
  if (luaL_newmetatable(L, "cbench.session")) {
    lua_pushcfunction(L, session_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  session->L = L;
  session->variants = calloc(count + 1, sizeof *session->variants);
  session->numbers = calloc(count + 1, sizeof *session->numbers);
  session->cpus = calloc(count + 1, sizeof *session->cpus);
  if (!session->variants || !session->numbers || !session->cpus)
    luaL_error(L, "out of memory");
  return session;
}

/* A number that no CPU can have becomes -1, which is none either. */
static int cpu_at(lua_State *L, int index, size_t at)
{
  lua_Integer cpu = (lua_Integer)element(L, index, at);
  return cpu >= 0 && cpu <= INT_MAX ? (int)cpu : -1;
}

static size_t read_cpus(lua_State *L, int row, int *cpus)
{
  lua_getfield(L, row, "cpus");
  size_t count = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;
  if (count > CPUS_MAX)
    count = CPUS_MAX;
  for (size_t i = 0; i < count; i++)
    cpus[i] = cpu_at(L, lua_gettop(L), i + 1);
  lua_pop(L, 1);
  return count;
}

/* The row at the top of the stack becomes a variant; its workload's userdata
 * goes into the list at index works. False with a sentence pushed. */
static bool read_row(lua_State *L, struct session *session, size_t at,
                     int works)
{
  int row = lua_gettop(L);
  struct cb_variant *variant = &session->variants[at];
  session->numbers[at] = (uint32_t)get_integer(L, row, "number");
  cb_lua_note(session->numbers[at]);
  lua_getfield(L, row, "work");
  luaL_checktype(L, -1, LUA_TTABLE);
  variant->workload = cb_lua_new_workload(L, -1);
  if (!variant->workload)
    return false;
  lua_rawseti(L, works, (lua_Integer)at + 1);
  lua_pop(L, 1);
  variant->name = get_string(L, row, "name");
  variant->place = get_string(L, row, "place");
  variant->n = (uint64_t)get_integer(L, row, "n");
  variant->guarded = get_boolean(L, row, "guarded");
  variant->cpus = session->cpus[at];
  variant->cpu_count = read_cpus(L, row, session->cpus[at]);
  return true;
}

static void working(void *data, size_t variant)
{
  const struct session *session = data;
  cb_lua_note(session->numbers[variant]);
}

/* An error in the function is not worth a measurement; it is let go. */
static void progress(void *data, const struct cb_progress *progress)
{
  struct session *session = data;
  lua_State *L = session->L;
  lua_pushvalue(L, session->progress);
  lua_pushstring(L, progress->phase);
  lua_pushstring(L, progress->variant);
  lua_pushinteger(L, (lua_Integer)progress->round);
  lua_pushnumber(L, progress->elapsed);
  lua_pushnumber(L, progress->seconds);
  if (lua_pcall(L, 5, 0, 0) != LUA_OK)
    lua_pop(L, 1);
}

static void push_roles(lua_State *L, const struct cb_result *result)
{
  lua_createtable(L, (int)result->role_count, 0);
  for (size_t i = 0; i < result->role_count; i++) {
    const struct cb_role_result *role = &result->roles[i];
    lua_createtable(L, 0, 6);
    set_string(L, "role", role->role);
    set_integer(L, "thread", role->thread);
    set_integer(L, "cpu", role->cpu);
    set_integer(L, "operations", (lua_Integer)role->operations);
    set_integer(L, "ticks", (lua_Integer)role->ticks);
    set_number(L, "overlap", role->overlap);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* A counter at the end of the list on top of the stack. */
static void push_counter(lua_State *L, const char *name, const char *type,
                         double value)
{
  lua_createtable(L, 0, 3);
  set_string(L, "name", name);
  set_string(L, "type", type);
  set_number(L, "value", value);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* Those of the workload; and those of the hardware, which are figures per
 * operation too, and left out where there are none. */
static void push_counters(lua_State *L, const struct cb_result *result)
{
  static const char *const types[] = {"count", "share", "gauge"};
  lua_newtable(L);
  for (size_t i = 0; i < result->counter_count; i++)
    push_counter(L, result->counters[i].name, types[result->counters[i].type],
                 result->counters[i].value);
  for (unsigned i = 0; i < CB_HARDWARE_COUNT; i++)
    if (!isnan(result->hardware[i]))
      push_counter(L, cb_hardware_name(i), "share", result->hardware[i]);
}

/* A flat list: the least and the most, then a value of each bucket and how
 * often it came. */
static void push_histogram(lua_State *L, const struct cb_histogram *histogram)
{
  struct cb_bucket bucket;
  lua_Integer at = 0;
  lua_newtable(L);
  lua_pushinteger(L, (lua_Integer)histogram->least);
  lua_rawseti(L, -2, ++at);
  lua_pushinteger(L, (lua_Integer)histogram->most);
  lua_rawseti(L, -2, ++at);
  for (size_t i = 0; (i = cb_histogram_next(histogram, i, &bucket));) {
    lua_pushinteger(L, (lua_Integer)bucket.low);
    lua_rawseti(L, -2, ++at);
    lua_pushinteger(L, (lua_Integer)bucket.count);
    lua_rawseti(L, -2, ++at);
  }
}

static void push_result(lua_State *L, const struct cb_result *result,
                        const struct cb_workload *workload)
{
  lua_createtable(L, 0, 16);
  set_string(L, "status", cb_status_name(result->status));
  if (result->status != CB_OK)
    set_string(L, "reason", result->reason.text);
  set_boolean(L, "idle", result->reason.code == -ENODATA);
  set_string(L, "op", workload->operation);
  if (workload->guards)
    set_string(L, "guards", workload->guards);
  set_integer(L, "n", (lua_Integer)result->n);
  set_boolean(L, "own_n", result->own_n);
  set_integer(L, "threads", (lua_Integer)result->role_count);
  set_integer(L, "operations", (lua_Integer)result->operations);
  set_number(L, "overlap", result->overlap);
  set_boolean(L, "checked", result->checked);
  set_boolean(L, "guarded", result->guarded);
  set_boolean(L, "interpreter", workload->flags & CB_KIND_INTERPRETER);
  push_samples(L, result->samples, result->sample_count);
  lua_setfield(L, -2, "samples");
  push_roles(L, result);
  lua_setfield(L, -2, "roles");
  push_counters(L, result);
  lua_setfield(L, -2, "counters");
  if (result->latency) {
    lua_createtable(L, 1, 0); /* others join it */
    push_histogram(L, result->latency);
    lua_rawseti(L, -2, 1);
    lua_setfield(L, -2, "latencies");
  }
}

static void push_measurement(lua_State *L, const struct session *session)
{
  const struct cb_measurement *measurement = session->measurement;
  lua_createtable(L, 0, 7);
  set_integer(L, "seed", (lua_Integer)measurement->seed);
  set_integer(L, "rounds", (lua_Integer)measurement->rounds);
  set_string(L, "stopped_by", measurement->stopped_by);
  set_number(L, "ready", measurement->ready);
  set_number(L, "elapsed", measurement->elapsed);
  set_boolean(L, "damaged", measurement->damaged);
  lua_createtable(L, (int)measurement->result_count, 0);
  for (size_t i = 0; i < measurement->result_count; i++) {
    push_result(L, &measurement->results[i], session->variants[i].workload);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "rows");
}

/* Ends the workloads now, not with the next collection. */
static void close_workloads(lua_State *L, int works, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, works, (lua_Integer)i + 1);
    cb_lua_close_workload(L, -1);
    lua_pop(L, 1);
  }
}

/* Returns nil and the sentence on top of the stack. */
static int fail_with_top(lua_State *L, int works, size_t count)
{
  close_workloads(L, works, count);
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

/* The budget in seconds; with "until", a reading of the counter that all
 * processes share, no more than is left until then. */
static double budget(lua_State *L, int options)
{
  double seconds = get_number(L, options, "seconds");
  lua_Integer until = get_integer(L, options, "until");
  if (!until)
    return seconds;
  double left = (double)(until - (lua_Integer)cb_now()) / cb_clock()->hz;
  return fmax(fmin(seconds, left), 1e-3);
}

int cb_lua_measure(lua_State *L)
{
  struct cb_error error;
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  size_t count = lua_rawlen(L, 1);
  struct session *session = new_session(L, count); /* 3 */
  lua_newtable(L);                                 /* 4: the workloads */
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    if (!read_row(L, session, i, 4))
      return fail_with_top(L, 4, count);
    lua_pop(L, 1);
  }
  lua_getfield(L, 2, "progress"); /* 5 */
  session->progress = lua_isfunction(L, 5) ? 5 : 0;
  struct cb_measure_options options = {
      .seconds = budget(L, 2),
      .rounds = (uint64_t)get_integer(L, 2, "rounds"),
      .seed = (uint64_t)get_integer(L, 2, "seed"),
      .fork = (uint32_t)get_integer(L, 2, "fork"),
      .batch_seconds = get_number(L, 2, "batch_seconds"),
      .guard_seconds = get_number(L, 2, "guard_seconds"),
      .control = cb_lua_stop_control(),
      .progress = session->progress ? progress : NULL,
      .data = session,
      .working = working};
  const char *held = cb_lua_hold(L, "measurement");
  session->measurement = cb_measure(session->variants, count, &options, &error);
  cb_lua_hold(L, held);
  if (!session->measurement) {
    lua_pushstring(L, error.text);
    return fail_with_top(L, 4, count);
  }
  push_measurement(L, session);
  close_workloads(L, 4, count);
  return 1;
}

/* ---- estimating */

/* All rows' samples in one array, so that the canary is judged over all. */
struct analysis {
  struct cb_sample *samples;
  size_t *first; /* of each row, and one past the last */
};

static int analysis_gc(lua_State *L)
{
  struct analysis *analysis = lua_touserdata(L, 1);
  free(analysis->samples);
  free(analysis->first);
  memset(analysis, 0, sizeof *analysis);
  return 0;
}

static size_t row_samples(lua_State *L, int rows, size_t row)
{
  lua_rawgeti(L, rows, (lua_Integer)row + 1);
  luaL_checktype(L, -1, LUA_TTABLE);
  lua_getfield(L, -1, "samples");
  lua_remove(L, -2);
  return lua_istable(L, -1) ? lua_rawlen(L, -1) / SAMPLE_FIELDS : 0;
}

static struct analysis *new_analysis(lua_State *L, int rows, size_t count)
{
  struct analysis *analysis = lua_newuserdatauv(L, sizeof *analysis, 0);
  memset(analysis, 0, sizeof *analysis);
  if (luaL_newmetatable(L, "cbench.analysis")) {
    lua_pushcfunction(L, analysis_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  analysis->first = calloc(count + 1, sizeof *analysis->first);
  if (!analysis->first)
    luaL_error(L, "out of memory");
  for (size_t i = 0; i < count; i++) {
    analysis->first[i + 1] = analysis->first[i] + row_samples(L, rows, i);
    lua_pop(L, 1);
  }
  analysis->samples =
      calloc(analysis->first[count] + 1, sizeof *analysis->samples);
  if (!analysis->samples)
    luaL_error(L, "out of memory");
  for (size_t i = 0; i < count; i++) {
    size_t size = row_samples(L, rows, i);
    read_samples(L, lua_gettop(L), analysis->samples + analysis->first[i],
                 size);
    lua_pop(L, 1);
  }
  cb_classify(analysis->samples, analysis->first[count]);
  return analysis;
}

static void push_estimate(lua_State *L, const struct cb_estimate *estimate)
{
  lua_createtable(L, 0, 16);
  set_integer(L, "rounds", (lua_Integer)estimate->rounds);
  set_number(L, "fast", estimate->fast);
  set_number(L, "typical", estimate->typical);
  set_number(L, "p90", estimate->p90);
  set_number(L, "min", estimate->min);
  set_number(L, "max", estimate->max);
  set_number(L, "per_second", estimate->per_second);
  set_boolean(L, "below_resolution", estimate->below_resolution);
  set_boolean(L, "feels_mode", estimate->feels_mode);
  set_string(L, "noise", cb_noise_name(estimate->noise));
  set_number(L, "disturbed", estimate->disturbed);
  lua_createtable(L, 0, CB_CAUSE_COUNT);
  for (unsigned i = 0; i < CB_CAUSE_COUNT; i++)
    set_number(L, cb_cause_name(i), estimate->shares[i]);
  lua_setfield(L, -2, "shares");
}

static void push_comparison(lua_State *L, const struct cb_comparison *of)
{
  lua_createtable(L, 0, 10);
  set_number(L, "value", of->ratio);
  set_number(L, "low", of->low);
  set_number(L, "high", of->high);
  set_number(L, "level", of->level);
  set_string(L, "verdict", cb_verdict_name(of->verdict));
  if (of->reason)
    set_string(L, "reason", of->reason);
  set_integer(L, "forks", of->forks);
  set_number(L, "spread", of->spread);
  if (of->rogue) {
    set_integer(L, "rogue", of->farthest_fork);
    set_number(L, "farthest", of->farthest);
  }
}

static void analyse_row(lua_State *L, const struct analysis *analysis,
                        size_t row, lua_Integer reference,
                        const struct cb_compare_options *options)
{
  const size_t *first = analysis->first;
  const struct cb_sample *own = analysis->samples + first[row];
  struct cb_estimate estimate;
  struct cb_comparison comparison;

  if (cb_estimate(own, first[row + 1] - first[row], &estimate) < 0)
    luaL_error(L, "out of memory");
  push_estimate(L, &estimate);
  if (reference < 1)
    return;
  size_t to = (size_t)reference - 1;
  if (cb_compare(own, first[row + 1] - first[row],
                 analysis->samples + first[to], first[to + 1] - first[to],
                 options, &comparison) < 0)
    luaL_error(L, "out of memory");
  push_comparison(L, &comparison);
  lua_setfield(L, -2, "ratio");
}

int cb_lua_analyse(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  size_t count = lua_rawlen(L, 1);
  struct cb_compare_options options = {
      .min_effect = get_number(L, 2, "min_effect"),
      .rows = (unsigned)get_integer(L, 2, "compared")};
  struct analysis *analysis = new_analysis(L, 1, count);
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    lua_Integer reference = get_integer(L, -1, "reference");
    luaL_argcheck(L, reference >= 0 && (size_t)reference <= count, 1,
                  "a reference is the index of a row");
    lua_pop(L, 1);
    analyse_row(L, analysis, i, reference, &options);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* ---- latency */

/* Adds the histogram at the top of the stack, as push_histogram made it. */
static void read_histogram(lua_State *L, struct cb_histogram *into)
{
  int list = lua_gettop(L);
  size_t size = lua_istable(L, list) ? lua_rawlen(L, list) : 0;
  if (size < 2)
    return;
  for (size_t at = 3; at + 1 <= size; at += 2)
    cb_histogram_add(into, element(L, list, at), element(L, list, at + 1));
  uint64_t least = element(L, list, 1), most = element(L, list, 2);
  into->least = least < into->least ? least : into->least;
  into->most = most > into->most ? most : into->most;
}

int cb_lua_percentiles(lua_State *L)
{
  static const struct {
    const char *name;
    double share;
  } wanted[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};
  luaL_checktype(L, 1, LUA_TTABLE);
  struct cb_histogram *sum = lua_newuserdatauv(L, sizeof *sum, 0);
  cb_histogram_clear(sum);
  for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, 1); i++) {
    lua_rawgeti(L, 1, i);
    read_histogram(L, sum);
    lua_pop(L, 1);
  }
  lua_createtable(L, 0, 8);
  set_integer(L, "count", (lua_Integer)sum->count);
  if (sum->count == 0)
    return 1;
  set_integer(L, "min", (lua_Integer)sum->least);
  set_integer(L, "max", (lua_Integer)sum->most);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    set_integer(L, wanted[i].name,
                (lua_Integer)cb_histogram_quantile(sum, wanted[i].share));
  return 1;
}

/* ---- the machine */

int cb_lua_perf(lua_State *L)
{
  const char *absent = cb_hardware_absent();
  lua_createtable(L, 0, 3);
  lua_pushboolean(L, absent == NULL);
  lua_setfield(L, -2, "available");
  set_string(L, "reason", absent);
  lua_newtable(L);
  for (unsigned i = 0, at = 0; i < CB_HARDWARE_COUNT; i++)
    if (cb_hardware_counted(i)) {
      lua_pushstring(L, cb_hardware_name(i));
      lua_rawseti(L, -2, (lua_Integer)++at);
    }
  lua_setfield(L, -2, "names");
  return 1;
}

int cb_lua_clock(lua_State *L)
{
  const struct cb_clock *clock = cb_clock();
  lua_createtable(L, 0, 4);
  set_string(L, "source", clock->source);
  set_string(L, "basis", clock->basis);
  set_number(L, "hz", clock->hz);
  set_number(L, "cost", clock->cost);
  return 1;
}

int cb_lua_now(lua_State *L)
{
  lua_pushinteger(L, (lua_Integer)cb_now());
  return 1;
}

int cb_lua_machine(lua_State *L)
{
  struct cb_error error;
  struct cb_machine *machine = cb_machine_read(lua_toboolean(L, 1), &error);
  if (!machine)
    return luaL_error(L, "%s", error.text);
  lua_newtable(L);
  for (const struct cb_fact *fact = cb_machine_facts(machine); fact->name;
       fact++) {
    luaL_getsubtable(L, -1, fact->group);
    if (fact->text)
      set_string(L, fact->name, fact->text);
    else if (fact->number == floor(fact->number))
      set_integer(L, fact->name, (lua_Integer)fact->number);
    else
      set_number(L, fact->name, fact->number);
    lua_pop(L, 1);
  }
  cb_machine_destroy(machine);
  return 1;
}

static int verdict(lua_State *L, int code, const struct cb_error *error)
{
  if (code >= 0) {
    lua_pushboolean(L, true);
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, error->text);
  return 2;
}

int cb_lua_check_cpus(lua_State *L)
{
  struct cb_error error;
  int cpus[CPUS_MAX];
  luaL_checktype(L, 1, LUA_TTABLE);
  size_t count = lua_rawlen(L, 1);
  luaL_argcheck(L, count <= CPUS_MAX, 1, "at most 1024 CPUs");
  for (size_t i = 0; i < count; i++)
    cpus[i] = cpu_at(L, 1, i + 1);
  return verdict(L, cb_cpus_check(cpus, count, &error), &error);
}

int cb_lua_place(lua_State *L)
{
  struct cb_error error;
  int cpus[CPUS_MAX];
  const char *place = luaL_checkstring(L, 1);
  lua_Integer threads = luaL_checkinteger(L, 2);
  luaL_argcheck(L, threads >= 1 && threads <= CPUS_MAX, 2, "1 to 1024 threads");
  return verdict(L, cb_cpus_place(place, (unsigned)threads, cpus, &error),
                 &error);
}
