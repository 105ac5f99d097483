/* A spec checks every value against its option, and says what was wrong. */
#include "test.h"

#include <errno.h>
#include <string.h>

static const struct cb_option fruit_options[] = {
    {.name = "size",
     .type = CB_INTEGER,
     .preset = "64",
     .min = 1,
     .max = 1024,
     .help = "how many"},
    {.name = "share",
     .type = CB_NUMBER,
     .preset = "0.5",
     .min = 0,
     .max = 1,
     .help = "a fraction"},
    {.name = "ripe", .type = CB_BOOLEAN, .preset = "true", .help = "or not"},
    {.name = "wait",
     .type = CB_CHOICE,
     .preset = "spin",
     .choices = "spin|pause|yield",
     .help = "how to wait"},
    {.name = NULL}};
static const struct cb_kind apple = {
    .name = "apple", .summary = "a fruit", .options = fruit_options};
static const struct cb_kind *const fruits[] = {&apple, NULL};
static const struct cb_family fruit = {.name = "fruit", .kinds = fruits};

static void defaults_stand(void **state)
{
  (void)state;
  struct cb_spec *spec = cb_spec_create(&fruit, "apple", NULL);
  assert_non_null(spec);
  assert_int_equal(cb_spec_integer(spec, "size"), 64);
  assert_true(cb_spec_number(spec, "share") == 0.5);
  assert_true(cb_spec_boolean(spec, "ripe"));
  assert_string_equal(cb_spec_string(spec, "wait"), "spin");
  cb_spec_destroy(spec);
}

static void range_is_named(void **state)
{
  (void)state;
  struct cb_error error;
  struct cb_spec *spec = cb_spec_create(&fruit, "apple", NULL);
  assert_int_equal(cb_spec_set_integer(spec, "size", 0, &error), -EINVAL);
  assert_string_equal(error.text, "option 'size': 0 is out of range [1, 1024]");
  assert_int_equal(cb_spec_set_number(spec, "size", 1.5, &error), -EINVAL);
  assert_string_equal(error.text, "option 'size': 1.5 is not a whole number");
  assert_int_equal(cb_spec_set_number(spec, "size", 8.0, &error), 0);
  assert_int_equal(cb_spec_integer(spec, "size"), 8);
  cb_spec_destroy(spec);
}

static void nearest_name_is_suggested(void **state)
{
  (void)state;
  struct cb_error error;
  struct cb_spec *spec = cb_spec_create(&fruit, "apple", NULL);
  assert_int_equal(cb_spec_set_integer(spec, "szie", 1, &error), -ENOENT);
  assert_non_null(strstr(error.text, "did you mean 'size'?"));
  assert_int_equal(cb_spec_set_string(spec, "wait", "yeild", &error), -EINVAL);
  assert_non_null(strstr(error.text, "did you mean 'yield'?"));
  assert_null(cb_spec_create(&fruit, "appel", &error));
  assert_string_equal(error.text,
                      "unknown fruit 'appel' (did you mean 'apple'?)");
  cb_spec_destroy(spec);
}

static void types_are_checked(void **state)
{
  (void)state;
  struct cb_error error;
  struct cb_spec *spec = cb_spec_create(&fruit, "apple", NULL);
  assert_int_equal(cb_spec_set_string(spec, "size", "ten", &error), -EINVAL);
  assert_string_equal(error.text,
                      "option 'size': integer expected, got a string");
  assert_int_equal(cb_spec_set_boolean(spec, "wait", true, &error), -EINVAL);
  cb_spec_destroy(spec);
}

static void added_kinds_come_last(void **state)
{
  (void)state;
  static const struct cb_kind pear = {.name = "pear", .summary = "another"};
  assert_int_equal(cb_kind_add(&fruit, &pear, NULL), 0);
  assert_int_equal(cb_kind_add(&fruit, &pear, NULL), -EEXIST);
  assert_ptr_equal(cb_kind_at(&fruit, 0), &apple);
  assert_ptr_equal(cb_kind_at(&fruit, 1), &pear);
  assert_null(cb_kind_at(&fruit, 2));
  assert_ptr_equal(cb_kind_find(&fruit, "pear", NULL), &pear);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_stand), cmocka_unit_test(range_is_named),
      cmocka_unit_test(nearest_name_is_suggested),
      cmocka_unit_test(types_are_checked),
      cmocka_unit_test(added_kinds_come_last)};
  return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
