/* ring_team.h - threads that do the same on one ring. */
#ifndef CB_TEST_RING_TEAM_H
#define CB_TEST_RING_TEAM_H

#include "test.h"

#include "base/cpu.h"
#include "rings.h"

#include <pthread.h>

enum { THREADS_MAX = 8 };

/* ThreadSanitizer makes everything dozens of times as long. */
#if CB_TSAN
enum { EFFORT = 1 };
#else
enum { EFFORT = 2 };
#endif

struct team;

struct member {
  struct team *team;
  unsigned index;
  pthread_t id;
  uint64_t seed;
  char trouble[160];
};

/* Threads that do the same on one ring. */
struct team {
  struct cb_ring *ring;
  unsigned producers, consumers, size;
  pthread_barrier_t start;
  void (*body)(struct member *member);
  void *data;
  struct member members[THREADS_MAX];
};

static void *member_main(void *argument)
{
  struct member *member = argument;
  pthread_barrier_wait(&member->team->start);
  member->team->body(member);
  return NULL;
}

/* Runs the team to its end; what went wrong is told on this thread. */
static void team_run(struct team *team, const char *label, uint64_t *seed)
{
  assert_int_equal(pthread_barrier_init(&team->start, NULL, team->size), 0);
  for (unsigned i = 0; i < team->size; i++) {
    struct member *member = &team->members[i];
    *member = (struct member){.team = team, .index = i, .seed = draw(seed)};
    assert_int_equal(pthread_create(&member->id, NULL, member_main, member), 0);
  }
  for (unsigned i = 0; i < team->size; i++)
    assert_int_equal(pthread_join(team->members[i].id, NULL), 0);
  pthread_barrier_destroy(&team->start);
  for (unsigned i = 0; i < team->size; i++)
    if (team->members[i].trouble[0])
      fail_msg("%s, %u + %u threads: %s", label, team->producers,
               team->consumers, team->members[i].trouble);
}

/* A ring whose waiters give way: there are more threads than CPUs. */
static struct cb_ring *yielding_ring(struct cb_spec *spec, int64_t size)
{
  if (has_option(spec, "wait"))
    assert_int_equal(cb_spec_set_string(spec, "wait", "yield", NULL), 0);
  return make_ring(spec, size);
}

#endif
