/* Stacks: their size and guard, how deep they were used, what happens when
 * there are too many, and when one overflows. */
#include "backends.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu.h"
#include "coroutine/annotate.h"

static long resident_pages(void)
{
  long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
  fclose(file);
  return resident;
}

static void sizes_are_checked_before_mapping(void **state)
{
  (void)state;
  struct cb_stack stack;
  struct cb_error error;
  struct cb_stack_options options = {.size = CB_STACK_MIN - 1};
  assert_int_equal(cb_stack_map(&stack, &options, 0, &error), -EINVAL);
  assert_string_equal(
      error.text,
      "option 'stack_size': 4095 is out of range [4096, 1073741824]");
  options.size = CB_STACK_MAX + 1;
  assert_int_equal(cb_stack_map(&stack, &options, 0, &error), -EINVAL);
  options.size = SIZE_MAX;
  assert_int_equal(cb_stack_map(&stack, &options, 0, &error), -EINVAL);
  options.size = CB_STACK_MAX;
  assert_int_equal(cb_stack_map(&stack, &options, 0, &error), 0);
  assert_int_equal(stack.top - stack.low, CB_STACK_MAX);
  cb_stack_unmap(&stack);
}

static void size_is_rounded_up(void **state)
{
  (void)state;
  struct cb_stack stack;
  struct cb_stack_options options = {.size = 5000};
  assert_int_equal(cb_stack_map(&stack, &options, 0, NULL), 0);
  assert_int_equal((stack.top - stack.low) % sysconf(_SC_PAGESIZE), 0);
  assert_true(stack.top - stack.low >= 5000);
  assert_true(stack.guard == CB_GUARD_MADVISE ||
              stack.guard == CB_GUARD_MPROTECT);
  memset(stack.low, 1, (size_t)(stack.top - stack.low));
  cb_stack_unmap(&stack);
}

static void colours_differ_and_leave_the_size(void **state)
{
  (void)state;
  struct cb_stack_options options = {.size = 4096, .colour = true};
  uintptr_t seen[61];
  for (unsigned i = 0; i < 61; i++) {
    struct cb_stack stack;
    assert_int_equal(cb_stack_map(&stack, &options, i, NULL), 0);
    assert_int_equal((uintptr_t)stack.top % 64, 0);
    assert_true(stack.top - stack.low >= 4096);
    seen[i] = (uintptr_t)stack.top % 4096;
    for (unsigned j = 0; j < i; j++)
      assert_true(seen[i] != seen[j]);
    cb_stack_unmap(&stack);
  }
}

static void high_water_mark_is_the_deepest_word(void **state)
{
  (void)state;
  struct cb_stack stack;
  struct cb_stack_options options = {.size = 1 << 20};
  assert_int_equal(cb_stack_map(&stack, &options, 0, NULL), 0);
  assert_int_equal(cb_stack_high_water(&stack), 0);
  stack.top[-10000] = 1;
  assert_int_equal(cb_stack_high_water(&stack), 10000);
  stack.top[-800000] = 1;
  stack.top[-700000] = 1;
  assert_int_equal(cb_stack_high_water(&stack), 800000);
  cb_stack_trim(&stack, stack.top - 12000);
  assert_int_equal(cb_stack_high_water(&stack), 10000);
  cb_stack_unmap(&stack);
}

static void trim_gives_memory_back(void **state)
{
  (void)state;
  struct cb_stack stack;
  struct cb_stack_options options = {.size = 64 << 20};
  assert_int_equal(cb_stack_map(&stack, &options, 0, NULL), 0);
  memset(stack.low, 1, (size_t)(stack.top - stack.low));
  long full = resident_pages();
  cb_stack_trim(&stack, stack.top);
  long page = sysconf(_SC_PAGESIZE);
  assert_true(full - resident_pages() > (60 << 20) / page);
  cb_stack_unmap(&stack);
}

/* ---- overflow ---- */

static struct cb_coroutine *overflowing;

/* Says by its exit status where the fault was. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
  (void)signal;
  (void)context;
  const struct cb_stack *stack = cb_coroutine_stack(overflowing);
  const char *at = info->si_addr;
  _exit(at >= (char *)stack->base && at < stack->low ? 42 : 43);
}

static int recurse(int depth)
{
  char room[256];
  memset(room, depth, sizeof room);
  return depth <= 0 ? 0 : recurse(depth - 1) + room[depth % 256];
}

static void overflow(void *opaque)
{
  *(int *)opaque = recurse(1000000);
}

static void overflow_in_child(const char *backend, enum cb_guard guard)
{
  static char memory[65536];
  stack_t alternate = {.ss_sp = memory, .ss_size = sizeof memory};
  struct sigaction action = {.sa_sigaction = on_fault,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK};
  struct cb_stack_options options = {.size = 65536, .guard = guard};
  struct cb_pool *pool = new_pool(backend, "none", &options);
  int sum = 0;
  overflowing = cb_coroutine_create(pool, overflow, &sum, NULL);
  sigaltstack(&alternate, NULL);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  cb_coroutine_enter(overflowing);
  _exit(44);
}

static int status_of_overflow(const char *backend, enum cb_guard guard)
{
  int status = 0;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0)
    overflow_in_child(backend, guard);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void an_overflow_dies_in_the_guard(void **state)
{
  struct cb_stack stack;
  struct cb_stack_options options = {.guard = CB_GUARD_MADVISE};
  assert_int_equal(status_of_overflow(*state, CB_GUARD_MPROTECT), 42);
  if (cb_stack_map(&stack, &options, 0, NULL) == 0) {
    cb_stack_unmap(&stack);
    assert_int_equal(status_of_overflow(*state, CB_GUARD_MADVISE), 42);
  }
}

/* ---- many ---- */

struct crowd {
  int inside;
};

static void be_counted(void *opaque)
{
  struct crowd *crowd = opaque;
  crowd->inside++;
  cb_coroutine_yield();
  crowd->inside--;
}

/* That many alive at once, or an error that says which limit it was. */
static size_t gather(struct cb_pool *pool, struct cb_coroutine **coroutines,
                     size_t count, struct crowd *crowd, struct cb_error *error)
{
  size_t i;
  for (i = 0; i < count; i++) {
    coroutines[i] = cb_coroutine_create(pool, be_counted, crowd, error);
    if (!coroutines[i])
      break;
    assert_int_equal(cb_coroutine_enter(coroutines[i]), CB_YIELD);
  }
  return i;
}

static void disperse(struct cb_coroutine **coroutines, size_t count)
{
  for (size_t i = 0; i < count; i++) /* not in the order of creation */
    assert_int_equal(cb_coroutine_enter(coroutines[i * 7919 % count]),
                     CB_TERMINATE);
}

/* The stacks are the same under all. ThreadSanitizer needs milliseconds for
 * each, and Valgrind has room for some 30000 mappings. */
static size_t live_goal(const char *backend)
{
  bool few = CB_TSAN || cb_under_valgrind();
  if (strcmp(backend, CB_BACKEND_PRESET) == 0)
    return few ? 4000 : 40000;
  return few ? 100 : strcmp(backend, "ucontext") == 0 ? 40000 : 4000;
}

static void many_live_at_once(void **state)
{
  size_t count = live_goal(*state);
  struct cb_stack_options options = {.size = 16384};
  struct cb_pool *pool = new_pool(*state, "none", &options);
  struct cb_coroutine **coroutines = calloc(count, sizeof *coroutines);
  struct crowd crowd = {0};
  struct cb_error error = {0};
  assert_non_null(coroutines);
  size_t made = gather(pool, coroutines, count, &crowd, &error);
  if (made < count) {
    assert_int_equal(error.code, -ENOMEM);
    assert_non_null(strstr(error.text, "vm.max_map_count"));
    for (size_t i = 0; i < made; i++)
      assert_int_equal(cb_coroutine_destroy(coroutines[i]), 0);
  } else {
    assert_int_equal(crowd.inside, count);
    assert_int_equal(stats_of(pool).live, count);
    disperse(coroutines, count);
    assert_int_equal(crowd.inside, 0);
  }
  free(coroutines);
  end_pool(pool);
}

static long map_limit(void)
{
  long limit = 0;
  FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
  if (file && fscanf(file, "%ld", &limit) != 1)
    limit = 0;
  if (file)
    fclose(file);
  return limit;
}

/* Two mappings a stack run out; what was made is freed, and then it works. */
static void exhaustion_is_an_error(void **state)
{
  (void)state;
  long limit = map_limit();
  if (SANITIZED || cb_under_valgrind() || limit <= 0 || limit > 100000) {
    skip();
    return;
  }
  size_t count = (size_t)limit / 2 + 1000, made = 0;
  struct cb_stack_options options = {.size = 4096, .guard = CB_GUARD_MPROTECT};
  struct cb_stack *stacks = calloc(count, sizeof *stacks);
  struct cb_error error = {0};
  assert_non_null(stacks);
  while (made < count && cb_stack_map(&stacks[made], &options, 0, &error) == 0)
    made++;
  assert_true(made < count);
  assert_int_equal(error.code, -ENOMEM);
  assert_non_null(strstr(error.text, "vm.max_map_count"));
  while (made)
    cb_stack_unmap(&stacks[--made]);
  assert_int_equal(cb_stack_map(stacks, &options, 0, &error), 0);
  cb_stack_unmap(stacks);
  free(stacks);
}

static void a_missing_guard_is_told(void **state)
{
  (void)state;
  struct cb_stack stack;
  struct cb_error error = {0};
  struct cb_stack_options options = {.guard = CB_GUARD_MADVISE};
  int status = cb_stack_map(&stack, &options, 0, &error);
  if (status == 0) {
    assert_int_equal(stack.guard, CB_GUARD_MADVISE);
    cb_stack_unmap(&stack);
  } else {
    assert_int_equal(status, -ENOTSUP);
    assert_non_null(strstr(error.text, "MADV_GUARD_INSTALL"));
  }
  options.guard = CB_GUARD_NONE;
  assert_int_equal(cb_stack_map(&stack, &options, 0, &error), 0);
  assert_int_equal(stack.guard, CB_GUARD_NONE);
  assert_ptr_equal(stack.base, stack.low);
  cb_stack_unmap(&stack);
}

/* A coroutine on the smallest stack, of every back end. */
static void set_one(void *opaque)
{
  *(int *)opaque = 1;
}

static void the_smallest_stack_works(void **state)
{
  struct cb_stack_options options = {.size = CB_STACK_MIN};
  struct cb_pool *pool = new_pool(*state, "none", &options);
  int done = 0;
  struct cb_coroutine *coroutine =
      cb_coroutine_create(pool, set_one, &done, NULL);
  assert_non_null(coroutine);
  assert_int_equal(cb_coroutine_enter(coroutine), CB_TERMINATE);
  assert_int_equal(done, 1);
  end_pool(pool);
}

int main(void)
{
  alarm(300);
  static const struct CMUnitTest plain[] = {
      cmocka_unit_test(sizes_are_checked_before_mapping),
      cmocka_unit_test(size_is_rounded_up),
      cmocka_unit_test(colours_differ_and_leave_the_size),
      cmocka_unit_test(high_water_mark_is_the_deepest_word),
      cmocka_unit_test(trim_gives_memory_back),
      cmocka_unit_test(a_missing_guard_is_told),
      cmocka_unit_test(exhaustion_is_an_error)};
  static const struct CMUnitTest on_each[] = {
      cmocka_unit_test(an_overflow_dies_in_the_guard),
      cmocka_unit_test(the_smallest_stack_works),
      cmocka_unit_test(many_live_at_once)};
  return run_on_kinds("stack", &cb_backend_family, plain, 7, on_each, 3);
}
