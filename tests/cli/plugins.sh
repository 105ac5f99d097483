#!/bin/sh
# Plug-ins: what they need, loading them, refusing them, two versions, fresh
# processes, and the tests of a family on a plug-in's kind.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export CBENCH_PLUGIN_PATH=

echo 1..30
out=$folder/out
. "$top_srcdir/tests/cli/tap.sh"
build() { # FILE OUTPUT [FLAGS...]
  file=$1 output=$2
  shift 2
  $CC -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fPIC -shared \
    -fvisibility=hidden -I"$top_builddir/include" "$file" -o "$output" "$@" \
    >out 2>&1
}
says() { # PATTERN CODE: what the code prints
  "$CBENCH" -e "local cbench = require 'cbench'; $2" >out 2>&1 &&
    grep -qF -- "$1" out
}

build "$top_srcdir/doc/plugin/mine.c" mine.so
result $? "the example compiles without a warning"
build "$top_srcdir/tests/plugins/sum.c" sum.so
result $? "a workload compiles without a warning"

nm -D mine.so sum.so >out
! grep -q ' U cb_' out
result $? "no undefined symbol of cbench"
[ "$(grep -c ' [A-TV-Z] ' out)" = 2 ] && [ "$(grep -c ' [DR] cb_plugin$' out)" = 2 ]
result $? "one exported symbol"

says 'sum ring=mine 2 adds' "
  cbench.load './mine.so'
  local plugin = cbench.load 'sum.so'
  local label = tostring(cbench.workload.sum { ring = 'mine' })
  print(table.concat({ plugin.name, label:match 'ring=mine', #plugin,
    cbench.kinds('workload').sum.summary }, ' '))"
result $? "kinds of a plug-in are there"

says 'ok 3' "
  cbench.load './mine.so'
  cbench.load './sum.so'
  local record = cbench.measure(cbench.workload.sum {
    ring = { 'mine', size = 8 } }, { time = 30, rounds = 5, forks = 3 })
  print(record.status .. ' ' .. record.forks, record.reason)"
result $? "fresh processes load them too"

says "option 'size': mine takes powers of two from 1 on, got 9" "
  cbench.load './mine.so'
  cbench.load './sum.so'
  print(pcall(cbench.measure,
    cbench.workload.sum { ring = { 'mine', size = 9 } }))"
result $? "a plug-in refuses in its own words"
says 'x_mine takes powers of two' "
  cbench.load('./mine.so', 'x')
  print(pcall(cbench.ring, { 'x_mine', size = 9 }))"
result $? "and under the name that it got"
says '4294967295 true 0' "
  cbench.load './mine.so'
  local ring = cbench.ring { 'mine', size = 2, start = 2 ^ 32 - 2 | 0 }
  for i = 1, 2 do
    ring:enqueue(2 ^ 32 - 3 + i | 0)
  end
  print(ring:dequeue() + 1 .. ' ' .. tostring(ring:enqueue(1)) .. ' ' ..
    ring:free_count())"
result $? "its indexes may start anywhere"

says 'same 13' "
  cbench.load './mine.so'
  local again = cbench.load(io.popen('pwd'):read 'l' .. '/mine.so')
  local count = #cbench.kinds 'ring'
  cbench.load './mine.so'
  assert(count == #cbench.kinds 'ring')
  print('same ' .. count - #cbench.kinds 'ring' + 13)"
result $? "the same twice is once"

build "$top_srcdir/doc/plugin/mine.c" newer.so -DNEWER
says "there is a ring 'mine' already" "
  cbench.load './mine.so'
  print(cbench.load './newer.so')"
result $? "a name that is taken is refused"
says 'new_mine old_mine ok' "
  cbench.load('./mine.so', 'old')
  cbench.load('./newer.so', 'new')
  local kinds = cbench.kinds 'ring'
  cbench.load('./sum.so', 'x')
  local record = cbench.measure(cbench.workload.x_sum { ring = 'new_mine' },
    { time = 30, rounds = 3, forks = 2 })
  print(kinds[#kinds] .. ' ' .. kinds[#kinds - 1] .. ' ' .. record.status)"
result $? "two versions side by side by prefix"
says 'x_naive' "
  cbench.load('./sum.so', 'x')
  print(cbench.workload.x_sum{}.params.lock)"
result $? "a default among its own kinds gets the prefix too"

for broken in 1 2 3 4; do
  build "$top_srcdir/tests/plugins/sum.c" broken$broken.so -DBROKEN=$broken
done
abi=$(sed -n 's/^#define CB_PLUGIN_ABI //p' \
  "$top_srcdir/src/workload/plugin.h")
says "was built for ABI $((abi + 1)), cbench " "print(cbench.load './broken1.so')"
result $? "another ABI is refused"
says 'was built for a newer cbench than' "print(cbench.load './broken2.so')"
result $? "a longer table is refused"
says 'build it again with the headers of cbench' \
  "print(cbench.load './broken3.so')"
result $? "a kind of another size is refused"
says "a kind of the family 'wheel'" "print(cbench.load './broken4.so')"
result $? "a kind of no family is refused"

echo 'int nothing(void); int nothing(void) { return 1; }' >nothing.c
build nothing.c libnothing.so
build "$top_srcdir/tests/plugins/sum.c" needy.so -Wl,--no-as-needed \
  "$folder/libnothing.so"
rm libnothing.so
says 'libnothing.so: cannot open shared object file' \
  "print(cbench.load './needy.so')"
result $? "a missing library is named"
build nothing.c nothing.so
says 'it exports no cb_plugin' "print(cbench.load './nothing.so')"
result $? "a shared object that is no plug-in is refused"

# On the command line, before and behind the scenario.
cat >adds.lua <<'END'
local cbench = require "cbench"
return cbench.scenario {
  title = "Adds", about = "What does adding cost?",
  params = { ring = { "spsc" } },
  workload = function (p) return cbench.workload.sum { ring = p.ring } end,
}
END
"$CBENCH" adds.lua --plugin ./sum.so --plugin ./mine.so ring=mine,spsc \
  --rounds 3 --forks 2 --time 30 --format csv >out 2>&1 &&
  grep -q '^"*ring=mine.*ok' out && grep -q '^"*ring=spsc.*ok' out
result $? "--plugin behind a scenario"
"$CBENCH" --plugin ./mine.so --plugin ./sum.so adds.lua -n >out 2>&1 &&
  grep -q 'ring=spsc' out
result $? "--plugin before a scenario"
"$CBENCH" --plugin ./nowhere.so adds.lua >out 2>&1
[ $? = 2 ] && grep -qF "cannot load plug-in './nowhere.so'" out
result $? "--plugin that is not there is a wrong word"
"$CBENCH" --plugin ./mine.so -e 'print(require"cbench".kinds"ring".mine.summary)' \
  >out 2>&1 && grep -q Lamport out
result $? "--plugin with plain Lua"
build "$top_srcdir/tests/plugins/sum.c" slow.so -DSLOW
"$CBENCH" ab --a sum.so --b ./slow.so adds.lua --rounds 20 --forks 3 \
  --time 60 --cpus 0 >out 2>&1 && grep -q 'B is ./slow.so' out &&
  grep -Eq '^ring=spsc.* (slower|faster|same|unresolved)$' out
result $? "two plug-ins against each other, placed and with a verdict"
"$CBENCH" ab --a sum.so --b ./slow.so adds.lua --cpus 4095 >out 2>&1
[ $? = 2 ] && grep -q 'CPU 4095 is not among' out
result $? "a place that this machine has not is an error"

if [ "$SANITIZE" = no ] && [ -x "$LUA" ]; then
  "$LUA" -e "local cbench = require 'cbench'
    cbench.load './mine.so'; cbench.load './sum.so'
    print(cbench.measure(cbench.workload.sum { ring = 'mine' },
      { time = 30, rounds = 3 }).status)" >out 2>&1 && grep -q '^ok' out
  result $? "a stock interpreter loads them"
else
  skip "a stock interpreter loads them" "the module is sanitized"
fi

if [ -x "$top_builddir/test_ring" ]; then
  CB_TEST_PLUGINS="$folder/mine.so" CMOCKA_MESSAGE_OUTPUT=TAP \
    "$top_builddir/test_ring" >out 2>&1
  result $? "the tests of the rings hold for the example"
else
  skip "the tests of the rings hold for the example" "no C tests here"
fi

# Against the installed tree, as a user would.
if command -v pkg-config >/dev/null && [ "$SANITIZE" = no ]; then
  MAKEFLAGS='' make -C "$top_builddir" install DESTDIR="$folder/tree" >out 2>&1
  config=$(find "$folder/tree" -name cbench.pc)
  cp "$top_srcdir/doc/plugin/Makefile" "$top_srcdir/doc/plugin/mine.c" . &&
    rm -f mine.so && PKG_CONFIG_PATH=$(dirname "$config") \
    PKG_CONFIG_SYSROOT_DIR="$folder/tree" make >>out 2>&1 &&
    says 'Lamport' "cbench.load './mine.so'
      print(cbench.kinds('ring').mine.summary)" &&
    "$CBENCH" ring_same_cpu --plugin ./mine.so ring=mine,spsc -F 2 -r 3 -T 1 \
      >out 2>&1 && grep -q '^mine  .*[0-9]$' out && grep -q '^spsc  ' out
  result $? "the example builds against the installed tree and is measured"
else
  skip "the example builds against the installed tree and is measured" \
    "no pkg-config"
fi
short() { # FILE: has it something, and no more than 40 lines?
  lines=$(wc -l <"$1") && [ "$lines" -gt 5 ] && [ "$lines" -le 40 ]
}
short "$top_srcdir/doc/plugin/Makefile"
result $? "its makefile is short"
short "$top_srcdir/doc/plugin/mine.c"
result $? "and so is the ring"
