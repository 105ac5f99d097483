/*
 * measure.c - libcbench in a program of one's own, without Lua: a loop of
 * yours beside a kind of cbench, measured together and compared.
 *
 *   make measure && ./measure
 */
#include <cbench.h>

#include <stdio.h>
#include <stdlib.h>

/* What is measured: n operations and nothing else. */
static uint64_t divide(void *state, unsigned thread, uint64_t n)
{
  uint64_t *value = state;
  (void)thread;
  for (uint64_t i = 0; i < n; i++)
    *value = 0xffffffffffffffff / (*value | 1);
  return n;
}

static const struct cb_role divider = {
    .name = "divider", .threads = 1, .run = divide};

static int fail(const struct cb_error *error)
{
  fprintf(stderr, "measure: %s\n", error->text);
  return EXIT_FAILURE;
}

/* "chain", a kind of cbench: additions that each wait for the one before. */
static int make_chain(struct cb_workload *workload, struct cb_spec **spec,
                      struct cb_error *error)
{
  *spec = cb_spec_create(cb_family_find("workload"), "chain", error);
  if (!*spec || cb_spec_set_integer(*spec, "adds", 20, error) < 0)
    return error->code;
  const struct cb_workload_kind *kind =
      (const struct cb_workload_kind *)cb_spec_kind(*spec);
  return kind->create(*spec, workload, error);
}

static void print_row(const struct cb_variant *variant,
                      const struct cb_result *result)
{
  struct cb_estimate estimate;
  if (result->status != CB_OK)
    printf("%-8s %s\n", variant->name, result->reason.text);
  else if (cb_estimate(result->samples, result->sample_count, &estimate) == 0)
    printf("%-8s %8.2f ticks/op, one op is %s\n", variant->name,
           estimate.typical, variant->workload->operation);
}

static void print_ratio(const struct cb_measurement *measured)
{
  const struct cb_result *a = &measured->results[0];
  const struct cb_result *b = &measured->results[1];
  struct cb_compare_options options = {0};
  struct cb_comparison ratio;
  if (cb_compare(a->samples, a->sample_count, b->samples, b->sample_count,
                 &options, &ratio) == 0)
    printf("ratio    %8.2f\n", ratio.ratio);
}

int main(void)
{
  struct cb_error error;
  struct cb_spec *spec = NULL;
  struct cb_workload chain = {0};
  uint64_t value = 3;
  struct cb_workload division = {.operation = "one division",
                                 .state = &value,
                                 .roles = &divider,
                                 .role_count = 1};

  if (make_chain(&chain, &spec, &error) < 0)
    return fail(&error);
  const struct cb_variant variants[] = {
      {.name = "division", .workload = &division},
      {.name = "chain", .workload = &chain}};
  const struct cb_measure_options options = {.seconds = 0.2};
  struct cb_measurement *measured = cb_measure(variants, 2, &options, &error);
  if (!measured)
    return fail(&error);
  for (size_t i = 0; i < measured->result_count; i++)
    print_row(&variants[i], &measured->results[i]);
  print_ratio(measured);
  cb_measurement_destroy(measured);
  chain.destroy(&chain);
  cb_spec_destroy(spec);
  return EXIT_SUCCESS;
}
