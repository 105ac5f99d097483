#!/bin/sh
# The shape of the machine code that switches stacks, in the program and in the
# Lua module: no `ret` may follow a change of stacks before control is back in
# the caller's own frame, because the processor would predict it wrong; and a
# measured loop calls nothing but what it measures.
skip() {
  echo "1..0 # SKIP switch shape: $1"
  exit 0
}
[ "$(uname -m)" = x86_64 ] || skip "the test reads x86-64 code"
[ "$SANITIZE" = no ] || skip "sanitizers add code after a switch"
grep -q '^#define CB_ASM' "$top_builddir/config.h" || skip "built without asm"
grep -qE '^CFLAGS = .*-O[123s]' "$top_builddir/Makefile" ||
  skip "built without optimisation"
! grep -qE '^CFLAGS = .*-flto' "$top_builddir/Makefile" ||
  skip "link-time optimisation merges and renames what is looked at"
command -v "$OBJDUMP" >/dev/null || skip "$OBJDUMP is not installed"

count=0
check() { # NAME COMMAND...
  name=$1
  shift
  count=$((count + 1))
  if "$@"; then
    echo "ok $count - $name"
  else
    echo "not ok $count - $name"
  fi
}
code() { # FUNCTION: its instructions, without addresses
  "$OBJDUMP" -d --no-show-raw-insn --disassemble="$1" "$file" |
    sed -n 's/^ *[0-9a-f]*:[[:space:]]*//p'
}
has() { # FUNCTION PATTERN
  code "$1" | grep -qE "$2"
}
has_not() {
  code "$1" >"$list"
  [ -s "$list" ] && ! grep -E "$2" "$list" | sed "s/^/# $1: /" | grep .
}
begins_with() {
  [ "$(code "$1" | sed -n 1p)" = "$2" ]
}
# Jumps to the switch and never calls it, so what follows it is the caller.
jumps_to() { # FUNCTION SWITCH
  has "$1" "jmp .*<$2>" && has_not "$1" "call"
}
# Of direct calls, only those; and nothing that asks for time.
calls_only() { # FUNCTION PATTERN
  code "$1" >"$list"
  [ -s "$list" ] &&
    ! grep -E 'call .*<|rdtsc|syscall|lfence' "$list" | grep -vE "<($2)>" |
    sed "s/^/# $1: /" | grep .
}
# The jumps of an inlined switch ask for no landing pad, and there is none.
lands_anywhere() {
  has "$1" '^notrack jmp +\*0x(8|30)\(%rdi\)' &&
    has_not "$1" '^jmp +\*' && [ "$(code "$1" | grep -c '^endbr64')" -le 1 ]
}
# The entry of a coroutine and its resumption: one return address for both.
calls_once() {
  [ "$(code "$1" | grep -c '^call')" -eq 1 ]
}
stack_is_not_executable() {
  "$OBJDUMP" -p "$file" | grep -A1 STACK | grep -q 'flags rw-'
}

list=$(mktemp) || exit 1
trap 'rm -f "$list"' EXIT
echo 1..48
for file in "$top_builddir/cbench" "$top_builddir/.libs/cbench.so"; do
  which=$(basename "$file")
  for pair in asm:cb_switch asm_fpu:cb_switch_fpu; do
    backend=${pair%:*} switch=${pair#*:}
    for half in enter resume yield; do
      check "$which: ${switch}_$half never returns by ret" \
        has_not ${switch}_$half '^ret'
    done
    check "$which: ${switch}_enter calls what runs in one place" \
      calls_once ${switch}_enter
    check "$which: ${switch}_resume begins with endbr64" \
      begins_with ${switch}_resume endbr64
    check "$which: ${backend}_enter_raw jumps to its switch" \
      jumps_to ${backend}_enter_raw ${switch}_enter
    check "$which: ${backend}_yield jumps to its switch" \
      jumps_to ${backend}_yield ${switch}_yield
    check "$which: ${backend}_loop_yield calls what it measures" \
      calls_only ${backend}_loop_yield ${backend}_enter_raw
    check "$which: ${backend}_loop_lifecycle calls what it measures" \
      calls_only ${backend}_loop_lifecycle ${backend}_enter_raw
  done
  check "$which: inline_loop_yield calls nothing" \
    calls_only inline_loop_yield cb_coroutine_refused
  check "$which: inline_loop_yield jumps without landing pads" \
    lands_anywhere inline_loop_yield
  check "$which: inline_visited jumps without landing pads" \
    lands_anywhere inline_visited
  check "$which: cb_coroutine_switch is a jump" has_not cb_coroutine_switch \
    'call|^ret'
  check "$which: cb_coroutine_yield jumps" has_not cb_coroutine_yield 'call'
  check "$which: the stack is not executable" stack_is_not_executable
done
