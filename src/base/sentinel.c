#include "base/sentinel.h"

#include "base/cpu.h"

/* The compiler may not know the value any more, so it cannot merge two adds
 * into one. No instruction comes of it. */
#define OPAQUE(value) __asm__("" : "+r"(value))

#define ADD(value)                                                             \
  do {                                                                         \
    (value) += step;                                                           \
    OPAQUE(value);                                                             \
  } while (0)
#define ADD4(value)                                                            \
  ADD(value);                                                                  \
  ADD(value);                                                                  \
  ADD(value);                                                                  \
  ADD(value)

uint64_t cb_sentinel_chain(uint64_t start, uint64_t step, uint64_t adds)
{
  uint64_t value = start;
  for (uint64_t turns = adds / 16; turns > 0; turns--) {
    ADD4(value);
    ADD4(value);
    ADD4(value);
    ADD4(value);
  }
  for (uint64_t rest = adds % 16; rest > 0; rest--)
    ADD(value);
  return value;
}

void cb_sentinel_throughput(uint64_t lanes[CB_SENTINEL_LANES], uint64_t step,
                            uint64_t adds)
{
  uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
  uint64_t e = lanes[4], f = lanes[5], g = lanes[6], h = lanes[7];
#define ADD_ALL                                                                \
  ADD(a);                                                                      \
  ADD(b);                                                                      \
  ADD(c);                                                                      \
  ADD(d);                                                                      \
  ADD(e);                                                                      \
  ADD(f);                                                                      \
  ADD(g);                                                                      \
  ADD(h)
  for (uint64_t turns = adds / 32; turns > 0; turns--) {
    ADD_ALL;
    ADD_ALL;
    ADD_ALL;
    ADD_ALL;
  }
  for (uint64_t turns = adds % 32 / 8; turns > 0; turns--) {
    ADD_ALL;
  }
  uint64_t all[CB_SENTINEL_LANES] = {a, b, c, d, e, f, g, h};
  for (uint64_t i = 0; i < adds % 8; i++)
    all[i] += step;
  for (int i = 0; i < CB_SENTINEL_LANES; i++)
    lanes[i] = all[i];
}

/* Unrolled by the number of adds, which is a constant where this is inlined. */
CB_INLINE void turns_of(uint64_t lanes[CB_SENTINEL_LANES], uint64_t step,
                        const unsigned adds, uint64_t turns)
{
  uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
  uint64_t e = lanes[4], f = lanes[5], g = lanes[6], h = lanes[7];
#define ADD_IF(number, value)                                                  \
  if (adds > (number))                                                         \
  ADD(value)
  for (; turns > 0; turns--) {
    ADD_IF(0, a);
    ADD_IF(1, b);
    ADD_IF(2, c);
    ADD_IF(3, d);
    ADD_IF(4, e);
    ADD_IF(5, f);
    ADD_IF(6, g);
    ADD_IF(7, h);
  }
  const uint64_t all[CB_SENTINEL_LANES] = {a, b, c, d, e, f, g, h};
  for (unsigned i = 0; i < adds; i++)
    lanes[i] = all[i];
}

void cb_sentinel_turns(uint64_t lanes[CB_SENTINEL_LANES], uint64_t step,
                       unsigned adds, uint64_t turns)
{
  switch (adds) {
#define CASE(number)                                                           \
  case number:                                                                 \
    turns_of(lanes, step, number, turns);                                      \
    break
    CASE(1);
    CASE(2);
    CASE(3);
    CASE(4);
    CASE(5);
    CASE(6);
    CASE(7);
    CASE(8);
  }
}
