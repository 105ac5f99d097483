/* memory.h - memory that threads can write to without disturbing others. */
#ifndef CB_BASE_MEMORY_H
#define CB_BASE_MEMORY_H

#include <stddef.h>

/* So many bytes, zero, which share no lines (CB_APART) with anything else, for
 * free(). NULL when there is no memory. Any thread. */
void *cb_memory_apart(size_t size);

#endif
