/*
 * stage_service.c - the stage `service`: who runs the rest of its section.
 *
 * It begins a section. With service lcores each of them has a thread of the
 * measurement and makes passes, as a service lcore does; without, the thread of
 * the source calls the service as an application lcore. One call is one turn of
 * the section's lane.
 */
#include "workload/pipeline.h"

#include "base/memory.h"

#include "service/calls.h"
#include "workload/services.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shared {
  bool mt_safe;
  enum cb_stats stats;
  const char *lock;
  char order[8];
};

int cb_lane_serve(void *argument, struct cb_lcore *lcore)
{
  const struct section *section = argument;
  int number = cb_lcore_number(lcore);
  struct lane *lane = &section->lanes[number > 0 ? number : 0];
  cb_call_count(lcore);
  lane->calls++;
  if (!cb_lane_turn(lane))
    return -EAGAIN;
  lane->busy++;
  return 0;
}

int cb_lane_attach(struct lane *lane, struct cb_error *error)
{
  lane->lcore = cb_lcore_attach(lane->section->set, error);
  return lane->lcore ? 0 : -ENOMEM;
}

void cb_lane_detach(struct lane *lane)
{
  if (!lane->lcore)
    return;
  lane->called += cb_lcore_called(lane->lcore);
  cb_lcore_detach(lane->lcore, NULL);
  lane->lcore = NULL;
}

/* ---- the stage ---- */

static int check_place(const struct stage *stage, unsigned lcores,
                       struct cb_error *error)
{
  const struct section *section = stage->section;
  if (section->service)
    return cb_stage_fail(stage, -EINVAL, error,
                         "stage %u (service) calls this part already: a ring "
                         "between the two is wanted",
                         section->service->number);
  /* stage->number counts from 1, so it is the index of what comes after. */
  if (stage->number - 1 != section->stages[0])
    return cb_stage_fail(stage, -EINVAL, error,
                         "a service calls what stands behind it: it needs a "
                         "%s right before it",
                         section->ring ? "ring" : "ring, or the source,");
  if (lcores && !section->ring)
    return cb_stage_fail(stage, -EINVAL, error,
                         "lcores = %u: they need a ring before it to take "
                         "items from (lcores = 0: the source's thread)",
                         lcores);
  return 0;
}

static int plan(struct stage *stage, const struct cb_spec *spec,
                struct cb_error *error)
{
  struct section *section = stage->section;
  struct shared *shared = cb_memory_apart(sizeof *shared);
  unsigned lcores = (unsigned)cb_spec_integer(spec, "lcores");
  stage->data = shared;
  if (!shared)
    return cb_stage_fail(stage, -ENOMEM, error, "out of memory");
  int status = check_place(stage, lcores, error);
  if (status < 0)
    return status;
  shared->mt_safe = cb_spec_boolean(spec, "mt_safe");
  shared->stats = cb_stats_of(cb_spec_string(spec, "stats"));
  shared->lock = cb_spec_kind(cb_spec_spec(spec, "lock"))->name;
  snprintf(shared->order, sizeof shared->order, "%s",
           cb_spec_string(spec, "order"));
  if (!shared->mt_safe && lcores > 1 && strcmp(shared->lock, "none") == 0)
    return cb_stage_fail(stage, -EPERM, error,
                         "%u lcores would be inside at once: mt_safe = true, "
                         "or a lock that excludes",
                         lcores);
  section->service = stage;
  section->lcores = lcores;
  section->lane_count = lcores ? lcores : 1;
  section->one_by_one = !shared->mt_safe;
  return 0;
}

static void forget(struct stage *stage)
{
  free(stage->data);
}

/* ---- around a run ---- */

static int run_checks(const struct stage *stage, struct cb_error *error)
{
  const struct shared *shared = stage->data;
  const struct cb_service_check *const checks[] = {
      &cb_check_start_stop, shared->stats ? &cb_check_attr_get : NULL,
      stage->section->lcores < 2 ? NULL
      : shared->mt_safe          ? &cb_check_app_mt_safe
                                 : &cb_check_app_mt_unsafe};
  int status = 0;
  for (size_t i = 0; i < sizeof checks / sizeof *checks && status == 0; i++)
    if (checks[i])
      status = cb_service_check(checks[i], shared->lock, shared->order, error);
  return status;
}

static int add_lcores(struct section *section, struct cb_error *error)
{
  int status = 0;
  for (unsigned i = 0; i < section->lcores && status == 0; i++) {
    status = cb_lcore_add(section->set, i, CB_LCORE_CALLER, error);
    if (status == 0)
      status = cb_service_map_set(section->set, section->id, i, true, error);
    if (status == 0)
      status = cb_lcore_start(section->set, i, error);
  }
  return status;
}

static void teardown(struct stage *stage)
{
  cb_services_destroy(stage->section->set, 0, NULL);
  stage->section->set = NULL;
}

static int set_up(struct stage *stage, struct cb_error *error)
{
  const struct shared *shared = stage->data;
  struct section *section = stage->section;
  char name[24];
  snprintf(name, sizeof name, "stage %u", stage->number);
  const struct cb_service service = {.name = name,
                                     .call = cb_lane_serve,
                                     .argument = section,
                                     .mt_safe = shared->mt_safe,
                                     .stats = shared->stats};
  int status = cb_service_register(section->set, &service, &section->id, error);
  if (status == 0)
    status = cb_service_component_set(section->set, section->id, true, error);
  if (status == 0)
    status = cb_service_runstate_set(section->set, section->id, true, error);
  return status == 0 ? add_lcores(section, error) : status;
}

static int setup(struct stage *stage, struct cb_error *error)
{
  const struct shared *shared = stage->data;
  struct section *section = stage->section;
  struct cb_error trouble = {.code = -ENOMEM, .text = ""};
  int status = run_checks(stage, error);
  if (status < 0)
    return status;
  section->set = cb_services_create(shared->lock, shared->order, &trouble);
  if (section->set && set_up(stage, &trouble) == 0)
    return 0;
  if (section->set)
    teardown(stage);
  return cb_stage_fail(stage, trouble.code, error, "%s", trouble.text);
}

/* ---- the proof ---- */

static uint64_t loops(const struct section *section)
{
  uint64_t sum = 0, value = 0;
  for (unsigned i = 0; i < section->lcores; i++)
    if (cb_lcore_attr_get(section->set, i, CB_LCORE_LOOPS, &value, NULL) == 0)
      sum += value;
  return sum;
}

static int differ(const struct stage *stage, const char *what, uint64_t got,
                  uint64_t wanted, struct cb_error *error)
{
  return cb_stage_fail(stage, -EPROTO, error, "%llu calls, but %llu by %s",
                       (unsigned long long)wanted, (unsigned long long)got,
                       what);
}

/* The callbacks' own count must be that of each lcore, that of who called, and
 * that of the statistics. */
static int check(struct stage *stage, struct cb_error *error)
{
  const struct shared *shared = stage->data;
  const struct section *section = stage->section;
  uint64_t calls = 0, called = 0, runs = 0, value = 0;
  for (unsigned i = 0; i < section->lane_count; i++) {
    const struct lane *lane = &section->lanes[i];
    calls += lane->calls;
    runs += lane->runs;
    called +=
        section->lcores ? cb_services_called(section->set, i) : lane->called;
  }
  if (called != calls)
    return differ(stage, "the count of its lcores", called, calls, error);
  if (!section->lcores && runs != calls)
    return differ(stage, "the count of its caller", runs, calls, error);
  uint64_t passes = loops(section);
  if (section->lcores && (shared->mt_safe ? passes != calls : passes < calls))
    return differ(stage, "the passes of its lcores", passes, calls, error);
  if (shared->stats &&
      (cb_service_attr_get(section->set, section->id, CB_SERVICE_CALLS, &value,
                           NULL) < 0 ||
       value != calls))
    return differ(stage, "its statistics", value, calls, error);
  return 0;
}

static const struct cb_option options[] = {
    {.name = "lcores",
     .type = CB_INTEGER,
     .preset = "1",
     .min = 0,
     .max = PIPELINE_LCORES_MAX,
     .help = "service lcores, a thread each; 0: the source's thread calls it"},
    SERVICE_MT_SAFE_OPTION,
    SERVICE_RUN_OPTIONS,
    {.name = NULL}};

const struct stage_kind cb_stage_service = {
    .kind.name = "service",
    .kind.summary = "calls what stands behind it, on lcores or on the source's "
                    "thread",
    .kind.options = options,
    .plan = plan,
    .forget = forget,
    .setup = setup,
    .teardown = teardown,
    .check = check};
