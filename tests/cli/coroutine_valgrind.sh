#!/bin/sh
# Coroutines of every back end, and pools, under Valgrind: no error, no leak.
if ! command -v valgrind >/dev/null; then
  echo "1..0 # SKIP coroutines under valgrind: it is not installed"
  exit 0
elif [ "$SANITIZE" != no ]; then
  echo "1..0 # SKIP coroutines under valgrind: built with a sanitizer"
  exit 0
elif [ ! -x "$top_builddir/test_coroutine" ]; then
  echo "1..0 # SKIP coroutines under valgrind: cmocka is not installed"
  exit 0
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
log=$folder/log
echo 1..2
count=0
for test in test_coroutine test_pool; do
  count=$((count + 1))
  # Which lines code is from, as clang says it, is more than Valgrind reads.
  strip -g -o "$folder/$test" "$top_builddir/$test" 2>"$log" ||
    cp "$top_builddir/$test" "$folder"
  if CB_TEST_EMULATED=1 valgrind -q --leak-check=full --error-exitcode=1 \
    "$folder/$test" >"$log" 2>&1; then
    echo "ok $count - $test under valgrind"
  else
    grep -E '^==|FAILED' "$log" | head -n 40 | sed 's/^/# /'
    echo "not ok $count - $test under valgrind"
  fi
done
