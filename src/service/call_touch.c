/* call_touch.c - the callback `touch`: adds 1 to a word in every cache line of
 * a buffer that belongs to the service. Lcores that run the service at once
 * pull the lines to and fro, and may lose an add; that is no race, for the
 * words are atomics. */
#include "service/calls.h"

#include "base/memory.h"

#include <stdlib.h>

enum { LINE = 64 };

struct touch {
  size_t lines;
  struct {
    _Alignas(LINE) _Atomic uint64_t word;
  } line[];
};

static int touch_lines(void *argument, struct cb_lcore *lcore)
{
  struct touch *touch = argument;
  cb_call_count(lcore);
  for (size_t i = 0; i < touch->lines; i++) {
    _Atomic uint64_t *word = &touch->line[i].word;
    atomic_store_explicit(word,
                          atomic_load_explicit(word, memory_order_relaxed) + 1,
                          memory_order_relaxed);
  }
  return 0;
}

static int create(const struct cb_spec *spec, struct cb_call *call,
                  struct cb_error *error)
{
  size_t bytes = (size_t)cb_spec_integer(spec, "bytes");
  size_t lines = (bytes + LINE - 1) / LINE;
  size_t size = sizeof(struct touch) + lines * LINE;
  struct touch *touch = cb_memory_apart(size);
  if (!touch)
    return cb_fail(error, -ENOMEM, "out of memory");
  touch->lines = lines;
  *call = (struct cb_call){
      .call = touch_lines, .argument = touch, .release = free, .mt_safe = true};
  return 0;
}

static const struct cb_option options[] = {{.name = "bytes",
                                            .type = CB_INTEGER,
                                            .preset = "4096",
                                            .min = 1,
                                            .max = 1 << 30,
                                            .help = "bytes of the buffer"},
                                           {.name = NULL}};

const struct cb_call_kind cb_call_touch = {
    .kind.name = "touch",
    .kind.summary = "writes to every cache line of a buffer",
    .kind.options = options,
    .create = create};
