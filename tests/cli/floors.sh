#!/bin/sh
# The house: an include never points to a higher floor, nor sideways between
# families, and Lua and jansson stay on floor 5 and above.
cd "$top_srcdir/src" || exit 1
floor() {
  case $1 in
  base) echo 1 ;;
  coroutine | pool | ring | service) echo 2 ;;
  measure) echo 3 ;;
  workload) echo 4 ;;
  lua) echo 5 ;;
  program) echo 6 ;;
  esac
}
allowed() { # FROM TO: may a file in folder FROM include one of folder TO?
  [ "$1" = "$2" ] && return 0
  case $1-$2 in
  pool-coroutine) return 0 ;;
  # Measuring knows work only as struct cb_workload.
  measure-base) return 0 ;;
  measure-*) return 1 ;;
  esac
  [ "$(floor "$2")" -lt "$(floor "$1")" ]
}
echo 1..5
bad=
for from in base coroutine pool ring service measure workload lua program; do
  for include in $(grep -rhoE '^ *# *include "[a-z]+/' "$from" 2>/dev/null |
    sed 's/.*"\([a-z]*\)\//\1/' | sort -u); do
    case $include in
    cbench) continue ;;
    esac
    allowed "$from" "$include" || bad="$bad $from->$include"
  done
done
[ -z "$bad" ] && echo "ok 1 - includes point down" ||
  echo "not ok 1 - includes point down:$bad"
high=$(grep -rlE '# *include [<"](lua|lauxlib|lualib|jansson)\.h' base \
  coroutine pool ring service measure workload 2>/dev/null)
[ -z "$high" ] && echo "ok 2 - no Lua and no JSON below floor 5" ||
  echo "not ok 2 - Lua or JSON below floor 5: $high"
# The public headers stand outside the floors, and know each other only.
own=$(grep -nE '# *include "' cbench.h cbench/*.h | grep -v '"cbench/')
[ -z "$own" ] && echo "ok 3 - public headers include only public headers" ||
  echo "not ok 3 - public headers include only public headers: $own"
bad=
for from in cbench/*.h; do
  from=${from##*/}
  from=${from%.h}
  for include in $(grep -oE '^#include "cbench/[a-z]+' "cbench/$from.h" |
    sed 's/.*\///'); do
    case $from-$include in
    *-base | pool-coroutine) ;;
    *) bad="$bad $from->$include" ;;
    esac
  done
done
[ -z "$bad" ] && echo "ok 4 - and only of a lower floor" ||
  echo "not ok 4 - and only of a lower floor:$bad"
bad=
for header in cbench/*.h; do
  grep -qx "#include \"$header\"" cbench.h || bad="$bad $header"
  printf '#include "%s"\n' "$header" |
    ${CC:-cc} -std=c11 -fsyntax-only -Werror -Wall -Wextra -I. -xc - ||
    bad="$bad $header"
  ! command -v g++ >/dev/null || printf '#include "%s"\n' "$header" |
    g++ -std=c++11 -fsyntax-only -Werror -Wall -Wextra -I. -xc++ - ||
    bad="$bad $header"
done
[ -z "$bad" ] && echo "ok 5 - each is in cbench.h and stands alone" ||
  echo "not ok 5 - each is in cbench.h and stands alone:$bad"
