/* memory.h - memory that threads can write to without disturbing others, and
 * how much of it there is. */
#ifndef CB_BASE_MEMORY_H
#define CB_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* So many bytes, zero, which share no lines (CB_APART) with anything else, for
 * free(). NULL when there is no memory. Any thread. */
void *cb_memory_apart(size_t size);

/* Bytes that this machine can still give to a process without taking them from
 * another one, as the kernel estimates it; UINT64_MAX where it does not say.
 * Where there is no swap, who takes more is killed, not refused. Any thread. */
uint64_t cb_memory_available(void);

#endif
