/* call_nop.c - the callback `nop`: the call itself. */
#include "service/calls.h"

static int nop(void *argument, struct cb_lcore *lcore)
{
  (void)argument;
  cb_call_count(lcore);
  return 0;
}

static int create(const struct cb_spec *spec, struct cb_call *call,
                  struct cb_error *error)
{
  (void)spec, (void)error;
  *call = (struct cb_call){.call = nop, .mt_safe = true};
  return 0;
}

const struct cb_call_kind cb_call_nop = {
    .kind.name = "nop", .kind.summary = "returns at once", .create = create};
