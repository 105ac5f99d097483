/* call_fail.c - the callback `fail`: an error each time. */
#include "service/calls.h"

#include <stdlib.h>

static int fail(void *argument, struct cb_lcore *lcore)
{
  cb_call_count(lcore);
  return *(const int *)argument;
}

static int create(const struct cb_spec *spec, struct cb_call *call,
                  struct cb_error *error)
{
  int *result = malloc(sizeof *result);
  if (!result)
    return cb_fail(error, -ENOMEM, "out of memory");
  *result = -(int)cb_spec_integer(spec, "code");
  *call = (struct cb_call){
      .call = fail, .argument = result, .release = free, .mt_safe = true};
  return 0;
}

static const struct cb_option options[] = {
    {.name = "code",
     .type = CB_INTEGER,
     .preset = "5",
     .min = 1,
     .max = 4095,
     .help = "errno whose negative is returned (5: EIO)"},
    {.name = NULL}};

const struct cb_call_kind cb_call_fail = {.kind.name = "fail",
                                          .kind.summary = "returns an error",
                                          .kind.options = options,
                                          .create = create};
