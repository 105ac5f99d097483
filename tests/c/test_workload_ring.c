/* The ring workloads prove what they moved, on every kind; they refuse what a
 * ring cannot do, and leave a lent ring as they found it. */
#include "test.h"

#include "drive.h"
#include "rings.h"
#include "workload/rings.h"

#include <errno.h>
#include <unistd.h>

static struct cb_spec *new_spec(const char *kind)
{
  struct cb_error error;
  struct cb_spec *spec = cb_spec_create(&cb_workload_family, kind, &error);
  assert_non_null(spec);
  return spec;
}

static void set(struct cb_spec *spec, const char *option, int64_t value)
{
  assert_int_equal(cb_spec_set_integer(spec, option, value, NULL), 0);
}

static void set_word(struct cb_spec *spec, const char *option, const char *word)
{
  assert_int_equal(cb_spec_set_string(spec, option, word, NULL), 0);
}

static int create(struct cb_spec *spec, struct cb_workload *workload,
                  struct cb_error *error)
{
  const struct cb_workload_kind *kind =
      (const struct cb_workload_kind *)cb_spec_kind(spec);
  return kind->create(spec, workload, error);
}

/* A copy, for the workload's spec to own. */
static struct cb_spec *copy_ring(struct cb_spec *ring)
{
  const struct cb_option *option = cb_spec_kind(ring)->options;
  struct cb_spec *copy =
      cb_spec_create(cb_family_find("ring"), cb_spec_kind(ring)->name, NULL);
  for (; option->name; option++)
    if (option->type == CB_INTEGER)
      set(copy, option->name, cb_spec_integer(ring, option->name));
    else if (option->type == CB_BOOLEAN)
      cb_spec_set_boolean(copy, option->name,
                          cb_spec_boolean(ring, option->name), NULL);
    else
      set_word(copy, option->name, cb_spec_string(ring, option->name));
  set(copy, "size", 64);
  if (has_option(copy, "wait"))
    set_word(copy, "wait", "yield");
  return copy;
}

/* Makes, drives and proves it; what the kind cannot do is left out. */
static void prove(struct cb_spec *spec, const char *label, uint64_t n)
{
  struct cb_workload workload;
  struct cb_error error;
  int status = create(spec, &workload, &error);
  if (status == 0) {
    if (drive(&workload, n, &error) < 0)
      fail_msg("%s: %s", label, error.text);
    workload.destroy(&workload);
  } else {
    assert_int_equal(status, -ENOTSUP);
  }
  cb_spec_destroy(spec);
}

static struct cb_spec *with_ring(const char *kind, struct cb_spec *ring)
{
  struct cb_spec *spec = new_spec(kind);
  assert_int_equal(cb_spec_set_spec(spec, "ring", copy_ring(ring), NULL), 0);
  return spec;
}

static void visit(struct cb_spec *ring, const char *label, void *context)
{
  static const int64_t bursts[] = {1, 5, 32};
  static const int64_t threads[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 2}};
  struct cb_spec *spec;
  (void)context;
  for (int i = 0; i < 3; i++)
    for (int pointer = 0; pointer < 2; pointer++) {
      spec = with_ring("ring_pair", ring);
      set(spec, "burst", bursts[i]);
      set_word(spec, "via", pointer ? "pointer" : "inline");
      prove(spec, label, 1000);
    }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 2; j++) {
      spec = with_ring("ring_stream", ring);
      set(spec, "producers", threads[i][0]);
      set(spec, "consumers", threads[i][1]);
      set(spec, "burst", bursts[j]);
      set_word(spec, "wait", "yield");
      prove(spec, label, 201);
      spec = with_ring("ring_parallel", ring);
      set(spec, "producers", threads[i][0]);
      set(spec, "consumers", threads[i][1]);
      set(spec, "burst", bursts[j]);
      set(spec, "prefill", 20);
      prove(spec, label, 201);
    }
}

static void every_kind_proves_what_it_moved(void **state)
{
  (void)state;
  visit_rings_between(visit, NULL);
}

static void round_trips_are_proved(void **state)
{
  static const char *const kinds[] = {"ff", "spsc", "ptr_ring", "rte"};
  (void)state;
  for (int i = 0; i < 4; i++) {
    struct cb_spec *spec = new_spec("ring_pingpong");
    set_word(spec, "ring", kinds[i]);
    prove(spec, kinds[i], 30);
  }
}

static void nop_is_proved_by_number(void **state)
{
  struct cb_spec *spec = new_spec("ring_pair");
  (void)state;
  set_word(spec, "ring", "nop");
  set(spec, "burst", 8);
  prove(spec, "nop", 1000);
  spec = new_spec("ring_parallel");
  set_word(spec, "ring", "nop");
  set(spec, "producers", 3);
  prove(spec, "nop", 1000);
}

static void a_pair_can_have_elements_before_it(void **state)
{
  static const char *const kinds[] = {"spsc", "ff", "ptr_ring", "alf", "nop"};
  (void)state;
  for (int i = 0; i < 5; i++) {
    struct cb_spec *spec = new_spec("ring_pair");
    set_word(spec, "ring", kinds[i]);
    set(spec, "prefill", 64);
    prove(spec, kinds[i], 3000);
  }
}

/* ---- refusals ---- */

static void refused(struct cb_spec *spec, int code, const char *text)
{
  struct cb_workload workload;
  struct cb_error error;
  assert_int_equal(create(spec, &workload, &error), code);
  if (!strstr(error.text, text))
    fail_msg("\"%s\" does not say \"%s\"", error.text, text);
  cb_spec_destroy(spec);
}

static void what_a_ring_cannot_do_is_refused(void **state)
{
  (void)state;
  struct cb_spec *spec = new_spec("ring_stream");
  set(spec, "producers", 2);
  refused(spec, -ENOTSUP,
          "spsc: one producer, got 2 (any number: vyukov, ptr_ring,");

  spec = new_spec("ring_parallel");
  struct cb_spec *ring = cb_spec_create(&cb_ring_family, "rte", NULL);
  set_word(ring, "sync", "mt/st");
  cb_spec_set_spec(spec, "ring", ring, NULL);
  set(spec, "consumers", 3);
  refused(spec, -ENOTSUP, "rte with these options: one consumer, got 3");

  spec = new_spec("ring_pair");
  ring = cb_spec_create(&cb_ring_family, "ck", NULL);
  set(ring, "size", 32);
  cb_spec_set_spec(spec, "ring", ring, NULL);
  set(spec, "burst", 32);
  refused(spec, -ENOTSUP, "ck: a burst of 32 does not fit into 31 elements");

  spec = new_spec("ring_parallel");
  set(spec, "prefill", 5000);
  refused(spec, -ENOTSUP, "a prefill of 5000 does not fit into 1024 elements");

  spec = new_spec("ring_pair");
  set(spec, "prefill", 1024);
  refused(spec, -ENOTSUP,
          "a prefill of 1024 and one more does not fit into 1024 elements");

  spec = new_spec("ring_pair");
  set(spec, "prefill", 64);
  set(spec, "burst", 8);
  refused(spec, -EINVAL, "option 'prefill': goes with burst = 1, got 8");

  spec = new_spec("ring_pair");
  ring = cb_spec_create(&cb_ring_family, "alf", NULL);
  set(ring, "size", 100);
  cb_spec_set_spec(spec, "ring", ring, NULL);
  refused(spec, -EINVAL, "powers of two");
}

static void bad_numbers_are_refused(void **state)
{
  struct cb_error error;
  struct cb_spec *spec = new_spec("ring_stream");
  (void)state;
  assert_int_equal(cb_spec_set_integer(spec, "producers", 0, &error), -EINVAL);
  assert_string_equal(error.text,
                      "option 'producers': 0 is out of range [1, 64]");
  assert_int_equal(cb_spec_set_integer(spec, "burst", 257, &error), -EINVAL);
  assert_string_equal(error.text,
                      "option 'burst': 257 is out of range [1, 256]");
  cb_spec_destroy(spec);
}

/* ---- lent rings ---- */

static struct cb_ring *new_ring(const char *kind)
{
  struct cb_spec *spec = cb_spec_create(&cb_ring_family, kind, NULL);
  struct cb_ring *ring = cb_ring_create(spec, NULL);
  assert_non_null(ring);
  cb_spec_destroy(spec);
  return ring;
}

/* Lends the ring to a workload that is made of spec. */
static void lend_to(struct cb_ring *ring, struct cb_spec *spec,
                    struct cb_workload *workload)
{
  struct cb_spec *ring_spec =
      cb_spec_create(&cb_ring_family, ring->kind->kind.name, NULL);
  struct cb_error error;
  cb_spec_lend(ring_spec, ring);
  assert_int_equal(cb_spec_set_spec(spec, "ring", ring_spec, NULL), 0);
  assert_int_equal(create(spec, workload, &error), 0);
  cb_spec_destroy(spec);
}

/* A stream through a ring of that kind, which is the caller's. */
static struct cb_ring *lend(const char *kind, struct cb_workload *workload)
{
  struct cb_ring *ring = new_ring(kind);
  lend_to(ring, new_spec("ring_stream"), workload);
  return ring;
}

static void a_lent_ring_is_left_as_it_was(void **state)
{
  struct cb_workload workload;
  struct cb_ring *ring = lend("spsc", &workload);
  struct cb_error error;
  uint64_t value;
  (void)state;
  for (uint64_t i = 0; i < 10; i++)
    assert_int_equal(cb_ring_enqueue(ring, 70 + i, NULL), 1);
  assert_int_equal(drive(&workload, 3000, &error), 0);
  workload.destroy(&workload);

  assert_int_equal(cb_ring_count(ring), 10);
  assert_null(ring->control);
  for (uint64_t i = 0; i < 10; i++) {
    assert_int_equal(cb_ring_dequeue(ring, &value), 1);
    assert_int_equal(value, 70 + i);
  }
  cb_ring_destroy(ring);
}

/* Three at once: what one leaves in the ring from batch to batch is its own,
 * and the others begin with what they ask for. */
static void workloads_can_share_a_ring(void **state)
{
  static const int64_t prefills[] = {8, 0, 3};
  struct cb_ring *ring = new_ring("rte");
  struct cb_workload workloads[3];
  struct cb_control controls[3] = {0};
  struct cb_error error;
  uint64_t value, moved[3] = {0};
  (void)state;
  assert_int_equal(cb_ring_enqueue(ring, 70, NULL), 1);
  for (int i = 0; i < 3; i++) {
    struct cb_spec *spec = new_spec("ring_pair");
    set(spec, "prefill", prefills[i]);
    lend_to(ring, spec, &workloads[i]);
    assert_int_equal(
        workloads[i].setup(workloads[i].state, &controls[i], &error), 0);
  }
  for (int turn = 0; turn < 12; turn++) {
    int i = turn % 4 == 3 ? 0 : turn % 4;
    assert_int_equal(workloads[i].prepare(workloads[i].state, 100, &error), 0);
    assert_int_equal(cb_ring_count(ring), prefills[i]);
    assert_ptr_equal(ring->control, &controls[i]);
    moved[i] += workloads[i].roles[0].run(workloads[i].state, 0, 100);
  }
  for (int i = 2; i >= 0; i--) {
    if (workloads[i].check(workloads[i].state, moved[i], &error) < 0)
      fail_msg("workload %d: %s", i, error.text);
    workloads[i].teardown(workloads[i].state);
  }
  for (int i = 0; i < 3; i++)
    workloads[i].destroy(&workloads[i]);
  assert_null(ring->control);
  assert_int_equal(cb_ring_count(ring), 1);
  assert_int_equal(cb_ring_dequeue(ring, &value), 1);
  assert_int_equal(value, 70);
  cb_ring_destroy(ring);
}

/* In what another has broken nobody waits, nor begins to; and who was left by
 * force, and gave nothing back, is in nobody's way. */
static void a_shared_ring_that_broke_is_refused(void **state)
{
  struct cb_ring *ring = new_ring("rte");
  struct cb_workload one, two, late;
  struct cb_control control = {0};
  struct cb_error error;
  (void)state;
  lend_to(ring, new_spec("ring_pair"), &one);
  lend_to(ring, new_spec("ring_pair"), &two);
  lend_to(ring, new_spec("ring_pair"), &late);
  assert_int_equal(one.setup(one.state, &control, &error), 0);
  assert_int_equal(two.setup(two.state, &control, &error), 0);
  assert_int_equal(one.prepare(one.state, 10, &error), 0);
  atomic_store(&ring->broken, 1);
  assert_int_equal(two.prepare(two.state, 10, &error), -EPIPE);
  assert_non_null(strstr(error.text, "another workload was stopped inside"));
  one.destroy(&one);
  assert_int_equal(two.prepare(two.state, 10, &error), -EPIPE);
  assert_int_equal(late.setup(late.state, &control, &error), -EPIPE);
  late.destroy(&late);
  two.teardown(two.state);
  two.destroy(&two);
  cb_ring_destroy(ring);
}

/* A thread that was stopped inside it has left a gap: nobody may wait there
 * again, not even to give the elements back. */
static void a_broken_ring_is_left_alone(void **state)
{
  struct cb_workload workload;
  struct cb_ring *ring = lend("rte", &workload);
  struct cb_control control;
  struct cb_error error;
  (void)state;
  atomic_init(&control.stop, 0);
  assert_int_equal(workload.setup(workload.state, &control, &error), 0);
  assert_int_equal(cb_ring_enqueue(ring, 5, NULL), 1);
  atomic_store(&ring->broken, 1);
  assert_int_equal(workload.check(workload.state, 0, &error), -ETIMEDOUT);
  assert_non_null(
      strstr(error.text, "convoy: 2 threads waited for their turn"));
  workload.teardown(workload.state);
  workload.destroy(&workload);
  assert_int_equal(cb_ring_count(ring), 1);
  cb_ring_destroy(ring);
}

/* ---- before each batch ---- */

/* Whatever the batch before it has left. */
static void a_batch_begins_with_its_prefill(void **state)
{
  static const int64_t prefills[] = {0, 5, 16};
  (void)state;
  for (int i = 0; i < 3; i++) {
    struct cb_spec *spec = new_spec("ring_parallel");
    struct cb_spec *ring = cb_spec_create(&cb_ring_family, "ptr_ring", NULL);
    struct cb_control control = {0};
    struct cb_workload workload;
    struct cb_error error;
    uint64_t moved = 0;
    set(ring, "size", 16);
    assert_int_equal(cb_spec_set_spec(spec, "ring", ring, NULL), 0);
    set(spec, "prefill", prefills[i]);
    assert_int_equal(create(spec, &workload, &error), 0);
    cb_spec_destroy(spec);
    struct ring_work *work = workload.state;
    assert_int_equal(workload.setup(work, &control, &error), 0);
    for (int batch = 0; batch < 4; batch++) {
      assert_int_equal(workload.prepare(work, 100, &error), 0);
      assert_int_equal(cb_ring_count(work->ring), prefills[i]);
      const struct cb_role *role = &workload.roles[batch % 2];
      moved += role->run(work, 0, 100);
      assert_int_equal(cb_ring_count(work->ring), batch % 2 ? 0 : 16);
    }
    assert_int_equal(workload.check(work, moved, &error), 0);
    workload.teardown(work);
    workload.destroy(&workload);
  }
}

/* ---- proofs that must fail ---- */

struct tampered {
  struct cb_workload workload;
  struct ring_work *work;
  struct cb_control control;
  struct cb_error error;
};

static void set_up(struct tampered *self, const char *kind)
{
  struct cb_spec *spec = new_spec(kind);
  assert_int_equal(create(spec, &self->workload, &self->error), 0);
  cb_spec_destroy(spec);
  self->work = self->workload.state;
  atomic_init(&self->control.stop, 0);
  assert_int_equal(
      self->workload.setup(self->work, &self->control, &self->error), 0);
}

static int proof(struct tampered *self, uint64_t operations)
{
  int status = self->workload.check(self->work, operations, &self->error);
  self->workload.teardown(self->work);
  self->workload.destroy(&self->workload);
  return status;
}

static uint64_t produce(struct tampered *self, uint64_t n)
{
  return self->work->roles[1].run(self->work, 0, n);
}

static void what_is_left_in_the_ring_counts(void **state)
{
  struct tampered self;
  (void)state;
  set_up(&self, "ring_stream");
  assert_int_equal(produce(&self, 10), 10);
  assert_int_equal(proof(&self, 10), 0);
}

static void a_lost_element_fails(void **state)
{
  struct tampered self;
  uint64_t value;
  (void)state;
  set_up(&self, "ring_stream");
  produce(&self, 10);
  cb_ring_dequeue(self.work->ring, &value);
  assert_int_equal(proof(&self, 10), -EPROTO);
  assert_string_equal(self.error.text, "10 elements went in, 9 came out");
}

static void a_changed_element_fails(void **state)
{
  struct tampered self;
  uint64_t value;
  (void)state;
  set_up(&self, "ring_stream");
  produce(&self, 10);
  cb_ring_dequeue(self.work->ring, &value);
  cb_ring_enqueue(self.work->ring, value + 1, NULL);
  assert_int_equal(proof(&self, 10), -EPROTO);
  assert_non_null(strstr(self.error.text, "but not those that went in"));
}

static void an_uncounted_operation_fails(void **state)
{
  struct tampered self;
  (void)state;
  set_up(&self, "ring_pair");
  uint64_t done = self.work->roles[0].run(self.work, 0, 10);
  assert_int_equal(proof(&self, done + 1), -EPROTO);
}

static void stop_a_wait(enum cb_wait wait, const char *text)
{
  struct tampered self;
  set_up(&self, "ring_stream");
  self.work->wait = wait;
  atomic_store(&self.control.stop, 1);
  assert_int_equal(produce(&self, 2000), 1024);
  assert_int_equal(proof(&self, 1024), -ETIMEDOUT);
  assert_string_equal(self.error.text, text);
}

static void a_stopped_wait_is_a_convoy(void **state)
{
  (void)state;
  stop_a_wait(CB_WAIT_PAUSE,
              "convoy: 2 threads waited at the ring until they were stopped "
              "(wait = \"yield\" gives the CPU away)");
  stop_a_wait(CB_WAIT_YIELD,
              "convoy: 2 threads waited at the ring until they were stopped, "
              "though they gave the CPU away");
}

int main(void)
{
  alarm(240);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_proves_what_it_moved),
      cmocka_unit_test(round_trips_are_proved),
      cmocka_unit_test(nop_is_proved_by_number),
      cmocka_unit_test(a_pair_can_have_elements_before_it),
      cmocka_unit_test(what_a_ring_cannot_do_is_refused),
      cmocka_unit_test(bad_numbers_are_refused),
      cmocka_unit_test(a_lent_ring_is_left_as_it_was),
      cmocka_unit_test(a_batch_begins_with_its_prefill),
      cmocka_unit_test(workloads_can_share_a_ring),
      cmocka_unit_test(a_shared_ring_that_broke_is_refused),
      cmocka_unit_test(a_broken_ring_is_left_alone),
      cmocka_unit_test(what_is_left_in_the_ring_counts),
      cmocka_unit_test(a_lost_element_fails),
      cmocka_unit_test(a_changed_element_fails),
      cmocka_unit_test(an_uncounted_operation_fails),
      cmocka_unit_test(a_stopped_wait_is_a_convoy),
  };
  return cmocka_run_group_tests_name("workload_ring", tests, NULL, NULL);
}
