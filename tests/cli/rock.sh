#!/bin/sh
# The rock: luarocks builds the module from the tree as it stands, without a
# network, and a stock interpreter loads it. Here it takes the build that is
# there; `make check-rock` lets it begin with nothing.
if ! command -v luarocks >/dev/null || [ "$SANITIZE" != no ]; then
  echo '1..0 # SKIP luarocks is not installed, or a sanitized build'
  exit 0
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export HOME="$folder" MAKEFLAGS=''
# Without a network, where that can be had.
offline=
unshare -rn true 2>/dev/null && offline='unshare -rn'

echo 1..3
result() { # STATUS NUMBER NAME
  if [ "$1" = 0 ]; then
    echo "ok $2 - $3"
  else
    echo "not ok $2 - $3"
    tail -n 30 "$folder/out" | sed 's/^/# /'
  fi
}
if [ -n "${ROCK_FROM_NOTHING:-}" ]; then
  mkdir "$folder/source"
  (cd "$top_srcdir" && git ls-files -z | tar --null -T - -cf -) |
    (cd "$folder/source" && tar xf -)
  cd "$folder/source" || exit 1
else
  export CBENCH_BUILD="$top_builddir"
  cd "$top_srcdir" || exit 1
fi
luarocks lint cbench-dev-1.rockspec >"$folder/out" 2>&1
result $? 1 'the rockspec is well formed'
$offline luarocks --lua-version 5.4 --tree "$folder/tree" \
  make cbench-dev-1.rockspec >"$folder/out" 2>&1
result $? 2 'luarocks make'
module=$(find "$folder/tree" -name cbench.so)
cd "$folder" && LUA_CPATH="$module" "$LUA" -e \
  'print(require "cbench"._VERSION)' >"$folder/out" 2>&1 &&
  grep -q '^cbench [0-9]' "$folder/out"
result $? 3 'a stock interpreter loads what it installed'
