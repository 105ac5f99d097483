/* order.h - in which order the variants of a round are run. */
#ifndef CB_MEASURE_ORDER_H
#define CB_MEASURE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* The next number of a seeded sequence (splitmix64); state is any number. */
uint64_t cb_random(uint64_t *state);

/* Puts items into an order that the sequence draws. */
void cb_shuffle(size_t *items, size_t count, uint64_t *state);

/* Cyclic Latin squares, one after the other: within a block of `count` rounds
 * each item stands once in each place; every block is drawn afresh. */
struct cb_order {
  size_t count;
  uint64_t state;
  size_t round; /* within the block */
  size_t *items, *shifts;
};

/* 0 or -ENOMEM. */
int cb_order_open(struct cb_order *order, size_t count, uint64_t seed);
void cb_order_close(struct cb_order *order);
/* Writes the items 0 .. count - 1 in the order of the next round. */
void cb_order_next(struct cb_order *order, size_t *items);

#endif
