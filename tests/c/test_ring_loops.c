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

/* ---- small rings, from every place and every filling ---- */

static const int64_t small_sizes[] = {1, 2, 3, 7, 8, 9, 15, 16, 17};
enum { SMALL_SIZES = sizeof small_sizes / sizeof *small_sizes };

/* Turns the ring until its next element goes to place number `place`, and
 * leaves `fill` of them in it. */
static uint64_t turn_and_fill(struct cb_ring *ring, uint64_t place,
                              uint64_t fill)
{
  uint64_t value, sum = 0;
  for (uint64_t i = 0; i < place; i++) {
    assert_int_equal(cb_ring_enqueue(ring, 7, NULL), 1);
    assert_int_equal(cb_ring_dequeue(ring, &value), 1);
  }
  for (uint64_t i = 0; i < fill; i++) {
    assert_int_equal(cb_ring_enqueue(ring, 9000 + i, NULL), 1);
    sum += 9000 + i;
  }
  return sum;
}

static void add(void *context, uint64_t value)
{
  *(uint64_t *)context += value;
}

/* Single elements into a ring with `fill` in it: as many as asked for, none
 * when it is full, and how many it likes where it frees slots in batches. */
static void pairs_behind(struct cb_spec *spec, int64_t size, int by_pointer,
                         uint64_t place, uint64_t fill, const char *label)
{
  struct cb_ring *ring = new_ring(spec, size);
  uint64_t capacity = cb_ring_capacity(ring), n = 2 * capacity + place % 2;
  uint64_t sum = turn_and_fill(ring, place, fill), left = 0;
  const struct cb_ring_loops *loops =
      by_pointer ? &cb_ring_pointer_loops : ring->loops;
  struct cb_ring_pass pass = new_pass(1, CB_WAIT_NEVER);
  uint64_t done = loops->pair(ring, &pass, n);
  if (!ring->limits.lazy_free)
    check(label, "pairs end early", done == (fill < capacity ? n : 0));
  check(label, "pairs count", done <= n && pass.next == 250 + done);
  check(label, "pairs add", cb_ring_count(ring) == fill);
  cb_ring_drain(ring, add, &left);
  check(label, "pairs sum", pass.given + sum == pass.taken + left);
  cb_ring_destroy(ring);
}

/* Until it is full, and then until it is empty. */
static void ends_behind(struct cb_spec *spec, int64_t size, int by_pointer,
                        uint64_t place, uint64_t fill, const char *label)
{
  struct cb_ring *ring = new_ring(spec, size);
  uint64_t capacity = cb_ring_capacity(ring), free;
  uint64_t sum = turn_and_fill(ring, place, fill);
  const struct cb_ring_loops *loops =
      by_pointer ? &cb_ring_pointer_loops : ring->loops;
  struct cb_ring_pass in = new_pass(1, CB_WAIT_NEVER);
  struct cb_ring_pass out = new_pass(1, CB_WAIT_NEVER);
  free = cb_ring_free_count(ring);
  check(label, "fills", loops->produce(ring, &in, capacity + 5) == free);
  check(label, "fills", in.next == 250 + free && in.polls == 1);
  check(label, "empties", loops->consume(ring, &out, 1) == 1);
  check(label, "empties",
        loops->consume(ring, &out, capacity + 5) == fill + free - 1);
  check(label, "empties", out.polls == 1 && cb_ring_count(ring) == 0);
  check(label, "fills and empties", in.given + sum == out.taken);
  cb_ring_destroy(ring);
}

static void visit_small(struct cb_spec *spec, const char *label, void *context)
{
  (void)context;
  for (int i = 0; i < SMALL_SIZES; i++) {
    struct cb_ring *ring = make_ring(spec, small_sizes[i]);
    uint64_t capacity = ring ? cb_ring_capacity(ring) : 0;
    cb_ring_destroy(ring);
    if (capacity > 17)
      continue; /* some round up a lot */
    for (uint64_t place = 0; place < capacity; place++)
      for (uint64_t fill = 0; fill <= capacity; fill++) {
        int by_pointer = (place + fill) % 3 == 0;
        pairs_behind(spec, small_sizes[i], by_pointer, place, fill, label);
        ends_behind(spec, small_sizes[i], by_pointer, place, fill, label);
      }
  }
}

static void small_rings_end_where_they_should(void **state)
{
  (void)state;
  visit_rings(visit_small, NULL);
}

/* Slots come back by eights: behind 29, 30 and 31 of 32 elements there is room
 * for three pairs, two and one. The loop does two a turn; no end is lost. */
static void single_pairs_end_at_any_number(void **state)
{
  (void)state;
  struct cb_spec *spec =
      cb_spec_create(cb_family_find("ring"), "ptr_ring", NULL);
  for (uint64_t room = 1; room <= 7; room++) {
    struct cb_ring *ring = new_ring(spec, 32);
    struct cb_ring_pass pass = new_pass(1, CB_WAIT_NEVER);
    uint64_t sum = turn_and_fill(ring, 0, 32 - room), left = 0;
    assert_int_equal(ring->loops->pair(ring, &pass, 100), room);
    assert_int_equal(pass.next, 250 + room);
    assert_int_equal(pass.given, 250 * room + room * (room + 1) / 2);
    cb_ring_drain(ring, add, &left);
    assert_int_equal(pass.given + sum, pass.taken + left);
    cb_ring_destroy(ring);
  }
  cb_spec_destroy(spec);
}

/* ---- no room ---- */

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

enum { MANY = 5001 };

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

static void stream(struct cb_ring *ring, uint32_t burst, const char *label)
{
  struct cb_ring_pass pass = new_pass(burst, CB_WAIT_YIELD);
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

/* A number that is odd, so that loops of two a turn have one left, and in rings
 * whose end falls anywhere. */
static void visit_stream(struct cb_spec *spec, const char *label, void *context)
{
  static const uint32_t bursts[] = {1, 6, 15};
  (void)context;
  for (int i = 0; i < 3; i++)
    stream(new_ring(spec, 64), bursts[i], label);
  for (int i = 0; i < SMALL_SIZES; i++) {
    struct cb_ring *ring = make_ring(spec, small_sizes[i]);
    if (ring)
      stream(ring, 1, label);
  }
}

static void streams_arrive(void **state)
{
  (void)state;
  visit_rings_between(visit_stream, NULL);
}

static void pingpong(struct cb_ring *there, struct cb_ring *back,
                     const char *label)
{
  struct cb_ring_pass pass = new_pass(1, CB_WAIT_YIELD);
  struct partner partner = {.ring = there, .back = back, .pass = pass};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, pong, &partner), 0);
  uint64_t done = there->loops->ping(there, back, &pass, MANY);
  assert_int_equal(pthread_join(thread, NULL), 0);
  check(label, "ping", done == MANY && partner.done == MANY);
  check(label, "ping sums", pass.given == pass.taken);
  cb_ring_destroy(there);
  cb_ring_destroy(back);
}

/* The way there and the way back may have their ends at different places. */
static void visit_pingpong(struct cb_spec *spec, const char *label,
                           void *context)
{
  (void)context;
  pingpong(new_ring(spec, 64), new_ring(spec, 64), label);
  for (int i = 0; i < SMALL_SIZES; i++) {
    struct cb_ring *there = make_ring(spec, small_sizes[i]);
    if (there)
      pingpong(there, new_ring(spec, 64), label);
  }
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
      cmocka_unit_test(small_rings_end_where_they_should),
      cmocka_unit_test(single_pairs_end_at_any_number),
      cmocka_unit_test(a_pair_without_room_ends),
      cmocka_unit_test(loops_end_at_full_and_empty),
      cmocka_unit_test(streams_arrive),
      cmocka_unit_test(round_trips_return),
      cmocka_unit_test(the_flag_ends_a_wait),
      cmocka_unit_test(nop_counts),
  };
  return cmocka_run_group_tests_name("ring_loops", tests, NULL, NULL);
}
