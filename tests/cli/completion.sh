#!/bin/sh
# Completion in the shells: what the program offers, and that bash's function
# puts words with "=" together again.
set -u
unset CDPATH
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ln -s "$CBENCH" "$work/cbench"
PATH=$work:$PATH
count=0

check() { # NAME EXPECTED GOT
  count=$((count + 1))
  if [ "$2" = "$3" ]; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
    echo "# expected: $2"
    echo "# got:      $3"
  fi
}

offered() { # WORDS: what is offered for the last of them
  cbench _complete -- $(($# - 1)) "$@" | tr '\n' ' '
}

echo 1..18
check 'subcommands' 'compare ' "$(offered cbench comp)"
check 'scenarios' 'nesting ' "$(offered cbench nest)"
check 'scenarios in folders' 'limits/pipeline load= ' \
  "$(offered cbench limits/pi)$(offered cbench limits/pipeline lo)"
check 'options' '--forks --format ' "$(offered cbench --fo)"
check 'options behind a scenario' '--seed ' "$(offered cbench nesting --se)"
check 'values of an option' 'same smt smt ' \
  "$(offered cbench --place sa)$(offered cbench --place sm)$(offered cbench \
    --threads 2 --place smt)"
check 'formats' 'markdown ' "$(offered cbench nesting --format mark)"
check 'parameters' 'depth= ' "$(offered cbench nesting de)"
check 'their values' 'depth=1,100 depth=1,1000 ' \
  "$(offered cbench nesting depth=1,100)"
check 'values with braces' 'ring=rte{sync=st} ring=rte{sync=st},nop ' \
  "$(offered cbench ring_same_cpu 'ring=rte{sync=s')$(offered cbench \
    ring_same_cpu 'ring=rte{sync=st},n')"
check 'no value twice' 'ring=vyukov,rte{sync=st},vyukov{claim=single} ' \
  "$(offered cbench ring_same_cpu 'ring=vyukov,rte{sync=st},vy')"
check 'an option with its value' '--format=markdown ' \
  "$(offered cbench nesting --format=mark)"
check 'topics of help' 'measure ' "$(offered cbench help meas)"
check 'a scenario behind ab' 'nesting ' \
  "$(offered cbench ab --a x --b y nest)"
check 'nothing for a file of our own' '' "$(offered cbench ./mine.lua de)"
check 'no files are run' '' "$(cd "$work" && echo 'print "run"' >x.lua &&
  offered cbench x.lua a)"

if ! command -v bash >/dev/null; then
  echo 'ok 17 - bash: parameters, values, files # SKIP not installed'
else
  check 'bash: parameters, values, files' \
    'depth=|1,10 1,100 1,1000|nesting nestor.lua' "$(cd "$work" && : >nestor.lua && bash -c '
    . "$0/completion/cbench"
    COMP_WORDS=(cbench nesting depth) COMP_CWORD=2
    _cbench
    printf "%s|" "${COMPREPLY[*]}"
    COMP_WORDS=(cbench nesting -T 2 depth = 1,1) COMP_CWORD=6
    _cbench
    printf "%s|" "${COMPREPLY[*]}"
    COMP_WORDS=(cbench nest) COMP_CWORD=1
    _cbench
    printf "%s" "${COMPREPLY[*]}"' "$top_srcdir")"
fi
if ! command -v zsh >/dev/null; then
  echo 'ok 18 - zsh reads its file # SKIP not installed'
else
  check 'zsh reads its file' '' "$(zsh -n "$top_srcdir/completion/_cbench" 2>&1)"
fi
