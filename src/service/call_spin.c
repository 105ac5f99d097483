/* call_spin.c - the callback `spin`: work that takes so many ticks and touches
 * nothing. It ends with the first reading of the counter that is late enough,
 * so it is exact to one reading. */
#include "service/calls.h"

#include "base/ticks.h"

#include <stdlib.h>

static int spin(void *argument, struct cb_lcore *lcore)
{
  uint64_t ticks = *(const uint64_t *)argument;
  uint64_t begin = cb_ticks_now();
  cb_call_count(lcore);
  while (cb_ticks_now() - begin < ticks)
    ;
  return 0;
}

static int create(const struct cb_spec *spec, struct cb_call *call,
                  struct cb_error *error)
{
  uint64_t *ticks = malloc(sizeof *ticks);
  if (!ticks)
    return cb_fail(error, -ENOMEM, "out of memory");
  *ticks = (uint64_t)cb_spec_integer(spec, "ticks");
  *call = (struct cb_call){
      .call = spin, .argument = ticks, .release = free, .mt_safe = true};
  return 0;
}

static const struct cb_option options[] = {{.name = "ticks",
                                            .type = CB_INTEGER,
                                            .preset = "300",
                                            .min = 0,
                                            .max = 1e9,
                                            .help = "ticks of the counter"},
                                           {.name = NULL}};

const struct cb_call_kind cb_call_spin = {
    .kind.name = "spin",
    .kind.summary = "reads the tick counter until enough ticks are gone",
    .kind.options = options,
    .create = create};
