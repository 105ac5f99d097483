#!/bin/sh
# Programs that embed cbench, built against the installed tree as a user would:
# the library from C and from C++, the module in a host with Lua states of its
# own.
if ! command -v pkg-config >/dev/null || [ "$SANITIZE" != no ]; then
  echo '1..0 # SKIP no pkg-config, or a sanitized build'
  exit 0
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

echo 1..12
out=$folder/out
. "$top_srcdir/tests/cli/tap.sh"

tree=$folder/tree
MAKEFLAGS='' make -C "$top_builddir" install DESTDIR="$tree" >"$folder/out" 2>&1
result $? "make install, into a tree of its own"
find "$tree" -name '*.la' >"$out"
[ ! -s "$out" ]
result $? "libtool's files stay behind"
cp "$top_srcdir"/doc/embed/* "$folder" && cd "$folder" || exit 1
config=$(find "$tree" -name cbench.pc)
module=$(find "$tree" -path '*lua*' -name cbench.so)
export PKG_CONFIG_PATH="${config%/*}"
# Of the paths of cbench only: Lua is where it always is.
pkg() { PKG_CONFIG_SYSROOT_DIR="$tree" pkg-config "$@"; }
LD_LIBRARY_PATH=$(pkg --variable=libdir cbench)
[ -d "$LD_LIBRARY_PATH" ] || LD_LIBRARY_PATH=$tree$LD_LIBRARY_PATH
export LD_LIBRARY_PATH
build() { # TARGET
  MAKEFLAGS='' make "$1" CC="$CC" CXX="${CXX:-g++}" \
    CFLAGS='-O2 -Wall -Wextra -Wpedantic -Werror' \
    CXXFLAGS='-O2 -Wall -Wextra -Wpedantic -Werror' \
    CBENCH_CFLAGS="$(pkg --cflags cbench)" CBENCH_LIBS="$(pkg --libs cbench)" \
    >out 2>&1
}

[ "$(pkg-config --modversion cbench)" = \
  "$("$CBENCH" --version | sed 's/cbench \([^ ,]*\).*/\1/')" ] >out 2>&1
result $? "pkg-config knows the version"
pkg --libs cbench >out && ! grep -qE 'lua|jansson' out
result $? "the library wants no Lua"

build measure
result $? "the example in C compiles without a warning"
./measure >out 2>&1 && grep -qE '^division +[0-9.]+ ticks/op' out &&
  grep -qE '^chain .*ticks/op' out && grep -qE '^ratio +[0-9.]+$' out
result $? "and compares a loop of its own with a kind"
nm -D --undefined-only measure >out && ! grep -q ' cb__\|lua' out
result $? "by public functions only"

set -- ${CXX:-g++} # may be several words
if command -v "$1" >/dev/null; then
  build ring
  result $? "the example in C++ compiles without a warning"
  ./ring >out 2>&1 && [ "$(sed -n 1p out)" = 5000050000 ] &&
    [ "$(sed -n 2p out)" = '20 steps' ] &&
    grep -q "refused: .*did you mean 'spsc'" out
  result $? "and moves elements, runs coroutines, catches a refusal"
else
  skip "the example in C++ compiles without a warning" "no C++ compiler"
  skip "and moves elements, runs coroutines, catches a refusal" "the same"
fi

unset LD_LIBRARY_PATH
export LUA_CPATH="$module"
build host
result $? "the host with Lua states compiles without a warning"
./host >out 2>&1 && [ "$(sed -n 1p out)" = 'state 1: 103, ok' ] &&
  [ "$(sed -n 3p out)" = 'state 3: 109, ok' ] &&
  grep -qx 'left: 0 bytes, 1 thread, 0 signal handlers' out
result $? "states with their own sets leave nothing behind"
if command -v valgrind >/dev/null; then
  # Which lines code is from, as clang says it, is more than Valgrind reads.
  ! command -v strip >/dev/null || strip -g "$module"
  valgrind -q --error-exitcode=9 --leak-check=full \
    --errors-for-leak-kinds=definite,indirect,possible ./host >out 2>&1
  result $? "nor a byte of C's"
else
  skip "nor a byte of C's" "no valgrind"
fi
