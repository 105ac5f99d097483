#!/bin/sh
# A ring kind outside the library: ring_loops.h compiles as C and as C++, in a
# folder laid out as it is installed, and a shared object made with it wants no
# symbol of the library. With -DPLAIN the operations take the ring itself.
echo 1..8
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/include/cbench"
cp "$top_srcdir/src/cbench.h" "$work/include/"
cp "$top_srcdir"/src/cbench/*.h "$work/include/cbench/"
cp "$top_srcdir/src/ring/ring_loops.h" "$top_srcdir/src/ring/ring_wait.h" \
  "$work/include/cbench/"

cat >"$work/toy.c" <<'TOY'
/* One slot and a flag: as small as a ring can be. */
#include <cbench/ring_loops.h>
#include <stdlib.h>

struct toy_ring {
  struct cb_ring ring;
  uint64_t value;
  bool full;
};

CB_RING_INLINE bool put(struct toy_ring *toy, uint64_t value)
{
  if (toy->full)
    return false;
  toy->value = value;
  return toy->full = true;
}

CB_RING_INLINE bool get(struct toy_ring *toy, uint64_t *value)
{
  if (!toy->full)
    return false;
  *value = toy->value;
  toy->full = false;
  return true;
}

#ifdef PLAIN
#define PRODUCER struct toy_ring
#define CONSUMER struct toy_ring
#define ITS(at) at
#else
CB_RING_PLAIN_CURSORS(toy, struct toy_ring)
#define PRODUCER struct toy_producer
#define CONSUMER struct toy_consumer
#define ITS(at) (at)->ring
#endif

CB_RING_INLINE bool toy_enqueue(PRODUCER *at, uint64_t value)
{
  return put(ITS(at), value);
}

CB_RING_INLINE bool toy_dequeue(CONSUMER *at, uint64_t *value)
{
  return get(ITS(at), value);
}

static uint64_t toy_count(struct cb_ring *ring)
{
  return ((struct toy_ring *)ring)->full;
}

CB_RING_FREE_COUNT(toy)

#define RING toy
#ifdef PLAIN
#define RING_TYPE struct toy_ring
#else
CB_RING_LOOPED(toy)
/* Both hooks for elements that were waited for. */
CB_RING_INLINE bool toy_dequeue_waited(CONSUMER *at, uint64_t *value)
{
  return toy_dequeue(at, value);
}

CB_RING_INLINE void toy_answers(PRODUCER *at)
{
  CB_RING_OPAQUE(at->ring);
}
#define RING_DEQUEUE_WAITED toy_dequeue_waited
#define RING_ANSWERS(at) toy_answers(at)
#endif
#include <cbench/ring_loops.h>
#if defined RING || defined RING_TYPE || defined RING_DEQUEUE_WAITED ||        \
    defined RING_ANSWERS
#error "a second kind in this file would get them too"
#endif

#ifdef __cplusplus
extern "C"
#endif
struct cb_ring *toy_new(void);

struct cb_ring *toy_new(void)
{
  static const struct cb_ring_ops ops = {CB_RING_OPS_BURST(toy)};
  static const struct cb_ring_loops loops = {CB_RING_LOOPS(toy)};
  struct toy_ring *toy = (struct toy_ring *)calloc(1, sizeof *toy);
  toy->ring.ops = &ops;
  toy->ring.loops = &loops;
  toy->ring.capacity = 1;
  return &toy->ring;
}
TOY

number=1
try() { # LANGUAGE COMPILER...
  language=$1
  shift
  if ! command -v "$1" >/dev/null; then
    echo "ok $number - compiles as $language # SKIP no $1"
    echo "ok $((number + 1)) - stands alone as $language # SKIP no $1"
  elif ! "$@" -Werror -Wall -Wextra -Wno-missing-field-initializers -O2 -fPIC \
    -shared -I"$work/include" "$work/toy.c" -o "$work/toy.so" 2>"$work/log"; then
    sed 's/^/# /' "$work/log"
    echo "not ok $number - compiles as $language"
    echo "not ok $((number + 1)) - stands alone as $language"
  else
    echo "ok $number - compiles as $language"
    wanted=$(nm -u "$work/toy.so" | grep -w 'cb_[a-z_]*')
    [ -z "$wanted" ] && echo "ok $((number + 1)) - stands alone as $language" ||
      echo "not ok $((number + 1)) - stands alone as $language: $wanted"
  fi
  number=$((number + 2))
}
# $CC may be several words.
try C ${CC:-cc} -std=c11
try C++ "${CXX:-g++}" -std=c++11 -x c++
try 'C without cursors' ${CC:-cc} -std=c11 -DPLAIN
try 'C++ without cursors' "${CXX:-g++}" -std=c++11 -DPLAIN -x c++
