# For the tests of launchers. One machine plays several here, which tests the
# plumbing and never performance.
set -u
work=$(mktemp -d) || exit 1
bin=$work/bin
mkdir "$bin" && ln -s "$CBENCH" "$bin/cbench"
PATH=$bin:$PATH
export PATH
count=0

skip() { # WHY
  echo "1..0 # SKIP $1"
  exit 0
}

needs() { # PACKAGE PROGRAM...: all of them, or the test is skipped by name
  package=$1
  shift
  for program; do
    command -v "$program" >/dev/null || skip "$package is not installed"
  done
}

# The commands of the guide as they stand there, for one launcher. Its plan
# line is left out: more checks follow.
recipes() { # LABEL
  (cd "$work" && "$CBENCH" "$top_srcdir/tests/cli/transcript.lua" \
    "$top_srcdir/doc/fleet.md" "$1") | grep -v '^1\.\.' >"$work/recipes"
  cat "$work/recipes"
  count=$(grep -c '^\(not \)\{0,1\}ok ' "$work/recipes")
}

check() { # NAME COMMAND...
  name=$1
  shift
  count=$((count + 1))
  if "$@"; then
    echo "ok $count - $name"
  else
    echo "not ok $count - $name"
    [ ! -e "$work/log" ] || sed 's/^/# /' "$work/log"
  fi
}

not() { ! "$@"; }

# Until the command is true: a hand-shake, with an end.
wait_until() { # COMMAND...
  limit=$(($(date +%s) + 60))
  until "$@"; do
    [ "$(date +%s)" -lt $limit ] || return 1
    sleep 0.02
  done
}

finish() { echo "1..$count"; }

# A rank that is killed by SIGKILL as soon as it measures, for the rank given;
# others measure to their end.
cat >"$bin/cbench-killed" <<'END'
#!/bin/sh
# cbench-killed RANK ARGUMENTS...: cbench, killed in the middle on that rank
victim=$1
shift
rank=${SLURM_PROCID:-${OMPI_COMM_WORLD_RANK:-0}}
[ "$rank" = "$victim" ] || exec cbench "$@" -T 1
said=$(mktemp)
cbench "$@" -T 300 --verbose 2>"$said" &
until grep -q rows "$said"; do sleep 0.02; done
rm -f "$said"
kill -KILL $!
wait $!
exit 137
END
chmod +x "$bin/cbench-killed"
