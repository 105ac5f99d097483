#!/bin/sh
# A few seconds of random calls of the whole Lua interface, with a new seed
# each time; `make check-fuzz` makes a million.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
timeout 120 "$CBENCH" "$top_srcdir/tests/fuzz/interface.lua" "${FUZZ_CALLS:-10000}" \
  ${FUZZ_SEED:-} >out 2>err
code=$?
cat out
if [ $code != 0 ]; then
  [ $code = 124 ] && echo "# it did not come to an end"
  grep -q '^not ok' out || echo "not ok 1 - exit code $code"
  tail -n 60 err | sed 's/^/# /'
fi
