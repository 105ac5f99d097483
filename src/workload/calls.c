/* calls.c - the family "call", and a callback made from a spec of it. */
#include "workload/calls.h"

#include "service/calls.h"

#include <errno.h>

static const struct cb_kind *const kinds[] = {
    &cb_call_nop.kind,
    &cb_call_spin.kind,
    &cb_call_touch.kind,
    &cb_call_again.kind,
    &cb_call_fail.kind,
    &cb_call_ring_consume.kind,
    &cb_call_coroutine_resume.kind,
    NULL,
};

const struct cb_family cb_call_family = {
    .name = "call", .kinds = kinds, .size = sizeof(struct cb_call_kind)};

void cb_call_release(struct cb_call *call)
{
  if (call->release)
    call->release(call->argument);
  *call = (struct cb_call){0};
}

int cb_call_make(const struct cb_spec *spec, bool mt_safe, struct cb_call *call,
                 struct cb_error *error)
{
  const struct cb_call_kind *kind =
      (const struct cb_call_kind *)cb_spec_kind(spec);
  *call = (struct cb_call){0};
  int status = kind->create(spec, call, error);
  if (status < 0)
    return status;
  if (!mt_safe || call->mt_safe)
    return 0;
  cb_call_release(call);
  return cb_fail(error, -ENOTSUP,
                 "the callback '%s' cannot be mt_safe: one lcore at a time may "
                 "be inside",
                 kind->kind.name);
}
