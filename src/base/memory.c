#include "base/memory.h"

#include "base/cpu.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

uint64_t cb_memory_available(void)
{
  char line[128];
  uint64_t kib = 0;
  bool found = false;
  FILE *file = fopen("/proc/meminfo", "re");
  while (file && !found && fgets(line, sizeof line, file))
    found = sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1;
  if (file)
    fclose(file);
  return found ? kib * 1024 : UINT64_MAX;
}
