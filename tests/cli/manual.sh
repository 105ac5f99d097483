#!/bin/sh
# The manual page: well formed, and complete: it has every option and every
# subcommand of the program.
set -u
page=$top_srcdir/doc/cbench.1
count=0
report() { # NAME WHAT IS WRONG
  count=$((count + 1))
  if [ -z "$2" ]; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
    echo "$2" | sed 's/^/# /'
  fi
}
echo 1..6
if command -v mandoc >/dev/null; then
  report 'mandoc finds nothing to mend' "$(mandoc -T lint "$page" 2>&1)"
else
  count=1
  echo 'ok 1 - mandoc finds nothing to mend # SKIP not installed'
fi

missing=
for option in $("$CBENCH" _complete -- 1 cbench -); do
  case $option in
  --*) word="Fl -${option#--}" ;;
  *) word="Fl ${option#-}" ;;
  esac
  grep -qE "(^|[ .])$word( |\$)" "$page" || missing="$missing $option"
done
report 'every option is explained' "$missing"

missing=
for name in $("$CBENCH" --help | sed -n 's/^ *cbench \(.* | .*\) \.\.\.$/\1/p' |
  tr -d '|'); do
  grep -qE "^\\.It Cm $name( |\$)" "$page" || missing="$missing $name"
done
report 'every subcommand is explained' "$missing"

# What README and manual name in the tree is there.
missing=
for path in $(grep -oE '`[a-z]+(/[a-z_.]+)+/?`' "$top_srcdir/README.md" |
  tr -d '`'); do
  case $path in
  build/*) continue ;;
  esac
  [ -e "$top_srcdir/$path" ] || missing="$missing $path"
done
report 'the README names files that are there' "$missing"

# Every example runs as it stands, but for its time. A gate may find something,
# and so may a limit, on a machine that does other things meanwhile.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ln -s "$CBENCH" "$work/cbench"
PATH=$work:$PATH
run() { # reads commands, a line each; says which did not work
  while IFS= read -r line; do
    short=$(printf '%s\n' "$line" | sed 's/-T [0-9]*/-T 1/')
    (cd "$work" && eval "$short") >"$work/out" 2>&1 </dev/null
    code=$?
    case $code,$line in
    0,* | 3,*--baseline* | 4,*--baseline* | 3,*limits*) ;;
    *) echo "$line: exit $code" && tail -3 "$work/out" ;;
    esac
  done
}
report 'the examples of the manual page run' "$(sed -n '
  /^\.Sh EXAMPLES/,/^\.Sh [^E]/{
    s/\\(dq/"/g
    s/^\.Dl //p
    /^\.Bd/,/^\.Ed/{ /^\./!p; }
  }' "$page" | run)"

# What the README has besides its transcripts, which are tests themselves.
{
  sed -n 's/^    \$ //p' "$top_srcdir/README.md" >"$work/shell"
  sed -n 's/^    > //p' "$top_srcdir/README.md" >"$work/prompt"
  missing=$(run <"$work/shell")
  # Without assembly there is another back end.
  grep -q '^#define CB_ASM' "$top_builddir/config.h" ||
    sed -i 's/"asm"/"ucontext"/' "$work/prompt"
  while IFS= read -r line; do
    printf '%s\n' "$line" | (cd "$work" && cbench -l cbench -i) >"$work/out" 2>&1
    grep -q 'ticks/op' "$work/out" ||
      missing="$missing
$line: $(tail -3 "$work/out")"
  done <"$work/prompt"
}
report 'the examples of the README run' "$missing"
