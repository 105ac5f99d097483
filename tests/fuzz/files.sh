#!/bin/sh
# Baselines with mistakes in them, a new seed each time. For a deeper search
# with libFuzzer: make check-fuzz-json.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$CBENCH" floor -F 2 -r 3 -T 20 -q --format json -o "$folder/old.json" \
  >"$folder/out" 2>&1
timeout 120 "$CBENCH" "$top_srcdir/tests/fuzz/document.lua" \
  "$top_srcdir/tests/fuzz/reader.lua" "$folder/old.json" \
  "${FUZZ_FILES:-400}" ${FUZZ_SEED:-} 2>>"$folder/out"
code=$?
if [ $code -gt 1 ]; then
  echo "not ok 1 - exit code $code"
  tail -n 40 "$folder/out" | sed 's/^/# /'
fi
