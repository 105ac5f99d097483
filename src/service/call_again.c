/* call_again.c - the callback `again`: a poll that finds no work. */
#include "service/calls.h"

static int again(void *argument, struct cb_lcore *lcore)
{
  (void)argument;
  cb_call_count(lcore);
  return -EAGAIN;
}

static int create(const struct cb_spec *spec, struct cb_call *call,
                  struct cb_error *error)
{
  (void)spec, (void)error;
  *call = (struct cb_call){.call = again, .mt_safe = true};
  return 0;
}

const struct cb_call_kind cb_call_again = {
    .kind.name = "again",
    .kind.summary = "returns -EAGAIN: there was no work",
    .create = create};
