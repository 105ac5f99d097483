#!/bin/sh
# The test suite of Lua itself, run by the program. Its files are not here:
# configure --with-lua-tests=DIR names them (the folder `testes` of the tag of
# Lua that equals the library). With LUA_SUITE_ALL also what takes long.
if [ -z "$LUA_SUITE" ]; then
  echo '1..0 # SKIP no --with-lua-tests'
  exit 0
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cp -R "$LUA_SUITE" "$folder/suite" && cd "$folder/suite" || exit 1
chmod -R u+w .
unset LUA_INIT LUA_INIT_5_4 LUA_PATH LUA_CPATH LUA_PATH_5_4 LUA_CPATH_5_4

number=0
suite() { # NAME SIGN COMMAND...: exit code 0, and the sign among its output
  number=$((number + 1))
  name=$1 sign=$2
  shift 2
  if "$@" </dev/null >../out 2>&1 && grep -qF -- "$sign" ../out; then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name"
    tail -n 20 ../out | sed 's/^/# /'
  fi
}

# Modules in C that some of the tests load.
if [ -f libs/makefile ]; then
  include=$(pkg-config --variable=includedir lua5.4 2>/dev/null)
  MAKEFLAGS='' make -C libs CC="$CC" LUA_DIR="${include:-/usr/include/lua5.4}" \
    >../out 2>&1
fi
# `prog & echo $!` prints in either order, so the part on SIGINT fails now and
# then with any interpreter; tests/cli/lua_host.sh has what it is about.
sed '/^print(.testing Ctrl C.)/,/^end$/d' main.lua >main_calm.lua

echo "1..$([ -n "${LUA_SUITE_ALL:-}" ] && echo 4 || echo 2)"
suite 'all.lua, without what is long' 'final OK !!!' "$CBENCH" '-e_U=true' all.lua
suite 'main.lua' OK "$CBENCH" main_calm.lua
[ -n "${LUA_SUITE_ALL:-}" ] || exit 0
suite 'all.lua, long tests too' 'final OK !!!' "$CBENCH" '-e_port=true' -W all.lua

# Everything, under a terminal; its part on SIGINT may lose its race.
number=$((number + 1))
name='all.lua, everything, within three tries'
if ! command -v script >/dev/null; then
  echo "ok $number - $name # SKIP no script(1)"
  exit 0
fi
for try in 1 2 3; do
  (ulimit -S -s 1000 && script -qec "'$CBENCH' -W all.lua" ../out >/dev/null) &&
    grep -qF 'final OK !!!' ../out && break
  try=
done
[ -n "$try" ] && echo "ok $number - $name" || {
  echo "not ok $number - $name"
  tail -n 20 ../out | sed 's/^/# /'
}
