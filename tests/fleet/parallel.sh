#!/bin/sh
# GNU parallel, with this machine as the remote one.
. "$top_srcdir/tests/fleet/lib.sh"
needs parallel parallel
parallel --version 2>/dev/null | grep -q 'GNU parallel' ||
  skip 'parallel is not that of GNU'
trap 'rm -rf "$work"' EXIT
recipes parallel
cd "$work" || exit 1

# One file for all jobs: lines are appended, none is lost or torn.
parallel --sshlogin : -j4 -N0 cbench yield backend=asm -T 0.5 -F 2 -q \
  --format jsonl -o one.jsonl ::: 1 2 3 4 >log 2>&1
check 'four jobs append to one file' [ $? = 0 ]
cbench merge one.jsonl -o one.json >log 2>&1
check 'each has as many rows as the others' [ "$(grep -o '"rank":[0-3]' \
  one.json | sort | uniq -c | awk '{ print $1 }' | uniq | wc -l)" = 1 ]
torn() { grep -q 'left out' log; }
check 'none was torn' not torn
parallel --sshlogin : -N0 cbench yield backend=asm -T 0.5 -q \
  -o one.json ::: 1 2 >log 2>&1
check 'a whole file is refused to them' [ $? = 2 ]
check 'and said why' grep -q 'all ranks would write the one file' log
finish
