/* The workload `pipeline`: chains of every shape prove themselves, each kind of
 * broken part is found and named, and what cannot work is refused before it
 * runs. */
#include "drive.h"

#include "coroutine/kinds.h"
#include "pool/kinds.h"
#include "pool/pool.h"
#include "service/service.h"
#include "workload/kinds.h"
#include "workload/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cb_control control;

/* ---- chains from words: "source depth=4; ring ring=spsc size=8; sink" ---- */

static int set_word(struct cb_spec *spec, const char *word,
                    struct cb_error *error)
{
  char name[32], *end;
  const char *value = strchr(word, '=') + 1;
  snprintf(name, sizeof name, "%.*s", (int)(value - word - 1), word);
  double number = strtod(value, &end);
  if (*end == '\0')
    return cb_spec_set_number(spec, name, number, error);
  if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
    return cb_spec_set_boolean(spec, name, value[0] == 't', error);
  return cb_spec_set_string(spec, name, value, error);
}

static struct cb_spec *stage_of(char *words, struct cb_error *error)
{
  char *rest = words, *word = strtok_r(rest, " ", &rest);
  struct cb_spec *stage = cb_spec_create(&cb_stage_family, word, error);
  assert_non_null(stage);
  while ((word = strtok_r(rest, " ", &rest)))
    assert_int_equal(set_word(stage, word, error), 0);
  return stage;
}

static struct cb_spec *chain_of(const char *text)
{
  char copy[512];
  struct cb_error error = {0, ""};
  struct cb_spec *spec = cb_spec_create(&cb_workload_family, "pipeline", NULL);
  snprintf(copy, sizeof copy, "%s", text);
  for (char *rest = copy, *words; (words = strtok_r(rest, ";", &rest));)
    assert_int_equal(
        cb_spec_append(spec, "stages", stage_of(words, &error), &error), 0);
  return spec;
}

static int make(const char *text, struct cb_workload *workload,
                struct cb_error *error)
{
  struct cb_spec *spec = chain_of(text);
  error->text[0] = '\0';
  int status = cb_workload_pipeline.create(spec, workload, error);
  cb_spec_destroy(spec);
  return status;
}

/* Two batches of n and the proof. */
static int run_batches(const struct cb_workload *workload, uint64_t n,
                       struct cb_error *error)
{
  uint64_t done = 0;
  int status = workload->setup(workload->state, &control, error);
  assert_int_equal(status, 0);
  for (int batch = 0; batch < 2; batch++)
    done += drive_batch(workload, n);
  status = workload->check(workload->state, done, error);
  workload->teardown(workload->state);
  return status;
}

static void proves(const char *text, uint64_t n)
{
  struct cb_workload workload;
  struct cb_error error = {0, ""};
  assert_int_equal(make(text, &workload, &error), 0);
  for (int turn = 0; turn < 2; turn++) {
    int status = run_batches(&workload, n, &error);
    if (status)
      print_error("%s\n", text);
    assert_string_equal(error.text, "");
    assert_int_equal(status, 0);
  }
  workload.destroy(&workload);
}

static void fails(const char *text, uint64_t n, const char *sentence)
{
  struct cb_workload workload;
  struct cb_error error = {0, ""};
  assert_int_equal(make(text, &workload, &error), 0);
  assert_true(run_batches(&workload, n, &error) < 0);
  assert_string_equal(error.text, sentence);
  workload.destroy(&workload);
  control.stop = 0;
}

static void refuses(const char *text, int code, const char *sentence)
{
  struct cb_workload workload;
  struct cb_error error;
  assert_int_equal(make(text, &workload, &error), code);
  assert_string_equal(error.text, sentence);
}

/* ---- chains that work ---- */

static void one_thread_is_proved(void **state)
{
  (void)state;
  proves("source; sink", 1000);
  proves("source depth=1 burst=1; sink", 100);
  proves("source; ring; sink", 1000);
  proves("source; service lcores=0; sink", 1000);
  proves("source; device ticks=0; sink", 1000);
  proves("source; device ticks=500; ring; ring; sink", 1000);
  proves("source; service lcores=0 stats=time; device; ring; sink", 300);
  proves("source depth=300 burst=256; ring burst=256; sink", 2000);
}

/* Rings smaller than what is in flight: the rest waits its turn. */
static void narrow_rings_are_proved(void **state)
{
  (void)state;
  proves("source depth=64; ring size=2 burst=2; device ticks=0; "
         "ring size=4 burst=1; sink",
         1000);
  proves("source depth=1000 burst=256; ring ring=ptr_ring size=8 burst=3; "
         "service lcores=0; coroutine backend=ucontext yields=3; "
         "ring ring=vyukov size=4 burst=4; sink",
         1000);
}

static void every_ring_is_proved(void **state)
{
  const struct cb_kind *kind;
  char text[200];
  (void)state;
  for (size_t i = 0; (kind = cb_kind_at(&cb_ring_family, i)); i++)
    for (int burst = 1; burst < 40; burst += 31) {
      if (((const struct cb_ring_kind *)kind)->limits.forgets)
        continue;
      snprintf(text, sizeof text,
               "source; ring ring=%s size=64 burst=%d; service lcores=0; "
               "ring ring=%s burst=%d; sink",
               kind->name, burst, kind->name, burst);
      proves(text, 500);
    }
}

static void every_backend_is_proved(void **state)
{
  const struct cb_kind *kind;
  char text[200];
  (void)state;
  for (size_t i = 0; (kind = cb_kind_at(&cb_backend_family, i)); i++)
    for (int variant = 0; variant < 8; variant++) {
      if (kind->flags & CB_KIND_COMPARISON)
        continue;
      snprintf(text, sizeof text,
               "source depth=8; ring; service lcores=0; coroutine backend=%s "
               "pool=%s yields=%d depth=%d bytes=%d; ring; sink",
               kind->name, variant & 1 ? "none" : "batch_spare",
               variant & 2 ? 3 : 1, variant & 4 ? 3 : 1,
               variant & 4 ? 5000 : 0);
      proves(text, variant & 1 ? 40 : 200);
    }
}

static void coroutines_without_waiting_are_proved(void **state)
{
  (void)state;
  proves("source; coroutine backend=ucontext yields=0; sink", 300);
  proves("source; coroutine backend=ucontext yields=0 depth=4; sink", 300);
  proves("source; coroutine backend=ucontext; device ticks=3000; sink", 300);
  /* Two coroutines an item, of two pools, one after the other. */
  proves("source; coroutine backend=ucontext; ring; service lcores=0; "
         "coroutine backend=ucontext pool=mutex yields=2; device ticks=0; sink",
         300);
}

static void lcores_are_proved(void **state)
{
  (void)state;
  proves("source; ring; service; sink", 1000);
  proves("source; ring; service stats=chain; ring; sink", 1000);
  proves("source; ring; service; coroutine backend=ucontext; device; ring; "
         "service stats=count; device ticks=100; sink",
         1000);
  proves("source; ring ring=rte; service lcores=4; "
         "coroutine backend=ucontext yields=2; device ticks=1000; "
         "ring ring=rte; sink",
         1000);
  proves("source; ring ring=vyukov; service lcores=3; ring ring=vyukov; "
         "service lcores=2; sink",
         1000);
  /* One at a time inside: rings of one consumer and one producer do. */
  proves("source; ring; service lcores=3 mt_safe=false stats=count; "
         "coroutine backend=ucontext; ring; sink",
         1000);
}

static void more_threads_than_cpus_finish(void **state)
{
  (void)state;
  proves("source depth=7; ring ring=vyukov; service lcores=16; "
         "coroutine backend=ucontext; ring ring=vyukov; sink",
         200);
}

static void an_open_loop_is_proved(void **state)
{
  static const char *const chains[] = {
      "source rate=1e6; sink", "source rate=2e5 depth=2; ring; sink",
      ("source rate=5e5; ring; service; coroutine backend=ucontext; "
       "device ticks=500; sink")};
  (void)state;
  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
    struct cb_workload workload;
    struct cb_error error = {0, ""};
    struct cb_histogram *histogram = malloc(sizeof *histogram);
    assert_int_equal(make(chains[i], &workload, &error), 0);
    assert_true(workload.batch_seconds > 0);
    uint64_t before = cb_now();
    assert_int_equal(run_batches(&workload, 500, &error), 0);
    /* n items take n intervals, at least. */
    uint64_t passed = cb_now() - before;
    double interval = ((struct pipeline *)workload.state)->interval;
    assert_true((double)passed >= 1000 * interval);
    cb_histogram_clear(histogram);
    workload.latency(workload.state, histogram);
    assert_int_equal(histogram->count, 1000);
    assert_true(histogram->least <= histogram->most);
    /* What was taken is gone. */
    cb_histogram_clear(histogram);
    workload.latency(workload.state, histogram);
    assert_int_equal(histogram->count, 0);
    free(histogram);
    workload.destroy(&workload);
  }
}

/* Two items in flight for a device of 20 intervals: nearly all start late, and
 * the latency of the last counts from when it was due, not from its start. */
static void late_starts_count(void **state)
{
  struct cb_workload workload;
  struct cb_error error = {0, ""};
  struct cb_histogram *histogram = malloc(sizeof *histogram);
  char text[120];
  double rate = cb_clock()->hz / 5000;
  (void)state;
  snprintf(text, sizeof text,
           "source rate=%.0f depth=2 burst=1; device ticks=100000; sink", rate);
  assert_int_equal(make(text, &workload, &error), 0);
  assert_int_equal(run_batches(&workload, 50, &error), 0);
  cb_histogram_clear(histogram);
  workload.latency(workload.state, histogram);
  /* 25 pairs of 100000 ticks, less the 50 intervals of 5000. */
  assert_true(histogram->most > 2000000);
  struct cb_counter counters[CB_RESULT_COUNTERS];
  size_t count = workload.counters(workload.state, counters, 24);
  double late = 0;
  for (size_t i = 0; i < count; i++)
    if (strcmp(counters[i].name, "late") == 0)
      late = counters[i].value;
  assert_true(late >= 90 && late <= 100);
  free(histogram);
  workload.destroy(&workload);
}

/* ---- broken parts ---- */

enum fault { DROPS, DOUBLES, SWAPS, MANGLES };

/* A queue of 64 that does one wrong thing to element number 10. */
struct faulty {
  struct cb_ring ring;
  enum fault fault;
  uint64_t slots[256];
  unsigned head, tail, number;
};

static bool faulty_enqueue(struct cb_ring *ring, uint64_t value)
{
  struct faulty *self = (struct faulty *)ring;
  bool now = ++self->number == 10;
  if (now && self->fault == DROPS) {
    control.stop = 1;
    return true;
  }
  if (now && self->fault == MANGLES) {
    control.stop = 1;
    value += 1000000;
  }
  self->slots[self->tail++ % 256] = value;
  if (now && self->fault == DOUBLES)
    self->slots[self->tail++ % 256] = value;
  if (now && self->fault == SWAPS) {
    uint64_t *last = &self->slots[(self->tail - 1) % 256];
    uint64_t *before = &self->slots[(self->tail - 2) % 256];
    *last = *before;
    *before = value;
  }
  return true;
}

static bool faulty_dequeue(struct cb_ring *ring, uint64_t *value)
{
  struct faulty *self = (struct faulty *)ring;
  if (self->head == self->tail)
    return false;
  *value = self->slots[self->head++ % 256];
  return true;
}

static uint64_t faulty_count(struct cb_ring *ring)
{
  struct faulty *self = (struct faulty *)ring;
  return self->tail - self->head;
}

static void faulty_destroy(struct cb_ring *ring)
{
  free(ring);
}

static const struct cb_option faulty_options[] = {{.name = "fault",
                                                   .type = CB_INTEGER,
                                                   .preset = "0",
                                                   .min = 0,
                                                   .max = 3,
                                                   .help = "what goes wrong"},
                                                  {.name = NULL}};

static struct cb_ring *faulty_create(const struct cb_spec *spec,
                                     struct cb_error *error)
{
  struct faulty *self = calloc(1, sizeof *self);
  (void)error;
  assert_non_null(self);
  self->fault = (enum fault)cb_spec_integer(spec, "fault");
  self->ring.capacity = 64;
  return &self->ring;
}

static const struct cb_ring_kind faulty_ring = {
    .kind.name = "faulty",
    .kind.summary = "does one wrong thing",
    .kind.options = faulty_options,
    .ops = {.enqueue = faulty_enqueue,
            .dequeue = faulty_dequeue,
            .count = faulty_count},
    .create = faulty_create,
    .destroy = faulty_destroy};

/* Says that it keeps coroutines, and loses them. */
static bool leaky_put(struct pool *pool, struct pool_local *local,
                      struct cb_coroutine *coroutine)
{
  static struct cb_coroutine *lost;
  (void)local;
  if (lost)
    return false;
  lost = coroutine;
  (void)pool;
  return true;
}

static void no_part(struct pool *pool, struct pool_local *local)
{
  (void)pool;
  (void)local;
}

static struct cb_coroutine *no_get(struct pool *pool, struct pool_local *local)
{
  (void)pool;
  (void)local;
  return NULL;
}

static struct cb_coroutine *no_drain(struct pool *pool, uint64_t n)
{
  (void)pool;
  (void)n;
  return NULL;
}

static uint64_t no_shared(struct pool *pool)
{
  (void)pool;
  return 0;
}

POOL_WAYS(no_get, leaky_put)

static const struct policy leaky = {.kind.name = "leaky",
                                    .kind.summary = "loses a coroutine",
                                    .join = no_part,
                                    .leave = no_part,
                                    .get = no_get,
                                    .put = leaky_put,
                                    .take = take,
                                    .give = give,
                                    .drain = no_drain,
                                    .shared = no_shared};

/* The chain through a ring with that fault. */
static void finds(enum fault fault, const char *sentence)
{
  struct cb_error error = {0, ""};
  struct cb_workload workload;
  struct cb_spec *spec =
      cb_spec_create(&cb_workload_family, "pipeline", &error);
  struct cb_spec *ring = cb_spec_create(&cb_ring_family, "faulty", &error);
  struct cb_spec *stage = cb_spec_create(&cb_stage_family, "ring", &error);
  assert_non_null(ring);
  assert_int_equal(cb_spec_set_integer(ring, "fault", fault, &error), 0);
  assert_int_equal(cb_spec_set_spec(stage, "ring", ring, &error), 0);
  cb_spec_append(spec, "stages",
                 cb_spec_create(&cb_stage_family, "source", NULL), NULL);
  cb_spec_append(spec, "stages", stage, NULL);
  cb_spec_append(spec, "stages", cb_spec_create(&cb_stage_family, "sink", NULL),
                 NULL);
  assert_int_equal(cb_workload_pipeline.create(spec, &workload, &error), 0);
  cb_spec_destroy(spec);
  assert_int_equal(run_batches(&workload, 50, &error), -EPROTO);
  assert_string_equal(error.text, sentence);
  workload.destroy(&workload);
  control.stop = 0;
}

static void broken_rings_are_found(void **state)
{
  (void)state;
  assert_int_equal(cb_kind_add(&cb_ring_family, &faulty_ring.kind, NULL), 0);
  finds(DROPS, "100 items went in, 99 came out");
  finds(DOUBLES, "1 items came out that were not in flight (twice, or never "
                 "put in)");
  finds(SWAPS, "1 items came out behind one that started later");
  finds(MANGLES, "1 values came out that are no items");
}

static void a_lost_coroutine_is_found(void **state)
{
  (void)state;
  struct cb_workload workload;
  struct cb_error error = {0, ""};
  assert_int_equal(cb_kind_add(&cb_pool_family, &leaky.kind, NULL), 0);
  assert_int_equal(make("source; coroutine backend=ucontext pool=leaky; sink",
                        &workload, &error),
                   0);
  assert_int_equal(run_batches(&workload, 10, &error), -EPROTO);
  assert_string_equal(error.text,
                      "stage 2 (coroutine): the pool made 20 coroutines, but "
                      "deleted 19 and keeps 0");
  workload.destroy(&workload);
}

/* Told to stop while the device works. */
static void what_is_left_is_told(void **state)
{
  (void)state;
  control.stop = 1;
  fails("source depth=4; coroutine backend=ucontext; device ticks=1e9; sink", 4,
        "4 items went in, 0 came out; stage 2 (coroutine): 4 coroutines are "
        "left suspended");
}

static void what_waits_is_told(void **state)
{
  (void)state;
  control.stop = 1;
  fails("source depth=3; device ticks=1e9; sink", 3,
        "3 items went in, 0 came out; stage 2 (device): 3 items still wait");
}

static struct pipeline *ran(const char *text, struct cb_workload *workload,
                            uint64_t *done)
{
  struct cb_error error = {0, ""};
  assert_int_equal(make(text, workload, &error), 0);
  assert_int_equal(workload->setup(workload->state, &control, &error), 0);
  *done = drive_batch(workload, 100);
  assert_int_equal(workload->check(workload->state, *done, &error), 0);
  return workload->state;
}

static void disproves(const struct cb_workload *workload, uint64_t done,
                      const char *beginning)
{
  struct cb_error error = {0, ""};
  assert_int_equal(workload->check(workload->state, done, &error), -EPROTO);
  error.text[strlen(beginning)] = '\0';
  assert_string_equal(error.text, beginning);
}

static void false_counts_are_found(void **state)
{
  struct cb_workload workload;
  uint64_t done;
  (void)state;
  struct pipeline *pipeline =
      ran("source; ring; service lcores=0 stats=count; sink", &workload, &done);
  disproves(&workload, done + 1, "100 of 101 operations were counted");
  pipeline->sections[1].lanes->called++;
  disproves(&workload, done, "stage 3 (service): ");
  pipeline->sections[1].lanes->called--;
  pipeline->sections[1].lanes->runs--;
  disproves(&workload, done, "stage 3 (service): ");
  workload.teardown(workload.state);
  workload.destroy(&workload);

  /* A run of the service that no lcore of the pipeline made. */
  pipeline = ran("source; ring; service stats=count; sink", &workload, &done);
  struct section *section = &pipeline->sections[1];
  struct cb_lcore *stranger = cb_lcore_attach(section->set, NULL);
  assert_int_equal(cb_service_run(stranger, section->id, true, NULL), 0);
  cb_lcore_detach(stranger, NULL);
  disproves(&workload, done, "stage 3 (service): ");
  workload.teardown(workload.state);
  workload.destroy(&workload);
}

/* ---- chains that cannot work ---- */

static void bad_chains_are_refused(void **state)
{
  (void)state;
  refuses("ring; sink", -EINVAL,
          "stage 1 (ring): a chain begins with a source");
  refuses("source; source; sink", -EINVAL,
          "stage 2 (source): a chain has one source, at its beginning");
  refuses("source; ring", -EINVAL,
          "stage 2 (ring): the chain needs a sink at its end");
  refuses("source; sink; ring; sink", -EINVAL,
          "stage 3 (ring): nothing can stand behind the sink, stage 2");
  refuses("source; service; sink", -EINVAL,
          "stage 2 (service): lcores = 1: they need a ring before it to take "
          "items from (lcores = 0: the source's thread)");
  refuses(
      "source; ring; device; service; sink", -EINVAL,
      "stage 4 (service): a service calls what stands behind it: it needs a "
      "ring right before it");
  refuses(
      "source; ring; service; service; sink", -EINVAL,
      "stage 4 (service): stage 3 (service) calls this part already: a ring "
      "between the two is wanted");
  refuses("source; coroutine; sink", -EINVAL,
          "stage 2 (coroutine): it needs a back end, as in backend = "
          "\"" CB_BACKEND_PRESET "\"");
  refuses("source; coroutine backend=call; sink", -ENOTSUP,
          "stage 2 (coroutine): the back end 'call' makes no coroutines, it is "
          "a row to compare with");
  refuses(
      "source; coroutine backend=ucontext; coroutine backend=ucontext; "
      "sink",
      -EINVAL,
      "stage 3 (coroutine): an item is in the coroutine of stage 2 already: "
      "a ring between the two is wanted");
  refuses("source; coroutine backend=ucontext yields=0; device; sink", -EINVAL,
          "stage 3 (device): nobody waits for it: stage 2 (coroutine) has "
          "yields = 0, it needs 1 or more");
  refuses("source; coroutine backend=ucontext; device; device; sink", -EINVAL,
          "stage 4 (device): stage 2 (coroutine) waits for a device already: a "
          "ring between the two is wanted");
  refuses(
      "source; coroutine backend=ucontext bytes=70000; sink", -EINVAL,
      "stage 2 (coroutine): option 'bytes': a stack of 65536 bytes has room "
      "for 63488, not 70000");
}

static void bad_rings_are_refused(void **state)
{
  (void)state;
  refuses("source; ring size=16; sink", -EINVAL,
          "stage 2 (ring): a burst of 32 does not fit into 16 elements: size = "
          "32 or more, or a smaller burst");
  refuses("source; ring ring=nop; sink", -ENOTSUP,
          "stage 2 (ring): 'nop' forgets its elements, and no item would "
          "arrive");
  struct cb_workload workload;
  struct cb_error error;
  assert_int_equal(
      make("source; ring; service lcores=2; sink", &workload, &error),
      -ENOTSUP);
  static const char consumers[] =
      "stage 2 (ring): spsc: one consumer, got 2 (any number: ";
  assert_memory_equal(error.text, consumers, sizeof consumers - 1);
  assert_int_equal(make("source; ring ring=rte; service lcores=2; ring; sink",
                        &workload, &error),
                   -ENOTSUP);
  static const char producers[] =
      "stage 4 (ring): spsc: one producer, got 2 (any number: ";
  assert_memory_equal(error.text, producers, sizeof producers - 1);
  refuses(
      "source; ring; service lcores=2 mt_safe=false lock=none; sink", -EPERM,
      "stage 3 (service): 2 lcores would be inside at once: mt_safe = true, "
      "or a lock that excludes");
  refuses("source; ring ring=rte; service lcores=40; ring ring=rte; "
          "service lcores=40; sink",
          -EINVAL,
          "stage 5 (service): the chain has 80 lcores with these, at most 64");
}

static void bad_rates_are_refused(void **state)
{
  struct cb_error error;
  struct cb_workload workload;
  (void)state;
  struct cb_spec *stage = cb_spec_create(&cb_stage_family, "source", NULL);
  assert_int_equal(cb_spec_set_integer(stage, "rate", 0, &error), -EINVAL);
  assert_string_equal(error.text,
                      "option 'rate': 0 is out of range [1, 1000000000000]");
  cb_spec_destroy(stage);
  assert_int_equal(make("source rate=1e12; sink", &workload, &error), -EINVAL);
  static const char sentence[] =
      "stage 1 (source): a rate of 1e+12 items a second is beyond what the "
      "clock can pace: at most ";
  assert_memory_equal(error.text, sentence, sizeof sentence - 1);
}

/* ---- what is lent ---- */

static void a_live_ring_is_left_as_found(void **state)
{
  (void)state;
  struct cb_error error = {0, ""};
  struct cb_workload workload;
  struct cb_spec *kind = cb_spec_create(&cb_ring_family, "spsc", NULL);
  struct cb_ring *ring = cb_ring_create(kind, NULL);
  for (uint64_t i = 1; i <= 5; i++)
    cb_ring_enqueue(ring, i * 100, NULL);
  cb_spec_lend(kind, ring);
  struct cb_spec *stage = cb_spec_create(&cb_stage_family, "ring", NULL);
  cb_spec_set_spec(stage, "ring", kind, NULL);
  struct cb_spec *spec = chain_of("source");
  cb_spec_append(spec, "stages", stage, NULL);
  cb_spec_append(spec, "stages", cb_spec_create(&cb_stage_family, "sink", NULL),
                 NULL);
  struct cb_spec *copy = cb_spec_copy(spec, NULL);
  cb_spec_destroy(spec);
  assert_int_equal(cb_workload_pipeline.create(copy, &workload, &error), 0);
  cb_spec_destroy(copy);
  assert_int_equal(run_batches(&workload, 100, &error), 0);
  workload.destroy(&workload);
  assert_int_equal(cb_ring_count(ring), 5);
  for (uint64_t i = 1, value; i <= 5; i++) {
    assert_int_equal(cb_ring_dequeue(ring, &value), 1);
    assert_int_equal(value, i * 100);
  }
  cb_ring_destroy(ring);
}

int main(void)
{
  alarm(300);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_thread_is_proved),
      cmocka_unit_test(narrow_rings_are_proved),
      cmocka_unit_test(every_ring_is_proved),
      cmocka_unit_test(every_backend_is_proved),
      cmocka_unit_test(coroutines_without_waiting_are_proved),
      cmocka_unit_test(lcores_are_proved),
      cmocka_unit_test(more_threads_than_cpus_finish),
      cmocka_unit_test(an_open_loop_is_proved),
      cmocka_unit_test(late_starts_count),
      cmocka_unit_test(broken_rings_are_found),
      cmocka_unit_test(a_lost_coroutine_is_found),
      cmocka_unit_test(what_is_left_is_told),
      cmocka_unit_test(what_waits_is_told),
      cmocka_unit_test(false_counts_are_found),
      cmocka_unit_test(bad_chains_are_refused),
      cmocka_unit_test(bad_rings_are_refused),
      cmocka_unit_test(bad_rates_are_refused),
      cmocka_unit_test(a_live_ring_is_left_as_found)};
  return cmocka_run_group_tests_name("workload pipeline", tests, NULL, NULL);
}
