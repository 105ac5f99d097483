#include "measure/order.h"

#include <errno.h>
#include <stdlib.h>

uint64_t cb_random(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

void cb_shuffle(size_t *items, size_t count, uint64_t *state)
{
  for (size_t i = count; i > 1; i--) {
    size_t j = (size_t)(cb_random(state) % i);
    size_t item = items[i - 1];
    items[i - 1] = items[j];
    items[j] = item;
  }
}

int cb_order_open(struct cb_order *order, size_t count, uint64_t seed)
{
  *order = (struct cb_order){.count = count, .state = seed};
  order->items = calloc(count, sizeof *order->items);
  order->shifts = calloc(count, sizeof *order->shifts);
  if (!order->items || !order->shifts) {
    cb_order_close(order);
    return -ENOMEM;
  }
  for (size_t i = 0; i < count; i++)
    order->items[i] = order->shifts[i] = i;
  return 0;
}

void cb_order_close(struct cb_order *order)
{
  free(order->items);
  free(order->shifts);
  order->items = order->shifts = NULL;
}

void cb_order_next(struct cb_order *order, size_t *items)
{
  if (order->round == 0) {
    cb_shuffle(order->items, order->count, &order->state);
    cb_shuffle(order->shifts, order->count, &order->state);
  }
  for (size_t i = 0; i < order->count; i++)
    items[i] = order->items[(i + order->shifts[order->round]) % order->count];
  order->round = (order->round + 1) % order->count;
}
