#!/bin/sh
# `cbench merge` and `cbench compare --by host` as they are typed.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
count=0
echo 1..23

lua=$LUA
[ "$SANITIZE" = no ] || lua=$CBENCH
"$lua" "$top_srcdir/tests/lua/make.lua" . || exit 1

run() { # NAME CODE SENTENCE COMMAND...: exit code, and a line of stderr
  name=$1 code=$2 sentence=$3
  shift 3
  count=$((count + 1))
  "$CBENCH" "$@" >out 2>err
  got=$?
  if [ $got = "$code" ] && { [ -z "$sentence" ] ||
    grep -qF -- "$sentence" err; }; then
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

run 'ranks' 0 '18 rows of 1 run on 3 hosts' \
  merge rank-0.jsonl rank-1.jsonl rank-2.jsonl -o all.json
run 'a rank is missing' 0 '1 of 3 ranks of run slurm-17.0 is missing: rank 1' \
  merge rank-0.jsonl rank-2.jsonl -o two.json
run 'a rank is missing, strictly' 4 'is missing: rank 1' \
  merge --strict rank-0.jsonl rank-2.jsonl -o two.json
head -c 5000 rank-1.jsonl >cut.jsonl
run 'a file was cut' 0 'cut.jsonl, line 4: left out (the file is cut here)' \
  merge rank-0.jsonl cut.jsonl rank-2.jsonl -o some.json
holds 'which the document tells' some.json 'the file is cut here'
run 'a file is missing' 2 'cannot read nothing.jsonl' \
  merge rank-0.jsonl nothing.jsonl -o some.json
holds 'the others are there' some.json '"host":"host0"'
run 'on standard output' 0 'rows of 1 run' merge rank-0.jsonl -o -
holds 'it is the document' out '^"schema": "cbench/1"'
printf '{"schema":"cbench/9"}' >other.jsonl
printf '{"name":"x","status":"ok","ticks":{"typical":1e400}}' >large.jsonl
run 'another schema is the reason' 2 \
  'line 1: left out (schema "cbench/9", not "cbench/1")' \
  merge other.jsonl -o some.json
holds 'each line says who speaks' err 'cbench: there is no row in the files'
run 'and so is an overflow' 2 ': a number out of range)' \
  merge large.jsonl -o some.json
printf '[[[[' >deep.jsonl
run 'and what is no row' 2 'object expected' merge deep.jsonl -o some.json
run 'of nothing' 2 'merge: no file' merge -o x.json
run 'to nowhere' 2 'merge: where to?' merge rank-0.jsonl
run 'to a folder that is not' 1 'nowhere/x.json' merge rank-0.jsonl \
  -o nowhere/x.json

run 'hosts' 0 '' compare --by host all.json
holds 'are pooled' out '^mutex *3 of 3'
run 'hosts of lines' 0 '' compare --by host rank-0.jsonl rank-1.jsonl
holds 'two decide nothing' out 'unresolved (two hosts)'
run 'hosts of nothing' 2 'compare: no file' compare --by host
run 'hosts of no file' 2 'cannot read nothing.jsonl' \
  compare --by host nothing.jsonl
run 'by something else' 2 "'rank' is none of host" compare --by rank all.json
