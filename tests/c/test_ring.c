/* Every ring kind against a plain queue, alone on one thread: results, counts,
 * free space, order, index wrap, resize, unconsume and refusals. */
#include "test.h"

#include "rings.h"

#include <errno.h>

enum { MODEL = 256, ROOM = 512 };

/* What a ring should be like: a queue in an array. */
struct model {
  uint64_t values[MODEL];
  uint32_t count, capacity;
  uint64_t next; /* value of the next element made */
};

static void model_put(struct model *model, const uint64_t *values, uint32_t n)
{
  memcpy(model->values + model->count, values, n * sizeof *values);
  model->count += n;
}

static void model_take(struct model *model, const uint64_t *values, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    assert_int_equal(values[i], model->values[i]);
  model->count -= n;
  memmove(model->values, model->values + n, model->count * sizeof *values);
}

static void compare(struct cb_ring *ring, const struct model *model)
{
  assert_int_equal(cb_ring_capacity(ring), model->capacity);
  assert_int_equal(cb_ring_count(ring), model->count);
  if (ring->limits.lazy_free)
    assert_true(cb_ring_free_count(ring) + model->count <= model->capacity);
  else
    assert_int_equal(cb_ring_free_count(ring), model->capacity - model->count);
}

static uint32_t make_values(struct model *model, uint64_t *values, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    values[i] = model->next + i;
  return n;
}

static void step_enqueue(struct cb_ring *ring, struct model *model)
{
  uint64_t free = cb_ring_free_count(ring);
  int done = cb_ring_enqueue(ring, model->next, NULL);
  assert_int_equal(done, free > 0);
  if (done)
    model_put(model, &model->next, 1);
  model->next++;
}

static void step_dequeue(struct cb_ring *ring, struct model *model)
{
  uint64_t value = 0;
  int done = cb_ring_dequeue(ring, &value);
  assert_int_equal(done, model->count > 0);
  if (done)
    model_take(model, &value, 1);
}

static int64_t expected(uint32_t n, uint64_t most, bool bulk)
{
  if (n <= most)
    return n;
  return bulk ? 0 : (int64_t)most;
}

static void step_enqueue_many(struct cb_ring *ring, struct model *model,
                              uint32_t n, bool bulk)
{
  uint64_t values[ROOM];
  uint32_t room = 12345;
  uint64_t free = cb_ring_free_count(ring);
  make_values(model, values, n);
  int64_t done = (bulk ? cb_ring_enqueue_bulk
                       : cb_ring_enqueue_burst)(ring, values, n, &room, NULL);
  if (done == -ENOTSUP)
    return;
  assert_int_equal(done, expected(n, free, bulk));
  model_put(model, values, (uint32_t)done);
  assert_int_equal(room, cb_ring_free_count(ring));
  model->next += n;
}

static void step_dequeue_many(struct cb_ring *ring, struct model *model,
                              uint32_t n, bool bulk)
{
  uint64_t values[ROOM];
  uint32_t left = 12345;
  int64_t done = (bulk ? cb_ring_dequeue_bulk
                       : cb_ring_dequeue_burst)(ring, values, n, &left, NULL);
  if (done == -ENOTSUP)
    return;
  assert_int_equal(done, expected(n, model->count, bulk));
  model_take(model, values, (uint32_t)done);
  assert_int_equal(left, model->count);
}

static void step_enqueue_halves(struct cb_ring *ring, struct model *model,
                                uint32_t n, uint32_t keep, bool bulk)
{
  uint64_t values[ROOM];
  int64_t got = cb_ring_enqueue_start(
      ring, n, bulk ? CB_RING_BULK : CB_RING_BURST, NULL, NULL);
  if (got == -ENOTSUP)
    return;
  assert_int_equal(got, expected(n, model->capacity - model->count, bulk));
  if (got == 0)
    return;
  keep %= (uint32_t)got + 1;
  make_values(model, values, keep);
  assert_int_equal(cb_ring_enqueue_finish(ring, values, (size_t)got + 1, NULL),
                   -EINVAL);
  assert_int_equal(cb_ring_enqueue_finish(ring, values, keep, NULL), 0);
  model_put(model, values, keep);
  model->next += keep;
}

static void step_dequeue_halves(struct cb_ring *ring, struct model *model,
                                uint32_t n, uint32_t keep, bool bulk)
{
  uint64_t values[ROOM];
  int64_t got = cb_ring_dequeue_start(
      ring, values, n, bulk ? CB_RING_BULK : CB_RING_BURST, NULL, NULL);
  if (got == -ENOTSUP)
    return;
  assert_int_equal(got, expected(n, model->count, bulk));
  if (got == 0)
    return;
  keep %= (uint32_t)got + 1;
  assert_int_equal(cb_ring_dequeue_finish(ring, (size_t)got + 1, NULL),
                   -EINVAL);
  assert_int_equal(cb_ring_dequeue_finish(ring, keep, NULL), 0);
  model_take(model, values, keep);
}

static void random_steps(struct cb_ring *ring, uint64_t *seed, int steps)
{
  struct model model = {.capacity = (uint32_t)cb_ring_capacity(ring),
                        .next = 1};
  compare(ring, &model);
  while (steps--) {
    uint32_t n = draw(seed) % (model.capacity + 3);
    bool bulk = draw(seed) % 2;
    switch (draw(seed) % 8) {
    case 0:
    case 1:
      step_enqueue(ring, &model);
      break;
    case 2:
    case 3:
      step_dequeue(ring, &model);
      break;
    case 4:
      step_enqueue_many(ring, &model, n, bulk);
      break;
    case 5:
      step_dequeue_many(ring, &model, n, bulk);
      break;
    case 6:
      step_enqueue_halves(ring, &model, n, draw(seed), bulk);
      break;
    default:
      step_dequeue_halves(ring, &model, n, draw(seed), bulk);
    }
    compare(ring, &model);
  }
}

static void visit_model(struct cb_spec *spec, const char *label, void *context)
{
  int made = 0;
  const char *limit = known_limit(cb_spec_kind(spec)->name, "model_is_matched");
  if (limit) {
    printf("# %s is left out: %s\n", label, limit);
    return;
  }
  for (int64_t size = 1; size <= 70; size++) {
    struct cb_ring *ring = make_ring(spec, size);
    if (!ring)
      continue;
    made++;
    /* Some round up a lot. */
    if (cb_ring_capacity(ring) <= MODEL)
      random_steps(ring, context, 400);
    cb_ring_destroy(ring);
  }
  if (made < 6)
    fail_msg("%s takes only %d of the sizes 1 to 70", label, made);
}

static void model_is_matched(void **state)
{
  visit_rings(visit_model, *state);
}

/* The steps are enough to pass the wrap several times. */
static void visit_wrap(struct cb_spec *spec, const char *label, void *context)
{
  static const int64_t starts[] = {(1ll << 32) - 16, (1ll << 31) - 8};
  (void)label;
  if (!has_option(spec, "start"))
    return;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(cb_spec_set_integer(spec, "start", starts[i], NULL), 0);
    struct cb_ring *ring = make_ring(spec, 64);
    assert_non_null(ring);
    random_steps(ring, context, 2000);
    cb_ring_destroy(ring);
  }
}

static void indexes_wrap(void **state)
{
  visit_rings(visit_wrap, *state);
}

/* A full ring holds as many as it says, and not one more. */
static void visit_full(struct cb_spec *spec, const char *label, void *context)
{
  (void)context;
  struct cb_ring *ring = make_ring(spec, 64);
  uint64_t value, count = 0;
  assert_non_null(ring);
  while (cb_ring_enqueue(ring, count + 1, NULL) == 1)
    count++;
  if (count != cb_ring_capacity(ring))
    fail_msg("%s: %d fit, capacity says %d", label, (int)count,
             (int)cb_ring_capacity(ring));
  for (uint64_t i = 0; i < count; i++) {
    assert_int_equal(cb_ring_dequeue(ring, &value), 1);
    assert_int_equal(value, i + 1);
  }
  assert_int_equal(cb_ring_dequeue(ring, &value), 0);
  cb_ring_destroy(ring);
}

static void capacity_is_what_fits(void **state)
{
  visit_rings(visit_full, *state);
}

/* Bursts of every length from every place, so around the end too: in and out
 * again in order, and of bulks that are too long nothing. */
static void burst_from(struct cb_ring *ring, uint32_t n, const char *label)
{
  uint64_t in[ROOM], out[ROOM];
  uint64_t capacity = cb_ring_capacity(ring);
  bool bulk = ring->ops->enqueue_bulk && ring->ops->dequeue_bulk;
  for (uint32_t i = 0; i <= n; i++)
    in[i] = 100 * n + i + 1;
  int64_t put = (ring->ops->enqueue_burst
                     ? cb_ring_enqueue_burst
                     : cb_ring_enqueue_bulk)(ring, in, n, NULL, NULL);
  if (bulk && n < capacity) {
    assert_int_equal(
        cb_ring_enqueue_bulk(ring, in, capacity - n + 1, NULL, NULL), 0);
    assert_int_equal(cb_ring_dequeue_bulk(ring, out, n + 1, NULL, NULL), 0);
  }
  memset(out, 0, sizeof out);
  int64_t got = (bulk ? cb_ring_dequeue_bulk
                      : cb_ring_dequeue_burst)(ring, out, n, NULL, NULL);
  if (put != n || got != n || memcmp(in, out, n * sizeof *in) != 0 ||
      cb_ring_count(ring) != 0)
    fail_msg("%s of %d: a burst of %u", label, (int)capacity, n);
}

static void visit_around(struct cb_spec *spec, const char *label, void *context)
{
  (void)context;
  for (int64_t size = 1; size <= 17; size++) {
    struct cb_ring *ring = make_ring(spec, size);
    uint64_t value, capacity = ring ? cb_ring_capacity(ring) : 0;
    for (uint64_t place = 0; place < capacity && capacity <= 17; place++)
      for (uint32_t n = 1; n <= capacity; n++) {
        cb_ring_destroy(ring);
        ring = make_ring(spec, size);
        for (uint64_t i = 0; i < place; i++) {
          assert_int_equal(cb_ring_enqueue(ring, 7, NULL), 1);
          assert_int_equal(cb_ring_dequeue(ring, &value), 1);
        }
        if (!ring->limits.lazy_free || n <= cb_ring_free_count(ring))
          burst_from(ring, n, label);
      }
    cb_ring_destroy(ring);
  }
}

static void bursts_go_around_the_end(void **state)
{
  visit_rings(visit_around, *state);
}

static void visit_zero(struct cb_spec *spec, const char *label, void *context)
{
  struct cb_ring *ring = make_ring(spec, 8);
  struct cb_error error;
  uint64_t values[3] = {1, 0, 2}, value = 1;
  (void)label, (void)context;
  if (ring->limits.zero_allowed) {
    assert_int_equal(cb_ring_enqueue(ring, 0, NULL), 1);
    assert_int_equal(cb_ring_dequeue(ring, &value), 1);
    assert_int_equal(value, 0);
  } else {
    assert_int_equal(cb_ring_enqueue(ring, 0, &error), -EINVAL);
    assert_non_null(strstr(error.text, "cannot hold 0"));
    assert_int_equal(cb_ring_enqueue_burst(ring, values, 3, NULL, NULL),
                     -EINVAL);
    assert_int_equal(cb_ring_count(ring), 0);
  }
  cb_ring_destroy(ring);
}

static void zero_is_kept_or_refused(void **state)
{
  visit_rings(visit_zero, *state);
}

/* ---- resize, unconsume, drain: who is dropped, in which order ---- */

struct dropped {
  uint64_t values[ROOM];
  uint32_t count;
};

static void drop(void *context, uint64_t value)
{
  struct dropped *dropped = context;
  dropped->values[dropped->count++] = value;
}

static struct cb_ring *ring_of(const char *kind, int64_t size, uint64_t fill)
{
  struct cb_spec *spec = cb_spec_create(cb_family_find("ring"), kind, NULL);
  struct cb_ring *ring = make_ring(spec, size);
  cb_spec_destroy(spec);
  assert_non_null(ring);
  for (uint64_t i = 1; i <= fill; i++)
    assert_int_equal(cb_ring_enqueue(ring, i, NULL), 1);
  return ring;
}

static void resize_keeps_the_oldest(void **state)
{
  struct dropped dropped = {.count = 0};
  struct cb_ring *ring = ring_of("ptr_ring", 64, 40);
  uint64_t value;
  (void)state;
  assert_int_equal(cb_ring_resize(ring, 16, drop, &dropped, NULL), 0);
  assert_int_equal(cb_ring_capacity(ring), 16);
  assert_int_equal(cb_ring_count(ring), 16);
  assert_int_equal(dropped.count, 24);
  for (uint32_t i = 0; i < 24; i++)
    assert_int_equal(dropped.values[i], 17 + i);
  assert_int_equal(cb_ring_enqueue(ring, 99, NULL), 0);
  for (uint64_t i = 1; i <= 16; i++) {
    assert_int_equal(cb_ring_dequeue(ring, &value), 1);
    assert_int_equal(value, i);
  }
  assert_int_equal(cb_ring_resize(ring, 100, drop, &dropped, NULL), 0);
  assert_int_equal(cb_ring_free_count(ring), 100);
  assert_int_equal(cb_ring_resize(ring, 0, NULL, NULL, NULL), -EINVAL);
  cb_ring_destroy(ring);
}

static void unconsume_puts_the_youngest_back(void **state)
{
  struct dropped dropped = {.count = 0};
  struct cb_ring *ring = ring_of("ptr_ring", 32, 32);
  uint64_t batch[20], value;
  (void)state;
  assert_int_equal(cb_ring_dequeue_burst(ring, batch, 20, NULL, NULL), 20);
  /* Sixteen of the twenty slots have been given back by now. */
  for (uint64_t i = 33; i <= 48; i++)
    assert_int_equal(cb_ring_enqueue(ring, i, NULL), 1);
  assert_int_equal(cb_ring_unconsume(ring, batch, 20, drop, &dropped, NULL), 4);
  assert_int_equal(dropped.count, 16);
  for (uint32_t i = 0; i < 16; i++)
    assert_int_equal(dropped.values[i], 16 - i);
  for (uint64_t i = 17; i <= 48; i++) {
    assert_int_equal(cb_ring_dequeue(ring, &value), 1);
    assert_int_equal(value, i);
  }
  assert_int_equal(cb_ring_dequeue(ring, &value), 0);
  cb_ring_destroy(ring);
}

/* A full ring of 64 frees its slots by sixteens: the consumer's batch. */
static void slots_come_back_in_batches(void **state)
{
  struct cb_ring *ring = ring_of("skb_array", 64, 64);
  uint64_t value;
  (void)state;
  for (int i = 0; i < 15; i++)
    assert_int_equal(cb_ring_dequeue(ring, &value), 1);
  assert_int_equal(cb_ring_enqueue(ring, 65, NULL), 0);
  assert_int_equal(cb_ring_dequeue(ring, &value), 1);
  assert_int_equal(cb_ring_free_count(ring), 16);
  assert_int_equal(cb_ring_enqueue(ring, 65, NULL), 1);
  cb_ring_destroy(ring);
}

/* Resizes and puts back at random, for whatever kind can; every element comes
 * out once or is dropped once. */
static void visit_turmoil(struct cb_spec *spec, const char *label,
                          void *context)
{
  struct cb_ring *ring = make_ring(spec, 40);
  uint64_t made = 0, taken = 0, batch[ROOM];
  struct dropped dropped = {.count = 0};
  (void)label;
  if (!ring || !ring->ops->resize || !ring->ops->unconsume) {
    cb_ring_destroy(ring);
    return;
  }
  for (int i = 0; i < 3000; i++) {
    uint32_t n = draw(context) % 80 + 1;
    for (uint32_t j = draw(context) % 80; j; j--)
      made += cb_ring_enqueue(ring, made + 1, NULL) == 1;
    int64_t got = cb_ring_dequeue_burst(ring, batch, n, NULL, NULL);
    if (draw(context) % 2)
      got -= cb_ring_unconsume(ring, batch, (size_t)got, drop, &dropped, NULL) +
             dropped.count;
    taken += (uint64_t)got + dropped.count;
    dropped.count = 0;
    assert_int_equal(cb_ring_resize(ring, n, drop, &dropped, NULL), 0);
    taken += dropped.count;
    dropped.count = 0;
    assert_int_equal(cb_ring_count(ring), made - taken);
    assert_int_equal(cb_ring_capacity(ring), n);
  }
  taken += cb_ring_drain(ring, NULL, NULL);
  assert_int_equal(made, taken);
  cb_ring_destroy(ring);
}

static void nothing_is_lost_in_turmoil(void **state)
{
  visit_rings(visit_turmoil, *state);
}

static void visit_drain(struct cb_spec *spec, const char *label, void *context)
{
  struct dropped dropped = {.count = 0};
  struct cb_ring *ring = make_ring(spec, 64);
  (void)label, (void)context;
  for (uint64_t i = 1; i <= 50; i++)
    assert_int_equal(cb_ring_enqueue(ring, i, NULL), 1);
  assert_int_equal(cb_ring_drain(ring, drop, &dropped), 50);
  assert_int_equal(dropped.count, 50);
  for (uint32_t i = 0; i < 50; i++)
    assert_int_equal(dropped.values[i], i + 1);
  assert_int_equal(cb_ring_count(ring), 0);
  cb_ring_destroy(ring);
}

static void drain_hands_out_everything(void **state)
{
  visit_rings(visit_drain, *state);
}

/* ---- refusals ---- */

static void refusal(const char *kind, int64_t size, const char *text)
{
  struct cb_error error = {.text = ""};
  struct cb_spec *spec = cb_spec_create(cb_family_find("ring"), kind, NULL);
  if (cb_spec_set_integer(spec, "size", size, &error) == 0)
    assert_null(cb_ring_create(spec, &error));
  cb_spec_destroy(spec);
  if (!strstr(error.text, text))
    fail_msg("%s of %lld: \"%s\" does not say \"%s\"", kind, (long long)size,
             error.text, text);
}

static void bad_sizes_are_refused(void **state)
{
  (void)state;
  refusal("ptr_ring", 0, "option 'size': 0 is out of range [1, 16777216]");
  refusal("spsc", 1ll << 40, "1099511627776 is out of range [1, 16777216]");
  refusal("alf", 100, "powers of two from 1 on, got 100");
  refusal("alf", 131072, "131072 is out of range [1, 65536]");
  refusal("rte", 100, "exact = true takes any size");
  refusal("rte", 1, "powers of two from 2 on, got 1");
  refusal("ck", 3, "powers of two from 2 on, got 3");
  refusal("vyukov", 1, "1 is out of range [2, 16777216]");
}

static void what_cannot_be_done_names_who_can(void **state)
{
  struct cb_error error;
  uint64_t value = 1;
  struct cb_ring *ring = ring_of("ck", 8, 0);
  (void)state;
  assert_int_equal(cb_ring_enqueue_bulk(ring, &value, 1, NULL, &error),
                   -ENOTSUP);
  static const char words[] =
      "this ck ring cannot enqueue in bulk (spsc, ff, vyukov, alf, rte, mutex, "
      "spinlock, nop";
  assert_memory_equal(error.text, words, sizeof words - 1);
  assert_int_equal(cb_ring_resize(ring, 16, NULL, NULL, &error), -ENOTSUP);
  assert_string_equal(
      error.text, "this ck ring cannot be resized (ptr_ring, skb_array can)");
  cb_ring_destroy(ring);

  struct cb_spec *spec = cb_spec_create(cb_family_find("ring"), "vyukov", NULL);
  assert_int_equal(cb_spec_set_string(spec, "claim", "single", NULL), 0);
  ring = cb_ring_create(spec, NULL);
  cb_spec_destroy(spec);
  assert_int_equal(cb_ring_enqueue_bulk(ring, &value, 1, NULL, &error),
                   -ENOTSUP);
  assert_non_null(strstr(error.text, ", vyukov with other options, alf"));
  cb_ring_destroy(ring);
}

int main(void)
{
  static uint64_t seed;
  seed = test_seed();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(model_is_matched, &seed),
      cmocka_unit_test_prestate(indexes_wrap, &seed),
      cmocka_unit_test(capacity_is_what_fits),
      cmocka_unit_test(bursts_go_around_the_end),
      cmocka_unit_test(zero_is_kept_or_refused),
      cmocka_unit_test(resize_keeps_the_oldest),
      cmocka_unit_test(unconsume_puts_the_youngest_back),
      cmocka_unit_test(slots_come_back_in_batches),
      cmocka_unit_test_prestate(nothing_is_lost_in_turmoil, &seed),
      cmocka_unit_test(drain_hands_out_everything),
      cmocka_unit_test(bad_sizes_are_refused),
      cmocka_unit_test(what_cannot_be_done_names_who_can),
  };
  return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
