/* Every measured loop of every ring kind moves what it says it moved. */
#include "test.h"

#include "rings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static struct cb_ring_values values;

static void fill_values(void)
{
  for (unsigned i = 0; i < CB_RING_TABLE + CB_RING_BURST_MAX; i++)
    values.value[i] = 1 + i % CB_RING_TABLE * 2654435761u;
  for (unsigned i = 0; i < CB_RING_TABLE; i++)
    values.below[i + 1] = values.below[i] + values.value[i];
}

static struct cb_ring_pass new_pass(uint32_t burst, enum cb_wait wait)
{
  struct cb_ring_pass pass = {
      .values = &values, .burst = burst, .wait = wait, .next = 250};
  return pass;
}

static struct cb_ring *new_ring(struct cb_spec *spec, int64_t size)
{
  if (has_option(spec, "wait"))
    assert_int_equal(cb_spec_set_string(spec, "wait", "yield", NULL), 0);
  struct cb_ring *ring = make_ring(spec, size);
  assert_non_null(ring);
  return ring;
}

static void check(const char *label, const char *loop, bool good)
{
  if (!good)
    fail_msg("%s: %s", label, loop);
}

/* Batches that are no multiple of the burst, in a ring that is no multiple of
 * it either: the tail of a batch and the way around the end come along. */
static void visit_pair(struct cb_spec *spec, const char *label, void *context)
{
  static const uint32_t bursts[] = {1, 2, 3, 7, 8, 15, 31};
  (void)context;
  for (size_t i = 0; i < sizeof bursts / sizeof *bursts; i++) {
    struct cb_ring *ring = new_ring(spec, 64);
    const struct cb_ring_loops *loops[] = {ring->loops, &cb_ring_pointer_loops};
    for (int j = 0; j < 2; j++) {
      struct cb_ring_pass pass = new_pass(bursts[i], CB_WAIT_YIELD);
      check(label, "pair", loops[j]->pair(ring, &pass, 1001) == 1001);
      check(label, "pair", loops[j]->pair(ring, &pass, 0) == 0);
      check(label, "pair", loops[j]->pair(ring, &pass, 5) == 5);
      check(label, "pair sums", pass.given == pass.taken && pass.given != 0);
      check(label, "pair leaves some", cb_ring_count(ring) == 0);
    }
    cb_ring_destroy(ring);
  }
}

static void pairs_come_out_again(void **state)
{
  (void)state;
  visit_rings(visit_pair, NULL);
}

/* A ring that frees its slots in batches has no room for a second burst that
 * nearly fills it: the loop ends with what was whole. */
static void a_pair_without_room_ends(void **state)
{
  (void)state;
  struct cb_spec *spec =
      cb_spec_create(cb_family_find("ring"), "ptr_ring", NULL);
  for (int j = 0; j < 2; j++) {
    struct cb_ring *ring = new_ring(spec, 32);
    const struct cb_ring_loops *loops[] = {ring->loops, &cb_ring_pointer_loops};
    struct cb_ring_pass pass = new_pass(31, CB_WAIT_NEVER);
    assert_int_equal(loops[j]->pair(ring, &pass, 31 * 4), 31);
    assert_int_equal(pass.next, 250 + 31);
    assert_int_equal(pass.given, values.value[250] + values.value[280]);
    assert_int_equal(pass.taken, pass.given);
    cb_ring_destroy(ring);
  }
  cb_spec_destroy(spec);
}

/* With CB_WAIT_NEVER a full or an empty ring ends the loop. */
static void visit_ends(struct cb_spec *spec, const char *label, void *context)
{
  (void)context;
  for (uint32_t burst = 1; burst <= 4; burst += 3) {
    struct cb_ring *ring = new_ring(spec, 64);
    const struct cb_ring_loops *loops[] = {ring->loops, &cb_ring_pointer_loops};
    for (int j = 0; j < 2; j++) {
      struct cb_ring_pass in = new_pass(burst, CB_WAIT_NEVER);
      struct cb_ring_pass out = new_pass(burst, CB_WAIT_NEVER);
      uint64_t put = loops[j]->produce(ring, &in, 1000);
      check(label, "produce", put > 64 - 8 && put <= cb_ring_capacity(ring));
      check(label, "produce", put == cb_ring_count(ring) && in.polls == 1);
      check(label, "consume", loops[j]->consume(ring, &out, 1000) == put);
      check(label, "consume", out.polls == 1);
      check(label, "sums", in.given == out.taken);
    }
    cb_ring_destroy(ring);
  }
}

static void loops_end_at_full_and_empty(void **state)
{
  (void)state;
  visit_rings(visit_ends, NULL);
}

/* ---- two threads ---- */

enum { MANY = 5000 };

struct partner {
  struct cb_ring *ring, *back;
  struct cb_ring_pass pass;
  uint64_t done;
};

static void *consume(void *argument)
{
  struct partner *self = argument;
  self->done = self->ring->loops->consume(self->ring, &self->pass, MANY);
  return NULL;
}

static void *pong(void *argument)
{
  struct partner *self = argument;
  self->done =
      self->ring->loops->pong(self->ring, self->back, &self->pass, MANY);
  return NULL;
}

static void visit_stream(struct cb_spec *spec, const char *label, void *context)
{
  static const uint32_t bursts[] = {1, 6, 15};
  (void)context;
  for (int i = 0; i < 3; i++) {
    struct cb_ring *ring = new_ring(spec, 64);
    struct cb_ring_pass pass = new_pass(bursts[i], CB_WAIT_YIELD);
    struct partner partner = {.ring = ring, .pass = pass};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, consume, &partner), 0);
    uint64_t done = ring->loops->produce(ring, &pass, MANY);
    assert_int_equal(pthread_join(thread, NULL), 0);
    check(label, "stream", done == MANY && partner.done == MANY);
    check(label, "stream sums", pass.given == partner.pass.taken);
    check(label, "stream leaves some", cb_ring_count(ring) == 0);
    cb_ring_destroy(ring);
  }
}

static void streams_arrive(void **state)
{
  (void)state;
  visit_rings_between(visit_stream, NULL);
}

static void visit_pingpong(struct cb_spec *spec, const char *label,
                           void *context)
{
  struct cb_ring *there = new_ring(spec, 64), *back = new_ring(spec, 64);
  struct cb_ring_pass pass = new_pass(1, CB_WAIT_YIELD);
  struct partner partner = {.ring = there, .back = back, .pass = pass};
  pthread_t thread;
  (void)context;
  assert_int_equal(pthread_create(&thread, NULL, pong, &partner), 0);
  uint64_t done = there->loops->ping(there, back, &pass, MANY);
  assert_int_equal(pthread_join(thread, NULL), 0);
  check(label, "ping", done == MANY && partner.done == MANY);
  check(label, "ping sums", pass.given == pass.taken);
  cb_ring_destroy(there);
  cb_ring_destroy(back);
}

static void round_trips_return(void **state)
{
  (void)state;
  visit_rings_between(visit_pingpong, NULL);
}

/* A loop that waits for ever is ended by the flag, whatever way it waits. */
static void visit_stop(struct cb_spec *spec, const char *label, void *context)
{
  struct cb_control control;
  struct cb_ring *ring = new_ring(spec, 16);
  (void)context;
  atomic_init(&control.stop, 1);
  for (int wait = CB_WAIT_SPIN; wait <= CB_WAIT_YIELD; wait++) {
    struct cb_ring_pass pass = new_pass(1, (enum cb_wait)wait);
    pass.control = &control;
    check(label, "stop", ring->loops->consume(ring, &pass, 10) == 0);
    check(label, "stop", ring->loops->produce(ring, &pass, 1000) <= 16);
    check(label, "stop", ring->loops->pong(ring, ring, &pass, 0) == 0);
    cb_ring_drain(ring, NULL, NULL);
  }
  cb_ring_destroy(ring);
}

static void the_flag_ends_a_wait(void **state)
{
  (void)state;
  visit_rings(visit_stop, NULL);
}

static void nop_counts(void **state)
{
  (void)state;
  struct cb_spec *spec = cb_spec_create(cb_family_find("ring"), "nop", NULL);
  struct cb_ring *ring = cb_ring_create(spec, NULL);
  struct cb_ring_pass pass = new_pass(8, CB_WAIT_NEVER);
  assert_int_equal(ring->loops->pair(ring, &pass, 100), 100);
  assert_int_equal(ring->loops->produce(ring, &pass, 100), 100);
  assert_int_equal(ring->loops->consume(ring, &pass, 100), 100);
  assert_int_equal(cb_ring_pointer_loops.pair(ring, &pass, 100), 100);
  assert_int_equal(cb_ring_drain(ring, NULL, NULL), 0);
  cb_ring_destroy(ring);
  cb_spec_destroy(spec);
}

int main(void)
{
  fill_values();
  alarm(120);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_come_out_again),
      cmocka_unit_test(a_pair_without_room_ends),
      cmocka_unit_test(loops_end_at_full_and_empty),
      cmocka_unit_test(streams_arrive),
      cmocka_unit_test(round_trips_return),
      cmocka_unit_test(the_flag_ends_a_wait),
      cmocka_unit_test(nop_counts),
  };
  return cmocka_run_group_tests_name("ring_loops", tests, NULL, NULL);
}
