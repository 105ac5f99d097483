/*
 * sentinel.h - two loops with known answers.
 *
 * The chain is adds of which each needs the one before: it takes one cycle an
 * add on any CPU, and shows a changed frequency. The throughput loop is eight
 * chains side by side: it wants every unit that can add, and shows a neighbour
 * on the same core. They are workloads, and ride along in every round as the
 * canary.
 */
#ifndef CB_BASE_SENTINEL_H
#define CB_BASE_SENTINEL_H

#include <stdint.h>

enum { CB_SENTINEL_LANES = 8 };

/* start + adds * step, one add after the other (modulo 2^64). */
uint64_t cb_sentinel_chain(uint64_t start, uint64_t step, uint64_t adds);

/* Adds step adds times, in turn to the lanes; what adds leaves over after
 * whole turns goes to the first ones. */
void cb_sentinel_throughput(uint64_t lanes[CB_SENTINEL_LANES], uint64_t step,
                            uint64_t adds);

/* turns times the same for few adds, at most one a lane: a loop of its own that
 * turns once for them all. */
void cb_sentinel_turns(uint64_t lanes[CB_SENTINEL_LANES], uint64_t step,
                       unsigned adds, uint64_t turns);

#endif
