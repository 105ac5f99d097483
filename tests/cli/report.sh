#!/bin/sh
# `cbench report` as it is typed: outputs, exit codes, sentences.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
count=0
echo 1..26

lua=$LUA
[ "$SANITIZE" = no ] || lua=$CBENCH
"$lua" "$top_srcdir/tests/lua/make.lua" . || exit 1
ln -s "$CBENCH" cbench
# Folders with everything but gnuplot, and with one that fails.
mkdir none broken
for tool in sh cat; do ln -s "$(command -v $tool)" none/$tool; done
printf '#!/bin/sh\necho "\\"-\\" line 3: out of ink" >&2\nexit 1\n' \
  >broken/gnuplot
chmod +x broken/gnuplot

said() { # SENTENCE: whether that is what stderr holds; nothing when empty
  if [ -z "$1" ]; then
    [ ! -s err ]
  else
    grep -qF -- "$1" err
  fi
}

report() { # NAME CODE SENTENCE ARGUMENTS...
  name=$1 code=$2 sentence=$3
  shift 3
  count=$((count + 1))
  env PATH="$path" ./cbench report "$@" >out 2>err
  got=$?
  if [ $got = "$code" ] && said "$sentence"; then
    echo "ok $count - $name"
  else
    echo "not ok $count - $name (exit code $got)"
    sed 's/^/# /' err
  fi
}

holds() { # NAME FILE PATTERN
  count=$((count + 1))
  if grep -q -- "$3" "$2"; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
  fi
}

path=$PATH
has=$(command -v gnuplot) || has=
advice='apt-get install gnuplot'
[ -z "$has" ] || advice=

report 'a page' 0 "$advice" nesting.json --html page.html
holds 'is a page' page.html '^<title>Nested coroutines</title>'
report 'of two files' 0 "$advice" pools.json pools-new.json --html two.html
holds 'compares them' two.html 'Pools: new against old'
holds 'and says how each came out' two.html '<td>same</td></tr>'
report 'on standard output' 0 "$advice" pools.json --html -
holds 'is the same' out '^<title>Pools</title>'
report 'on the terminal' 0 "$advice" layers.json --term
holds 'is the table' out '^Block layer'

if [ -n "$has" ]; then
  report 'pictures' 0 '' latency.json --svg a.svg --png a.png
else
  report 'pictures need gnuplot' 1 'gnuplot is not installed' latency.json \
    --svg a.svg --png a.png
fi

path=$work/none
report 'without gnuplot' 0 'apt-get install gnuplot' \
  nesting.json --html none.html
path=$PATH
count=$((count + 1))
if [ "$(wc -l <err)" = 1 ] && ! grep -q '<figure' none.html; then
  echo "ok $count - it is said once, and the page has no pictures"
else
  echo "not ok $count - it is said once, and the page has no pictures"
fi
path=$work/broken:$PATH
report 'with a broken one' 0 \
  'gnuplot failed: out of ink' nesting.json --html broken.html
path=$PATH
report 'a nasty title' 0 "$advice" nasty.json --html nasty.html
count=$((count + 1))
if [ -e made_by_gnuplot ] || grep -q '<script\|<b>words' nasty.html; then
  echo "not ok $count - is text"
else
  echo "ok $count - is text"
fi

# A picture must not stand where a program reads.
"$CBENCH" yield backend=ucontext -T 0.2 -F 2 -q --format json --plot >run.json 2>plot
report 'results with --plot are read back' 0 "$advice" run.json --html run.html
count=$((count + 1))
wanted='ratio to call'
[ -n "$has" ] || wanted='gnuplot is not installed'
if grep -q "$wanted" plot; then
  echo "ok $count - the picture is elsewhere"
else
  echo "not ok $count - the picture is elsewhere"
  sed 's/^/# /' plot
fi

printf '' >empty.json
printf '{"schema":"other/3","results":[]}' >other.json
head -c 60000 whole.json >cut.json
report 'no file' 2 'no file of results'
report 'no output' 2 'one of --html FILE' nesting.json
report 'an empty file' 2 'it is empty' empty.json --html x.html
report 'another schema' 2 "schema 'other/3', not 'cbench/1'" other.json \
  --html x.html
report 'a file that was cut beside a good one' 2 'the file is cut here' \
  cut.json pools.json --html some.html
holds 'the good one is shown, the other named' some.html 'cut.json, line'
report 'lines of rows' 0 "$advice" rank-0.jsonl --html lines.html
holds 'are shown as others' lines.html '^<h1>Pools</h1>'
report 'nowhere to write' 1 'nowhere/x.html' nesting.json \
  --html nowhere/x.html
