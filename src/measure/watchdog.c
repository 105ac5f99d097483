/* A jump from a body's stack, which may be a coroutine's, looks like a fault to
 * the checked longjmp. */
#undef _FORTIFY_SOURCE
#include "config.h"

#include "measure/watchdog.h"

#include "base/ticks.h"

#include <errno.h>

static const double look_every = 0.25;
static const double between_stages = 1;

/* ---- the body's side ----------------------------------------------------- */

static _Thread_local struct cb_escape *escape;

/* SIGURG: ignored by default, so one that comes late does no harm. */
static void jump_out(int number)
{
  (void)number;
  struct cb_escape *way = escape;
  if (way && atomic_exchange_explicit(&way->armed, false, memory_order_relaxed))
    siglongjmp(way->jump, 1);
}

void cb_slot_time(struct cb_slot *slot, void *state, uint64_t n)
{
  uint64_t (*run)(void *, unsigned, uint64_t) = slot->role->run;
  slot->escaped = false;
  slot->operations = 0;
  escape = &slot->escape;
  if (sigsetjmp(slot->escape.jump, 0) == 0) {
    atomic_store_explicit(&slot->escape.armed, true, memory_order_relaxed);
    slot->start = cb_ticks_begin();
    slot->operations = run(state, slot->thread, n);
    slot->stop = cb_ticks_end();
    atomic_store_explicit(&slot->escape.armed, false, memory_order_relaxed);
  } else {
    slot->stop = cb_ticks_end();
    slot->escaped = true;
  }
  escape = NULL;
}

/* ---- the dog ------------------------------------------------------------- */

static void force(struct cb_watchdog *dog)
{
  struct cb_runner *runner = dog->runner;
  if (!dog->installed) {
    struct sigaction action = {.sa_handler = jump_out, .sa_flags = SA_NODEFER};
    sigemptyset(&action.sa_mask);
    dog->installed = sigaction(SIGURG, &action, &dog->previous) == 0;
  }
  for (unsigned i = 0; i < runner->threads && dog->installed; i++)
    if (atomic_load_explicit(&runner->slots[i].escape.armed,
                             memory_order_relaxed))
      pthread_kill(runner->slots[i].id, SIGURG);
}

/* A Lua interpreter must not be jumped out of: its state would be left pointing
 * into a dead frame. */
static bool may_force(const struct cb_runner *runner)
{
  return !(runner->work->flags & CB_KIND_INTERPRETER);
}

static void warn(struct cb_watchdog *dog)
{
  struct cb_runner *runner = dog->runner;
  const struct cb_measure_options *options = dog->options;
  dog->fired = true;
  if (dog->stage == 0) {
    atomic_store_explicit(&runner->control.stop, 1, memory_order_relaxed);
    if (runner->work->interrupt)
      runner->work->interrupt(runner->work->state);
  } else if (dog->stage == 1 && options->hung) {
    options->hung(options->data, runner->variant->name);
  } else if (dog->stage >= 1 && may_force(runner)) {
    force(dog);
  }
  dog->stage++;
}

static double limit(const struct cb_watchdog *dog)
{
  double grace = dog->options->grace > 0 ? dog->options->grace : 5;
  double limit = dog->deadline > dog->since ? dog->deadline : dog->since;
  limit += grace;
  if (dog->stop_seen > 0 && dog->stop_seen + between_stages < limit)
    limit = dog->stop_seen + between_stages;
  double cap = dog->runner->work->batch_cap;
  if (cap > 0 && dog->since + cap < limit)
    limit = dog->since + cap;
  return limit + dog->stage * between_stages;
}

static void look(struct cb_watchdog *dog)
{
  const struct cb_control *control = dog->options->control;
  double now = cb_seconds();
  if (control && dog->stop_seen <= 0 &&
      atomic_load_explicit(&control->stop, memory_order_relaxed))
    dog->stop_seen = now;
  if (dog->runner && now > limit(dog))
    warn(dog);
}

static void *watch(void *argument)
{
  struct cb_watchdog *dog = argument;
  pthread_mutex_lock(&dog->mutex);
  while (!dog->quit) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(look_every * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&dog->wake, &dog->mutex, &until);
    look(dog);
  }
  pthread_mutex_unlock(&dog->mutex);
  return NULL;
}

int cb_watchdog_start(struct cb_watchdog *dog,
                      const struct cb_measure_options *options, double deadline)
{
  sigset_t all, before;
  pthread_condattr_t attributes;
  *dog = (struct cb_watchdog){.options = options, .deadline = deadline};
  pthread_mutex_init(&dog->mutex, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&dog->wake, &attributes);
  pthread_condattr_destroy(&attributes);

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int status = pthread_create(&dog->thread, NULL, watch, dog);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (status != 0) {
    pthread_cond_destroy(&dog->wake);
    pthread_mutex_destroy(&dog->mutex);
  }
  return -status;
}

void cb_watchdog_stop(struct cb_watchdog *dog)
{
  pthread_mutex_lock(&dog->mutex);
  dog->quit = true;
  pthread_cond_signal(&dog->wake);
  pthread_mutex_unlock(&dog->mutex);
  pthread_join(dog->thread, NULL);
  if (dog->installed)
    sigaction(SIGURG, &dog->previous, NULL);
  pthread_cond_destroy(&dog->wake);
  pthread_mutex_destroy(&dog->mutex);
}

void cb_watchdog_enter(struct cb_watchdog *dog, struct cb_runner *runner)
{
  pthread_mutex_lock(&dog->mutex);
  dog->runner = runner;
  dog->since = cb_seconds();
  dog->stage = 0;
  pthread_mutex_unlock(&dog->mutex);
}

bool cb_watchdog_leave(struct cb_watchdog *dog)
{
  pthread_mutex_lock(&dog->mutex);
  bool warned = dog->stage > 0;
  dog->runner = NULL;
  pthread_mutex_unlock(&dog->mutex);
  return warned;
}

void cb_watchdog_extend(struct cb_watchdog *dog, double seconds)
{
  pthread_mutex_lock(&dog->mutex);
  dog->deadline += seconds;
  pthread_mutex_unlock(&dog->mutex);
}
