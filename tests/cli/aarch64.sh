#!/bin/sh
# Coroutines and pools on the other processor: cross-built with its assembly
# and run under qemu-user, where both are installed. cmocka is not, for that
# processor, so tests/c/mini stands in for it.
cc=aarch64-linux-gnu-gcc
for qemu in qemu-aarch64-static qemu-aarch64; do
  command -v $qemu >/dev/null && break
done
if [ "$(uname -m)" = aarch64 ]; then
  echo "1..0 # SKIP aarch64: this is one, the other tests ran on it"
  exit 0
elif ! command -v $cc >/dev/null || ! command -v $qemu >/dev/null; then
  echo "1..0 # SKIP aarch64: $cc or qemu-user is not installed"
  exit 0
fi

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
echo '#define CB_ASM 1' >"$dir/config.h"
src=$top_srcdir/src
build() { # OUTPUT TEST [FLAG...]
  output=$1 test=$2
  shift 2
  $cc -std=c11 -Wall -Wextra -Werror -D_GNU_SOURCE -DCB_TEST_ALONE "$@" \
    -static -pthread -I"$dir" -I"$top_srcdir/tests/c/mini" -I"$src" -o "$dir/$output" \
    "$top_srcdir/tests/c/$test.c" "$src"/base/error.c "$src"/base/kinds.c \
    "$src"/base/names.c "$src"/base/spec.c "$src"/base/mapping.c \
    "$src"/base/memory.c \
    "$src"/coroutine/*.c "$src"/coroutine/switch_aarch64.S "$src"/pool/*.c \
    -lm 2>"$dir/errors" && return
  sed 's/^/# /' "$dir/errors"
  return 1
}

count=0
run() { # NAME TEST [FLAG...]
  name=$1 test=$2
  shift 2
  if ! build "$name" "$test" "$@"; then
    count=$((count + 1))
    echo "not ok $count - aarch64: $name is built"
    return
  fi
  CB_TEST_EMULATED=1 "$qemu" "$dir/$name" >"$dir/output" || echo "not ok $?" >>"$dir/output"
  failed=$(grep -c '^not ok' "$dir/output")
  passed=$(grep -c '^ok' "$dir/output")
  count=$((count + 1))
  if [ "$failed" = 0 ] && [ "$passed" != 0 ]; then
    echo "ok $count - aarch64: $name, $passed tests"
  else
    grep -v '^ok' "$dir/output" | sed 's/^/# /'
    echo "not ok $count - aarch64: $name, $failed of $((failed + passed)) fail"
  fi
}

echo 1..3
run coroutine test_coroutine -O2
run coroutine_unoptimised test_coroutine -O0
run pool test_pool -O2
