#include "base/memory.h"

#include "base/cpu.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *cb_memory_apart(size_t size)
{
  if (size > SIZE_MAX - CB_APART)
    return NULL;
  size_t whole = (size + CB_APART - 1) / CB_APART * CB_APART;
  void *memory = aligned_alloc(CB_APART, whole);
  return memory ? memset(memory, 0, whole) : NULL;
}
