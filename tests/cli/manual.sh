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
echo 1..4
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
