/*
 * cbench.h - the whole C API of libcbench.
 *
 * What a primitive costs, in ticks, on this machine. There is one header for
 * each floor of the library or family of primitives; each can be included
 * alone, and includes what it uses, always of a lower floor.
 *
 * Conventions that hold everywhere:
 *  - A function that can fail returns 0 or a negative errno, or NULL; it takes
 *    a `struct cb_error *` last, which may be NULL, and leaves one sentence in
 *    it. The library never prints, exits or aborts.
 *  - Sizes are in bytes, times in ticks unless a name says otherwise, counts
 *    are 64-bit.
 *  - An object belongs to whoever created it. Two threads may use two objects
 *    at once; a header says when two threads may use one.
 */
#ifndef CBENCH_H
#define CBENCH_H

#include "cbench/base.h"
#include "cbench/coroutine.h"
#include "cbench/load.h"
#include "cbench/measure.h"
#include "cbench/pool.h"
#include "cbench/ring.h"
#include "cbench/service.h"

#endif
