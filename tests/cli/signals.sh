#!/bin/sh
# A run that is stopped by a signal keeps what it has, says so, and tells the
# signal by its exit code. A file that has no room is an error, no signal.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/long.lua" <<'END'
local cbench = require "cbench"
return cbench.scenario {
  title = "Long", params = { adds = { 100, 1000 } },
  workload = cbench.workload.chain, time = 600,
  setup = function () io.stderr:write "begun\n" end,
}
END
count=0
report() { # NAME STATUS WHY
  count=$((count + 1))
  [ "$2" = 0 ] && echo "ok $count - $1" || {
    echo "not ok $count - $1"
    echo "# $3"
  }
}

# Until a process that measures for the one given has a handler for SIGTERM.
until_listening() { # PID
  limit=$(($(date +%s) + 60))
  while [ "$(date +%s)" -lt $limit ]; do
    for inner in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
      mask=$(sed -n 's/^SigCgt:[^0-9a-f]*/0x/p' "/proc/$inner/status")
      [ $((${mask:-0} & 0x4000)) = 0 ] || return 0
    done
  done
}

# Runs the scenario with the options, waits until it measures, sends the signal,
# and leaves the exit code in $code.
stopped_by() { # SIGNAL OPTIONS...
  signal=$1
  shift
  rm -f "$work/err" "$work/out"
  mkfifo "$work/err"
  # A shell's background job ignores SIGINT; the program must not.
  "$CBENCH" -e 'io.stderr:setvbuf "no"' -- "$work/long.lua" "$@" \
    >"$work/out" 2>"$work/err" &
  child=$!
  echoes=${ECHOES:-}
  {
    read -r begun
    [ -z "$echoes" ] || until_listening "$child"
    # Some batches must be measured before; the operation is short.
    "$CBENCH" -e 'local t = os.clock() while os.clock() < t + 0.3 do end'
    kill -"$signal" "$child"
    [ -z "$echoes" ] || kill -"$signal" "$child" "$child" \
      $(cat "/proc/$child/task/$child/children" 2>/dev/null)
    cat >/dev/null
  } <"$work/err"
  wait "$child"
  code=$?
}

echo 1..10
stopped_by INT -F 1
[ "$code" = 130 ]; report 'SIGINT: exit code 130' $? "exit code $code"
grep -q 'adds=100\|  100 ' "$work/out"
report 'SIGINT: the table is printed' $? "$(cat "$work/out")"
stopped_by TERM -F 1 --format json
[ "$code" = 143 ]; report 'SIGTERM: exit code 143' $? "exit code $code"
grep -q '"partial": *true' "$work/out"
report 'the results are marked partial' $? "$(head -c 600 "$work/out")"
stopped_by INT -F 5
[ "$code" = 130 ]; report 'SIGINT among processes: 130' $? "exit code $code"
stopped_by TERM -F 5
[ "$code" = 143 ]; report 'SIGTERM among processes: 143' $? "exit code $code"
# As schedulers do it: to all processes of the job, and more than once.
ECHOES=yes
stopped_by TERM -F 5 --format json
[ "$code" = 143 ]; report 'SIGTERM to all, three times: 143' $? "exit code $code"
grep -q '"status":"partial"' "$work/out"
report 'what was measured is there' $? "$(head -c 600 "$work/out")"

cat >"$work/short.lua" <<'END'
local cbench = require "cbench"
return cbench.scenario { title = "Short", time = 0.2,
  workload = cbench.workload.chain }
END
# Files of so many blocks at most: what has no room is no half line.
limited() { # BLOCKS SENTENCE OPTIONS...
  rm -f "$work/file"
  (
    ulimit -f "$1"
    shift 2
    exec "$CBENCH" "$work/short.lua" -q "$@" -o "$work/file"
  ) 2>&1 | cat >"$work/out"
  grep -q "cannot write '.*file': $2" "$work/out" &&
    ! ls "$work"/file* 2>/dev/null | grep -v 'file$' &&
    [ ! -s "$work/file" ]
}
case ${SANITIZE:-no} in
*thread*)
  for name in 'a file of one block' 'a file of none'; do
    count=$((count + 1))
    echo "ok $count - $name # SKIP ThreadSanitizer writes files of its own"
  done
  ;;
*)
  limited 1 'No space left on device' --format jsonl
  report 'a file of one block' $? "$(cat "$work/out"; ls "$work")"
  limited 0 'File too large'
  report 'a file of none' $? "$(cat "$work/out"; ls "$work")"
  ;;
esac
