#!/bin/sh
# Pages of results in headless Chromium; pages and screenshots stay under
# browser/ in the build folder.
set -u
for tool in chromium chromedriver gnuplot python3; do
  command -v $tool >/dev/null || {
    echo "1..0 # SKIP $tool is not installed"
    exit 0
  }
done
folder=$top_builddir/browser
rm -rf "$folder" && mkdir "$folder" && cd "$folder" || exit 1
lua=$LUA
[ "$SANITIZE" = no ] || lua=$CBENCH
"$lua" "$top_srcdir/tests/lua/make.lua" . many || exit 1
for name in nesting pools layers latency many nasty; do
  "$CBENCH" report $name.json --html $name.html || exit 1
done
"$CBENCH" report pools.json pools-new.json --html change.html || exit 1
"$CBENCH" merge rank-*.jsonl -o fleet.json -q &&
  "$CBENCH" report fleet.json --html fleet.html || exit 1
PYTHONDONTWRITEBYTECODE=1 exec python3 "$top_srcdir/tests/browser/pages.py" \
  "$folder" "$(command -v chromium)" "$(command -v chromedriver)"
