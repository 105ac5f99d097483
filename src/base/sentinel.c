#include "base/sentinel.h"

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
