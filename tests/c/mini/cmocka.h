/* cmocka.h - as much of cmocka as the tests that are cross-built need, where
 * the library is not installed for the other processor. */
#ifndef MINI_CMOCKA_H
#define MINI_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
  const char *name;
  void (*test_func)(void **state);
  int (*setup_func)(void **state);
  int (*teardown_func)(void **state);
  void *initial_state;
};

#define cmocka_unit_test(function)                                             \
  {                                                                            \
#function, function, NULL, NULL, NULL                                      \
  }

enum { MINI_FAILED = 1, MINI_SKIPPED };
static jmp_buf mini_test;

#define MINI_REQUIRE(condition, text)                                          \
  do {                                                                         \
    if (!(condition)) {                                                        \
      printf("# %s:%d: %s\n", __FILE__, __LINE__, text);                       \
      longjmp(mini_test, MINI_FAILED);                                         \
    }                                                                          \
  } while (0)

#define assert_true(value) MINI_REQUIRE(value, #value)
#define assert_false(value) MINI_REQUIRE(!(value), "not " #value)
#define assert_null(value) MINI_REQUIRE(!(value), #value " is not NULL")
#define assert_non_null(value) MINI_REQUIRE(value, #value " is NULL")
#define assert_ptr_equal(a, b) MINI_REQUIRE((a) == (b), #a " != " #b)
#define assert_ptr_not_equal(a, b) MINI_REQUIRE((a) != (b), #a " == " #b)
#define assert_int_equal(a, b)                                                 \
  MINI_REQUIRE((intmax_t)(a) == (intmax_t)(b), #a " != " #b)
#define assert_int_not_equal(a, b)                                             \
  MINI_REQUIRE((intmax_t)(a) != (intmax_t)(b), #a " == " #b)
#define assert_string_equal(a, b) MINI_REQUIRE(strcmp(a, b) == 0, #a " != " #b)
#define fail_msg(...)                                                          \
  do {                                                                         \
    printf("# " __VA_ARGS__);                                                  \
    MINI_REQUIRE(0, "");                                                       \
  } while (0)
#define skip() longjmp(mini_test, MINI_SKIPPED)

static inline int mini_run(const struct CMUnitTest *test)
{
  void *state = test->initial_state;
  int result = setjmp(mini_test);
  if (result == 0)
    test->test_func(&state);
  return result;
}

static inline int _cmocka_run_group_tests(const char *group,
                                          const struct CMUnitTest *tests,
                                          size_t count, void *setup,
                                          void *teardown)
{
  int failed = 0;
  (void)group;
  (void)setup;
  (void)teardown;
  printf("1..%zu\n", count);
  for (size_t i = 0; i < count; i++) {
    int result = mini_run(&tests[i]);
    failed += result == MINI_FAILED;
    printf("%sok %zu - %s%s\n", result == MINI_FAILED ? "not " : "", i + 1,
           tests[i].name, result == MINI_SKIPPED ? " # SKIP" : "");
    fflush(stdout);
  }
  return failed;
}

#endif
