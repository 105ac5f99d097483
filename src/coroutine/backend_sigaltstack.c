/*
 * backend_sigaltstack.c - created by taking a signal on the new stack, switched
 * by sigsetjmp, as QEMU's util/coroutine-sigaltstack.c: for systems without
 * ucontext.
 *
 * The handler leaves a jump buffer and returns, so the signal is over. Jumping
 * back into the handler's frame, which nobody has overwritten, makes an
 * ordinary context of it. All signals are blocked meanwhile, lest one of the
 * application's be taken on that stack. Handler, alternate stack and mask are
 * then the application's again. A process-wide lock keeps two threads from
 * borrowing the handler at once; a signal of that number that comes to another
 * thread while it is borrowed is lost, which is why the number can be chosen.
 */
#include "coroutine/jump.h"

#include "coroutine/kinds.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static pthread_mutex_t borrowing = PTHREAD_MUTEX_INITIALIZER;
/* Whom the handler works for; of the borrowing thread alone. */
static struct jumper *_Atomic newborn;
static pthread_t borrower;

/* First on the new stack as a signal handler; then, by a jump, as the first
 * frame of the coroutine. */
static void trampoline(int signal)
{
  struct jumper *jumper = atomic_load_explicit(&newborn, memory_order_relaxed);
  (void)signal;
  if (!jumper || !pthread_equal(pthread_self(), borrower))
    return;
  atomic_store_explicit(&newborn, NULL, memory_order_relaxed);
  /* ThreadSanitizer keeps jump buffers by fibre. */
  void *fiber = cb_visit_inside(&jumper->coroutine);
  if (sigsetjmp(jumper->inside, 0) == 0) {
    cb_end_visit(fiber);
    return;
  }
  jump_park(jumper);
}

/* Takes the signal on the stack: one that a thread sends itself is taken
 * before the call returns, unless it is blocked. */
static int visit(struct jumper *jumper, int signal)
{
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  borrower = pthread_self();
  atomic_store_explicit(&newborn, jumper, memory_order_relaxed);
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
  pthread_kill(borrower, signal);
  pthread_sigmask(SIG_BLOCK, &one, NULL);
  return atomic_exchange_explicit(&newborn, NULL, memory_order_relaxed)
             ? -EINVAL
             : 0;
}

/* The stack that is no longer the alternate one is about to be run on. */
static void give_stack_back(const stack_t *before)
{
  if (cb_under_valgrind()) { /* goes by the last one, even if disabled */
    static char elsewhere[32768];
    stack_t other = {.ss_sp = elsewhere, .ss_size = sizeof elsewhere};
    sigaltstack(&other, NULL);
  }
  sigaltstack(before, NULL);
}

static int borrow_stack(struct jumper *jumper, int signal,
                        struct cb_error *error)
{
  const struct cb_stack *stack = &jumper->coroutine.stack;
  stack_t before,
      now = {.ss_sp = stack->low, .ss_size = (size_t)(stack->top - stack->low)};
  if (sigaltstack(&now, &before) < 0)
    return cb_fail(error, -errno, "sigaltstack failed: %s%s", strerror(errno),
                   errno == EPERM ? " (this runs on an alternate stack)" : "");
  int status = visit(jumper, signal);
  give_stack_back(&before);
  return status < 0 ? cb_fail(error, status, "signal %d was not taken", signal)
                    : 0;
}

static int borrow_handler(struct jumper *jumper, int signal,
                          struct cb_error *error)
{
  struct sigaction before,
      now = {.sa_handler = trampoline, .sa_flags = SA_ONSTACK};
  sigfillset(&now.sa_mask);
  pthread_mutex_lock(&borrowing);
  int status = sigaction(signal, &now, &before) < 0 ? -errno : 0;
  if (status < 0) {
    cb_fail(error, status, "no handler for signal %d: %s", signal,
            strerror(-status));
  } else {
    status = borrow_stack(jumper, signal, error);
    sigaction(signal, &before, NULL);
  }
  pthread_mutex_unlock(&borrowing);
  return status;
}

/* From the handler's frame to a context of its own. */
static void start(struct jumper *jumper)
{
  cb_revive(&jumper->coroutine);
  if (sigsetjmp(jumper->outside, 0) == 0) {
    jumper->fake_outside = cb_leave_outside(&jumper->coroutine);
    siglongjmp(jumper->inside, 1);
  }
  cb_back_outside(jumper->fake_outside);
}

static int sigaltstack_prepare(struct cb_coroutine *coroutine, int signal,
                               struct cb_error *error)
{
  struct jumper *jumper = jumper_of(coroutine);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int status = borrow_handler(jumper, signal, error);
  if (status == 0)
    start(jumper);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

static int sigaltstack_configure(const struct cb_spec *spec, int *setting,
                                 struct cb_error *error)
{
  struct sigaction now;
  int signal = (int)cb_spec_integer(spec, "signal");
  *setting = signal;
  if (signal == SIGKILL || signal == SIGSTOP ||
      sigaction(signal, NULL, &now) < 0)
    return cb_fail(error, -EINVAL, "option 'signal': %d cannot be caught",
                   signal);
  return 0;
}

CB_HOT int sigaltstack_enter_raw(struct cb_coroutine *coroutine)
{
  return jump_enter(coroutine);
}

CB_HOT int sigaltstack_yield(void)
{
  return jump_yield();
}

#define CB_BACKEND sigaltstack
#include "coroutine/coroutine_loops.h"

#define TEXT_(number) #number
#define TEXT(number) TEXT_(number)

static const struct cb_option options[] = {
    {.name = "signal",
     .type = CB_INTEGER,
     .preset = TEXT(SIGUSR2),
     .min = 1,
     .max = 64,
     .help = "number of the signal that is borrowed to create (SIGUSR2)"},
    {.name = NULL}};

const struct cb_backend cb_backend_sigaltstack = {
    .kind.name = "sigaltstack",
    .kind.summary = "created by a signal on its stack, switched by sigsetjmp",
    .kind.options = options,
    .size = sizeof(struct jumper),
    .stack_min = 16384,
    .configure = sigaltstack_configure,
    .prepare = sigaltstack_prepare,
    .enter = jump_enter,
    .yield = jump_yield,
    .loops = &sigaltstack_loops};
